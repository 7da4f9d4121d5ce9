"""Which network addresses are asked for nobody: this machine, its link, the cloud's own services.

Whoever runs a name decides where it leads, and may change that from one second to the next. So the
address that a connection is made to is judged, whatever the name was.
"""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

_THIS_NETWORK = ip_network("0.0.0.0/8")
_AT_THE_END = (
    IPv6Network("::/96"),
    IPv6Network("::ffff:0:0:0/96"),
    IPv6Network("64:ff9b::/96"),
)
"""Compatible, translated (RFC 2765), NAT64: their last 32 bits are an address of IPv4."""
_OF_THE_SITE = IPv6Network("64:ff9b:1::/48")
"""NAT64 by prefixes that a site cuts as it likes (RFC 8215)."""
_ISATAP, _ISATAP_MASK = 0x0000_5EFE, 0xFCFF_FFFF
"""The words before the address, whether or not it is told to be one of the whole world's."""
_CLOUDS = frozenset(
    ip_address(text)
    for text in (
        *("100.100.100.200", "168.63.129.16", "192.0.0.192"),
        *("fd20:ce::254", "fd00:42::42"),
    )
)
"""Where Alibaba, Azure, Oracle, Google and Scaleway tell machines their secrets, beside
169.254.169.254."""
_AMAZON = IPv6Network("fd00:ec2::/32")
"""Amazon's own: metadata at ::254, the credentials of pods at ::23."""


def address_of(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a text is in its usual form; None for a name."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def is_loopback(text: str) -> bool:
    """Whether a text is an address of this machine, written plainly."""
    address = address_of(text)
    return address is not None and address.is_loopback


def never_asked(text: str) -> str:
    """Say what an address is that nobody is led to by a name, "" where it may be asked.

    An address inside another one (mapped, 6to4, Teredo, ISATAP, NAT64) is judged as well.
    """
    address = address_of(text)
    if address is None:
        return "no address"
    return next(filter(None, map(_kind_of, (address, *_inside(address)))), "")


def _kind_of(address: IPv4Address | IPv6Address) -> str:
    if address.is_loopback:
        return "this machine itself"
    if address.is_link_local:
        return "a link-local address, as that of a cloud's metadata"
    if address in _CLOUDS or address in _AMAZON:
        return "a cloud's metadata"
    if address.is_unspecified or address in _THIS_NETWORK:
        return "the unspecified address"
    if address.is_multicast:
        return "a multicast address"
    is_reserved = isinstance(address, IPv4Address) and address.is_reserved
    return "a reserved address" if is_reserved else ""


def _inside(address: IPv4Address | IPv6Address) -> tuple[IPv4Address, ...]:
    if isinstance(address, IPv4Address):
        return ()
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    is_isatap = (int(address) >> 32) & _ISATAP_MASK == _ISATAP
    if is_isatap or any(address in network for network in _AT_THE_END):
        found.append(IPv4Address(int(address) & 0xFFFF_FFFF))
    if address in _OF_THE_SITE:
        found.extend(_of_any_prefix(address.packed))
    return tuple(one for one in found if one is not None)


def _of_any_prefix(octets: bytes) -> list[IPv4Address]:
    """Return what an address holds behind a prefix of 96, 64, 56 or 48 bits (RFC 6052, 2.2)."""
    # The ninth octet is none of it, and behind it there are zeros.
    rests = (octets[start:8] + octets[9:] for start in (6, 7, 8))
    found = [IPv4Address(rest[:4]) for rest in rests if not any(rest[4:])]
    # Nobody knows which prefix it is: read by a wrong one most begin with 0, or end with zeros.
    likely = [one for one in found if one not in _THIS_NETWORK]
    return likely or [*found, IPv4Address(octets[12:])]
