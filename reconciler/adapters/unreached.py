"""Why an HTTP server gave no answer, in words for people and not those of the library."""

import os

import aiohttp


def why(error: Exception) -> str:
    """Say what a server does or is, to follow its name: why there is no answer of it.

    Nothing is repeated that came over the wire, whoever sent that.
    """
    if isinstance(error, TimeoutError):
        return "did not answer in time"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "is a name that leads nowhere"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        reason = getattr(error.certificate_error, "verify_message", "") or "not trusted"
        return f"shows a certificate that is refused: {reason}"
    if isinstance(error, aiohttp.ClientSSLError):
        return "does not speak TLS that we understand"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"cannot be connected to: {_reason(error.os_error)}"
    if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ServerDisconnectedError):
        return "closed the connection before its answer was whole"
    if isinstance(error, aiohttp.ClientResponseError):
        return "answers with no HTTP that can be read"
    if isinstance(error, OSError):
        return f"broke the connection: {_reason(error)}"
    return f"cannot be asked ({type(error).__name__})"


def _reason(error: OSError) -> str:
    """Return the system's words: those of asyncio and aiohttp name addresses, and no reason."""
    # Several addresses that fail in several ways have no number.
    return os.strerror(error.errno) if error.errno else "no answer at any of its addresses"
