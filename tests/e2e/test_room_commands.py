"""rooms, room, drain, logs and explain beside a running loop, as people meet them.

One sandbox, one loop and three rooms for all of them; what a test changes, it takes back.
"""

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.canaries.places import canary
from tests.e2e.commands import GAMEKEEPER, commit, environment, git
from tests.e2e.processes import free_address
from tests.e2e.test_commands import SPEC, Place, process

pytestmark = pytest.mark.long

LONGEST_SECONDS = 160.0
IDLE = ["busy", "idle", "idle"]
TOKEN = canary("admin token")
SCOPED = canary("admin token", "scoped")


class Stage(Place):
    """A place with a loop that listens to rooms."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.api = f"http://{free_address()}"
        admins = folder / "admins.yaml"
        digest, scoped = (sha256(token.encode()).hexdigest() for token in (TOKEN, SCOPED))
        admins.write_text(
            f'- {{name: ops, sha256: {digest}, schedulers: "*", verbs: [read, drain]}}\n'
            f"- {{name: team, sha256: {scoped}, schedulers: [arena], verbs: [read]}}\n"
        )
        (folder / "token").write_text(TOKEN)
        (folder / "scoped").write_text(SCOPED)
        self.listens = (
            "--rooms-listen",
            self.api.removeprefix("http://"),
            "--rooms-without-token",
            "127.0.0.0/8",
            "--rooms-admin-tokens-file",
            str(admins),
        )
        self.asks = ("--rooms-api", self.api, "--rooms-api-token-file", str(folder / "token"))

    def report(self, name: str, **said: Any) -> None:
        """Let a room report."""
        body = json.dumps(said).encode()
        url = f"{self.api}/v1/rooms/arena/{name}/report"
        headers = {"content-type": "application/json"}
        with urlopen(Request(url, body, headers, method="PUT"), timeout=60) as answer:
            assert answer.status == 200

    def rooms(self) -> dict[str, Any]:
        """The rooms that are not on their way out, by name, as the API shows them."""
        headers = {"authorization": f"Bearer {TOKEN}"}
        with urlopen(Request(f"{self.api}/v1/rooms", headers=headers), timeout=60) as answer:
            found = json.load(answer)["rooms"]
        return {each["name"]: each for each in found if each["state"] != "terminating"}

    def shown(self, *words: str) -> dict[str, Any]:
        """The rooms as the command shows them, by name."""
        return {each["name"]: each for each in self.json("rooms", *words)["rooms"]}

    def idle(self) -> list[str]:
        """Let every room but the busy one say that it is empty; return these once it stands."""

        def all_idle() -> bool:
            for name, each in self.rooms().items():
                if each["mark"] != "busy" and each["ready"]:
                    with suppress(HTTPError):  # one too many may go in between
                        self.report(name, state="ready")
            return sorted(each["mark"] for each in self.rooms().values()) == IDLE

        until(all_idle)
        return sorted(name for name, each in self.rooms().items() if each["mark"] == "idle")


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONGEST_SECONDS
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def _answers(api: str) -> bool:
    """Whether the loop leads, and has read the cluster."""
    try:
        with urlopen(f"{api}/running", timeout=60) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Three rooms, one of them with players."""
    here = Stage(tmp_path_factory.mktemp("rooms"))
    commit(here.repository, SPEC, "reports: none", "reports: required")
    commit(here.repository, SPEC, "replicas: 2\n", "replicas: 3\n  removal: {quietSeconds: 1}\n")
    command = [GAMEKEEPER, "sandbox", "--nodes", "2", "--kubeconfig", str(here.kubeconfig)]
    with process(command, {}):
        until(here.kubeconfig.exists)
        with here.loop(*here.listens):
            until(lambda: _answers(here.api))
            until(lambda: sum(each["ready"] for each in here.rooms().values()) == 3)
            here.report("arena-1", state="occupied", players=7, matches=1)
            here.idle()
            yield here


@pytest.fixture
def idle(stage: Stage) -> list[str]:
    return stage.idle()


