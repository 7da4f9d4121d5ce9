"""Pods that run already become rooms: numbered first, patched where they stand, never restarted."""

from dataclasses import replace

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.core.adopting import Adoption
from reconciler.core.departing import last_workload
from reconciler.loop.adopt import Candidates, adopt, candidates
from reconciler.loop.store import RecordStore
from reconciler.model import labels
from reconciler.model.errors import Conflict
from reconciler.model.refs import WorkloadKey
from tests.loop.transport import Killed, SandboxTransport
from tests.loop.world import Process, World, spec

ARENA = WorkloadKey("Scheduler", "arena", "arena")
PODS = "/api/v1/namespaces/arena/pods"
EARLIER = ("arena-7", "web-k7x2p")
FILE = "schedulers/arena.yaml"


def start(world: World, *names: str, **marks: str) -> None:
    """Start pods of an earlier system."""
    for name in names:
        container = {"name": "game", "image": "registry.example/game:0"}
        metadata = {"name": name, "labels": {"app": "earlier", **marks}}
        world.create(PODS, {"metadata": metadata, "spec": {"containers": [container]}})


async def held(replicas: int = 2) -> tuple[World, Process]:
    """Return a world whose commit waits, for the namespace and its pods are another system's."""
    world = World()
    world.create("/api/v1/namespaces", {"metadata": {"name": "arena"}})
    world.pass_time(5.0)
    start(world, *EARLIER)
    world.pass_time(10.0)
    world.commit({FILE: spec("arena", replicas)})
    process = await world.process()
    for _ in range(3):
        await process.turn()
        world.pass_time(2.0)
    assert set(world.names("arena")) == set(EARLIER), "nothing was written there"
    return world, process


