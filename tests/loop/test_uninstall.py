"""Our records leave a cluster, and its rooms do not notice; whoever comes next takes them over."""

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.cli.failures import Failure
from reconciler.cli.uninstall import drop_lease, others_installed
from reconciler.loop.approvals import APPROVAL, approval_body
from reconciler.loop.requests import REQUEST, ask, request_ref
from reconciler.loop.uninstall import ORDER, Removal, own_records, remove_empty
from reconciler.model import labels
from reconciler.model.errors import Conflict, Denied, Unavailable
from reconciler.model.refs import Json
from reconciler.service.doors.codes import RoomCodes
from reconciler.settings import Settings
from reconciler.wiring.clusters import OneCluster
from tests.loop.transport import Killed
from tests.loop.world import Process, World, spec

NAMES = ("arena", "lobby")


def scaled(arena: int, lobby: int) -> dict[str, str | None]:
    return {
        "schedulers/arena.yaml": spec("arena", arena),
        "schedulers/lobby.yaml": spec("lobby", lobby),
    }


async def two(arena: int = 3, lobby: int = 2) -> tuple[World, Process]:
    world = World()
    world.commit(scaled(arena, lobby))
    process = await world.process()
    await world.settle(process)
    return world, process


async def leave(process: Process) -> Removal:
    removal = Removal(process.cluster)
    await removal.of(await own_records(process.cluster, "gamekeeper", "main"))
    return removal


def rooms(world: World) -> dict[str, tuple[str, str]]:
    """Every room with its uid and version: equal as long as nobody writes on it."""
    return {
        pod["metadata"]["name"]: (pod["metadata"]["uid"], pod["metadata"]["resourceVersion"])
        for name in NAMES
        if name in world.namespaces()
        for pod in world.pods(name)
    }


def records(world: World) -> list[str]:
    items = world.objects("/api/v1/configmaps")
    marked = [each for each in items if labels.RECORD in (each["metadata"].get("labels") or {})]
    return sorted(each["metadata"]["name"] for each in marked)


async def test_records_go_and_nothing_of_the_rooms_is_touched() -> None:
    world, process = await two()
    world.approve("0123456789ab")
    before = rooms(world)
    mark = len(process.transport.writes)
    removal = await leave(process)
    assert removal.removed == {"approval": 1, "repository": 1, "state": 2, "ordinals": 2}
    assert records(world) == []
    assert rooms(world) == before
    writes = process.transport.writes[mark:]
    assert {(call.verb, call.kind) for call in writes} == {("delete", "ConfigMap")}
    fences = [call.body["preconditions"] for call in writes if isinstance(call.body, dict)]
    assert [fence.keys() for fence in fences] == [{"uid", "resourceVersion"}] * 6
    assert (await leave(process)).removed == {}, "a second time there is nothing to do"


async def test_who_comes_next_takes_the_rooms_over_and_gives_no_name_again() -> None:
    world, process = await two()
    await leave(process)
    before = rooms(world)
    following = await world.process()
    await world.settle(following)
    assert rooms(world) == before
    world.commit(scaled(4, 0))
    await world.settle(following)
    world.commit(scaled(4, 2))
    await world.settle(following)
    made = rooms(world).keys() - before.keys()
    assert len(made) == 3
    assert all(int(name.rpartition("-")[2]) >= 1_800_000_000 for name in made)
    assert {name: before[name][0] for name in before if name.startswith("arena")} == {
        name: uid for name, (uid, _) in rooms(world).items() if name in before
    }


async def test_what_takes_rooms_away_after_it_waits_for_an_approval() -> None:
    world, process = await two()
    await leave(process)
    world.commit({"schedulers/arena.yaml": None, "schedulers/lobby.yaml": spec("lobby", 1)})
    before = rooms(world)
    following = await world.process()
    for _ in range(10):
        await following.turn()
        world.pass_time(5.0)
    assert rooms(world).keys() == before.keys()


