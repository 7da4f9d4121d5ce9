"""Templates of a repository that add to namespace, account and budget of a workload."""

from dataclasses import replace
from typing import Any, cast

import pytest

from reconciler.model import labels
from reconciler.model.additional import OWN
from reconciler.model.errors import Denied
from reconciler.model.holds import HoldKind
from reconciler.model.refs import Json, ObjectRef, WorkloadKey
from tests.loop.world import Process, World, spec

FOLDER = "objects/arena"
WHERE = {
    "Namespace": "/api/v1/namespaces/arena",
    "ServiceAccount": "/api/v1/namespaces/arena/serviceaccounts/arena",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/arena/poddisruptionbudgets/arena",
}


def template(kind: str, team: str = "blue", more: str = "") -> str:
    name = "namespace" if kind == "Namespace" else "name"
    return (
        f"apiVersion: {OWN[kind]}\nkind: {kind}\nmetadata:\n  name: {{{{ workload.{name} }}}}\n"
        f"  labels: {{example.com/team: {team}}}\n  annotations: {{example.com/note: hi}}\n{more}"
    )


def files(**templates: str | None) -> dict[str, str | None]:
    return {f"{FOLDER}/{kind.lower()}.yaml.j2": text for kind, text in templates.items()}


async def standing(kinds: tuple[str, ...] = tuple(OWN)) -> tuple[World, Process]:
    world = World(kinds=kinds)
    world.commit({"schedulers/lobby.yaml": spec("lobby", 1)})
    world.commit({"schedulers/arena.yaml": spec("arena", 3, objects=FOLDER)})
    world.commit(files(**{kind: template(kind) for kind in OWN}))
    process = await world.process()
    await world.settle(process)
    return world, process


def metadata(world: World, kind: str) -> Json:
    found: Json = world.ask(WHERE[kind])["metadata"]
    return found


def teams(world: World) -> list[Any]:
    return [metadata(world, kind)["labels"].get("example.com/team") for kind in OWN]


async def test_what_is_added_stands_beside_all_that_is_ours() -> None:
    world, process = await standing()
    assert teams(world) == ["blue"] * 3
    for kind in OWN:
        marks = metadata(world, kind)
        assert marks["labels"][labels.INSTANCE] == "main"
        assert marks["annotations"]["example.com/note"] == "hi"
    namespace = metadata(world, "Namespace")["labels"]
    assert namespace["pod-security.kubernetes.io/enforce"] == "privileged"
    budget = world.ask(WHERE["PodDisruptionBudget"])["spec"]
    assert budget["minAvailable"] == 2
    assert budget["selector"]["matchLabels"][labels.WORKLOAD] == "arena"
    for _ in range(3):
        assert not (await process.turn()).changed


async def test_it_changes_is_set_back_and_goes_and_no_room_goes_with_it() -> None:
    world, process = await standing()
    rooms = world.names("arena")
    world.commit(files(Namespace=template("Namespace", "red")))
    await world.settle(process)
    assert teams(world) == ["red", "blue", "blue"]
    world.patch(WHERE["Namespace"], {"metadata": {"labels": {"example.com/team": "mine"}}})
    await world.settle(process)
    assert teams(world) == ["red", "blue", "blue"]
    world.commit(files(Namespace=None, ServiceAccount=None))
    await world.settle(process)
    assert teams(world) == [None, None, "blue"]
    world.commit(files(PodDisruptionBudget=None))
    world.commit({"schedulers/arena.yaml": spec("arena", 3)})
    await world.settle(process)
    assert teams(world) == [None] * 3
    assert world.names("arena") == rooms
    assert world.ask(WHERE["PodDisruptionBudget"])["spec"]["minAvailable"] == 2


async def test_a_mistake_holds_its_own_workload_and_protection_stays() -> None:
    world, process = await standing()
    world.commit(
        {
            **files(PodDisruptionBudget=template("PodDisruptionBudget", more="spec: {}\n")),
            "schedulers/arena.yaml": spec("arena", 5, objects=FOLDER),
            "schedulers/lobby.yaml": spec("lobby", 2),
        }
    )
    for _ in range(4):
        await process.turn()
        world.pass_time(2.0)
    assert (len(world.pods("arena")), len(world.pods("lobby"))) == (3, 2)
    (hold,) = [each for each in process.lane.wanted.holds if each.kind is HoldKind.FINDING]
    assert hold.reason.startswith(f"{FOLDER}/poddisruptionbudget.yaml.j2:7: is Gamekeeper's own")
    assert teams(world) == ["blue"] * 3
    assert world.ask(WHERE["PodDisruptionBudget"])["spec"]["minAvailable"] == 2


