"""Who may administer: a token of our file for the workloads it names, or whom the cluster lets."""

import hashlib
import os
from argparse import ArgumentParser
from pathlib import Path
from typing import cast

import pytest

from reconciler.cli.options import add_settings, settings_of
from reconciler.loop.lane import Lane
from reconciler.model.errors import Denied, Misconfigured, Unavailable
from reconciler.model.refs import WorkloadKey
from reconciler.room_ports import NotAdmitted, Verb
from reconciler.sandbox.access import Rule, User
from reconciler.sandbox.openid import ISSUER
from reconciler.service.doors.admins import Admins
from reconciler.wiring.clusters import OneCluster
from reconciler.wiring.doors import make_door
from tests.unit.service_doors.gate import AUDIENCE, NOTHING, PEER, Gate, bearer, code, refusal

THEIRS = WorkloadKey("Fleet", "teamb", "arena")
ARENA, RACE = WorkloadKey("Scheduler", "arena", "arena"), WorkloadKey("Fleet", "servers", "race")
READS = Rule(["get"], ["gamekeeper.dev"], ["rooms"], namespaces=["arena"])
ANNA = {"annas-token": User("anna", rules=[READS])}


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def entry(name: str, token: str, schedulers: str = '"*"', verbs: str = "[read, drain]") -> str:
    lines = (f"- name: {name}", f'sha256: "{digest(token)}"', f"schedulers: {schedulers}")
    return "\n  ".join((*lines, f"verbs: {verbs}")) + "\n"


def write(path: Path, text: str) -> None:
    path.write_text(text)


async def asked(
    gate: Gate, token: str, verb: Verb = "read", workload: WorkloadKey | None = ARENA
) -> str | int:
    """Return who is let in, or the status of the refusal."""
    try:
        return await gate.door.admit_person(bearer(token), PEER, verb, workload)
    except NotAdmitted as error:
        return error.status


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "admins.yaml"
    path.write_text(
        entry("director", "t-all")
        + entry("reader", "t-read", verbs="[read]")
        + entry("arena-team", "t-arena", "[arena, duel]")
        + entry("their-team", "t-theirs", "[Fleet/teamb/arena]")
    )
    return path


@pytest.mark.parametrize(
    ("token", "verb", "workload", "answer"),
    [
        pytest.param("t-all", "drain", ARENA, "director", id="who may everything"),
        pytest.param("t-all", "read", None, "director", id="and look at everything"),
        pytest.param("t-read", "read", RACE, "reader", id="who may look"),
        pytest.param("t-read", "drain", RACE, 403, id="but not act"),
        pytest.param("t-arena", "drain", ARENA, "arena-team", id="on one's own"),
        pytest.param("t-arena", "drain", RACE, 403, id="not on another's"),
        pytest.param("t-arena", "read", None, 403, id="not on all together"),
        pytest.param("t-arena", "drain", THEIRS, 403, id="not on one of that name elsewhere"),
        pytest.param("t-theirs", "drain", THEIRS, "their-team", id="on one that is written out"),
        pytest.param("t-theirs", "drain", ARENA, 403, id="and on that alone"),
        pytest.param("t-nobody", "read", ARENA, 401, id="nobody's token"),
        pytest.param(digest("t-all"), "read", ARENA, 401, id="the hash is no token"),
        pytest.param("é\udc80", "read", ARENA, 401, id="what is no text"),
    ],
)
async def test_by_the_tokens_file(
    file: Path, token: str, verb: Verb, workload: WorkloadKey | None, answer: str | int
) -> None:
    assert await asked(Gate(admins=str(file)), token, verb, workload) == answer


async def test_the_file_is_read_again_when_it_changes(file: Path) -> None:
    gate = Gate(admins=str(file))
    assert await asked(gate, "t-all") == "director"
    write(file, entry("another", "t-new"))
    assert await asked(gate, "t-all") == 401
    assert await asked(gate, "t-new") == "another"


