"""Fleets that share a namespace: nobody contends for it, and the last one takes it away."""

import pytest
import yaml

from reconciler.model.refs import Json
from tests.loop.world import CONFIG, Process, World, spec

REST = {"gamekeeper.yaml": CONFIG, "schedulers/lobby.yaml": spec("lobby", 1)}


def fleet(name: str, namespace: str = "servers", replicas: int = 1) -> str:
    document: Json = yaml.safe_load(spec(name, replicas))
    document["kind"] = "Fleet"
    document["spec"]["namespace"] = namespace
    return yaml.safe_dump(document, sort_keys=False)


BOTH = {"schedulers/duel.yaml": fleet("duel"), "schedulers/quake.yaml": fleet("quake")}


async def settled(files: dict[str, str], world: World | None = None) -> tuple[World, Process]:
    world = world or World()
    world.commit({**REST, **files})
    process = await world.process()
    await world.settle(process)
    return world, process


def records(world: World) -> set[str]:
    items = world.objects("/api/v1/namespaces/gamekeeper/configmaps")
    return {item["metadata"]["name"] for item in items} - {"kube-root-ca.crt"}


def budgets(world: World) -> set[str]:
    items = world.objects("/apis/policy/v1/namespaces/servers/poddisruptionbudgets")
    return {item["metadata"]["name"] for item in items}


async def test_both_have_their_rooms_and_neither_writes_over_the_other() -> None:
    world, process = await settled(BOTH)
    assert world.names("servers") == ["duel-0", "quake-0"]
    assert budgets(world) == {"duel", "quake"}
    for _ in range(3):
        report = await process.turn()
        assert not report.changed
        world.pass_time(2.0)


async def test_who_leaves_first_takes_its_own_and_the_last_takes_the_namespace() -> None:
    world, process = await settled(BOTH)
    uid = world.ask("/api/v1/namespaces/servers/pods/quake-0")["metadata"]["uid"]
    for name in ("quake", "duel"):
        assert f"gamekeeper-main-local-fleet-servers.{name}" in records(world)

    world.commit({"schedulers/duel.yaml": None})
    await world.settle(process)
    assert world.names("servers") == ["quake-0"]
    assert world.ask("/api/v1/namespaces/servers/pods/quake-0")["metadata"]["uid"] == uid
    assert budgets(world) == {"quake"}
    assert "gamekeeper-main-local-fleet-servers.duel" not in records(world)

    world.commit({"schedulers/quake.yaml": None})
    await world.settle(process)
    assert "servers" not in world.namespaces()
    assert records(world) == {"gamekeeper-main", "gamekeeper-main-local-scheduler-lobby.lobby"}


async def test_who_came_later_takes_the_namespace_away_though_it_did_not_make_it() -> None:
    world, process = await settled({"schedulers/duel.yaml": BOTH["schedulers/duel.yaml"]})
    world.commit({"schedulers/quake.yaml": BOTH["schedulers/quake.yaml"]})
    await world.settle(process)
    for name in ("duel", "quake"):
        world.commit({f"schedulers/{name}.yaml": None})
        await world.settle(process)
    assert "servers" not in world.namespaces()


async def test_who_leave_together_take_the_namespace_away() -> None:
    world, process = await settled(BOTH)
    world.commit(dict.fromkeys(BOTH))
    await world.settle(process)
    assert "servers" not in world.namespaces()
    assert records(world) == {"gamekeeper-main", "gamekeeper-main-local-scheduler-lobby.lobby"}


async def test_a_namespace_that_was_given_to_us_stays() -> None:
    world = World()
    body: Json = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "servers", "annotations": {"gamekeeper.dev/adopt": "main"}},
    }
    world.create("/api/v1/namespaces", body)
    world, process = await settled(BOTH, world)
    world.commit(dict.fromkeys(BOTH))
    await world.settle(process)
    assert "servers" in world.namespaces()
    assert world.names("servers") == []
    assert records(world) == {"gamekeeper-main", "gamekeeper-main-local-scheduler-lobby.lobby"}


async def test_a_namespace_of_another_instance_holds_every_fleet_in_it() -> None:
    world = World()
    marks = {"gamekeeper.dev/instance": "other", "gamekeeper.dev/kind": "Fleet"}
    metadata = {"name": "servers", "labels": marks}
    world.create(
        "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    )
    world.commit({**REST, **BOTH})
    process = await world.process()
    report = await process.turn()
    held = {str(hold.key) for item in report.settled for hold in item.plan.holds}
    assert held == {"Fleet/servers/duel", "Fleet/servers/quake"}
    assert world.names("servers") == []


@pytest.mark.parametrize("name", ["duel", "quake"])
async def test_a_namespace_that_somebody_deleted_comes_back_for_all(name: str) -> None:
    world, process = await settled(BOTH)
    world.delete("/api/v1/namespaces/servers")
    world.pass_time(60.0)
    await world.settle(process)
    assert any(room.startswith(name) for room in world.names("servers"))


async def test_fleets_of_one_name_and_names_that_read_alike_have_their_own_records() -> None:
    files = {
        "schedulers/a.yaml": fleet("b-c", "a"),
        "schedulers/b.yaml": fleet("c", "a-b"),
        "schedulers/c.yaml": fleet("c", "events"),
    }
    world, process = await settled(files)
    assert world.names("a") == ["b-c-0"]
    assert world.names("a-b") == world.names("events") == ["c-0"]
    assert {name for name in records(world) if "fleet" in name} == {
        "gamekeeper-main-local-fleet-a.b-c",
        "gamekeeper-main-local-fleet-a-b.c",
        "gamekeeper-main-local-fleet-events.c",
    }
    again = await world.process()
    assert not (await again.turn()).changed
    assert process.lane.store.states().keys() == again.lane.store.states().keys()


async def test_a_scheduler_that_becomes_a_fleet_goes_first_and_the_fleet_comes_after() -> None:
    world, process = await settled({"schedulers/duel.yaml": spec("duel", 2)})
    world.commit({"schedulers/duel.yaml": fleet("duel", "duel", 3)})
    await world.settle(process)
    rooms = world.objects("/api/v1/namespaces/duel/pods")
    assert [room["metadata"]["labels"]["gamekeeper.dev/kind"] for room in rooms] == ["Fleet"] * 3
    assert not {"duel-0", "duel-1"} & set(world.names("duel")), "names never come back"
    assert "gamekeeper-main-local-scheduler-duel.duel" not in records(world)
    assert "gamekeeper-main-local-fleet-duel.duel" in records(world)