def test_every_room_stands_in_the_table_with_its_state(stage: Stage, idle: list[str]) -> None:
    done = stage.run("rooms")
    lines = done.stdout.splitlines()
    assert lines[0].split()[:2] == ["ROOM", "STATE"]
    states = dict(line.split()[:2] for line in lines[1:])
    assert states["arena/arena-1"] == "occupied"
    assert all(states[f"arena/{name}"] == "ready" for name in idle)


def test_the_api_adds_what_the_loop_alone_knows(stage: Stage) -> None:
    assert stage.shown()["arena-1"]["players"] is None
    told = stage.shown(*stage.asks)["arena-1"]
    assert (told["players"], told["matches"]) == (7, 1)
    assert told["address"]
    assert 0 <= told["reportAgeSeconds"] < LONGEST_SECONDS


def test_a_wrong_address_of_the_api_is_named(stage: Stage) -> None:
    done = stage.run("rooms", "--rooms-api", "http://127.0.0.1:1")
    assert done.returncode == 1
    assert "http://127.0.0.1:1/v1/rooms cannot be connected to: Connection refused" in done.stderr
    done = stage.run("rooms", "--rooms-api", stage.api)
    assert done.returncode == 1
    assert "answers 401" in done.stderr


@pytest.mark.parametrize(
    "command", [("rooms", "arena"), ("room", "arena-1"), ("explain", "arena-1")]
)
def test_who_may_read_one_workload_asks_the_api_for_that_one(
    stage: Stage, command: tuple[str, ...]
) -> None:
    asks = (*stage.asks[:-1], str(stage.folder / "scoped"))
    done = stage.run(*command, *asks)
    assert done.returncode == 0, done.stderr
    assert "7" in done.stdout
    done = stage.run("rooms", *asks)
    assert done.returncode == 1
    assert "name one of these" in done.stderr


def test_a_room_is_shown_whole(stage: Stage) -> None:
    done = stage.run("room", "arena-1")
    assert "occupied: last recorded busy" in done.stdout
    assert re.search(r"asked by +commit [0-9a-f]{40}, schedulers/arena.yaml:4", done.stdout)
    shown = stage.json("room", "arena/arena-1", *stage.asks)
    assert shown["protectedBecause"] == "1 of 1 matches run, 7 players"
    assert stage.run("room", "arena-99").returncode == 1


def test_a_room_is_explained_by_its_rule_its_report_and_its_line_in_git(stage: Stage) -> None:
    head = git(stage.repository, "rev-parse", "HEAD")
    said = stage.run("explain", "arena-1", *stage.asks).stdout
    assert "arena/arena-1 is occupied: 1 of 1 matches run, 7 players" in said
    assert "not by our doing, and no eviction passes" in said
    assert "players 7, matches 1" in said
    assert f"schedulers/arena.yaml:4 at commit {head}" in said
    assert "nothing is to be done with it" in said
    without = stage.run("explain", "arena-1").stdout
    assert "--rooms-api with its address asks it" in without


def test_a_workload_is_explained(stage: Stage, idle: list[str]) -> None:
    said = stage.run("explain", "Scheduler/arena", *stage.asks).stdout
    assert "Scheduler/arena is ready: 3 rooms wanted" in said
    assert "1 occupied, 2 ready" in said
    assert stage.json("explain", "arena", *stage.asks)["next"] == ["nothing is to be done"]


