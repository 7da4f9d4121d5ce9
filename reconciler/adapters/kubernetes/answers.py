"""Bodies as they go over the wire, what comes back, or does not: hints to wait, hang-ups."""

import math
from collections.abc import Sequence

import aiohttp
import orjson

from reconciler.adapters import unreached
from reconciler.adapters.kubernetes.connect import Connection
from reconciler.adapters.kubernetes.refusals import refusal
from reconciler.model.errors import Denied, Misconfigured, PortError, Unanswered, Unavailable
from reconciler.model.refs import Json

LONGEST_WAIT_SECONDS = 300.0
"""A longer Retry-After is not believed: a server that comes back is asked again."""

_STRANGE = "the answer is no Kubernetes API server's: check the server's URL and the proxy"


def no_answer(
    what: str, connection: Connection, error: Exception, deadline: aiohttp.ClientTimeout
) -> PortError:
    """Return the error that a request without an answer means."""
    server = connection.url
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return _of_proxy(what, server, error.status)
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        cause = unreached.why(error)
        return Unavailable(
            f"{what}: the proxy to {server} {cause}: check proxy-url in {connection.origin}, or "
            "HTTPS_PROXY, and that it runs"
        )
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return Misconfigured(
            f"{what}: the certificate of {server} is not trusted ({error.certificate_error}): "
            f"check certificate-authority and tls-server-name in {connection.origin}"
        )
    if isinstance(error, TimeoutError):
        seconds = deadline.total or deadline.sock_read or deadline.sock_connect or 0
        return Unanswered(f"{what}: {server} said nothing for {seconds:.0f} s")
    told = f"{what}: {server} {unreached.why(error)}"
    if isinstance(error, aiohttp.ClientConnectorError):
        # Where there is no connection nothing was sent.
        return Unavailable(f"{told}: check its URL in {connection.origin}, and that it runs")
    return Unanswered(told)


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


def encoded(body: Json | Sequence[Json], what: str) -> bytes:
    """Write the body of a request.

    Raises Misconfigured where it holds what no API server reads: whole numbers over 64 bits, or
    halves of characters.
    """
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError as error:
        raise Misconfigured(f"{what}: it cannot be sent: {error}") from error


def decoded(content: bytes) -> Json:
    """Read a Status; a proxy's page of HTML tells nothing that can be acted on."""
    try:
        body = orjson.loads(content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def object_of(content: bytes, what: str) -> Json:
    """Read the object of a good answer.

    Raises Unanswered when it is cut short, Misconfigured when it is no API server's.
    """
    try:
        body = orjson.loads(content)
    except ValueError as error:
        if content.lstrip().startswith(b"<"):
            raise Misconfigured(
                f"{what}: the answer is a web page and no API server's: check the server's URL "
                "and the proxy"
            ) from error
        raise Unanswered(f"{what}: the answer is cut short or no JSON") from error
    if not isinstance(body, dict):
        raise Misconfigured(f"{what}: the answer is no JSON object: check the server's URL")
    return body


def found(what: str, status: int, body: Json) -> Json:
    """Return the body of an answer that says what is there.

    Raises the error of a 404.
    """
    if status == 404:
        raise refusal(what, status, body)
    return body


def object_with_metadata(what: str, status: int, body: Json) -> Json:
    """Return the object of an answer.

    Raises the error of a 404, and Misconfigured when it is no object of Kubernetes.
    """
    if not isinstance(found(what, status, body).get("metadata"), dict):
        raise Misconfigured(f"{what}: {_STRANGE}")
    return body


def listing_of(body: Json, key: str, what: str) -> Json:
    """Return an answer whose `key` is a list of objects: one without it is not an empty list.

    Raises Misconfigured when there is none.
    """
    listed = body.get(key, False)
    if listed is None:  # as Go writes a list that nobody began
        listed = []
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise Misconfigured(f"{what}: {_STRANGE}")
    return {**body, key: listed}


def _of_proxy(what: str, server: str, status: int) -> PortError:
    if status in (401, 403, 407):
        return Denied(
            f"{what}: the proxy does not let us through to {server} ({status}): check its user "
            "and password, and whom it lets through"
        )
    return Unavailable(f"{what}: the proxy has no way to {server} ({status}): tried again later")
