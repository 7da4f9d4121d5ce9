"""Secrets and ConfigMaps copied beside the rooms (`spec.copyFrom`), and all that may go wrong."""

import base64
import json
import logging
from collections.abc import Callable
from typing import Any, cast

import pytest

from reconciler.model import labels
from reconciler.model.errors import Denied, PortError, Unavailable
from reconciler.model.holds import HoldKind
from reconciler.model.refs import Json, ObjectRef, WorkloadKey
from reconciler.model.reports import Report
from tests.canaries.places import canary
from tests.loop.convergence import (
    Ports,
    Scenario,
    Stage,
    State,
    compare,
    copy_of,
    play,
    reference_of,
)
from tests.loop.denying import Denying
from tests.loop.safety import Bounds
from tests.loop.test_shared_namespace import fleet
from tests.loop.world import CONFIG, Process, World, spec

ARENA = WorkloadKey("Scheduler", "arena", "arena")
PULL = {"kind": "Secret", "namespace": "shared", "name": "pull"}
REGIONS = {"kind": "ConfigMap", "namespace": "shared", "name": "regions"}
ASKING = spec("arena", 2, copyFrom=[PULL, REGIONS])
PLAIN = spec("arena", 2)
SECRET = canary("object Secret", "copied")
OTHER = canary("object Secret", "copied later")
SOURCES = "/api/v1/namespaces/shared"
COPIES = "/api/v1/namespaces/arena"


def of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def source(text: str = SECRET, kind: str = "kubernetes.io/dockerconfigjson") -> Json:
    name = ".dockerconfigjson" if kind.endswith("json") else "key"
    config = json.dumps({"auths": {"registry.example": {"auth": text}}})
    metadata = {"name": "pull", "namespace": "shared"}
    return {"metadata": metadata, "type": kind, "data": {name: of(config)}}


def begun(**files: str) -> World:
    world = World()
    world.copy_from = ("shared",)
    world.create("/api/v1/namespaces", {"metadata": {"name": "shared"}})
    world.create(f"{SOURCES}/secrets", source())
    regions: Json = {"metadata": {"name": "regions"}, "data": {"eu": "fra"}}
    world.create(f"{SOURCES}/configmaps", regions)
    lobby = spec("lobby", 1)
    first = {"schedulers/lobby.yaml": lobby, "schedulers/arena.yaml": ASKING, **files}
    world.commit({"gamekeeper.yaml": CONFIG, **first})
    return world


async def standing(**files: str) -> tuple[World, Process]:
    world = begun(**files)
    process = await world.process()
    await turns(world, process, 3)
    return world, process


async def turns(world: World, process: Process, count: int = 13) -> Report:
    """Let time pass, by default as long as a change of a source may take to be copied."""
    for _ in range(count):
        report = await process.turn()
        world.pass_time(2.0)
    return report


def copy(world: World, path: str = f"{COPIES}/secrets") -> Json | None:
    return next((one for one in world.objects(path) if one["metadata"]["name"] == "pull"), None)


def regions(world: World) -> Json:
    path = f"{COPIES}/configmaps"
    (found,) = [one for one in world.objects(path) if one["metadata"]["name"] == "regions"]
    return found


def content(world: World, path: str = f"{COPIES}/secrets") -> str:
    found = copy(world, path)
    return base64.b64decode(next(iter(found["data"].values()))).decode() if found else ""


def told(report: Report, key: WorkloadKey = ARENA) -> list[str]:
    (item,) = [each for each in report.settled if each.plan.key == key]
    return [hold.reason for hold in item.plan.holds if hold.kind is HoldKind.NOT_COPIED]


async def test_copies_stand_beside_the_rooms_with_our_labels_and_their_source() -> None:
    world, process = await standing()
    found = copy(world)
    assert found is not None
    assert (found["type"], found["data"]) == (source()["type"], source()["data"])
    assert found["metadata"]["annotations"] == {labels.COPIED_FROM: "shared/pull"}
    assert found["metadata"]["labels"][labels.WORKLOAD] == "arena"
    assert regions(world)["data"] == {"eu": "fra"}
    assert len(world.names("arena")) == 2
    version = found["metadata"]["resourceVersion"]
    await turns(world, process, 30)
    assert (copy(world) or {})["metadata"]["resourceVersion"] == version, "it is as it should be"


