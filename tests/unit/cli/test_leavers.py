"""Rooms that are asked to leave, over the real client and sandbox: who is faster, and who stays."""

from dataclasses import replace

import pytest

from reconciler.cli.drain_text import print_asked
from reconciler.cli.leavers import Asked, Course, ask
from reconciler.cli.room_reading import Around, SeenRoom, read_pods, see
from reconciler.model import labels
from reconciler.model.errors import Denied
from reconciler.model.records import StateRecord
from reconciler.model.refs import Json, ObjectRef
from reconciler.model.rooms import Mark, Why
from reconciler.model.specs import Workload
from tests.loop.world import Process, World, spec
from tests.unit.cli.screens import console, text_of
from tests.unit.core.making import a_key, a_pod, a_workload

REPORTS: Workload = a_workload(reports="required")
AROUND = Around(specs={a_key(): REPORTS})


async def place() -> Process:
    """A cluster with one ready room."""
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    process = await world.process()
    await world.settle(process)
    return process


async def room(process: Process) -> SeenRoom:
    pods = await read_pods(process.cluster, "main", "arena")
    return see(pods, AROUND)[0]


async def mark(process: Process, mark: Mark, **notes: str) -> None:
    """Let the loop, or somebody else, write on the room's pod."""
    ref = ObjectRef("v1", "Pod", "arena", "arena-0")
    patch: Json = {"metadata": {"labels": {labels.STATE: mark.value}, "annotations": notes}}
    await process.cluster.merge_patch(ref, patch)


async def test_an_idle_room_drains_at_once() -> None:
    process = await place()
    await mark(process, Mark.IDLE)
    (asked,) = await ask(
        process.cluster, [await room(process)], AROUND, leaves=True, now=process.world.time.now
    )
    assert asked.course is Course.DRAINING
    assert (asked.pod.mark, asked.pod.leaving) == (Mark.DRAINING, Why.REQUEST)
    assert asked.pod.leaving_since > 0


async def test_a_room_that_turned_busy_since_it_was_read_stays_to_the_end() -> None:
    process = await place()
    await mark(process, Mark.IDLE)
    stale = await room(process)
    await mark(process, Mark.BUSY)
    (asked,) = await ask(process.cluster, [stale], AROUND, leaves=True, now=process.world.time.now)
    assert asked.course is Course.WHEN_EMPTY
    assert (asked.pod.mark, asked.pod.leaving) == (Mark.BUSY, Why.REQUEST)


async def test_a_room_of_which_no_spec_can_be_read_is_only_told_to_leave() -> None:
    process = await place()
    await mark(process, Mark.IDLE)
    (asked,) = await ask(
        process.cluster, [await room(process)], Around(), leaves=True, now=process.world.time.now
    )
    assert (asked.pod.mark, asked.pod.leaving) == (Mark.IDLE, Why.REQUEST)


@pytest.mark.parametrize(
    ("notes", "rests"), [({labels.WAS_HEARD: "true"}, Mark.IDLE), ({}, Mark.NONE)]
)
async def test_a_room_of_which_no_spec_can_be_read_stays_when_that_is_taken_back(
    notes: dict[str, str], rests: Mark
) -> None:
    """Who may not read the records may ask for it: a mark `draining` left behind would end it."""
    process = await place()
    asked_for = {labels.LEAVING: "request", labels.LEAVING_SINCE: "1800000000"}
    await mark(process, Mark.DRAINING, **asked_for, **notes)
    (asked,) = await ask(
        process.cluster, [await room(process)], Around(), leaves=False, now=process.world.time.now
    )
    assert asked.course is Course.STAYS
    assert (asked.pod.mark, asked.pod.leaving, asked.pod.was_heard) == (rests, Why.STAYS, False)
    await process.world.settle(process)
    assert process.world.names("arena") == ["arena-0"]


async def test_a_request_is_taken_back() -> None:
    process = await place()
    await mark(process, Mark.IDLE)
    await ask(
        process.cluster, [await room(process)], AROUND, leaves=True, now=process.world.time.now
    )
    (asked,) = await ask(
        process.cluster, [await room(process)], AROUND, leaves=False, now=process.world.time.now
    )
    assert asked.course is Course.STAYS
    # It stood as one that was heard, whatever its spec says of reports.
    assert (asked.pod.mark, asked.pod.leaving) == (Mark.IDLE, Why.STAYS)


async def test_what_git_asks_for_is_not_taken_back() -> None:
    process = await place()
    await mark(process, Mark.BUSY, **{labels.LEAVING: "scale-in", labels.LEAVING_SINCE: "1"})
    (asked,) = await ask(
        process.cluster, [await room(process)], AROUND, leaves=False, now=process.world.time.now
    )
    assert (asked.course, asked.done) == (Course.LEAVES, False)
    assert asked.pod.leaving is Why.SCALE_IN


async def test_a_request_taken_back_keeps_no_room_whose_spec_left_git() -> None:
    process = await place()
    await mark(process, Mark.BUSY, **{labels.LEAVING: "request", labels.LEAVING_SINCE: "1"})
    around = replace(AROUND, states={a_key(): StateRecord(deleting=True)})
    (asked,) = await ask(
        process.cluster, [await room(process)], around, leaves=False, now=process.world.time.now
    )
    assert (asked.course, asked.done) == (Course.LEAVES, False)
    # The request is off the pod: should the spec come back, the room stays.
    assert asked.pod.leaving is Why.STAYS


