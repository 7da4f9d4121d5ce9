"""One connection to a real API server, which stays open for as long as the server lets it.

A server closes a connection that nobody used for 90 s; a machine that stood still for so long has
such ones. It is asked again where that can change nothing, as Go's transport and so every client
of Kubernetes does: anything of which nothing was sent yet, and a read that got no answer.
"""

from __future__ import annotations

import http.client
import select
import ssl
from collections.abc import Mapping

PATIENCE_SECONDS = 30.0
_CUT = (ConnectionError, ssl.SSLEOFError)


class Kept:
    """A connection that is opened when it is needed, and again when the server has left it."""

    def __init__(self, place: str, trust: ssl.SSLContext) -> None:
        self._connection = http.client.HTTPSConnection(
            place, timeout=PATIENCE_SECONDS, context=trust
        )

    def ask(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        """Send a request and return the beginning of its answer.

        Raises:
            ConnectionError: the server closed a new connection without a word, or one on which
                a write was sent: it may have been carried out.
        """
        if self._was_left():
            self._connection.close()
        was_kept = self._connection.sock is not None
        try:
            return self._sent(method, path, body, headers)
        except _CUT:
            self._connection.close()
            if not was_kept or method != "GET":
                raise
        return self._sent(method, path, body, headers)

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    def _sent(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        self._connection.request(method, path, body, dict(headers))
        return self._connection.getresponse()

    def _was_left(self) -> bool:
        """Tell whether the server has closed it: between two answers it has nothing else to say."""
        sock = self._connection.sock
        return sock is not None and bool(select.select([sock], [], [], 0)[0])
