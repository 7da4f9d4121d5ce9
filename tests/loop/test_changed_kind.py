"""A spec whose kind a commit changes: another workload, under a name that is still taken."""

import pytest
import yaml

from reconciler.cli.statuses import status_of
from reconciler.core.ending import LATE_SECONDS
from reconciler.loop.lane import Lane
from reconciler.model.errors import RecordChanged
from reconciler.model.holds import HoldKind
from reconciler.model.records import Ordinals
from reconciler.model.refs import Json, ObjectRef, WorkloadKey
from tests.loop.test_preview import previewed
from tests.loop.world import CONFIG, Process, World, spec

SCHEDULER = WorkloadKey("Scheduler", "arena", "arena")
FLEET = WorkloadKey("Fleet", "arena", "arena")
LOBBY = WorkloadKey("Scheduler", "lobby", "lobby")
FILE = "schedulers/arena.yaml"


def text(kind: str, replicas: int = 2) -> str:
    document: Json = yaml.safe_load(spec("arena", replicas))
    document["kind"] = kind
    return yaml.safe_dump(document, sort_keys=False)


async def begun(replicas: int = 2) -> tuple[World, Process]:
    world = World()
    world.commit(
        {
            "gamekeeper.yaml": CONFIG,
            "schedulers/lobby.yaml": spec("lobby", 1),
            FILE: text("Scheduler", replicas),
        }
    )
    process = await world.process()
    await world.settle(process)
    return world, process


async def mark(process: Process, name: str, state: str) -> None:
    room = ObjectRef("v1", "Pod", "arena", name)
    labels = {"gamekeeper.dev/state": state}
    await process.cluster.merge_patch(room, {"metadata": {"labels": labels}})


def kinds(world: World) -> dict[str, str]:
    """The kind of every object of ours in the namespace."""
    found = {}
    for path in ("api/v1/namespaces/arena/pods", "api/v1/namespaces/arena/serviceaccounts"):
        for item in world.objects(f"/{path}"):
            marks = item["metadata"].get("labels") or {}
            if "gamekeeper.dev/kind" in marks:
                found[f"{path.rpartition('/')[2]}/{item['metadata']['name']}"] = marks[
                    "gamekeeper.dev/kind"
                ]
    return found


async def turns(world: World, process: Process, number: int = 6) -> list[str]:
    """Turn; return what failed, and what was held of the fleet."""
    told = []
    for _ in range(number):
        report = await process.turn()
        told += [each.error for item in report.settled for each in item.outcomes if each.error]
        world.pass_time(2.0)
    holds = (hold for item in report.settled for hold in item.plan.holds)
    return told + [hold.reason for hold in holds if (hold.kind, hold.key) == HELD]


HELD = (HoldKind.FOREIGN, FLEET)
ORDINALS = "/api/v1/namespaces/arena/configmaps/gamekeeper-arena"
RECORD = ObjectRef("v1", "ConfigMap", "arena", "gamekeeper-arena")
AS_FLEET: dict[str, Json] = {
    "key": {"data": {"key": "local/Fleet/arena/arena"}},
    "label": {"metadata": {"labels": {"gamekeeper.dev/kind": "Fleet"}}},
}


async def taken_back() -> tuple[World, Process]:
    """A change of kind that waits for a match, and is taken back before that ends."""
    world, process = await begun()
    await mark(process, "arena-0", "busy")
    world.commit({FILE: text("Fleet")})
    await turns(world, process)
    world.pass_time(700.0)  # the end of the other is counted in a window of its own
    world.commit({FILE: text("Scheduler")})
    return world, process


async def test_it_waits_for_the_last_room_of_the_other_and_takes_nothing_from_it() -> None:
    world, process = await begun()
    await mark(process, "arena-0", "busy")
    world.commit({FILE: text("Fleet")})
    told = await turns(world, process)
    assert kinds(world) == {"pods/arena-0": "Scheduler", "serviceaccounts/arena": "Scheduler"}
    (held,) = told
    assert "Scheduler/arena has the same name, and is not gone yet" in held
    shown = status_of(process.lane, [], None, world.time.now()).workloads
    (fleet,) = (each for each in shown if each.key == FLEET)
    assert fleet.state == "stalled"
    assert (fleet.rooms.rollup.health, fleet.rooms.rollup.pods) == ("Creating", "Pending")

    world.delete("/api/v1/namespaces/arena/pods/arena-0")
    await world.settle(process)
    names = world.names("arena")
    assert len(names) == 2
    assert not {"arena-0", "arena-1"} & set(names), "names never come back"
    assert set(kinds(world).values()) == {"Fleet"}


async def test_a_look_at_the_cluster_tells_for_whom_it_will_wait() -> None:
    world, process = await begun()
    await mark(process, "arena-0", "busy")
    world.commit({FILE: text("Fleet")})
    (fleet,) = (each for each in await previewed(world, Process(world)) if each.plan.key == FLEET)
    (held,) = fleet.holds
    assert "begins when the last of its rooms has ended" in held.reason


async def test_whoever_comes_after_it_takes_the_namespace_away() -> None:
    world, process = await begun()
    world.commit({FILE: text("Fleet")})
    await world.settle(process)
    assert set(kinds(world).values()) == {"Fleet"}
    world.pass_time(700.0)  # both ends together are more rooms than may go in one window
    world.commit({FILE: None})
    await world.settle(process)
    assert "arena" not in world.namespaces()