@pytest.mark.parametrize(
    ("mark", "leaving", "course", "line"),
    [
        pytest.param(Mark.IDLE, Why.STAYS, Course.STAYS, "stays", id="one that is wanted"),
        pytest.param(
            Mark.FAILED,
            Why.FAILED,
            Course.STAYS,
            "has failed, and stays for a post-mortem",
            id="one that is kept",
        ),
        pytest.param(
            Mark.BUSY,
            Why.STAYS,
            Course.LEAVES,
            "leaves all the same, once nobody plays there: its spec left Git, and only a commit "
            "takes that back",
            id="a busy one whose spec left Git, which its pod does not say yet",
        ),
        pytest.param(
            Mark.DRAINING,
            Why.ROLLOUT,
            Course.LEAVES,
            "leaves all the same: it is of an old revision, and only a commit takes that back",
            id="an old one",
        ),
        pytest.param(
            Mark.DRAINING,
            Why.FAILED,
            Course.LEAVES,
            "leaves all the same: it failed",
            id="a failed one that no commit mends",
        ),
    ],
)
def test_what_becomes_of_a_room_that_is_taken_back_is_told(
    mark: Mark, leaving: Why, course: Course, line: str
) -> None:
    screen = console()
    print_asked(screen, "text", [Asked(a_pod(0, mark=mark, leaving=leaving), course)], "")
    assert text_of(screen.out) == f"arena/arena-0 {line}\n"


@pytest.mark.parametrize(
    ("revision", "says"),
    [
        pytest.param("", "stays", id="of the revision that is wanted"),
        pytest.param(
            "1-next", "stays until the roll-out takes it: it is of an old revision", id="old"
        ),
    ],
)
async def test_a_room_of_an_old_revision_stays_until_the_roll_out(revision: str, says: str) -> None:
    process = await place()
    await mark(process, Mark.IDLE, **{labels.LEAVING: "request", labels.LEAVING_SINCE: "1"})
    (pair,) = await read_pods(process.cluster, "main", "arena")
    wanted = replace(REPORTS, revision=revision or pair[1].revision)
    around = Around(specs={a_key(): wanted})
    asked = await ask(
        process.cluster, see([pair], around), around, leaves=False, now=process.world.time.now
    )
    screen = console()
    print_asked(screen, "text", asked, "")
    assert text_of(screen.out) == f"arena/arena-0 {says}\n"


async def test_taking_back_leaves_a_kept_room_as_it_is() -> None:
    process = await place()
    await mark(process, Mark.FAILED, **{labels.LEAVING: "failed"})
    (asked,) = await ask(
        process.cluster, [await room(process)], AROUND, leaves=False, now=process.world.time.now
    )
    assert (asked.course, asked.pod.leaving) == (Course.STAYS, Why.FAILED)


async def test_a_room_that_is_gone_is_no_failure_and_its_successor_is_not_touched() -> None:
    process = await place()
    stale = await room(process)
    process.world.delete("/api/v1/namespaces/arena/pods/arena-0")
    process.world.pass_time(60)
    (asked,) = await ask(process.cluster, [stale], AROUND, leaves=True, now=process.world.time.now)
    assert (asked.course, asked.done) == (Course.GONE, True)


async def test_a_refusal_of_the_server_is_told_for_its_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    process = await place()
    await mark(process, Mark.IDLE)
    there = await room(process)

    async def denied(*_: object) -> None:
        raise Denied("patch Pod arena/arena-0: forbidden")

    monkeypatch.setattr(process.cluster, "json_patch", denied)
    (asked,) = await ask(process.cluster, [there], AROUND, leaves=True, now=process.world.time.now)
    assert (asked.course, asked.done) == (Course.FAILED, False)
    screen = console()
    print_asked(screen, "text", [asked], "")
    assert "arena/arena-0 was not reached: patch Pod" in text_of(screen.out)


def test_the_sum_tells_who_leaves_now_and_who_later() -> None:
    asked = [
        Asked(a_pod(0, mark=Mark.DRAINING), Course.DRAINING),
        Asked(a_pod(1, mark=Mark.BUSY), Course.WHEN_EMPTY),
        Asked(a_pod(2, mark=Mark.NONE), Course.WHEN_EMPTY),
    ]
    screen = console()
    print_asked(screen, "text", asked, "node-1")
    lines = text_of(screen.out).splitlines()
    drains = "drains: nobody is sent there any more, and it goes once known empty"
    assert lines[0] == f"arena/arena-0 {drains}"
    assert lines[1] == "arena/arena-1 is busy: it stays to the end, and leaves then"
    assert lines[2] == "arena/arena-2 is to leave once it is known to be empty"
    assert lines[3] == "1 room draining now, 2 to leave once known to be empty."


def test_a_node_without_rooms_is_named() -> None:
    screen = console()
    print_asked(screen, "text", [], "node-1")
    assert text_of(screen.out) == "No room runs on node-1.\n"