async def test_a_copy_follows_its_source_and_what_others_make_of_it_is_set_back() -> None:
    world, process = await standing()
    rooms = world.names("arena")
    world.patch(f"{SOURCES}/secrets/pull", {"data": source(OTHER)["data"]})
    await turns(world, process)
    assert OTHER in content(world)
    world.patch(f"{COPIES}/secrets/pull", {"data": source("mine")["data"]})
    await turns(world, process)
    assert OTHER in content(world)
    assert world.names("arena") == rooms


async def test_what_others_add_to_a_copy_goes_and_what_is_revoked_at_its_source() -> None:
    world, process = await standing()
    world.patch(f"{COPIES}/secrets/pull", {"data": {"more": of(OTHER)}})
    world.patch(f"{SOURCES}/configmaps/regions", {"data": {"us": "iad"}})
    await turns(world, process)
    world.patch(f"{COPIES}/configmaps/regions", {"data": {"us": "ord"}})
    world.patch(f"{SOURCES}/configmaps/regions", {"data": {"us": None}})
    await turns(world, process)
    found = copy(world)
    assert found is not None
    assert found["data"] == source()["data"]
    assert regions(world)["data"] == {"eu": "fra"}
    before = found["metadata"]["resourceVersion"], regions(world)["metadata"]["resourceVersion"]
    await turns(world, process, 30)
    after = (copy(world) or {})["metadata"]["resourceVersion"]
    assert (after, regions(world)["metadata"]["resourceVersion"]) == before


async def test_a_key_of_another_name_comes_before_the_old_one_goes() -> None:
    world, process = await standing()
    before = len(process.transport.writes)
    world.patch(f"{SOURCES}/configmaps/regions", {"data": {"eu": None, "de": "fra"}})
    world.patch(f"{COPIES}/configmaps/regions", {"data": {"us": "iad"}})
    await turns(world, process)
    assert regions(world)["data"] == {"de": "fra"}
    writes = [call for call in process.transport.writes[before:] if "/regions" in call.path]
    assert [call.verb for call in writes] == ["apply", "patch"]


async def test_a_source_that_is_gone_takes_no_copy_and_no_room_away() -> None:
    world, process = await standing()
    world.delete(f"{SOURCES}/secrets/pull")
    world.delete(f"{COPIES}/pods/{world.names('arena')[0]}")
    (reason,) = told(await turns(world, process))
    assert reason == (
        "Secret shared/pull is not there to be copied: make it, or take it out of copyFrom"
    )
    assert (SECRET in content(world), len(world.names("arena"))) == (True, 2)
    world.create(f"{SOURCES}/secrets", source(OTHER))
    assert told(await turns(world, process, 26)) == []
    assert OTHER in content(world)


async def test_a_source_made_anew_of_another_type_is_told_with_what_to_do() -> None:
    world, process = await standing()
    world.delete(f"{SOURCES}/secrets/pull")
    world.create(f"{SOURCES}/secrets", source(OTHER, "Opaque"))
    (reason,) = told(await turns(world, process))
    assert "kubectl delete secret pull -n arena" in reason
    assert SECRET in content(world)
    world.delete(f"{COPIES}/secrets/pull")
    await turns(world, process)
    assert OTHER in content(world)