class Hand:
    """A person who adopts, with a connection of their own."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.transport = SandboxTransport(world.sandbox, world.time.now)
        self.cluster = KubernetesCluster(self.transport, "main", name="local")
        self.store = RecordStore(self.cluster, "gamekeeper", "main")

    async def adoption(self) -> Adoption:
        await self.store.load()
        record = self.store.state(ARENA)
        workload = replace(last_workload(ARENA, record, ()), replicas=record.in_effect)
        return Adoption(workload, "main", as_current=True)

    async def found(self) -> Candidates:
        return await candidates(self.cluster, await self.adoption(), "app=earlier", "gamekeeper")

    async def adopt(self) -> dict[str, str]:
        adoption, found = await self.adoption(), await self.found()
        assert found.obstacles == []
        now = self.world.time.now()
        return await adopt(self.store, self.cluster, adoption, found.pods, now)


def give(world: World) -> None:
    notes = {labels.ADOPT: "main"}
    world.patch("/api/v1/namespaces/arena", {"metadata": {"annotations": notes}})


async def make_place(world: World, process: Process, replicas: int) -> None:
    """Commit a count that the loop does not fill, as the page says."""
    world.commit({FILE: spec("arena", replicas, suspend=True)})
    await process.turn()
    world.pass_time(2.0)


def uids(world: World) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in world.pods("arena")}


async def test_they_are_rooms_at_once_and_none_is_made_or_restarted() -> None:
    world, process = await held()
    before = uids(world)
    assert await Hand(world).adopt() == dict.fromkeys(EARLIER, "")
    give(world)
    reports = await world.settle(process)
    (settled,) = reports[-1].settled
    assert settled.plan.counts.ready == 2
    applied = {
        step.what: step.reason for each in reports for one in each.settled for step in one.outcomes
    }
    assert applied["Namespace arena"] == "Namespace arena is there, and is to be as we want it"
    assert applied["ServiceAccount arena/arena"] == "ServiceAccount arena/arena is not there"
    assert uids(world) == before
    world.commit({FILE: spec("arena", 3)})
    await world.settle(process)
    (made,) = uids(world).keys() - before.keys()
    assert int(made.rpartition("-")[2]) >= 1_800_000_000
    world.commit({FILE: spec("arena", 3, "registry.example/game:2")})
    await world.settle(process)
    assert not uids(world).keys() & {*before, made}, "a roll-out replaces them as any other"


@pytest.mark.parametrize(
    ("state", "wanted"),
    [
        pytest.param("draining", 2, id="that it drains"),
        pytest.param("failed", 2, id="that it failed"),
        pytest.param("busy", 1, id="that somebody plays there, in a scale-in"),
        pytest.param("allocated", 1, id="that somebody comes there, in a scale-in"),
    ],
)
async def test_nothing_that_an_earlier_instance_said_of_a_room_removes_it(
    state: str, wanted: int
) -> None:
    world, process = await held()
    for name in EARLIER:
        world.patch(f"{PODS}/{name}", {"metadata": {"labels": {labels.STATE: state}}})
    before = uids(world)
    await Hand(world).adopt()
    give(world)
    world.commit({FILE: spec("arena", wanted)})
    for _ in range(15):
        await process.turn()
        world.pass_time(5.0)
    assert uids(world) == before


async def test_a_namespace_that_people_gave_us_is_never_deleted_by_us() -> None:
    world, process = await held()
    await Hand(world).adopt()
    give(world)
    await world.settle(process)
    world.commit({FILE: None, "schedulers/lobby.yaml": spec("lobby", 1)})
    for _ in range(3):
        for change_hash in {hold.change_hash for hold in process.lane.wanted.holds} - {""}:
            world.approve(change_hash)
        for _ in range(15):
            await process.turn()
            world.pass_time(5.0)
    assert world.names("arena") == []
    assert "arena" in world.namespaces()


async def test_numbers_that_adopted_rooms_have_are_given_to_nobody() -> None:
    world, process = await held(replicas=3)
    give(world)
    await world.settle(process)
    highest = max(
        int(name.rpartition("-")[2]) for name in world.names("arena") if "web" not in name
    )
    await make_place(world, process, 5)
    await Hand(world).adopt()
    given = [pod["metadata"]["annotations"].get(labels.ORDINAL) for pod in world.pods("arena")]
    assert [int(each) for each in given if each] == [highest + 1]
    world.delete(f"{PODS}/web-k7x2p")
    world.pass_time(60.0)  # nobody looks meanwhile: only the record knows of it any more
    world.commit({FILE: spec("arena", 9)})
    await world.settle(process)
    assert f"arena-{highest + 1}" not in world.names("arena")


async def test_a_name_with_a_number_raises_what_comes_next() -> None:
    world = World()
    world.commit({FILE: spec("arena", 1)})
    process = await world.process()
    await world.settle(process)
    start(world, "arena-7")
    world.pass_time(10.0)
    await make_place(world, process, 2)
    assert await Hand(world).adopt() == {"arena-7": ""}
    world.delete(f"{PODS}/arena-7")
    world.pass_time(60.0)
    world.commit({FILE: spec("arena", 9)})
    await world.settle(process)
    numbers = sorted(int(name.removeprefix("arena-")) for name in world.names("arena"))
    assert (len(numbers), numbers[0], numbers[1] > 7) == (9, 0, True)


async def test_a_pod_whose_status_is_written_meanwhile_is_looked_at_again() -> None:
    world, _ = await held()
    hand, written = Hand(world), list[str]()

    def touch(number: int, call: Call) -> None:
        if call.verb == "patch" and call.kind == "Pod" and len(written) < 2:
            written.append(call.path)
            name = call.path.partition("?")[0].rpartition("/")[2]
            world.patch(f"{PODS}/{name}", {"metadata": {"annotations": {"a": str(number)}}})

    hand.transport.before = touch
    assert await hand.adopt() == dict.fromkeys(EARLIER, "")
    assert len(written) == 2


async def test_another_pod_of_the_same_name_is_not_taken_for_it() -> None:
    world, _ = await held()
    hand = Hand(world)

    def replace_it(number: int, call: Call) -> None:
        if call.verb == "patch" and "arena-7" in call.path:
            hand.transport.before = lambda number, call: None
            world.delete(f"{PODS}/arena-7")
            world.pass_time(60.0)
            start(world, "arena-7")

    hand.transport.before = replace_it
    told = await hand.adopt()
    assert "another pod has its name by now" in told["arena-7"]
    assert told["web-k7x2p"] == ""
    (there,) = (pod for pod in world.pods("arena") if pod["metadata"]["name"] == "arena-7")
    assert labels.INSTANCE not in there["metadata"]["labels"]


@pytest.mark.parametrize("place", ["before", "after"])
async def test_killed_at_any_write_it_goes_on_where_it_ended(place: str) -> None:
    writes = 0
    while True:
        world, process = await held()
        before, hand = uids(world), Hand(world)
        _kill_at_write(hand, place, writes)
        try:
            await hand.adopt()
        except Killed:
            pass
        else:
            break
        writes += 1
        assert set((await Hand(world).adopt()).values()) <= {""}
        give(world)
        await world.settle(process)
        assert uids(world) == before
        numbers = [
            pod["metadata"]["annotations"].get(labels.ORDINAL) for pod in world.pods("arena")
        ]
        assert sum(number is not None for number in numbers) == 1
    assert writes == 3, "the record of names, and two pods"


def _kill_at_write(hand: Hand, place: str, at: int) -> None:
    seen = [0]

    def kill(number: int, call: Call) -> None:
        if call.method not in ("GET",):
            seen[0] += 1
            if seen[0] == at + 1:
                raise Killed(call.what)

    setattr(hand.transport, place, kill)


async def test_names_that_the_loop_gives_meanwhile_are_not_given_twice() -> None:
    world, process = await held(replicas=3)
    give(world)
    await world.settle(process)
    hand = Hand(world)
    adoption, found = await hand.adoption(), await hand.found()
    world.commit({FILE: spec("arena", 5)})
    await world.settle(process)
    with pytest.raises(Conflict):
        await adopt(hand.store, hand.cluster, adoption, found.pods, world.time.now())
    assert all(
        labels.ORDINAL not in pod["metadata"]["annotations"]
        for pod in world.pods("arena")
        if pod["metadata"]["name"] not in EARLIER
    )


async def test_a_second_budget_is_told_and_the_loops_own_is_none() -> None:
    world, process = await held()
    path = "/apis/policy/v1/namespaces/arena/poddisruptionbudgets"
    selector = {"matchLabels": {"app": "earlier"}}
    body = {"metadata": {"name": "web"}, "spec": {"minAvailable": 1, "selector": selector}}
    world.create(path, body)
    (told,) = (await Hand(world).found()).obstacles
    assert told.what.startswith("PodDisruptionBudget web selects arena-7, web-k7x2p")
    world.delete(f"{path}/web")
    give(world)
    await world.settle(process)
    assert [each["metadata"]["name"] for each in world.objects(path)] == ["arena"]
    await make_place(world, process, 4)
    assert await Hand(world).adopt() == dict.fromkeys(EARLIER, "")


async def test_more_than_are_wanted_are_not_adopted_where_nobody_knows_who_plays() -> None:
    world, process = await held(replicas=1)
    (told,) = (await Hand(world).found()).obstacles
    assert told.what.startswith("Scheduler/arena would have 1 more than the 1 rooms")
    assert "raise replicas to 2 in Git" in told.fix
    world.commit({FILE: spec("arena", 2)})
    await process.turn()
    before = uids(world)
    assert await Hand(world).adopt() == dict.fromkeys(EARLIER, "")
    give(world)
    await world.settle(process)
    assert uids(world) == before


async def test_beside_rooms_that_run_they_are_adopted_while_the_workload_is_suspended() -> None:
    world, process = await held()
    give(world)
    await world.settle(process)
    before = uids(world)
    assert len(before) == 4
    (told,) = (await Hand(world).found()).obstacles
    assert "raise replicas to 4 in Git" in told.fix
    assert "suspend: true" in told.fix
    await make_place(world, process, 4)
    assert await Hand(world).adopt() == dict.fromkeys(EARLIER, "")
    world.commit({FILE: spec("arena", 4)})
    await world.settle(process)
    assert uids(world) == before


async def test_while_another_instance_has_records_its_rooms_are_not_taken() -> None:
    world, _ = await held(replicas=3)
    start(world, "arena-9", **{labels.INSTANCE: "old", labels.WORKLOAD: "arena"})
    marks = {labels.INSTANCE: "old"}
    for path, name in (("gamekeeper", "gamekeeper-old"), ("arena", "gamekeeper-arena")):
        body = {"metadata": {"name": name, "labels": marks}}
        world.create(f"/api/v1/namespaces/{path}/configmaps", body)
    told = [f"{each.what}. {each.fix}" for each in (await Hand(world).found()).obstacles]
    assert len(told) == 2
    assert all("gamekeeper uninstall --yes --instance old" in each for each in told)
    world.delete("/api/v1/namespaces/gamekeeper/configmaps/gamekeeper-old")
    world.delete("/api/v1/namespaces/arena/configmaps/gamekeeper-arena")
    assert (await Hand(world).found()).obstacles == []


async def test_what_an_uninstalled_instance_made_of_the_same_template_is_not_replaced() -> None:
    world, process = await held(replicas=3)
    hand = Hand(world)
    adoption = replace(await hand.adoption(), as_current=False)
    start(world, "arena-9", **{labels.INSTANCE: "old", labels.WORKLOAD: "arena"})
    for name in EARLIER:
        world.delete(f"{PODS}/{name}")
    notes = {"annotations": {labels.REVISION: adoption.workload.revision}}
    world.patch(f"{PODS}/arena-9", {"metadata": notes})
    world.pass_time(60.0)
    before = uids(world)
    found = await candidates(hand.cluster, adoption, f"{labels.INSTANCE}=old", "gamekeeper")
    assert found.obstacles == []
    assert await adopt(hand.store, hand.cluster, adoption, found.pods, 0.0) == {"arena-9": ""}
    give(world)
    await world.settle(process)
    assert before.items() < uids(world).items()
    assert len(uids(world)) == 3


async def test_pods_that_end_and_rooms_that_are_ours_are_left_out() -> None:
    world, _ = await held()
    await Hand(world).adopt()
    start(world, "web-late")
    found = await Hand(world).found()
    assert [each["metadata"]["name"] for each in found.pods] == ["web-late"]
    assert sorted(found.known) == sorted(EARLIER)
    hand = Hand(world)
    other = replace(await hand.adoption(), instance="other")
    assert len((await candidates(hand.cluster, other, "app=earlier", "gamekeeper")).pods) == 3
