"""The main story, in virtual time: commits become rooms, and nothing is lost on the way."""

from reconciler.model.holds import HoldKind
from tests.loop.world import World, spec


async def test_a_commit_becomes_a_fleet_and_an_idle_loop_writes_nothing() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 3)})
    process = await world.process()
    await world.settle(process)
    assert len(world.pods("arena")) == 3
    before = len(process.transport.writes)
    for _ in range(5):
        await process.turn()
    assert len(process.transport.writes) == before


async def test_a_commit_scales() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 3)})
    process = await world.process()
    await world.settle(process)
    kept = set(world.names("arena"))
    world.commit({"schedulers/arena.yaml": spec("arena", 6)})
    await world.settle(process)
    assert kept < set(world.names("arena"))
    assert len(world.names("arena")) == 6


async def test_a_new_image_replaces_every_room_within_its_bounds() -> None:
    world = World()
    rollout = {"maxSurge": 1, "maxUnavailable": 0}
    world.commit({"schedulers/arena.yaml": spec("arena", 4, rollout=rollout)})
    process = await world.process()
    await world.settle(process)
    before = set(world.names("arena"))
    world.commit(
        {"schedulers/arena.yaml": spec("arena", 4, "registry.example/game:2", rollout=rollout)}
    )
    for _ in range(30):
        await process.turn()
        ready = [pod for pod in world.pods("arena") if _is_ready(pod)]
        assert len(ready) >= 4
        assert len(world.pods("arena")) <= 5
        world.pass_time(1.0)
    assert not before & set(world.names("arena"))
    assert {_image(pod) for pod in world.pods("arena")} == {"registry.example/game:2"}


async def test_a_room_deleted_by_hand_returns_under_another_name() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 3)})
    process = await world.process()
    await world.settle(process)
    victim = world.names("arena")[0]
    world.delete(f"/api/v1/namespaces/arena/pods/{victim}")
    await world.settle(process)
    assert len(world.names("arena")) == 3
    assert victim not in world.names("arena")


async def test_a_broken_commit_is_held_and_a_revert_heals() -> None:
    world = World()
    good = spec("arena", 3)
    world.commit({"schedulers/arena.yaml": good, "schedulers/lobby.yaml": spec("lobby", 2)})
    process = await world.process()
    await world.settle(process)
    broken = good.replace("replicas: 3", "replicas: many")
    world.commit({"schedulers/arena.yaml": broken, "schedulers/lobby.yaml": spec("lobby", 3)})
    await world.settle(process)
    assert [hold.kind for hold in process.lane.wanted.holds] == [HoldKind.FINDING]
    assert len(world.pods("arena")) == 3
    assert len(world.pods("lobby")) == 3
    world.commit({"schedulers/arena.yaml": good})
    await world.settle(process)
    assert not process.lane.wanted.holds


async def test_a_mass_deletion_is_refused_then_approved() -> None:
    world = World()
    world.commit(
        {"schedulers/arena.yaml": spec("arena", 2), "schedulers/lobby.yaml": spec("lobby", 12)}
    )
    process = await world.process()
    await world.settle(process)
    world.commit({"schedulers/lobby.yaml": None})
    await world.settle(process)
    hold = process.lane.wanted.holds[0]
    assert hold.kind is HoldKind.OVER_BUDGET
    assert len(world.pods("lobby")) == 12
    world.approve(hold.change_hash)
    await world.settle(process)
    assert "lobby" not in world.namespaces()
    assert not [
        item
        for item in world.objects("/api/v1/namespaces/gamekeeper/configmaps")
        if "approval" in item["metadata"]["name"]
    ]


async def test_a_removed_spec_is_pruned_with_its_namespace() -> None:
    world = World()
    world.commit(
        {"schedulers/arena.yaml": spec("arena", 2), "schedulers/lobby.yaml": spec("lobby", 2)}
    )
    process = await world.process()
    await world.settle(process)
    world.commit({"schedulers/arena.yaml": None})
    await world.settle(process)
    assert "arena" not in world.namespaces()
    assert len(world.pods("lobby")) == 2


async def test_what_a_namespace_holds_is_looked_at_as_metadata_alone() -> None:
    world = World()
    world.commit(
        {"schedulers/arena.yaml": spec("arena", 1), "schedulers/lobby.yaml": spec("lobby", 1)}
    )
    process = await world.process()
    await world.settle(process)
    world.commit({"schedulers/arena.yaml": None})
    await world.settle(process)
    looks = [call for call in process.transport.calls if call.what.endswith(" in arena")]
    assert {call.kind for call in looks} >= {"Pod", "ConfigMap", "ServiceAccount"}
    assert {call.accept.partition(";")[2].split(";")[0] for call in looks} == {
        "as=PartialObjectMetadataList"
    }


async def test_a_namespace_that_holds_a_strangers_object_is_kept() -> None:
    world = World()
    world.commit(
        {"schedulers/arena.yaml": spec("arena", 1), "schedulers/lobby.yaml": spec("lobby", 1)}
    )
    process = await world.process()
    await world.settle(process)
    metadata = {"name": "scores", "namespace": "arena"}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    world.create("/api/v1/namespaces/arena/configmaps", body)
    world.commit({"schedulers/arena.yaml": None})
    for _ in range(10):
        report = await process.turn()
        world.pass_time(2.0)
    assert "arena" in world.namespaces()
    reasons = [hold.reason for item in report.settled for hold in item.holds]
    assert any("ConfigMap scores" in reason for reason in reasons)


async def test_without_git_what_was_accepted_is_kept_up() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 3)})
    first = await world.process()
    await world.settle(first)
    world.host.down()
    second = await world.process()
    world.delete(f"/api/v1/namespaces/arena/pods/{world.names('arena')[0]}")
    await world.settle(second)
    assert len(world.pods("arena")) == 3


async def test_a_suspended_workload_is_not_healed() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    process = await world.process()
    await world.settle(process)
    world.commit({"schedulers/arena.yaml": spec("arena", 5, suspend=True)})
    world.delete(f"/api/v1/namespaces/arena/pods/{world.names('arena')[0]}")
    world.pass_time(5)
    for _ in range(3):
        await process.turn()
    assert len(world.pods("arena")) == 1
    world.commit({"schedulers/arena.yaml": spec("arena", 5)})
    await world.settle(process)
    assert len(world.pods("arena")) == 5


def _is_ready(pod: dict[str, dict[str, list[dict[str, str]]]]) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


def _image(pod: dict[str, dict[str, list[dict[str, str]]]]) -> str:
    return pod["spec"]["containers"][0]["image"]