async def test_of_two_sources_of_one_name_in_a_shared_namespace_the_second_is_told() -> None:
    def asks(namespace: str) -> str:
        entry = f"{{kind: Secret, namespace: {namespace}, name: pull}}"
        return f"  copyFrom: [{entry}]\n  reports:"

    world = begun(**{"schedulers/arena.yaml": PLAIN})
    world.copy_from = ("shared", "others")
    world.create("/api/v1/namespaces", {"metadata": {"name": "others"}})
    theirs = source(OTHER)
    theirs["metadata"]["namespace"] = "others"
    world.create("/api/v1/namespaces/others/secrets", theirs)
    fleets = {"duel": "shared", "quake": "others"}
    files: dict[str, str | None] = {
        f"schedulers/{name}.yaml": fleet(name).replace("  reports:", asks(namespace))
        for name, namespace in fleets.items()
    }
    world.commit(files)
    report = await turns(world, await world.process())
    reasons = [
        hold.reason
        for each in report.settled
        for hold in each.plan.holds
        if hold.kind is HoldKind.NOT_COPIED
    ]
    assert len(reasons) == 1
    assert "one namespace holds one of that name" in reasons[0]


class Failing:
    """A cluster in which Secrets of one namespace cannot be read, or written."""

    def __init__(self, process: Process, namespace: str, error: PortError) -> None:
        self._cluster, self._namespace, self._error = process.cluster, namespace, error
        process.lane.cluster = cast("Any", self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    async def get(self, ref: ObjectRef) -> Json | None:
        if (ref.kind, ref.namespace) == ("Secret", self._namespace):
            raise self._error
        return await self._cluster.get(ref)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Denied("no: the body"), "grant what gamekeeper rbac --copy-from-namespaces shared prints"),
        (Unavailable("no: the body"), "the API server answered Unavailable"),
    ],
    ids=["refused", "no answer"],
)
@pytest.mark.parametrize("namespace", ["shared", "arena"])
async def test_what_cannot_be_read_stops_nothing_and_takes_nothing_away(
    namespace: str, error: PortError, said: str
) -> None:
    world, process = await standing()
    Failing(process, namespace, error)
    world.commit({"schedulers/arena.yaml": ASKING.replace("replicas: 2", "replicas: 3")})
    (reason,) = told(await turns(world, process, 26))
    assert said in reason
    assert "the body" not in reason
    assert (SECRET in content(world), len(world.names("arena"))) == (True, 3)
    process.lane.cluster = process.cluster
    assert told(await turns(world, process, 26)) == []


async def test_rooms_begin_though_nothing_can_be_copied() -> None:
    world = begun()
    process = await world.process()
    Failing(process, "shared", Denied("no"))
    await turns(world, process, 4)
    assert (len(world.names("arena")), copy(world)) == (2, None)


async def test_a_copy_that_nobody_asks_for_goes_when_no_room_may_need_it() -> None:
    world, process = await standing()
    changed = spec("arena", 2, image="registry.example/game:2")
    world.commit({"schedulers/arena.yaml": changed})
    seen = set()
    for _ in range(25):
        await process.turn()
        images = {pod["spec"]["containers"][0]["image"] for pod in world.pods("arena")}
        seen.add(("registry.example/game:1" in images, copy(world) is not None))
        world.pass_time(2.0)
    assert (True, True) in seen
    assert (True, False) not in seen
    assert copy(world) is None
    assert process.lane.store.state(ARENA).copied == ()
    assert len(world.objects(f"{SOURCES}/secrets")) == 1, "the source is nobody's to delete"


async def test_copies_go_with_their_workload_and_so_does_its_namespace() -> None:
    world, process = await standing()
    process.lane.content_kinds = (*process.lane.content_kinds, ("v1", "Secret"))
    world.commit({"schedulers/arena.yaml": None})
    await turns(world, process, 30)
    assert "arena" not in world.namespaces()


@pytest.mark.parametrize("mark", [{}, {"labels": {labels.INSTANCE: "main"}}], ids=["no", "ours"])
async def test_what_is_no_copy_of_ours_is_never_written_nor_deleted(mark: Json) -> None:
    world = begun(**{"schedulers/arena.yaml": PLAIN})
    process = await world.process()
    await turns(world, process, 3)
    theirs: Json = {"metadata": {"name": "pull", **mark}, "data": {"key": of("theirs")}}
    world.create(f"{COPIES}/secrets", theirs)
    world.commit({"schedulers/arena.yaml": ASKING})
    (reason,) = told(await turns(world, process))
    assert "Secret arena/pull is there and is no copy of ours" in reason
    world.commit({"schedulers/arena.yaml": PLAIN})
    await turns(world, process)
    assert content(world) == "theirs"


