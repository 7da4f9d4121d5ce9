"""A Git host over smart HTTP(S) on the loopback address, with faults to order.

The protocol is git's own (`git http-backend`); this module only carries it, asks for a password
when told to, and breaks in the ways in which real hosts break.
"""

from __future__ import annotations

import base64
import socket
import ssl
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.controlplane.processes import free_ports
from tests.gitservers.backend import Call, Reply, answer
from tests.gitservers.certificates import make_certificate, server_context


@dataclass(frozen=True, slots=True)
class Fault:
    """One way of failing; without `times` it lasts until `heal`.

    `stall_seconds` passes before anything is answered; `status` is answered instead of git, and
    `page`, or both: without a status it is a web page; `cut_after_bytes` of the true body are
    sent, and the connection is closed; with `hang_up` it is closed while the request still comes
    in. `only` is how the path ends of what fails; with `then_down` every request after it is
    answered 503. With `done` git does what it was asked before `status` is answered.
    """

    status: int | None = None
    retry_after_seconds: int | None = None
    stall_seconds: float = 0.0
    cut_after_bytes: int | None = None
    times: int | None = None
    page: bytes = b""
    hang_up: bool = False
    only: str = ""
    then_down: bool = False
    done: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that was answered, with its status."""

    method: str
    path: str
    status: int


class HttpGitServer:
    """Serves the bare repositories under `root`; use it as a context manager."""

    def __init__(self, root: Path, *, user: str = "", password: str = "", tls: bool = True) -> None:
        self.root = root
        self.seen: list[Seen] = []
        self.problems: list[BaseException | None] = []
        self._wanted = f"{user}:{password}" if user else ""
        self._tls = tls
        self._lock = threading.Lock()
        self._fault: Fault | None = None
        self._faults_left: int | None = None
        self._released = threading.Event()
        self._folder = tempfile.TemporaryDirectory(prefix="gamekeeper-git-http-")
        self._certificate = make_certificate(Path(self._folder.name)) if tls else None
        # Not one of those that outgoing connections get: it must be free still when we come back.
        (self._port,) = free_ports(1)
        self._listener: _Listener | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.come_back()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.go_away()
        self._folder.cleanup()

    def url(self, repository: str, *, with_credentials: bool = False) -> str:
        """Return the address of a repository, told by its path under the root."""
        scheme = "https" if self._tls else "http"
        login = f"{self._wanted}@" if with_credentials and self._wanted else ""
        return f"{scheme}://{login}127.0.0.1:{self._port}/{repository}"

    @property
    def authority_file(self) -> Path | None:
        """Return the certificate that clients must trust, None without TLS."""
        return self._certificate

    def environment(self) -> dict[str, str]:
        """Return the variables by which git trusts this server."""
        return {"GIT_SSL_CAINFO": str(self._certificate)} if self._certificate else {}

    def break_with(self, fault: Fault) -> None:
        """Fail this way from now on."""
        with self._lock:
            self._released.clear()
            self._fault, self._faults_left = fault, fault.times

    def heal(self) -> None:
        """Answer as git does again; stalled requests are let go."""
        with self._lock:
            self._fault = None
            self._released.set()

    def go_away(self) -> None:
        """Close the port and every connection; nothing happens when it is closed."""
        listener, self._listener = self._listener, None
        if listener is None or self._thread is None:
            return
        self._released.set()
        listener.shutdown()
        listener.cut_connections()
        listener.server_close()
        self._thread.join()

    def come_back(self) -> None:
        """Listen, on the same port as before."""
        self._released.clear()
        listener = _Listener(("127.0.0.1", self._port), self)
        if self._certificate is not None:
            # The handshake belongs to the request's thread: a slow client must not stop others.
            listener.socket = server_context(self._certificate).wrap_socket(
                listener.socket, server_side=True, do_handshake_on_connect=False
            )
        self._listener = listener
        self._thread = threading.Thread(
            target=listener.serve_forever, kwargs={"poll_interval": 0.05}, name="git-http"
        )
        self._thread.start()

    def take_fault(self, path: str) -> Fault | None:
        """Return the fault for one request, and count it."""
        with self._lock:
            if self._fault is None or self._faults_left == 0 or not path.endswith(self._fault.only):
                return None
            fault = self._fault
            if self._faults_left is not None:
                self._faults_left -= 1
            if fault.then_down:
                self._fault = Fault(status=503)
            return fault

    def wait_released(self, seconds: float) -> None:
        """Wait, but not beyond `heal` or `go_away`."""
        self._released.wait(seconds)

    def reply(self, call: Call, fault: Fault | None) -> Reply:
        """Return the whole answer to a request."""
        if fault is not None and fault.status is not None:
            if fault.done:
                answer(self.root, call)
            retry = fault.retry_after_seconds
            headers = [("Content-Type", "text/plain")]
            if retry is not None:
                headers.append(("Retry-After", str(retry)))
            words = fault.page or b"the test asked for this failure\n"
            return Reply(fault.status, tuple(headers), words)
        if fault is not None and fault.page:
            return Reply(200, (("Content-Type", "text/html; charset=utf-8"),), fault.page)
        if call.user != self._wanted.partition(":")[0]:
            return Reply(401, (("WWW-Authenticate", 'Basic realm="git"'),), b"who are you?\n")
        return answer(self.root, call)

    def user_of(self, authorization: str | None) -> str:
        """Return the name of who knows the password, else an empty one."""
        given = base64.b64encode(self._wanted.encode()).decode()
        return self._wanted.partition(":")[0] if authorization == f"Basic {given}" else ""


class _Listener(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, address: tuple[str, int], host: HttpGitServer) -> None:
        self.host = host
        self._connections: set[socket.socket] = set()
        super().__init__(address, _Request)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def cut_connections(self) -> None:
        """End what is under way, so that its threads end."""
        for connection in tuple(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        problem = sys.exception()
        # A client that leaves, or does not trust us, is a thing that tests bring about.
        if not isinstance(problem, (ConnectionError, ssl.SSLError, TimeoutError)):
            self.host.problems.append(problem)


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, *args: object) -> None:
        """Say nothing: `HttpGitServer.seen` holds the requests."""

    def _serve(self) -> None:
        host = self.server.host
        fault = host.take_fault(self.path)
        if fault is not None and fault.hang_up:
            self.close_connection = True
            self.rfile.read(1)
            return
        body = self._read_body()
        if fault is not None:
            host.wait_released(fault.stall_seconds)
        user = host.user_of(self.headers.get("Authorization"))
        call = Call(self.command, self.path, dict(self.headers), body, user)
        reply = host.reply(call, fault)
        host.seen.append(Seen(self.command, self.path, reply.status))
        self._send(reply, fault.cut_after_bytes if fault is not None else None)

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _send(self, reply: Reply, cut_after_bytes: int | None) -> None:
        self.close_connection = True
        self.send_response(reply.status)
        for name, text in reply.headers:
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(reply.body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(reply.body[:cut_after_bytes])