async def test_what_was_made_before_counts_as_given_from_then_on() -> None:
    """Only our records said who had made the namespace: it is nobody's to delete any more."""
    world, process = await two(1, 1)
    await leave(process)
    following = await world.process()
    await world.settle(following)
    world.commit({"schedulers/lobby.yaml": None})
    await world.settle(following)
    assert not world.pods("lobby")
    assert "lobby" in world.namespaces()


@pytest.mark.parametrize("place", ["before", "after"])
async def test_killed_at_any_call_it_loses_no_room_and_goes_on_where_it_ended(place: str) -> None:
    calls = 0
    while True:
        world, process = await two()
        first = len(process.transport.calls)
        _kill_at(process, place, first + calls)
        try:
            await leave(process)
        except Killed:
            pass
        else:
            break
        calls += 1
        before = rooms(world)
        following = await world.process()
        await world.settle(following)
        assert rooms(world).keys() == before.keys()
        assert (await leave(following)).removed["repository"] == 1
        assert records(world) == []
        assert rooms(world).keys() == before.keys()
    assert calls == 6, "a list, and five records"


def _kill_at(process: Process, place: str, at: int) -> None:
    def kill(number: int, call: Call) -> None:
        if number == at:
            raise Killed(call.what)

    setattr(process.transport, place, kill)


async def test_a_refusal_in_the_middle_leaves_the_rest_as_it_was() -> None:
    world, process = await two()
    before = rooms(world)

    def forbid(number: int, call: Call) -> None:
        if call.verb == "delete" and "lobby.lobby" in call.what:
            raise Denied(f"{call.what}: forbidden")

    process.transport.before = forbid
    removal = Removal(process.cluster)
    found = await own_records(process.cluster, "gamekeeper", "main")
    assert [each.what for each in found] == sorted((e.what for e in found), key=ORDER.index)
    with pytest.raises(Denied, match="forbidden"):
        await removal.of(found)
    assert removal.removed == {"repository": 1, "state": 1}
    assert len(records(world)) == 3
    assert rooms(world) == before
    process.transport.before = lambda number, call: None
    assert (await leave(process)).removed == {"state": 1, "ordinals": 2}


async def test_a_record_that_somebody_writes_meanwhile_is_not_deleted() -> None:
    world, process = await two()
    found = await own_records(process.cluster, "gamekeeper", "main")
    world.commit(scaled(4, 2))
    await world.settle(await world.process())
    with pytest.raises(Conflict, match="was written while we led"):
        await Removal(process.cluster).of(found)
    assert len(records(world)) == 5


@pytest.mark.parametrize("what", ORDER)
async def test_what_says_that_it_is_a_record_elsewhere_stays(what: str) -> None:
    world, process = await two()
    marks = {labels.INSTANCE: "main", labels.RECORD: what, labels.KIND: "Scheduler"}
    body = {"metadata": {"name": "theirs", "labels": {**marks, labels.WORKLOAD: "arena"}}}
    world.create("/api/v1/namespaces/lobby/configmaps", body)
    await leave(process)
    assert records(world) == ["theirs"]


async def test_whoever_loses_the_lease_writes_nothing_more() -> None:
    world, process = await two()
    left = iter([True] * 4)  # each delete asks twice: before it waits for its turn, and after
    removal = Removal(process.cluster.fenced(lambda: next(left, False)))
    with pytest.raises(Unavailable, match="another process leads now"):
        await removal.of(await own_records(process.cluster, "gamekeeper", "main"))
    assert removal.removed.total() == 2
    assert len(records(world)) == 3