async def test_one_that_people_let_us_have_becomes_the_copy_and_goes_as_one() -> None:
    world = begun(**{"schedulers/arena.yaml": PLAIN})
    process = await world.process()
    await turns(world, process, 3)
    given = {"name": "pull", "annotations": {labels.ADOPT: "main"}}
    old = source("old")
    world.create(
        f"{COPIES}/secrets",
        {**old, "data": {**old["data"], "more": of("mine")}, "metadata": given},
    )
    world.commit({"schedulers/arena.yaml": ASKING})
    assert told(await turns(world, process)) == []
    assert (copy(world) or {})["data"] == source()["data"]
    world.commit({"schedulers/arena.yaml": PLAIN})
    await turns(world, process, 60)
    assert copy(world) is None


async def test_no_token_of_an_account_and_no_key_is_copied() -> None:
    world, process = await standing()
    world.delete(f"{SOURCES}/secrets/pull")
    world.create(f"{SOURCES}/secrets", source(OTHER, "kubernetes.io/tls"))
    (reason,) = told(await turns(world, process))
    assert 'is of type "kubernetes.io/tls": only Opaque and' in reason
    assert SECRET in content(world)


async def test_a_namespace_that_is_allowed_no_more_is_read_no_more() -> None:
    world, _ = await standing()
    world.copy_from = ()
    process = await world.process()
    world.patch(f"{SOURCES}/secrets/pull", {"data": source(OTHER)["data"]})
    (reason,) = told(await turns(world, process))
    assert "--copy-from-namespaces lacks it" in reason
    assert SECRET in content(world)
    (finding,) = [h.reason for h in process.lane.wanted.holds if h.kind is HoldKind.FINDING]
    assert "lets nothing be copied from" in finding


@pytest.mark.long
async def test_two_fleets_of_one_namespace_share_a_copy_and_it_outlives_the_first() -> None:
    line = "  copyFrom: [{kind: Secret, namespace: shared, name: pull}]\n  reports:"
    asking = {
        f"schedulers/{name}.yaml": fleet(name).replace("  reports:", line)
        for name in ("duel", "quake")
    }
    world, process = await standing(**{"schedulers/arena.yaml": PLAIN, **asking})
    await turns(world, process)
    path = "/api/v1/namespaces/servers/secrets"
    owner = (copy(world, path) or {})["metadata"]["labels"][labels.WORKLOAD]
    world.commit({f"schedulers/{owner}.yaml": None})
    for _ in range(40):
        await turns(world, process, 1)
        assert SECRET in content(world, path), "it is never gone in between"
    (other,) = {"duel", "quake"} - {owner}
    assert (copy(world, path) or {})["metadata"]["labels"][labels.WORKLOAD] == other
    world.commit({f"schedulers/{other}.yaml": None})
    await turns(world, process, 30)
    assert "servers" not in world.namespaces()


