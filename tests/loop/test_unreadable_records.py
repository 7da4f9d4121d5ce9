"""A record that cannot be read, or is gone, holds its own workload; the others go on."""

import base64
import json
import zlib
from types import SimpleNamespace
from typing import Any

import pytest

from reconciler.cli.statuses import status_of
from reconciler.core.conditions import STALLED, type_of
from reconciler.core.ending import LATE_SECONDS
from reconciler.loop import head
from reconciler.loop.tick import tick
from reconciler.model.errors import Misconfigured
from reconciler.model.holds import HoldKind
from reconciler.model.refs import ObjectRef, WorkloadKey
from reconciler.service.room_counts import basis_of, rollup_of
from reconciler.wiring.listening import make_rooms_api
from tests.loop.world import Process, World, spec
from tests.unit.adapters_http.office import ADMIN, Office

ARENA = WorkloadKey("Scheduler", "arena", "arena")
LOBBY = WorkloadKey("Scheduler", "lobby", "lobby")
NAMES = ("arena", "lobby", "plaza")
FILES: dict[str, str | None] = {f"schedulers/{name}.yaml": spec(name, 2) for name in NAMES}
SECOND = "registry.example/game:2"
CORRUPT = {
    "JSON that is none": {"record": "{"},
    "another form": {"record": '{"scaling": "x", "next": {}, "outstanding": []}', "schema": "1"},
    "a newer schema": {"schema": "9"},
    "another workload's": {"key": "local/Scheduler/lobby/lobby"},
    "nobody's": {"key": ""},
}


def of(process: Process, what: str) -> ObjectRef:
    places = process.lane.store._places
    return {"state": places.state, "ordinals": places.ordinals}[what](ARENA)


async def three() -> tuple[World, Process]:
    world = World()
    world.commit(FILES)
    process = await world.process()
    await world.settle(process)
    return world, process


async def turns(world: World, process: Process, number: int = 6) -> None:
    for _ in range(number):
        try:
            await process.turn()
        except Misconfigured:
            # The clusters' lanes go on with what they have.
            await tick(process.lane, sorted(process.view.workloads()), world.time.now())
        world.pass_time(2.0)


def scaled(count: int, **more: Any) -> dict[str, str | None]:
    return {path: spec(path[11:-5], count, **more) for path in FILES}


def rooms(world: World) -> dict[str, int]:
    return {name: len(world.pods(name)) for name in NAMES}


def kinds(process: Process) -> dict[str, HoldKind]:
    return {hold.key.name if hold.key else "": hold.kind for hold in process.lane.wanted.holds}


@pytest.mark.parametrize(
    ("whose", "told"),
    [
        ("another workload's", "write local/Scheduler/arena/arena there again"),
        ("nobody's", "Write local/Scheduler/arena/arena into its `key` again"),
    ],
)
async def test_a_record_that_says_it_is_not_ours_is_told_with_what_mends_it(
    whose: str, told: str
) -> None:
    _, process = await three()
    await process.cluster.merge_patch(of(process, "state"), {"data": CORRUPT[whose]})
    await process.lane.store.load()
    assert told in process.lane.store.unreadable(ARENA)


def packed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode())).decode()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("[]", id="no object"),
        pytest.param('{"kind": "Scheduler", "metadata": {"name": "arena"}}', id="half of one"),
        pytest.param("x" * 20_000_000, id="more than any spec"),
    ],
)
async def test_a_record_of_no_spec_holds_its_own_workload(text: str) -> None:
    world, process = await three()
    data = world.ask(_path(of(process, "state")))["data"]
    record = json.loads(data["record"])
    record["accepted"]["spec"] = packed(text)
    await process.cluster.merge_patch(
        of(process, "state"), {"data": {"record": json.dumps(record)}}
    )
    fresh = await world.process()
    world.commit(scaled(4, image=SECOND))
    await turns(world, fresh, 12)
    assert rooms(world) == {"arena": 2, "lobby": 4, "plaza": 4}
    assert kinds(fresh) == {"arena": HoldKind.UNREADABLE_RECORD}


