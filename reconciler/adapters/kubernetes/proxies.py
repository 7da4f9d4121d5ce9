"""Which proxy leads to a server: HTTPS_PROXY, HTTP_PROXY and NO_PROXY as kubectl reads them."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from reconciler.adapters.proxy_urls import checked_proxy, with_scheme


def proxy_of(url: str, written: str, origin: str, environ: Mapping[str, str]) -> str | None:
    """Return the proxy's URL: the one `written` for this cluster, else that of the environment.

    Raises Misconfigured when it is of no use; the URL may hold a password and is not repeated.
    """
    if written:
        return checked_proxy(written, f"proxy-url of {origin}")
    parts = urlsplit(url)
    name = f"{parts.scheme.upper()}_PROXY"
    found = environ.get(name) or environ.get(name.lower()) or ""
    if not found or _is_exempt(parts, environ.get("NO_PROXY") or environ.get("no_proxy") or ""):
        return None
    return checked_proxy(with_scheme(found), name)


def _is_exempt(parts: SplitResult, listed: str) -> bool:
    host = (parts.hostname or "").rstrip(".")
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return any(_matches(word, host, port) for word in listed.lower().replace(",", " ").split())


def _matches(word: str, host: str, port: int) -> bool:
    if word == "*":
        return True
    address = _address(host)
    if address is not None:
        try:
            return address in ipaddress.ip_network(word, strict=False)
        except ValueError:
            pass
    name, colon, wanted_port = word.rpartition(":")
    if colon and wanted_port.isdecimal():
        if int(wanted_port) != port:
            return False
        word = name.strip("[]")
    if address is not None:
        return _address(word) == address
    word = word.removeprefix("*")
    return host == word or host.endswith(word if word.startswith(".") else f".{word}")


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None
