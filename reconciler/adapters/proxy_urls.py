"""A proxy's address, as the environment or a kubeconfig names it; it may hold a password."""

from collections.abc import Collection
from urllib.parse import urlsplit

from reconciler.model.errors import Misconfigured

HTTP_SCHEMES = ("http", "https")


def with_scheme(proxy: str) -> str:
    """Return what a variable of the environment means: without a scheme it is one of http."""
    return proxy if "://" in proxy else f"http://{proxy}"


def checked_proxy(proxy: str, where: str, schemes: Collection[str] = HTTP_SCHEMES) -> str:
    """Return the URL of a proxy that `where` names.

    Raises Misconfigured when it is of no use; it is not repeated then.
    """
    try:
        parts = urlsplit(proxy)
        usable = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise Misconfigured(
            f"{where} is no proxy that can be used: write it as http://HOST:PORT or "
            "https://HOST:PORT, with what its password has of : / @ escaped (%3A %2F %40)"
        )
    return proxy
