"""A push and a signed POST: the commit is taken in at once, though nobody polls."""

import hashlib
import hmac
import http.client
from functools import partial
from pathlib import Path

import pytest

from tests.canaries.places import canary
from tests.e2e.processes import Fleet, fleet, free_address, until
from tests.gitservers.http import HttpGitServer
from tests.loop.world import CONFIG, spec

pytestmark = pytest.mark.long

SECRET = canary("webhook secret").encode()


def post(address: str, body: bytes, signature: str = "") -> int:
    """POST to /webhook and return the status."""
    return ask(address, "POST", "/webhook", body, signature)


def ask(address: str, method: str, path: str, body: bytes = b"", signature: str = "") -> int:
    """Ask a face of a loop and return the status."""
    connection = http.client.HTTPConnection(address, timeout=60)
    headers = {"X-Hub-Signature-256": signature} if signature else {}
    try:
        connection.request(method, path, body, headers)
        return connection.getresponse().status
    finally:
        connection.close()


def signed(body: bytes, secret: bytes) -> str:
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def _has(made: Fleet, rooms: int) -> bool:
    return len(made.pods("arena")) == rooms


def test_a_signed_post_brings_a_commit_in_and_no_other_does(tmp_path: Path) -> None:
    address, secret = free_address(), tmp_path / "secret"
    secret.write_bytes(SECRET)
    with fleet(tmp_path) as made, HttpGitServer(tmp_path, tls=False) as host:
        made.commit(gamekeeper=CONFIG, schedulers__arena=spec("arena", 1))
        flags = ["--repo", host.url("fleet.git"), "--no-lease", "--poll-seconds", "3600"]
        flags += ["--listen", address, "--webhook-secret-file", str(secret)]
        made.start_loop("cache", *flags)
        until("one room", lambda: len(made.pods("arena")) == 1, 30.0)
        assert f"listening at {address}" in made.log("cache")
        made.commit(schedulers__arena=spec("arena", 3))
        body = b'{"ref": "refs/heads/main"}'
        assert post(address, body) == 401
        assert post(address, body, signed(body, b"another")) == 401
        assert post(address, bytes(4 * 1024 * 1024), signed(body, SECRET)) == 413
        assert len(made.pods("arena")) == 1
        assert post(address, body, signed(body, SECRET)) == 202
        until("three rooms", lambda: len(made.pods("arena")) == 3, 10.0)


def test_a_signed_post_to_a_replica_that_does_not_lead_reaches_the_one_that_does(
    tmp_path: Path,
) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    leader, standby = free_address(), free_address()
    with fleet(tmp_path) as made, HttpGitServer(tmp_path, tls=False) as host:
        made.commit(gamekeeper=CONFIG, schedulers__arena=spec("arena", 1))
        flags = ["--repo", host.url("fleet.git"), "--poll-seconds", "3600"]
        flags += ["--webhook-secret-file", str(secret)]
        made.start_loop("leader", *flags, "--listen", leader)
        until("one room", lambda: len(made.pods("arena")) == 1, 30.0)
        made.start_loop("standby", *flags, "--listen", standby)
        until("the standby is ready", lambda: ask(standby, "GET", "/readyz") == 200, 30.0)
        # Twice, since the first makes the object and the second finds it. No two are alike, as a
        # Git host's: what is sent again is looked at later.
        for rooms in (3, 5):
            body = b'{"ref": "refs/heads/main", "rooms": %d}' % rooms
            made.commit(schedulers__arena=spec("arena", rooms))
            assert post(standby, body) == 401
            assert post(standby, body, signed(body, SECRET)) == 202
            until("the rooms", partial(_has, made, rooms), 10.0)
