"""A line to a service on which things go wrong first, as in a fail-over, and then all is well."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from socketserver import BaseRequestHandler, ThreadingTCPServer

TROUBLES = (
    b"",  # closed without an answer
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\n{}",
    b'HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{"leave": ',  # cut in the middle
    b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nWelcome here!",  # somebody else's page
    b"no HTTP at all\r\n\r\n",
)
PIECE = 65_536


@contextmanager
def bad_line(address: str, service: str, troubles: Sequence[bytes] = TROUBLES) -> Iterator[None]:
    """Serve at `address`: each of the first connections meets a trouble, all others the service."""
    host, _, port = address.partition(":")
    left = list(troubles)

    class Line(BaseRequestHandler):
        def handle(self) -> None:
            if left:
                self.request.recv(PIECE)
                self.request.sendall(left.pop(0))
                return
            to_host, _, to_port = service.partition(":")
            with socket.create_connection((to_host, int(to_port)), timeout=60) as onward:
                there = threading.Thread(target=_pass_on, args=(self.request, onward))
                there.start()
                _pass_on(onward, self.request)
                there.join()

    class Server(ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

    with Server((host, int(port)), Line) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.05,))
        serving.start()
        try:
            yield
        finally:
            server.shutdown()
            serving.join()
    assert not left


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    try:
        while piece := source.recv(PIECE):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # either side may hang up whenever it likes
