"""`gamekeeper sandbox --repo --room-command`: one command, and a fleet lives on this machine."""

import json
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.controlplane.processes import free_ports
from tests.e2e.commands import GAMEKEEPER, commit, environment, fleet, gamekeeper

SPEC = "schedulers/arena.yaml"
PATIENCE_SECONDS = 120.0
GAME = Path(__file__).parent / "room_game.py"


@dataclass
class Scene:
    """A sandbox that lives. `folder` is the repository."""

    folder: Path
    url: str
    kubeconfig: str
    process: "subprocess.Popen[str]"

    @property
    def flags(self) -> tuple[str, ...]:
        """What leads a command to this cluster and to what is kept in it."""
        return "--kubeconfig", self.kubeconfig, "--instance", "sandbox"

    def listed(self) -> set[str]:
        """The rooms that a matchmaker is told of."""
        with urllib.request.urlopen(f"{self.url}/running", timeout=5) as answer:
            return {each["metadata"]["name"] for each in json.load(answer)}

    def log(self, room: str) -> str:
        """What a room has printed."""
        return self.ask("logs", f"arena/{room}")

    def ask(self, *words: str) -> str:
        """What a command prints of what is kept here."""
        return gamekeeper(*words, *self.flags, cwd=self.folder).stdout


def _until(promise: str, check: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not check():
        assert time.monotonic() < deadline, promise
        time.sleep(0.05)


def _scale(folder: Path, rooms: int) -> None:
    now = re.search(r"^  replicas: \d+$", (folder / SPEC).read_text(), flags=re.MULTILINE)
    assert now is not None
    commit(folder, SPEC, now[0], f"  replicas: {rooms}")


def _living(folder: Path, *words_of_game: str) -> AbstractContextManager[Scene]:
    command = " ".join([sys.executable, str(GAME), *words_of_game])
    return _served(folder, "--room-command", command)


@contextmanager
def _served(folder: Path, *words: str) -> Iterator[Scene]:
    (port,) = free_ports(1)
    flags = ("--repo", str(folder), "--rooms-listen", f"127.0.0.1:{port}")
    process = subprocess.Popen(
        [GAMEKEEPER, "sandbox", *flags, *words],
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


@pytest.mark.long
def test_a_game_that_shows_no_token_is_believed_on_this_machine(tmp_path: Path) -> None:
    folder = fleet(tmp_path / "fleet")
    commit(folder, SPEC, "reports: none", "reports: required")
    with _living(folder, "--no-token") as scene:
        _until("rooms are heard", lambda: _hears(scene))
        _until("both are listed", lambda: scene.listed() == {"arena-0", "arena-1"})
        said = scene.log("arena-0")
    assert "reported as arena-0 with nothing: 200" in said
    assert "not heard: HTTP Error 401" not in said


@pytest.mark.long
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


@pytest.mark.long
def test_the_service_in_a_sandbox_is_known_to_decide(tmp_path: Path) -> None:
    folder = fleet(tmp_path / "fleet")
    with _living(folder) as scene:
        _until("rooms are heard", lambda: _hears(scene))
        _until("both are there", lambda: "  2  " in scene.ask("status"))
        assert "\nled by " in scene.ask("status")
        assert "No process leads" not in scene.ask("explain", "arena-0")
        applied = gamekeeper("apply", "--repo", ".", "--yes", *scene.flags, cwd=folder)
        assert applied.returncode == 1
        assert "One process decides at a time" in applied.stderr


@pytest.mark.long
def test_whoever_runs_a_sandbox_may_ask_what_its_rooms_say(tmp_path: Path) -> None:
    folder = fleet(tmp_path / "fleet")
    commit(folder, SPEC, "reports: none", "reports: required")
    with _living(folder) as scene:
        assert scene.process.stdout is not None
        printed = [scene.process.stdout.readline().split() for _ in range(2)]
        exported = dict(words[1].split("=", 1) for words in printed)
        token = Path(exported["GAMEKEEPER_ROOMS_API_TOKEN_FILE"])
        assert exported["GAMEKEEPER_ROOMS_API"] == scene.url
        assert token.stat().st_mode & 0o077 == 0
        _until("rooms are heard", lambda: _hears(scene))
        _until("both are listed", lambda: scene.listed() == {"arena-0", "arena-1"})
        words = ("rooms", "arena", "--output", "json", *scene.flags)
        asked = gamekeeper(*words, cwd=folder, more=exported)
        assert asked.returncode == 0, asked.stderr
        assert [room["players"] for room in json.loads(asked.stdout)["rooms"]] == [0, 0]
        assert token.read_text() not in json.dumps(printed)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["Scheduler", "Fleet"])
def test_simulated_players_come_to_simulated_games(tmp_path: Path, kind: str) -> None:
    folder = fleet(tmp_path / "fleet")
    commit(folder, SPEC, "reports: none", "reports: required")
    if kind == "Fleet":
        commit(folder, SPEC, "kind: Scheduler", "kind: Fleet")
    _scale(folder, 3)
    with _served(folder, "--players", "40", "--seed", "7") as scene:
        _until("rooms are heard", lambda: _hears(scene))
        _until("each takes players", lambda: len(scene.listed()) == 3)

        def marks() -> str:
            return scene.ask("rooms", "arena")

        _until("people play", lambda: "busy" in marks() or "occupied" in marks())
        _until("a game says so", lambda: " players" in scene.log("arena-0"))


@pytest.mark.long
def test_players_come_as_they_once_did(tmp_path: Path) -> None:
    folder = fleet(tmp_path / "fleet")
    commit(folder, SPEC, "reports: none", "reports: required")
    trace = tmp_path / "trace.csv"
    rows = (f"2025-03-17T{hour:02}:00:00Z,{1000 + hour}" for hour in range(12))
    trace.write_text("\n".join(["time,players", *rows]))
    with _served(folder, "--players", "12", "--players-trace", str(trace)) as scene:
        _until("rooms are heard", lambda: _hears(scene))
        _until("a game says so", lambda: " players" in scene.log("arena-0"))


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
        pytest.param(["--players", "9"], "where do rooms report to", id="players, and no service"),
        pytest.param(
            ["--repo", ".", "--players", "9", "--room-command", "true"],
            "either a process or a simulated game",
            id="two kinds of games",
        ),
        pytest.param(["--odd-rooms", "5"], "how many want to play", id="odd games, no players"),
        pytest.param(
            ["--repo", ".", "--players", "9", "--players-trace", "none.csv"],
            "--players-trace none.csv: No such file",
            id="no trace",
        ),
        pytest.param(
            ["--repo", ".", "--players", "9", "--players-trace", "/dev/null"],
            "it is no list of players by time",
            id="an empty trace",
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