async def test_without_the_operators_leave_nothing_is_added() -> None:
    world, process = await standing(kinds=("ServiceAccount",))
    (hold,) = [each for each in process.lane.wanted.holds if each.key is not None]
    assert "does not let this repository" in hold.reason
    assert not world.pods("arena")
    world, process = await standing()
    world.kinds = ("ServiceAccount",)
    process = await world.process()
    for _ in range(4):
        await process.turn()
        world.pass_time(2.0)
    assert teams(world) == [None, "blue", None], "what was allowed once counts no more"
    assert len(world.pods("arena")) == 3


class Refusing:
    """A cluster in which a policy refuses what was added to the objects of a kind."""

    def __init__(self, cluster: Any, kind: str, refused: int = 0) -> None:
        self._cluster = cluster
        self._kind = kind
        self.refused = refused

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    async def apply(self, body: Json, *, dry_run: bool = False, force: bool = False) -> Json:
        added = body["metadata"]["labels"].get("example.com/team") == "red"
        if body["kind"] == self._kind and added:
            self.refused += 1
            raise Denied("a policy says no (403)")
        return dict(await self._cluster.apply(body, dry_run=dry_run, force=force))


@pytest.mark.parametrize("kind", OWN)
async def test_an_addition_that_is_refused_is_told_and_rooms_are_healed(kind: str) -> None:
    world, process = await standing()
    process.lane.cluster = cast("Any", Refusing(process.lane.cluster, kind))
    world.commit(files(**{kind: template(kind, "red")}))
    world.delete("/api/v1/namespaces/arena/pods/arena-0")
    for _ in range(6):
        report = await process.turn()
        world.pass_time(10.0)
    assert world.names("arena") == ["arena-1", "arena-2", "arena-3"]
    assert teams(world) == ["blue"] * 3
    (error,) = {each.error for item in report.settled for each in item.outcomes if each.error}
    assert "a policy says no" in str(error)


async def test_a_budget_whose_addition_is_refused_goes_on_to_follow_the_rooms() -> None:
    world, process = await standing()
    cluster = process.lane.cluster
    process.lane.cluster = cast("Any", refusing := Refusing(cluster, "PodDisruptionBudget"))
    path, other = WHERE["PodDisruptionBudget"], {"example.com/other": "theirs"}
    world.patch(path, {"metadata": {"labels": other}})
    world.commit(files(PodDisruptionBudget=template("PodDisruptionBudget", "red")))
    world.commit({"schedulers/arena.yaml": spec("arena", 6, objects=FOLDER)})
    for _ in range(4):
        await process.turn()
        world.pass_time(5.0)
    assert refusing.refused
    assert len(world.pods("arena")) == 6
    budget = world.ask(path)
    assert budget["spec"]["minAvailable"] == 5
    assert {**budget["metadata"]["labels"], **other, "example.com/team": "blue"} == (
        budget["metadata"]["labels"]
    )
    version = budget["metadata"]["resourceVersion"]
    for _ in range(3):
        await process.turn()
    assert world.ask(path)["metadata"]["resourceVersion"] == version, "it is written once"

    process.lane.cluster = cluster
    await world.settle(process)
    assert teams(world) == ["blue", "blue", "red"], "the policy went"
    assert metadata(world, "PodDisruptionBudget")["labels"].items() >= other.items()


class Moving(Refusing):
    """One in which a commit takes the workload out while its budget is looked at."""

    def __init__(self, process: Process) -> None:
        super().__init__(process.lane.cluster, "PodDisruptionBudget")
        self._lane = process.lane
        self.written: list[str] = []

    async def get(self, ref: ObjectRef) -> Json | None:
        found: Json | None = await self._cluster.get(ref)
        if self.refused and ref.kind == "PodDisruptionBudget":
            wanted, arena = self._lane.wanted, WorkloadKey("Scheduler", "arena", "arena")
            left = {key: each for key, each in wanted.effective.items() if key != arena}
            self._lane.wanted = replace(wanted, effective=left)
        return found

    async def apply(self, body: Json, *, dry_run: bool = False, force: bool = False) -> Json:
        answer = await super().apply(body, dry_run=dry_run, force=force)
        self.written += [] if dry_run else [body["kind"]]
        return answer


async def test_the_count_of_a_budget_is_not_written_for_what_is_wanted_no_more() -> None:
    world, process = await standing()
    moving = Moving(process)
    process.lane.cluster = cast("Any", moving)
    world.commit(files(PodDisruptionBudget=template("PodDisruptionBudget", "red")))
    world.commit({"schedulers/arena.yaml": spec("arena", 6, objects=FOLDER)})
    await process.turn()
    assert moving.refused
    assert "PodDisruptionBudget" not in moving.written
    assert world.ask(WHERE["PodDisruptionBudget"])["spec"]["minAvailable"] == 2
