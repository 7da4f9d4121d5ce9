"""Small HTTP servers on the loopback address, each served from a thread while a test uses it."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeVar

Reply = tuple[int, str, bytes]
"""A status, the type of what is said, and that itself."""


class Loopback(ThreadingHTTPServer):
    """Listens at a free port; what it says to whom is `answer`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Request)

    @property
    def origin(self) -> str:
        """Where it is asked."""
        return f"http://127.0.0.1:{self.server_port}"

    @abstractmethod
    def answer(self, path: str, body: bytes) -> Reply:
        """Answer a GET, whose body is empty, or a POST."""


class _Request(BaseHTTPRequestHandler):
    server: Loopback

    def do_GET(self) -> None:
        self._say(*self.server.answer(self.path, b""))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._say(*self.server.answer(self.path, body))

    def _say(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Say nothing."""


S = TypeVar("S", bound=Loopback)


@contextmanager
def served(server: S) -> Iterator[S]:
    """Serve from a thread, until the port is closed and the thread has ended."""
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
