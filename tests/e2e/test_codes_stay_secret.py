"""The code of a room stands in its pod and nowhere else: not in what is printed, logged or kept."""

import base64
import json
import subprocess
from hashlib import sha256
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from reconciler.model.refs import Json
from tests.canaries.places import canary
from tests.e2e.commands import GAMEKEEPER, environment
from tests.e2e.processes import Fleet, fleet, free_address, until
from tests.loop.world import CONFIG, spec

pytestmark = pytest.mark.long

TOKEN = canary("admin token")
COMMANDS = (
    "render",
    "diff --live --output json",
    "status --output json",
    "rooms --output json",
    "room arena-0 --output json",
    "explain arena-0",
)


def code_of(pod: Json) -> str:
    (code,) = (
        str(variable["value"])
        for variable in pod["spec"]["containers"][0]["env"]
        if variable["name"] == "API_SERVER_CODE"
    )
    return code


def report(address: str, code: str) -> int:
    body = json.dumps({"serverName": "arena-0", "namespace": "arena", "playerCount": 3}).encode()
    request = Request(f"http://{address}/setactiveplayers?code={code}", body, method="POST")
    try:
        with urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except HTTPError as error:
        error.close()
        return error.code


def _read(url: str) -> str:
    with urlopen(url, timeout=60) as answer:
        return str(answer.read().decode())


def printed(made: Fleet, address: str) -> dict[str, str]:
    """What every command says, and fails to say, about this fleet."""
    settings = {
        "REPO": str(made.bare),
        "INSTANCE": "main",
        "KUBECONFIG": str(made.kubeconfig),
        "ROOMS_API": f"http://{address}",
        "ROOMS_API_TOKEN_FILE": str(made.folder / "token"),
    }
    said = {}
    for command in COMMANDS:
        done = subprocess.run(
            [GAMEKEEPER, *command.split()],
            cwd=made.tree,
            env=environment(**{f"GAMEKEEPER_{name}": text for name, text in settings.items()}),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        said[command] = done.stdout + done.stderr
    return said


def test_no_command_no_log_and_no_record_tells_a_code_or_its_key(tmp_path: Path) -> None:
    address = free_address()
    admins, digest = tmp_path / "admins.yaml", sha256(TOKEN.encode()).hexdigest()
    admins.write_text(f'- {{name: ops, sha256: "{digest}", schedulers: "*", verbs: [read]}}')
    (tmp_path / "token").write_text(TOKEN)
    with fleet(tmp_path) as made:
        made.commit(gamekeeper=CONFIG, schedulers__arena=spec("arena", 1, reports="required"))
        flags = ["--no-lease", "--poll-seconds", "1", "--listen", "127.0.0.1:0"]
        flags += ["--rooms-listen", address, "--rooms-admin-tokens-file", str(admins)]
        made.start_loop("cache", *flags, "--log-level", "debug")
        until("a room", lambda: len(made.pods("arena")) == 1, 30.0)
        (pod,) = made.pods("arena")
        code = code_of(pod)
        until("it is heard", lambda: report(address, code) == 200, 20.0)
        assert report(address, code[::-1]) == 401
        secret = made.ask("/api/v1/namespaces/gamekeeper/secrets/gamekeeper-room-codes")
        key = secret["data"]["current"]

        said = printed(made, address)
        assert "***" in said["render"]
        assert '"busy"' in said["rooms --output json"]
        said |= {
            "the log": (tmp_path / "cache.log").read_text(encoding="utf-8"),
            "records": json.dumps(made.ask("/api/v1/configmaps")),
            "events": json.dumps(made.ask("/api/v1/events")),
            "the list": _read(f"http://{address}/running"),
        }
        for where, text in said.items():
            for hidden in (code, code[::-1], key, base64.b64decode(key).hex(), TOKEN):
                assert hidden not in text, where