def test_a_busy_room_that_is_drained_stays_to_the_end_and_the_request_can_be_taken_back(
    stage: Stage,
) -> None:
    done = stage.run("drain", "arena-1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "arena/arena-1 is busy: it stays to the end, and leaves then\n"
    assert stage.shown()["arena-1"]["leaving"]["why"] == "request"
    assert "asked to leave: 1 room with players stays until it ends" in stage.run("status").stdout
    waited = stage.run("drain", "arena-1", "--wait", "--timeout", "1")
    assert waited.returncode == 1
    assert "still there after 1 s: arena/arena-1" in waited.stderr
    assert stage.run("drain", "arena-1", "--undo").stdout == "arena/arena-1 stays\n"
    assert stage.rooms()["arena-1"]["leaving"] == ""


def test_an_idle_room_that_is_drained_goes_and_is_replaced(stage: Stage, idle: list[str]) -> None:
    with subprocess.Popen(
        [GAMEKEEPER, "drain", idle[0], "--wait"],
        env=environment(**stage.settings),
        stderr=subprocess.PIPE,
        text=True,
    ) as drain:
        while drain.poll() is None:
            # It reports on, as a room does: that is how it is known to be empty.
            if idle[0] in stage.rooms():
                with suppress(HTTPError):  # it may go in between
                    stage.report(idle[0], state="ready")
            time.sleep(0.5)
        assert drain.stderr is not None
        assert "All are gone." in drain.stderr.read()
    assert drain.returncode == 0
    assert idle[0] not in stage.rooms()
    assert len(stage.idle()) == 2
    for command in ("drain", "room", "explain"):
        told = stage.run(command, idle[0]).stderr
        assert f"room {idle[0]} of Scheduler/arena is not there (any more)" in told


def test_a_node_is_drained_of_its_rooms_and_not_cordoned(stage: Stage, idle: list[str]) -> None:
    node = stage.rooms()["arena-1"]["node"]
    there = sorted(name for name, each in stage.rooms().items() if each["node"] == node)
    shown = stage.run("drain", f"node/{node}", "--output", "json")
    asked = json.loads(shown.stdout)
    assert (asked["node"], sorted(each["name"] for each in asked["rooms"])) == (node, there)
    assert f"kubectl cordon {node}" in shown.stderr
    courses = {each["name"]: each["course"] for each in asked["rooms"]}
    assert courses.pop("arena-1") == "when-empty"
    assert set(courses.values()) <= {"draining"}
    assert stage.run("drain", node, "--undo").returncode == 0
    # Rooms were made in the place of those that were to leave: one too many may go again.
    assert "request" not in {each["leaving"] for each in stage.rooms().values()}


def test_of_a_node_that_is_drained_the_busy_room_stays_and_the_others_go(
    stage: Stage, idle: list[str]
) -> None:
    node = stage.rooms()["arena-1"]["node"]
    there = {name for name, each in stage.rooms().items() if each["node"] == node}
    assert stage.run("drain", node).returncode == 0

    def gone() -> bool:
        rooms = stage.rooms()
        for name in rooms:
            if name != "arena-1":
                with suppress(HTTPError):  # it may go in between
                    stage.report(name, state="ready")
        return there & rooms.keys() == {"arena-1"} and len(rooms) >= 3

    until(gone)
    assert stage.rooms()["arena-1"]["leaving"] == "request"
    assert stage.run("drain", node, "--undo").returncode == 0
    stage.idle()


def test_who_has_no_rights_drains_nothing(stage: Stage) -> None:
    done = stage.run("drain", "arena-1", "--as", "somebody")
    assert done.returncode == 1
    assert "somebody" in done.stderr
    assert stage.rooms()["arena-1"]["leaving"] == ""


def test_a_log_is_printed_whole_or_its_end(stage: Stage) -> None:
    whole = stage.run("logs", "arena-1").stdout.splitlines()
    assert len(whole) > 1
    assert stage.run("logs", "arena/arena-1", "--tail", "1").stdout.splitlines() == whole[-1:]
    refused = stage.run("logs", "arena-1", "-c", "none")
    assert refused.returncode == 1
    assert "container none is not valid" in refused.stderr


def test_a_watch_prints_each_room_that_changes(stage: Stage, idle: list[str]) -> None:
    with subprocess.Popen(
        [GAMEKEEPER, "rooms", "arena", "--watch", "--output", "json"],
        env=environment(**stage.settings),
        stdout=subprocess.PIPE,
        text=True,
    ) as watch:
        assert watch.stdout is not None
        first = [json.loads(watch.stdout.readline()) for _ in range(3)]
        assert {line["type"] for line in first} == {"room"}
        stage.report(idle[0], state="occupied", matches=1)
        # One that was made too many by an earlier test may go in between.
        lines = (json.loads(watch.stdout.readline()) for _ in range(50))
        states = ((each["room"]["name"], each["room"]["state"]) for each in lines)
        assert (idle[0], "occupied") in states
        watch.terminate()
    stage.report(idle[0], state="ready")