async def test_a_file_with_a_mistake_or_none_lets_nobody_in(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gate = Gate(admins=str(file))
    assert await asked(gate, "t-all") == "director"
    good = entry("director", "t-all")
    write(file, good + "- name: unfinished\n")
    assert await asked(gate, "t-all") == 401
    assert await asked(gate, "t-all") == 401
    assert caplog.text.count("nobody is let in by their tokens") == 1
    write(file, good)
    assert await asked(gate, "t-all") == "director"
    os.remove(file)
    assert await asked(gate, "t-all") == 401


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("name: x", ":1: this is no list", id="no list"),
        pytest.param("a: [", ":2: this is not YAML", id="no YAML"),
        pytest.param(
            entry("a", "t") + "- name: b\n", ":5: an entry has name, sha256", id="one is unfinished"
        ),
        pytest.param(
            '- {name: a, sha256: short, schedulers: "*", verbs: [read]}',
            ":1: sha256: write the 64 hex digits",
            id="no hash",
        ),
        pytest.param(
            entry("a", "t").replace(digest("t"), "short"), ":2: sha256: write", id="a short hash"
        ),
        pytest.param(
            entry("a", "t", "arena"), ":3: schedulers: write a list", id="no list of them"
        ),
        pytest.param(
            entry("a", "t", "['*']"), ":3: schedulers: .* alone, in no list", id="all in a list"
        ),
        pytest.param(
            entry("a", "t", verbs="[write]"), ":4: verbs: write a list", id="another verb"
        ),
        pytest.param(
            entry("a", "t") + "  until: never\n", ":5: an entry has name", id="one field too many"
        ),
        pytest.param("- a", ":1: an entry has name", id="no entry"),
        pytest.param(entry("a", "t") + entry("b", "t"), ":6: this sha256 stands", id="twice"),
        pytest.param(
            entry("a", "t").replace("name:", "name: c\n  name:"),
            ':1: "name" is written twice',
            id="a key twice",
        ),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "admins.yaml"
    path.write_text(text)
    with pytest.raises(Misconfigured, match=f"admins.yaml{said}") as told:
        Admins(str(path)).load()
    assert digest("t") not in str(told.value)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"nowhere.*--rooms-admin-tokens-file"):
        Admins(str(tmp_path / "nowhere")).load()


async def test_whom_the_cluster_allows_is_let_in_where_it_does() -> None:
    gate = Gate(users=ANNA)
    assert await asked(gate, "annas-token") == "anna"
    assert await asked(gate, "annas-token", "drain") == 403
    assert await asked(gate, "annas-token", workload=RACE) == 403
    assert await asked(gate, "annas-token", workload=None) == 403
    assert await asked(gate, "nobodys-token") == 401


async def test_the_cluster_is_asked_again_after_half_a_minute() -> None:
    gate = Gate(users=ANNA)
    before = len(gate.asked())
    for _ in range(29):
        assert await asked(gate, "annas-token") == "anna"
        assert await asked(gate, "annas-token", "drain") == 403
        gate.time.passed += 1
    assert gate.asked()[before:] == [
        "create TokenReview ",
        "create SubjectAccessReview ",
        "create SubjectAccessReview ",
    ]
    gate.time.passed += 2
    assert await asked(gate, "annas-token") == "anna"
    assert len(gate.asked()) - before == 5


async def test_a_rooms_own_token_makes_nobody_an_administrator() -> None:
    gate = Gate()
    await gate.room("arena-1")
    assert await asked(gate, gate.token("arena-1")) == 403
    assert await asked(gate, gate.token("arena-1", ISSUER)) == 403
    assert await asked(gate, gate.token("arena-1", "gamekeeper.dev/other")) == 401


async def test_a_persons_token_speaks_for_no_room(file: Path) -> None:
    gate = Gate(admins=str(file), users=ANNA)
    pod = await gate.room("arena-1")
    for token in ("t-all", "annas-token"):
        assert (await refusal(gate.door, pod, bearer(token)))[0] == 401


async def test_a_person_is_known_by_a_bearer_token_alone() -> None:
    gate = Gate(users=ANNA)
    for shown in (NOTHING, code("annas-token"), bearer("")):
        with pytest.raises(NotAdmitted) as refused:
            await gate.door.admit_person(shown, PEER, "read", ARENA)
        assert refused.value.status == 401


async def test_who_is_tried_as_a_room_first_may_drain_a_whole_evening(file: Path) -> None:
    gate = Gate(admins=str(file), users=ANNA)
    pod = await gate.room("arena-1")
    for token in ("annas-token", "t-all"):
        for _ in range(40):
            assert (await refusal(gate.door, pod, bearer(token)))[0] == 401
            assert isinstance(await asked(gate, token), str)
            gate.time.passed += 1


