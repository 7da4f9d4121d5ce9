"""A webhook as a real Gitea sends it: the commit is taken in at once, though nobody polls."""

import http.client
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.canaries.places import canary
from tests.codehost.gitea import Gitea
from tests.e2e.processes import fleet, free_address, until
from tests.loop.world import CONFIG, spec


class Road(ThreadingHTTPServer):
    """What lies between Gitea and the loop: it passes all on as it is, and notes the answers."""

    def __init__(self, address: str) -> None:
        super().__init__(("127.0.0.1", 0), Passing)
        self.address = address
        self.answers: list[int] = []

    @property
    def here(self) -> str:
        """Where it is called."""
        return f"127.0.0.1:{self.server_address[1]}"


class Passing(BaseHTTPRequestHandler):
    """One request."""

    server: Road

    def do_POST(self) -> None:  # the name that the library calls
        """Pass it on."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with closing(http.client.HTTPConnection(self.server.address, timeout=60)) as onward:
            onward.request("POST", self.path, body, dict(self.headers))
            status = onward.getresponse().status
        self.server.answers.append(status)
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def road_to(address: str) -> Iterator[Road]:
    with Road(address) as road:
        Thread(target=road.serve_forever, daemon=True).start()
        try:
            yield road
        finally:
            road.shutdown()


@pytest.mark.real
def test_what_is_pushed_to_gitea_is_taken_in_at_once_where_its_secret_is_ours(
    gitea: Gitea, tmp_path: Path
) -> None:
    name = gitea.make_repository("called", "bot")
    token, address = gitea.make_token("bot"), free_address()
    (tmp_path / "token").write_text(token.text)
    (tmp_path / "secret").write_text(canary("webhook secret"))
    gitea.write(name, "gamekeeper.yaml", CONFIG)
    gitea.write(name, "schedulers/arena.yaml", spec("arena", 1))
    with fleet(tmp_path) as made, road_to(address) as road:
        flags = ["--repo", gitea.url(name), "--git-username", "bot", "--git-plain-http"]
        flags += ["--git-token-file", str(tmp_path / "token"), "--poll-seconds", "3600"]
        flags += ["--listen", address, "--webhook-secret-file", str(tmp_path / "secret")]
        made.start_loop("cache", *flags, "--no-lease")
        until("one room", lambda: len(made.pods("arena")) == 1, 60.0)

        hook = gitea.call(name, road.here, "somebody else's")
        gitea.write(name, "schedulers/arena.yaml", spec("arena", 2))
        until("an answer", lambda: road.answers, 60.0)
        assert road.answers == [401]
        gitea.call_no_more(name, hook)
        assert len(made.pods("arena")) == 1

        gitea.call(name, road.here, canary("webhook secret"))
        gitea.write(name, "schedulers/arena.yaml", spec("arena", 4))
        until("four rooms", lambda: len(made.pods("arena")) == 4, 60.0)
        # It is noted once it has come back, which nobody waits for who makes rooms.
        until("another answer", lambda: len(road.answers) > 1, 60.0)
        assert road.answers == [401, 202]
    gitea.revoke("bot", token)