async def test_a_record_with_the_spec_of_another_workload_holds_its_own() -> None:
    world, process = await three()
    records = {
        name: json.loads(world.ask(_path(process.lane.store._places.state(key)))["data"]["record"])
        for name, key in (("arena", ARENA), ("lobby", LOBBY))
    }
    records["arena"]["accepted"]["spec"] = records["lobby"]["accepted"]["spec"]
    data = {"record": json.dumps(records["arena"])}
    await process.cluster.merge_patch(of(process, "state"), {"data": data})
    fresh = await world.process()
    assert "holds the spec of Scheduler/lobby" in fresh.lane.store.unreadable(ARENA)


@pytest.mark.parametrize("what", ["state", "ordinals"])
@pytest.mark.parametrize("data", CORRUPT.values(), ids=CORRUPT.keys())
async def test_a_record_that_cannot_be_read_holds_its_own_workload_alone(
    data: dict[str, str], what: str
) -> None:
    world, process = await three()
    record = world.ask(_path(of(process, what)))["data"]
    await process.cluster.merge_patch(of(process, what), {"data": data})
    fresh = await world.process()
    world.commit(scaled(4, image=SECOND))
    await turns(world, fresh, 12)
    assert rooms(world) == {"arena": 2, "lobby": 4, "plaza": 4}
    assert kinds(fresh) == {"arena": HoldKind.UNREADABLE_RECORD}
    assert not [call for call in fresh.transport.writes if "arena" in call.what]
    world.delete(f"/api/v1/namespaces/arena/pods/{world.names('arena')[0]}")
    world.commit({"schedulers/arena.yaml": None})
    await turns(world, fresh)
    assert rooms(world)["arena"] == 1
    assert not [call for call in fresh.transport.writes if "arena" in call.what]
    (shown,) = (
        each for each in status_of(fresh.lane, [], None, 0.0).workloads if each.key == ARENA
    )
    assert (shown.state, shown.holds[0].kind) == ("held", HoldKind.UNREADABLE_RECORD)
    is_newer = data is CORRUPT["a newer schema"]
    until = "until then: delete no record" if is_newer else "until somebody restores the record"
    assert until in shown.holds[0].reason
    await process.cluster.merge_patch(of(process, what), {"data": record})
    world.pass_time(LATE_SECONDS)
    await turns(world, fresh, 12)
    assert not kinds(fresh)
    assert "arena" not in world.namespaces()


async def test_without_a_room_it_is_shown_as_not_well_wherever_it_is_shown() -> None:
    world, process = await three()
    await process.cluster.merge_patch(of(process, "state"), {"data": {"record": "{"}})
    await process.lane.store.load()
    for name in world.names("arena"):
        world.delete(f"/api/v1/namespaces/arena/pods/{name}")
    await turns(world, process)
    (shown,) = (
        each for each in status_of(process.lane, [], None, 0.0).workloads if each.key == ARENA
    )
    office = Office()
    for room in list(office.desk.rooms(ARENA)):
        office.change(room.pod.name, terminating=True)
    service: Any = SimpleNamespace(
        app=SimpleNamespace(cluster_lane=process, fleets=lambda: None),
        desk=office.desk,
        door=office.keeper,
        rooms=SimpleNamespace(reported=print),
    )
    office.api = make_rooms_api(service)
    answer = await office.ask("GET", "/v1/workloads?workload=Scheduler/arena/arena", token=ADMIN)
    (told,) = json.loads(answer.body)["workloads"]
    face = shown.rooms.rollup
    assert (told["health"], told["pods"]) == ("Creating", "Pending")
    assert (face.health.value, face.pods.value) == ("Creating", "Pending")


