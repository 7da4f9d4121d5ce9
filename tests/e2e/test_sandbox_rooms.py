"""`gamekeeper sandbox --repo --room-command`: one command, and a fleet lives on this machine."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.commands import GAMEKEEPER, commit, environment, fleet, gamekeeper

SPEC = "schedulers/arena.yaml"
PATIENCE_SECONDS = 30.0
GAME = Path(__file__).parent / "room_game.py"


@dataclass
class Scene:
    """A sandbox that lives. `folder` is the repository."""

    folder: Path
    url: str
    kubeconfig: str
    process: "subprocess.Popen[str]"

    def listed(self) -> set[str]:
        """The rooms that a matchmaker is told of."""
        with urllib.request.urlopen(f"{self.url}/running", timeout=5) as answer:
            return {each["metadata"]["name"] for each in json.load(answer)}

    def log(self, room: str) -> str:
        """What a room has printed."""
        flags = ("--kubeconfig", self.kubeconfig, "--instance", "sandbox")
        return gamekeeper("logs", f"arena/{room}", *flags, cwd=self.folder).stdout


def _until(promise: str, check: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not check():
        assert time.monotonic() < deadline, promise
        time.sleep(0.05)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _scale(folder: Path, rooms: int) -> None:
    now = re.search(r"^  replicas: \d+$", (folder / SPEC).read_text(), flags=re.MULTILINE)
    assert now is not None
    commit(folder, SPEC, now[0], f"  replicas: {rooms}")


@contextmanager
def _living(folder: Path) -> Iterator[Scene]:
    port = _free_port()
    words = ("--repo", str(folder), "--room-command", f"{sys.executable} {GAME}")
    process = subprocess.Popen(
        [GAMEKEEPER, "sandbox", *words, "--rooms-listen", f"127.0.0.1:{port}"],
        cwd=folder.parent, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        printed = re.fullmatch(r"export KUBECONFIG=(\S+)\n", process.stdout.readline())
        assert printed is not None
        assert process.stdout.readline() == "export GAMEKEEPER_INSTANCE=sandbox\n"
        yield Scene(folder, f"http://127.0.0.1:{port}", printed[1], process)
    finally:
        process.kill()
        process.wait(30)
        process.stdout.close()
        process.stderr.close()


def _hears(scene: Scene) -> bool:
    try:
        scene.listed()
    except OSError:
        return False
    return True


def _pids(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"pid (\d+)", text)]


def _is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def test_a_fleet_of_processes_reports_scales_in_and_leaves_nothing(tmp_path: Path) -> None:
    folder = fleet(tmp_path / "fleet")
    commit(folder, SPEC, "reports: none", "reports: required")
    with _living(folder) as scene:
        _until("rooms are heard", lambda: _hears(scene))
        _until("both are listed", lambda: scene.listed() == {"arena-0", "arena-1"})
        pids = _pids(scene.log("arena-0")) + _pids(scene.log("arena-1"))
        assert len(pids) == 2
        assert "reported as arena-0 with a token: 200" in scene.log("arena-0")
        _scale(folder, 1)
        _until("one leaves", lambda: scene.listed() == {"arena-0"})
        _until("its process ends", lambda: _is_gone(pids[1]))
        assert not _is_gone(pids[0])
        scene.process.send_signal(signal.SIGINT)
        _until("the sandbox ends", lambda: scene.process.poll() is not None)
        assert scene.process.returncode == 0
        assert _is_gone(pids[0])
        assert not Path(scene.kubeconfig).parent.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--room-command", "sleep 9"], "where do rooms report to", id="no service"),
        pytest.param(["--repo", "no/fleet"], "there is no such directory", id="no repository"),
        pytest.param(
            ["--repo", ".", "--room-command", "no-such-game"],
            "there is no program no-such-game",
            id="no program",
        ),
        pytest.param(
            ["--repo", ".", "--room-command", "sh -c 'x"], "No closing quotation", id="a quote"
        ),
    ],
)
def test_a_mistake_is_told_before_anything_starts(
    tmp_path: Path, words: list[str], said: str
) -> None:
    done = gamekeeper("sandbox", *words, cwd=tmp_path)
    assert done.returncode == 1
    assert said in done.stderr
    assert done.stdout == ""
