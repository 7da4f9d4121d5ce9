"""What came back over the wire, or did not: bodies, hints to wait, and broken connections."""

import json
import math

import aiohttp

from reconciler.adapters.kubernetes.connect import Connection
from reconciler.model.errors import Denied, Misconfigured, PortError, Unavailable
from reconciler.model.refs import Json

LONGEST_WAIT_SECONDS = 300.0
"""A longer Retry-After is not believed: a server that comes back is asked again."""


def no_answer(
    what: str, connection: Connection, error: Exception, deadline: aiohttp.ClientTimeout
) -> PortError:
    """Return the error that a request without an answer means."""
    server = connection.url
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return _of_proxy(what, server, error.status)
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return Unavailable(f"{what}: the proxy to {server} cannot be reached ({error.os_error})")
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return Misconfigured(
            f"{what}: the certificate of {server} is not trusted ({error.certificate_error}): "
            f"check certificate-authority and tls-server-name in {connection.origin}"
        )
    if isinstance(error, TimeoutError):
        seconds = deadline.total or deadline.sock_read or 0
        return Unavailable(f"{what}: {server} said nothing for {seconds:.0f} s")
    return Unavailable(f"{what}: no answer from {server}: {str(error) or type(error).__name__}")


def hang_up(answer: aiohttp.ClientResponse) -> None:
    """Drop a stream that has not ended: a polite TLS farewell would outlive the event loop."""
    connection = answer.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()


def retry_after_seconds(answer: aiohttp.ClientResponse) -> float | None:
    """Return what the server asked to wait, None when it did not say so in seconds."""
    try:
        seconds = float(answer.headers["Retry-After"])
    except (KeyError, ValueError):
        return None
    return min(max(seconds, 0.0), LONGEST_WAIT_SECONDS) if math.isfinite(seconds) else None


def decoded(content: bytes) -> Json:
    """Read a Status; a proxy's page of HTML tells nothing that can be acted on."""
    try:
        body = json.loads(content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def object_of(content: bytes, what: str) -> Json:
    """Read the object of a good answer.

    Raises Unavailable when it is cut short, Misconfigured when it is no API server's.
    """
    try:
        body = json.loads(content)
    except ValueError as error:
        if content.lstrip().startswith(b"<"):
            raise Misconfigured(
                f"{what}: the answer is a web page and no API server's: check the server's URL "
                "and the proxy"
            ) from error
        raise Unavailable(f"{what}: the answer is cut short or no JSON") from error
    if not isinstance(body, dict):
        raise Misconfigured(f"{what}: the answer is no JSON object: check the server's URL")
    return body


def _of_proxy(what: str, server: str, status: int) -> PortError:
    if status in (401, 403, 407):
        return Denied(
            f"{what}: the proxy does not let us through to {server} ({status}): check its user "
            "and password, and whom it lets through"
        )
    return Unavailable(f"{what}: the proxy has no way to {server} ({status}): tried again later")