async def test_what_else_holds_a_workload_is_told_beside_a_record_that_cannot_be_read() -> None:
    """Rooms that are replaced no more need people, whatever became of the record of names.

    That it was suspended then may be over, and nobody keeps it up.
    """
    _, process = await three()
    state = of(process, "state")
    record = json.loads((await process.cluster.get(state) or {})["data"]["record"])
    record["conditions"] = [
        [STALLED, True, HoldKind.NEEDS_INTERVENTION, "it needs people", 0.0],
        [type_of(HoldKind.SUSPENDED), True, HoldKind.SUSPENDED, "of then", 0.0],
    ]
    await process.cluster.merge_patch(state, {"data": {"record": json.dumps(record)}})
    await process.cluster.merge_patch(of(process, "ordinals"), {"data": {"record": "{"}})
    await process.lane.store.load()
    both = [HoldKind.UNREADABLE_RECORD, HoldKind.NEEDS_INTERVENTION]
    assert [hold.kind for hold in process.lane.store.holds(ARENA)] == both
    shown = next(
        each for each in status_of(process.lane, [], None, 0.0).workloads if each.key == ARENA
    )
    assert ([hold.kind for hold in shown.holds], shown.state) == (both, "held")
    assert shown.rooms.rollup.health.value == "NeedsIntervention"
    counted = await rollup_of(basis_of(process.lane, ARENA))
    assert counted.health.value == "NeedsIntervention"


async def test_a_record_that_breaks_under_a_process_stops_its_next_write() -> None:
    world, process = await three()
    await process.cluster.merge_patch(of(process, "state"), {"data": {"record": "{"}})
    before = len(process.transport.writes)
    world.commit(scaled(4))
    await turns(world, process)
    assert rooms(world) == {"arena": 2, "lobby": 4, "plaza": 4}
    assert kinds(process) == {"arena": HoldKind.UNREADABLE_RECORD}
    refused = [call.what for call in process.transport.writes[before:] if "arena" in call.what]
    assert set(refused) <= {f"replace {of(process, 'state')}"}


async def test_without_git_a_record_that_cannot_be_read_holds_too() -> None:
    world, process = await three()
    await process.cluster.merge_patch(of(process, "state"), {"data": {"record": "{"}})
    world.host.down()
    fresh = await world.process()
    for name in ("arena", "lobby"):
        world.delete(f"/api/v1/namespaces/{name}/pods/{world.names(name)[0]}")
    await turns(world, fresh)
    assert rooms(world) == {"arena": 1, "lobby": 2, "plaza": 2}
    assert kinds(fresh) == {"arena": HoldKind.UNREADABLE_RECORD}


async def test_where_no_record_of_the_repository_can_be_read_the_whole_instance_waits() -> None:
    world, process = await three()
    ref = process.lane.store.repository_ref
    record = world.ask(_path(ref))["data"]
    await process.cluster.merge_patch(ref, {"data": {"schema": "9"}})
    fresh = Process(world)
    with pytest.raises(Misconfigured, match="schema version '9'"):
        await fresh.start()
    status = status_of(fresh.lane, fresh.view.workloads(), None, 0.0)
    assert [each.key.name for each in status.workloads] == ["arena", "lobby", "plaza"]
    assert status.notices[0].kind is HoldKind.UNREADABLE_RECORD
    assert "nothing else is written" in status.notices[0].reason
    world.commit({**scaled(4), "schedulers/lobby.yaml": None})
    for waiting in (fresh, process):
        await turns(world, waiting)
        assert rooms(world) == {"arena": 2, "lobby": 2, "plaza": 2}
        with pytest.raises(Misconfigured, match="schema version '9'"):
            await head.look(waiting.head, world.time.now())
    await process.cluster.merge_patch(ref, {"data": record})
    await turns(world, process, 10)
    assert rooms(world) == {"arena": 4, "lobby": 0, "plaza": 4}


async def _lost(world: World, process: Process) -> Process:
    """Delete the state record of arena by hand; return a process that never read it."""
    world.delete(_path(of(process, "state")))
    return await world.process()


async def test_objects_alone_without_a_record_are_given_and_hold_nothing() -> None:
    world, process = await three()
    fresh = await _lost(world, process)
    for name in world.names("arena"):
        world.delete(f"/api/v1/namespaces/arena/pods/{name}")
    world.pass_time(60.0)
    world.commit({"schedulers/arena.yaml": None})
    await turns(world, fresh, 12)
    assert not kinds(fresh)
    assert not fresh.lane.store.repository.offers
    assert "arena" in world.namespaces()
    status = status_of(fresh.lane, fresh.view.workloads(), None, 0.0)
    assert not [hold for each in status.workloads for hold in each.holds]


