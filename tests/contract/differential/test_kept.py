"""A connection that a server leaves is opened anew, and no write is sent twice."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.differential.kept import Kept
from tests.gitservers.certificates import make_certificate, server_context

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class Host:
    """Answers so many requests on each connection, reads `unanswered` more, and hangs up."""

    def __init__(self, folder: Path, answers: list[int], *, unanswered: bool) -> None:
        certificate = make_certificate(folder)
        self.trust = ssl.create_default_context(cafile=str(certificate))
        self.heard: list[str] = []
        self.left = threading.Semaphore(0)
        self._context, self._answers, self._unanswered = (
            server_context(certificate),
            answers,
            unanswered,
        )
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.place = "{}:{}".format(*self._socket.getsockname())
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        """Wait until every connection that it was to take has come and gone."""
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        for count in self._answers:
            client, _ = self._socket.accept()
            with self._context.wrap_socket(client, server_side=True) as line:
                for number in range(count + self._unanswered):
                    if not self._hears(line):
                        break
                    if number < count:
                        line.sendall(ANSWER)
            self.left.release()

    def _hears(self, line: ssl.SSLSocket) -> bool:
        head = b""
        with contextlib.suppress(OSError):
            while not head.endswith(b"\r\n\r\n"):
                more = line.recv(1)
                if not more:
                    return False
                head += more
        self.heard.append(head.decode().partition(" HTTP")[0])
        return True


@contextlib.contextmanager
def asked(
    folder: Path, answers: list[int], *, unanswered: bool = False
) -> Iterator[tuple[Host, Kept]]:
    host = Host(folder, answers, unanswered=unanswered)
    kept = Kept(host.place, host.trust)
    try:
        yield host, kept
    finally:
        kept.close()
        host.close()


def said(kept: Kept, method: str, path: str) -> bytes:
    return kept.ask(method, path, None, {}).read()


def test_whatever_is_asked_after_the_server_left_goes_over_a_new_connection(
    tmp_path: Path,
) -> None:
    with asked(tmp_path, [1, 1]) as (host, kept):
        assert said(kept, "GET", "/a") == b"{}"
        host.left.acquire()
        assert said(kept, "POST", "/b") == b"{}"
    assert host.heard == ["GET /a", "POST /b"]


def test_a_read_that_a_kept_connection_lost_is_asked_again(tmp_path: Path) -> None:
    with asked(tmp_path, [1, 1], unanswered=True) as (host, kept):
        assert said(kept, "GET", "/a") == b"{}"
        assert said(kept, "GET", "/b") == b"{}"
        kept.close()
    assert host.heard == ["GET /a", "GET /b", "GET /b"]


@pytest.mark.parametrize(
    ("answers", "method"),
    [
        pytest.param([1], "POST", id="a write, which may have been carried out"),
        pytest.param([0], "GET", id="a read on a new connection"),
    ],
)
def test_what_gets_no_answer_and_is_not_asked_again(
    tmp_path: Path, answers: list[int], method: str
) -> None:
    with asked(tmp_path, answers, unanswered=True) as (host, kept):
        if answers[0]:
            said(kept, "GET", "/a")
        with pytest.raises(ConnectionError):
            said(kept, method, "/b")
    assert host.heard[-1] == f"{method} /b"
    assert len(host.heard) == answers[0] + 1