async def test_while_the_end_of_the_other_is_held_neither_writes_over_the_other() -> None:
    world, process = await begun(replicas=6)
    world.commit({FILE: text("Fleet", 6)})
    told = await turns(world, process)
    assert set(kinds(world).values()) == {"Scheduler"}
    assert len(world.names("arena")) == 6
    (held,) = told
    assert "Scheduler/arena has the same name" in held

    report = await process.turn()
    assert not report.changed


async def test_one_that_began_beside_the_other_waits_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """An older version knew no namesakes: its installations have the objects of both."""
    world, process = await begun()
    await mark(process, "arena-0", "busy")
    world.commit({FILE: text("Fleet")})
    with monkeypatch.context() as older:
        older.setattr(Lane, "_namesake", lambda _self, _key: None)
        await turns(world, process)
    assert kinds(world) == {"pods/arena-0": "Scheduler", "serviceaccounts/arena": "Fleet"}

    process = await world.process()
    (held,) = await turns(world, process)
    assert "Scheduler/arena has the same name" in held
    world.delete("/api/v1/namespaces/arena/pods/arena-0")
    await world.settle(process)
    assert len(world.names("arena")) == 2
    assert set(kinds(world).values()) == {"Fleet"}


async def test_a_room_of_the_other_kind_is_not_taken_for_one_that_was_made() -> None:
    world = World()
    world.commit({"schedulers/lobby.yaml": spec("lobby", 1), FILE: text("Fleet", 1)})
    process = await world.process()
    await world.settle(process)
    labels = world.ask("/api/v1/namespaces/arena/pods/arena-0")["metadata"]["labels"]
    metadata = {"name": "arena-1", "labels": {**labels, "gamekeeper.dev/kind": "Scheduler"}}
    containers = [{"name": "game", "image": "registry.example/game:1"}]
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
    world.create("/api/v1/namespaces/arena/pods", {**body, "spec": {"containers": containers}})
    world.commit({FILE: text("Fleet", 2)})
    report = await process.turn()
    skipped = [hold.reason for item in report.settled for hold in item.holds]
    assert "the name is skipped" in " ".join(skipped)
    await turns(world, process)
    assert world.names("arena") == ["arena-0", "arena-1", "arena-2"]


@pytest.mark.parametrize("fails_over", [False, True])
async def test_one_that_is_taken_back_leaves_nothing_of_the_other_kind(fails_over: bool) -> None:
    world, process = await taken_back()
    if fails_over:
        process = await world.process()
        world.pass_time(LATE_SECONDS)
    assert await turns(world, process) == []
    assert set(process.lane.store.states()) == {SCHEDULER, LOBBY}
    assert not process.lane.store.unreadable_workloads()
    assert world.ask(ORDINALS)["data"]["key"] == "local/Scheduler/arena/arena"
    assert len(world.names("arena")) == 2
    assert set(kinds(world).values()) == {"Scheduler"}


@pytest.mark.parametrize("mark_of_it", AS_FLEET)
async def test_its_end_leaves_a_record_whose_marks_do_not_agree(mark_of_it: str) -> None:
    """Somebody wrote the other kind on it: that is one more reason to leave it alone."""
    world, process = await taken_back()
    before = world.ask(ORDINALS)["metadata"]["uid"]
    await process.cluster.merge_patch(RECORD, AS_FLEET[mark_of_it])
    await turns(world, process)
    assert FLEET not in process.lane.store.states()
    assert world.ask(ORDINALS)["metadata"]["uid"] == before


async def test_nobody_is_told_to_write_another_name_on_the_record_of_a_known_workload() -> None:
    _, process = await begun()
    store = process.lane.store
    with pytest.raises(RecordChanged):
        await store.save_ordinals(FLEET, Ordinals(0))
    heard = [store.unreadable(FLEET)]
    # Its label may be wrong as well, and whoever leads next goes by that.
    await process.cluster.merge_patch(RECORD, AS_FLEET["label"])
    await store.load()
    heard.append(store.unreadable(FLEET))
    for told in heard:
        assert "is the record of local/Scheduler/arena/arena" in told
        assert "there again" not in told


async def test_nobody_is_told_so_where_the_other_has_a_record_that_cannot_be_read() -> None:
    _, process = await begun()
    store = process.lane.store
    state = store._places.state(SCHEDULER)
    await process.cluster.merge_patch(state, {"data": {"schema": "99"}})
    await process.cluster.merge_patch(RECORD, AS_FLEET["label"])
    await store.load()
    assert SCHEDULER not in store.states()
    told = store.unreadable(FLEET)
    assert "is the record of local/Scheduler/arena/arena" in told
    assert "there again" not in told


async def test_the_end_of_the_only_one_takes_a_record_with_a_wrong_label_with_it() -> None:
    world, process = await begun()
    await process.cluster.merge_patch(RECORD, AS_FLEET["label"])
    process = await world.process()
    assert process.lane.store.ordinals(SCHEDULER) is None
    before = len(process.transport.calls)
    await process.lane.store.drop_ordinals(SCHEDULER)
    assert [call.verb for call in process.transport.calls[before:]] == ["get", "delete"]
    names = [each["metadata"]["name"] for each in world.objects("/api/v1/configmaps")]
    assert RECORD.name not in names
