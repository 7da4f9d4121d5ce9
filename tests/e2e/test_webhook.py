"""A push and a signed POST: the commit is taken in at once, though nobody polls."""

import hashlib
import hmac
import http.client
import socket
import subprocess
import sys
from pathlib import Path

from tests.e2e.processes import fleet, until
from tests.gitservers.http import HttpGitServer
from tests.loop.world import CONFIG, spec

SECRET = b"a secret of the studio"
PROGRAM = str(Path(sys.executable).with_name("gamekeeper"))


def post(address: str, body: bytes, signature: str = "") -> int:
    """POST to /webhook and return the status."""
    connection = http.client.HTTPConnection(address, timeout=10)
    headers = {"X-Hub-Signature-256": signature} if signature else {}
    try:
        connection.request("POST", "/webhook", body, headers)
        return connection.getresponse().status
    finally:
        connection.close()


def signed(body: bytes, secret: bytes) -> str:
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def test_a_signed_post_brings_a_commit_in_and_no_other_does(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = "{}:{}".format(*free.getsockname())
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    with fleet(tmp_path) as made, HttpGitServer(tmp_path, tls=False) as host:
        made.commit(gamekeeper=CONFIG, schedulers__arena=spec("arena", 1))
        words = ["--repo", host.url("fleet.git"), "--instance", "main", "--no-lease"]
        words += ["--kubeconfig", str(made.kubeconfig), "--cache-dir", str(tmp_path / "cache")]
        words += ["--poll-seconds", "3600", "--listen", address]
        words += ["--webhook-secret-file", str(secret)]
        log = tmp_path / "cache.log"
        with log.open("ab") as out:
            made.loops.append(subprocess.Popen([PROGRAM, "run", *words], stdout=out, stderr=out))
        until("one room", lambda: len(made.pods("arena")) == 1, 30.0)
        made.commit(schedulers__arena=spec("arena", 3))
        body = b'{"ref": "refs/heads/main"}'
        assert post(address, body) == 401
        assert post(address, body, signed(body, b"another")) == 401
        assert post(address, bytes(4 * 1024 * 1024), signed(body, SECRET)) == 413
        assert len(made.pods("arena")) == 1
        assert post(address, body, signed(body, SECRET)) == 202
        until("three rooms", lambda: len(made.pods("arena")) == 3, 10.0)