@pytest.mark.parametrize("count", [2, 4])
async def test_of_a_lost_record_what_only_adds_acts(count: int) -> None:
    world, process = await three()
    fresh = await _lost(world, process)
    before = set(world.names("arena"))
    world.commit({"schedulers/arena.yaml": spec("arena", count)})
    await world.settle(fresh)
    assert before <= set(world.names("arena"))
    assert rooms(world)["arena"] == count
    assert not kinds(fresh)


WIDE = {"min": 1, "max": 60, "policy": {"schedule": [{"replicas": 1}]}}
BOUNDED = {"min": 1, "max": 6, "policy": {"schedule": [{"replicas": 1}]}}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(spec("arena", 1), "scale-in to=1", id="a scale-in"),
        pytest.param(
            spec("arena", 1, autoscaling=BOUNDED), "scale-in to=1", id="one inside bounds"
        ),
        pytest.param(spec("arena", 3, SECOND), "rollout to=3", id="a roll-out"),
        pytest.param(None, "left-git to=0", id="a spec that left Git"),
    ],
)
async def test_of_a_lost_record_what_removes_waits_for_an_approval(
    text: str | None, line: str
) -> None:
    world, process = await three()
    fresh = await _lost(world, process)
    before = set(world.names("arena"))
    world.commit({"schedulers/arena.yaml": text})
    await turns(world, fresh)
    for waiting in (fresh, await world.process()):
        await turns(world, waiting)
        assert set(world.names("arena")) == before
        assert kinds(waiting) == {"arena": HoldKind.NO_ACCEPTED_COMMIT}
    world.commit({"README.md": "Arena is played on Fridays."})
    await turns(world, fresh)
    assert set(world.names("arena")) == before, "that has nothing to do with it"
    (hold,) = fresh.lane.wanted.holds
    (offer,) = fresh.lane.store.repository.offers
    assert (offer.change_hash, offer.lines[0].endswith(line)) == (hold.change_hash, True)
    status = status_of(fresh.lane, fresh.view.workloads(), None, 0.0)
    shown = [*status.notices, *(held for each in status.workloads for held in each.holds)]
    assert [held.kind for held in shown].count(HoldKind.NO_ACCEPTED_COMMIT) >= 1
    world.approve(hold.change_hash)
    await turns(world, fresh, 12)
    world.pass_time(60.0)  # nobody knows for how long its rooms are to be left alone
    await turns(world, fresh, 12)
    assert not kinds(fresh)
    images = [pod["spec"]["containers"][0]["image"] for pod in world.pods("arena")]
    wanted = {"scale-in to=1": 1, "rollout to=3": 3, "left-git to=0": 0}[line]
    assert len(images) == wanted
    assert (SECOND in images) is (line == "rollout to=3")


async def test_the_bounds_of_a_commit_that_was_held_for_a_lost_record_let_nothing_pass() -> None:
    """Nor those of the next, until a person let one pass."""
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 30)})
    process = await world.process()
    await world.settle(process)
    fresh = await _lost(world, process)
    for count in (1, 2, 3):
        world.commit({"schedulers/arena.yaml": spec("arena", count, autoscaling=WIDE)})
        await turns(world, fresh, 12)
        assert kinds(fresh) == {"arena": HoldKind.NO_ACCEPTED_COMMIT}
        fresh = await world.process()
        assert len(world.names("arena")) == 30
    await turns(world, fresh)
    (hold,) = fresh.lane.wanted.holds
    world.approve(hold.change_hash)
    await turns(world, fresh, 12)
    assert len(world.names("arena")) == 3
    accepted = fresh.lane.store.state(ARENA).accepted
    assert accepted is not None
    assert not accepted.unreviewed


def _path(ref: ObjectRef) -> str:
    return f"/api/v1/namespaces/{ref.namespace}/configmaps/{ref.name}"
