"""Why nobody answered, as people are told: no library's words, no bytes of the wire."""

import errno
import ssl

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from reconciler.adapters import unreached

KEY = ConnectionKey("fleet.test", 443, True, True, None, None, None)
FLEET = URL("https://fleet.test")
INFO = aiohttp.RequestInfo(FLEET, "GET", CIMultiDictProxy(CIMultiDict()), FLEET)
ASTRAY = "is a name that leads nowhere"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        pytest.param(
            aiohttp.ClientConnectorError(KEY, ConnectionRefusedError(errno.ECONNREFUSED, "::1")),
            "cannot be connected to: Connection refused",
            id="nobody listens",
        ),
        pytest.param(
            aiohttp.ClientConnectorError(KEY, OSError("Multiple exceptions: [Errno 111]")),
            "cannot be connected to: no answer at any of its addresses",
            id="several addresses",
        ),
        pytest.param(
            aiohttp.ClientConnectorDNSError(KEY, OSError(-2, "Name unknown")), ASTRAY, id="no name"
        ),
        pytest.param(
            aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError(1, "[SSL] (_ssl.c:1006)")),
            "does not speak TLS that we understand",
            id="no TLS",
        ),
        pytest.param(
            aiohttp.ClientConnectorCertificateError(KEY, ssl.CertificateError("long")),
            "shows a certificate that is refused: not trusted",
            id="a strange certificate",
        ),
        pytest.param(
            aiohttp.ClientOSError(errno.ECONNRESET, "reset"),
            "broke the connection: Connection reset by peer",
            id="a reset",
        ),
        pytest.param(
            aiohttp.ServerDisconnectedError(),
            "closed the connection before its answer was whole",
            id="a hang-up",
        ),
        pytest.param(
            aiohttp.ClientResponseError(INFO, (), message="b'\\x1b]0;'"),
            "answers with no HTTP that can be read",
            id="bytes of a stranger",
        ),
        pytest.param(TimeoutError(), "did not answer in time", id="silence"),
        pytest.param(ValueError("{'a'"), "cannot be asked (ValueError)", id="anything else"),
    ],
)
def test_why_nobody_answered_is_told_in_plain_words(error: Exception, told: str) -> None:
    assert unreached.why(error) == told
