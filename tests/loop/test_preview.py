"""What `diff --live` shows: the loop's own plan, asked without writing."""

from reconciler.loop import head
from reconciler.loop.preview import Preview, plan_stands, preview_plans
from reconciler.model import labels
from reconciler.model.changes import Verb
from reconciler.model.holds import HoldKind
from reconciler.model.plans import Plan
from reconciler.model.refs import WorkloadKey
from tests.loop.test_additional_objects import Swap
from tests.loop.test_shared_namespace import fleet
from tests.loop.world import Process, World, spec

ARENA = WorkloadKey("Scheduler", "arena", "arena")


async def previewed(world: World, process: Process) -> tuple[Preview, ...]:
    await process.view.read()
    await process.lane.store.load()
    await head.preview(process.head, world.time.now())
    keys = sorted({*process.lane.wanted.keys, *process.view.workloads()})
    return await preview_plans(process.lane, keys, world.time.now())


async def explained(world: World) -> Plan:
    """Return the plan that `explain` tells, of what stands on record."""
    plan, _ = await explained_by(world, Process(world))
    return plan


async def explained_by(world: World, process: Process) -> tuple[Plan, list[str]]:
    """Return that plan, and what was asked of the cluster about names that seem free."""
    await process.view.read()
    await process.lane.store.load()
    await head.resume(process.head, world.time.now())
    before = len(process.transport.calls)
    plan = await plan_stands(process.lane, ARENA, world.time.now())
    return plan, [call.what for call in process.transport.calls[before:]]


def written(world: World) -> list[str]:
    """Every object with its version: equal as long as nobody writes."""
    kinds = ("namespaces", "configmaps", "serviceaccounts", "pods")
    items = [item["metadata"] for kind in kinds for item in world.objects(f"/api/v1/{kind}")]
    return [f"{item['uid']} {item['resourceVersion']}" for item in items]


async def test_a_new_fleet_is_shown_and_nothing_is_written() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 3)})
    process = Process(world)
    before = written(world)
    (arena,) = await previewed(world, process)
    assert [change.verb for change in arena.objects] == [Verb.CREATE] * 3
    assert arena.plan.creates is not None
    assert len(arena.plan.creates.seats) == 3
    assert written(world) == before
    assert "gamekeeper" not in world.namespaces()


async def test_what_is_as_wanted_does_not_move() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 3)})
    await world.settle(await world.process())
    assert not [item for item in await previewed(world, Process(world)) if item.moving]


async def test_a_removal_over_budget_is_held_in_the_preview_and_offered_by_nobody() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 9)})
    await world.settle(await world.process())
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    process = Process(world)
    (arena,) = await previewed(world, process)
    assert [hold.kind for hold in arena.holds] == [HoldKind.OVER_BUDGET]
    assert not arena.moving
    assert not process.lane.store.repository.offers


async def test_a_removal_inside_reviewed_bounds_is_held_in_no_preview_and_by_no_loop() -> None:
    world = World()
    policy = {"min": 1, "max": 9, "policy": {"fixedBuffer": {"amount": 5}}}
    for replicas in (9, 1):
        text = spec("arena", replicas, reports="required", autoscaling=policy)
        world.commit({"schedulers/arena.yaml": text})
        (arena,) = await previewed(world, Process(world))
        assert not arena.holds
        process = await world.process()
        await process.turn()
        assert not process.lane.wanted.holds
        assert process.lane.store.state(arena.plan.key).in_effect == replicas


async def test_a_strangers_namespace_holds_the_workload() -> None:
    world = World()
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "arena"}}
    world.create("/api/v1/namespaces", body)
    world.commit({"schedulers/arena.yaml": spec("arena", 3)})
    (arena,) = await previewed(world, Process(world))
    assert [hold.kind for hold in arena.holds] == [HoldKind.FOREIGN]
    assert not arena.moving


async def test_a_strangers_namespace_holds_what_is_explained_until_it_is_given_to_us() -> None:
    world = World()
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "arena"}}
    world.create("/api/v1/namespaces", body)
    world.commit({"schedulers/arena.yaml": spec("arena", 3)})
    process = await world.process()
    await process.turn()
    plan = await explained(world)
    assert (plan.objects, plan.creates) == ((), None)
    assert [hold.kind for hold in plan.holds] == [HoldKind.FOREIGN]
    world.delete("/api/v1/namespaces/arena")
    world.pass_time(30.0)
    given = {"name": "arena", "annotations": {labels.ADOPT: "main"}}
    world.create("/api/v1/namespaces", {**body, "metadata": given})
    before = written(world)
    plan = await explained(world)
    assert plan.objects[0].ref.kind == "Namespace"
    assert plan.creates is not None
    assert not plan.holds
    assert written(world) == before


async def test_nothing_is_asked_for_in_a_namespace_that_is_seen_to_be_absent() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 3)})
    process = await world.process()
    await process.turn()
    world.delete("/api/v1/namespaces/arena")
    world.pass_time(30.0)
    plan, asked = await explained_by(world, Process(world))
    assert len(plan.objects) > 2
    assert asked == ["get Namespace arena"]


async def test_an_approval_counts_in_the_preview_and_is_not_used_up_by_it() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 9)})
    await world.settle(await world.process())
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    held = (await previewed(world, Process(world)))[0].holds[0]
    world.approve(held.change_hash)
    for _ in range(2):
        (arena,) = await previewed(world, Process(world))
        assert not arena.holds
        assert arena.moving


async def test_an_object_of_another_workload_holds_the_preview_until_that_lets_go_of_it() -> None:
    swap = Swap()
    process = await swap.world.process()
    await swap.world.settle(process)
    quake = WorkloadKey("Fleet", "servers", "quake")
    stopped = fleet("duel").replace("  reports:", "  suspend: true\n  reports:")
    swap.give(duel="", quake="maps")
    for text, kinds in ((stopped, [HoldKind.FOREIGN]), (fleet("duel"), [])):
        swap.world.commit({"schedulers/duel.yaml": text})
        shown = await previewed(swap.world, Process(swap.world))
        (item,) = (each for each in shown if each.plan.key == quake)
        assert [hold.kind for hold in item.holds] == kinds
        report = await process.turn()
        (done,) = (each for each in report.settled if each.plan.key == quake)
        assert [hold.kind for hold in done.holds] == kinds
        assert item.moving is not bool(kinds)
    asked = {change.reason for change in item.objects}
    assert "Fleet/servers/duel asks for ConfigMap servers/maps no more: taken over" in asked