@pytest.mark.parametrize("holder", ["", "gamekeeper-7d9f-x"])
async def test_the_lease_goes_last_and_stays_where_somebody_took_it_since(holder: str) -> None:
    world, process = await two()
    path = "/apis/coordination.k8s.io/v1/namespaces/gamekeeper/leases"
    world.create(
        path, {"metadata": {"name": "gamekeeper-main"}, "spec": {"holderIdentity": holder}}
    )
    one, settings = one_of(process), Settings(instance="main", namespace="gamekeeper")
    if holder:
        with pytest.raises(Failure, match="has taken Lease gamekeeper/gamekeeper-main since"):
            await drop_lease(one, settings)
    else:
        await drop_lease(one, settings)
    there = [each["metadata"]["name"] for each in world.objects(path)]
    assert ("gamekeeper-main" in there) == bool(holder)


@pytest.mark.parametrize("slips", [[], [REQUEST], [APPROVAL, REQUEST]], ids="".join)
@pytest.mark.parametrize("left", ["everything", "all but the repository's", "names alone"])
async def test_in_another_namespace_than_its_own_it_is_told_where_it_is(
    left: str, slips: list[str]
) -> None:
    """Names stand beside rooms and are found from everywhere: they went beneath who leads.

    Who mistook the namespace of `reconcile` or `approve` before left a record there.
    """
    world, process = await two()
    world.create("/api/v1/namespaces", {"metadata": {"name": "gk2"}})
    for slip in slips:
        await _mistaken(process, slip)
    ours = "/api/v1/namespaces/gamekeeper/configmaps"
    gone = {"everything": [], "all but the repository's": ["gamekeeper-main"]}
    for name in gone.get(left, [each["metadata"]["name"] for each in world.objects(ours)]):
        world.delete(f"{ours}/{name}")
    found = await own_records(process.cluster, "gk2", "main")
    assert {each.what for each in found} == {*slips, "ordinals"}
    asked = others_installed(one_of(process), Settings(instance="main", namespace="gk2"), found)
    if left == "names alone":
        assert await asked == {}
        return
    with pytest.raises(Failure) as refused:
        await asked
    assert str(refused.value) == (
        "instance main is installed in namespace gamekeeper, and not in gk2. "
        "Whether a loop leads is seen there alone. Pass --namespace gamekeeper."
    )


@pytest.mark.parametrize("slip", [APPROVAL, REQUEST])
async def test_what_a_mistaken_command_left_elsewhere_says_of_no_installation(slip: str) -> None:
    world, process = await two()
    ours = "/api/v1/namespaces/gamekeeper/configmaps"
    for name in [each["metadata"]["name"] for each in world.objects(ours)]:
        world.delete(f"{ours}/{name}")
    world.create("/api/v1/namespaces", {"metadata": {"name": "gk2"}})
    await _mistaken(process, slip)
    found = await own_records(process.cluster, "gamekeeper", "main")
    assert {each.what for each in found} == {"ordinals"}
    settings = Settings(instance="main", namespace="gamekeeper")
    assert await others_installed(one_of(process), settings, found) == {}


async def _mistaken(process: Process, slip: str) -> None:
    """Ask for a look, or approve, in a namespace in which no loop runs."""
    if slip == REQUEST:
        await ask(process.cluster, request_ref("gk2", "main"), "main", "now")
    else:
        await process.cluster.create(approval_body("gk2", "main", "0123456789ab", "anna"))


async def test_of_several_namespaces_none_is_proposed() -> None:
    """Who may write in a namespace of their own may write there what looks like our records."""
    world, process = await two()
    marks = {labels.INSTANCE: "main", labels.RECORD: "repository"}
    theirs: Json = {"metadata": {"name": "gamekeeper-main", "labels": marks}}
    world.create("/api/v1/namespaces/arena/configmaps", theirs)
    settings = Settings(instance="main", namespace="gk2")
    with pytest.raises(Failure, match="in namespace arena, gamekeeper, and not in gk2") as refused:
        await others_installed(one_of(process), settings, ())
    assert str(refused.value).endswith("Pass the one that its loop runs in as --namespace.")


