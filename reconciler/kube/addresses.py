"""Under which address players reach what runs on a node."""

from collections.abc import Iterable

_ORDER = ("ExternalIP", "ExternalDNS", "InternalIP", "InternalDNS")


def public_address(addresses: Iterable[tuple[str, str]]) -> str:
    """Return the first of ExternalIP, ExternalDNS, InternalIP, InternalDNS; "" where none is.

    `addresses` are (type, address) as a node lists them.
    """
    first: dict[str, str] = {}
    for type_, address in addresses:
        first.setdefault(type_, address)
    return next((first[type_] for type_ in _ORDER if first.get(type_)), "")