class Meanwhile:
    """A cluster in which something happens right after our look at the copy."""

    def __init__(self, process: Process, happens: Callable[[], None]) -> None:
        self._cluster, self._happens, self.left = process.cluster, happens, 1
        process.lane.cluster = cast("Any", self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    async def get(self, ref: ObjectRef) -> Json | None:
        found = await self._cluster.get(ref)
        if (ref.kind, ref.namespace) == ("Secret", "arena") and self.left:
            self.left -= 1
            self._happens()
        return found


async def test_who_changes_the_copy_in_the_middle_is_seen_at_the_next_look() -> None:
    world, process = await standing()
    world.patch(f"{SOURCES}/secrets/pull", {"data": source(OTHER)["data"]})
    theirs = {"data": source("mine")["data"]}
    Meanwhile(process, lambda: world.patch(f"{COPIES}/secrets/pull", theirs))
    report = await turns(world, process, 26)
    assert (told(report), OTHER in content(world)) == ([], True)


async def test_who_takes_the_name_in_the_middle_of_a_deletion_keeps_it() -> None:
    world, process = await standing()

    def take() -> None:
        world.delete(f"{COPIES}/secrets/pull")
        body: Json = {"metadata": {"name": "pull"}, "data": {"key": of("theirs")}}
        world.create(f"{COPIES}/secrets", body)

    Meanwhile(process, take)
    world.commit({"schedulers/arena.yaml": PLAIN})
    await turns(world, process)
    assert content(world) == "theirs"


@pytest.mark.parametrize("verb", ["get", "delete"])
async def test_a_copy_that_is_said_once_to_be_gone_goes_all_the_same(verb: str) -> None:
    world, process = await standing()
    denying = Denying(process, verb, "Secret", "arena")
    world.commit({"schedulers/arena.yaml": PLAIN})
    await turns(world, process)
    assert not denying.left, "it was said"
    assert copy(world) is None
    assert process.lane.store.state(ARENA).copied == ()


async def test_a_copy_whose_finalizer_waits_for_others_is_off_our_hands() -> None:
    world, process = await standing()
    kept = {"metadata": {"finalizers": ["example.com/keep"]}}
    world.patch(f"{COPIES}/secrets/pull", kept)
    world.commit({"schedulers/arena.yaml": PLAIN})
    await turns(world, process)
    assert "deletionTimestamp" in (copy(world) or {})["metadata"]
    assert process.lane.store.state(ARENA).copied == ()


async def test_a_process_that_died_before_it_wrote_leaves_nothing_behind() -> None:
    world = begun()
    process = await world.process()

    class Dying(Exception):
        pass

    class Dead:
        def __getattr__(self, name: str) -> Any:
            return getattr(process.cluster, name)

        async def apply(self, body: Json, *, dry_run: bool = False, force: bool = False) -> Json:
            if body["kind"] != "Secret":
                return dict(await process.cluster.apply(body, dry_run=dry_run, force=force))
            await process.cluster.apply(body, force=force)
            raise Dying

    process.lane.cluster = cast("Any", Dead())
    with pytest.raises(Dying):
        await turns(world, process, 3)
    world.commit({"schedulers/arena.yaml": PLAIN})
    again = await world.process()
    await turns(world, again)
    assert copy(world) is None


async def test_no_content_is_told_or_put_on_record(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        world, process = await standing()
        world.patch(f"{SOURCES}/secrets/pull", {"data": source(OTHER)["data"]})
        report = await turns(world, process)
    records = json.dumps(world.objects("/api/v1/namespaces/gamekeeper/configmaps"))
    events = json.dumps(world.objects("/api/v1/events"))
    said = f"{caplog.text}{report}{records}{events}{process.lane.found}"
    data = next(iter(source(OTHER)["data"].values()))
    assert not [each for each in (SECRET, OTHER, of(SECRET), data) if each in said]


@pytest.mark.long
async def test_copies_come_and_go_to_the_same_end_wherever_a_process_dies() -> None:
    async def prepare() -> World:
        return (await standing())[0]

    def other(world: World) -> None:
        more = {"kind": "Secret", "namespace": "shared", "name": "other"}
        changed = spec("arena", 2, image="registry.example/game:2", copyFrom=[REGIONS, more])
        world.create(f"{SOURCES}/secrets", {**source(OTHER), "metadata": {"name": "other"}})
        world.commit({"schedulers/arena.yaml": changed})

    scenario = Scenario("copies", prepare, {0: other}, {"arena": Bounds(4), "lobby": Bounds(1)})
    world, reference = await reference_of(scenario)
    points: dict[State, tuple[int, str]] = {}
    for number in range(len(reference.calls)):
        for side in ("before", "after"):
            points.setdefault(reference.ports.states[(number, side)], (number, side))
    assert len(points) > 20
    for number, side in points.values():
        stage = Stage(copy_of(world), scenario)
        compare(await play(stage, Ports(number, side)), reference)
        names = {one["metadata"]["name"] for one in stage.world.objects(f"{COPIES}/secrets")}
        assert names == {"other"}, (number, side)