async def test_what_stands_elsewhere_refuses_nothing_where_it_is_installed() -> None:
    world, process = await two()
    marks = {labels.INSTANCE: "main", labels.RECORD: "repository"}
    theirs: Json = {"metadata": {"name": "gamekeeper-main", "labels": marks}}
    world.create("/api/v1/namespaces/lobby/configmaps", theirs)
    found = await own_records(process.cluster, "gamekeeper", "main")
    settings = Settings(instance="main", namespace="gamekeeper")
    assert await others_installed(one_of(process), settings, found) == {}


async def test_for_one_that_is_not_installed_those_that_are_are_named() -> None:
    _, process = await two()
    found = await own_records(process.cluster, "gamekeeper", "mian")
    settings = Settings(instance="mian", namespace="gamekeeper")
    others = await others_installed(one_of(process), settings, found)
    assert others == {"main": frozenset({"gamekeeper"})}


def one_of(process: Process) -> OneCluster:
    codes = RoomCodes(process.cluster, "gamekeeper")
    return OneCluster(process.cluster, process.view, process.lane, codes, process.world.time)


async def emptied(process: Process) -> list[str]:
    async def pause(seconds: float) -> None:
        process.world.pass_time(seconds)

    now = process.world.time.now()
    outcomes = await remove_empty(process.lane, process.view.read, now, pause)
    assert [each.error for each in outcomes if each.error] == []
    return [each.what for each in outcomes if each.verb == "delete"]


async def test_objects_go_where_no_room_is_and_stay_where_one_is() -> None:
    world, process = await two(lobby=0)
    before = rooms(world)
    gone = await emptied(process)
    assert gone[-1] == "Namespace lobby"
    assert all("lobby" in each for each in gone)
    world.pass_time(60.0)
    assert world.namespaces() >= {"arena"}
    assert "lobby" not in world.namespaces()
    assert rooms(world) == before
    assert world.objects("/apis/policy/v1/namespaces/arena/poddisruptionbudgets")
    await leave(process)
    assert records(world) == []


async def test_objects_go_though_somebody_took_a_copy_away_before() -> None:
    world = World()
    world.copy_from = ("shared",)
    world.create("/api/v1/namespaces", {"metadata": {"name": "shared"}})
    source: Json = {"metadata": {"name": "pull"}, "type": "Opaque", "data": {"key": "a2V5"}}
    world.create("/api/v1/namespaces/shared/secrets", source)
    copied = [{"kind": "Secret", "namespace": "shared", "name": "pull"}]
    world.commit({"schedulers/lobby.yaml": spec("lobby", 0, copyFrom=copied)})
    process = await world.process()
    await world.settle(process)
    world.delete("/api/v1/namespaces/lobby/secrets/pull")
    assert (await emptied(process))[-1] == "Namespace lobby"


@pytest.mark.parametrize("phase", ["Running", "on its way out"])
async def test_a_room_on_its_way_out_keeps_all_that_is_around_it(phase: str) -> None:
    world, process = await two(lobby=1)
    if phase != "Running":
        world.delete(f"/api/v1/namespaces/lobby/pods/{world.names('lobby')[0]}")
    assert await emptied(process) == []
    assert "lobby" in world.namespaces()


async def test_a_namespace_with_somebody_elses_things_in_it_or_made_by_them_stays() -> None:
    world, process = await two(lobby=0)
    world.create("/api/v1/namespaces/lobby/configmaps", {"metadata": {"name": "theirs"}})
    assert "Namespace lobby" not in await emptied(process)
    assert "lobby" in world.namespaces()


async def test_killed_while_objects_go_a_loop_makes_them_again() -> None:
    calls, made = 0, False
    while not made:
        world, process = await two(lobby=0)
        _kill_at(process, "before", len(process.transport.calls) + calls)
        try:
            await emptied(process)
            made = True
        except Killed:
            pass
        calls += 4
        before = rooms(world)
        world.pass_time(60.0)
        world.commit(scaled(3, 1))
        following = await world.process()
        await world.settle(following)
        assert rooms(world).keys() >= before.keys()
        assert len(world.pods("lobby")) == 1
    assert calls > 12