async def test_a_person_who_guesses_has_to_wait() -> None:
    gate = Gate(users=ANNA)
    before = len(gate.asked())
    answers = [await asked(gate, f"guess-{number}") for number in range(30)]
    assert answers == [401] * 10 + [429] * 20
    assert len(gate.asked()) - before == 10


async def test_while_the_api_server_is_down_a_person_is_no_stranger() -> None:
    gate = Gate(users=ANNA)
    gate.fails("reviews", lambda: Unavailable("down"))
    with pytest.raises(Unavailable):
        await asked(gate, "annas-token")


async def test_where_we_may_not_ask_nobody_is_let_in_and_that_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gate = Gate(users=ANNA)
    gate.fails("reviews", lambda: Denied("tokenreviews is forbidden"))
    assert await asked(gate, "annas-token") == 401
    assert await asked(gate, "another") == 401
    assert caplog.text.count("nobody is let in by a TokenReview") == 1


async def test_lists_are_open_unless_a_code_is_asked_for(file: Path) -> None:
    assert not await Gate().door.admit_reader(NOTHING, PEER)
    gate = Gate(admins=str(file), list_needs_code=True)
    await gate.room("arena-1")
    for each in (code("t-read"), bearer("t-read")):
        assert await gate.door.admit_reader(each, PEER), "it has turns of its own"
    assert not await gate.door.admit_reader(bearer(gate.token("arena-1", AUDIENCE)), PEER)
    for each in (NOTHING, code("wrong"), bearer("wrong")):
        with pytest.raises(NotAdmitted) as refused:
            await gate.door.admit_reader(each, PEER)
        assert refused.value.status == 401


@pytest.mark.parametrize("needs_code", [False, True])
async def test_the_setting_of_the_process_asks_for_the_code(needs_code: bool) -> None:
    gate = Gate()
    parser = ArgumentParser()
    add_settings(parser, "rooms_list_needs_code")
    flag = ["--rooms-list-needs-code"] if needs_code else []
    settings = settings_of(parser.parse_args(flag), {})
    lane = cast(Lane, None)  # who is let in depends on no lane
    door = make_door(settings, OneCluster(gate.cluster, gate.view, lane, gate.codes, gate.time))
    if not needs_code:
        assert not await door.admit_reader(NOTHING, PEER)
        return
    with pytest.raises(NotAdmitted) as refused:
        await door.admit_reader(NOTHING, PEER)
    assert refused.value.status == 401


async def test_where_lists_are_open_whoever_is_known_is_told_apart_unasked(file: Path) -> None:
    reads = Rule(["get"], ["gamekeeper.dev"], ["rooms"])
    gate = Gate(admins=str(file), users={"annas-token": User("anna", rules=[reads])})
    for each in (code("t-read"), bearer("t-read")):
        assert await gate.door.admit_reader(each, PEER)
    for each in (bearer("annas-token"), bearer("t-arena"), code("wrong"), NOTHING):
        assert not await gate.door.admit_reader(each, PEER)
    assert gate.asked() == [], "a stranger's word costs the API server nothing"
    assert await asked(gate, "annas-token", workload=None) == "anna"
    before = gate.asked()
    assert await gate.door.admit_reader(bearer("annas-token"), PEER)
    assert gate.asked() == before


async def test_where_lists_are_open_who_drained_in_one_namespace_waits_for_no_api_server() -> None:
    everywhere = Rule(["get", "update"], ["gamekeeper.dev"], ["rooms"])
    gate = Gate(users={"annas-token": User("anna", rules=[everywhere])})
    assert await asked(gate, "annas-token", "drain") == "anna"
    before = gate.asked()
    assert not await gate.door.admit_reader(bearer("annas-token"), PEER)
    assert gate.asked() == before


async def test_who_is_known_and_may_not_guesses_nothing(file: Path) -> None:
    """One that looks on, and is refused what it may not do, must not lock out its neighbours."""
    gate = Gate(admins=str(file))
    for _ in range(30):
        # First tried as the room's own voice, as every token is that comes by a room's path.
        with pytest.raises(NotAdmitted):
            await gate.door.admit_room("arena", "arena-0", None, bearer("t-read"), PEER)
        assert await asked(gate, "t-read", "drain") == 403

    assert await asked(gate, "a-first-guess") == 401
