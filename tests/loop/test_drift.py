"""Objects that somebody else changed, where `spec.drift` says that this is told (`warn`)."""

from typing import Any, cast

from reconciler.loop import head
from reconciler.loop.preview import preview_plans
from reconciler.model import labels
from reconciler.model.errors import Denied, Unavailable
from reconciler.model.holds import HoldKind
from reconciler.model.refs import Json
from reconciler.model.reports import Report
from tests.loop.test_additional_objects import ARENA, FILE, PATH, SETTINGS, maps, standing
from tests.loop.world import Process, World, spec

WARNING = spec("arena", 3, objects="objects/arena", drift={"mode": "warn"})
HEALING = spec("arena", 3, objects="objects/arena", drift={"mode": "heal"})
ASKED = {"schedulers/arena.yaml": WARNING}
SPACE = "/api/v1/namespaces/arena"
BUDGET = "/apis/policy/v1/namespaces/arena/poddisruptionbudgets/arena"


async def turns(world: World, process: Process, count: int = 4) -> Report:
    for _ in range(count):
        report = await process.turn()
        world.pass_time(2.0)
    return report


def told(report: Report) -> list[str]:
    """What a report says of drift of the arena."""
    (item,) = [each for each in report.settled if each.plan.key == ARENA]
    return [
        hold.reason for hold in (*item.plan.holds, *item.holds) if hold.kind is HoldKind.DRIFTED
    ]


def motd(world: World) -> str:
    return str(maps(world)["arena-settings"]["data"]["motd"])


def write(world: World, text: str) -> None:
    world.patch(f"{PATH}/arena-settings", {"data": {"motd": text}})


async def test_what_somebody_changed_stays_and_is_told_where_and_how_it_ends() -> None:
    world, process = await standing(**ASKED)
    assert told(await turns(world, process)) == []
    write(world, "mine")
    report = await turns(world, process)
    (reason,) = told(report)
    assert reason.startswith("somebody changed ConfigMap arena/arena-settings in .data.motd. It")
    assert (motd(world), "mine" in reason) == ("mine", False)
    record = process.lane.store.state(ARENA)
    assert [each.type for each in record.conditions if each.reason == "drifted"] == ["Stalled"]
    assert not (await turns(world, process)).changed

    again = await world.process()
    assert told(await turns(world, again)) == [reason], "the next process knows it, too"
    assert motd(world) == "mine"

    write(world, "welcome")
    assert told(await turns(world, again)) == [], "they took it back"


async def test_a_commit_that_changes_the_object_has_it_as_git_says() -> None:
    world, process = await standing(**ASKED)
    await turns(world, process)
    write(world, "mine")
    await turns(world, process)
    world.commit({"schedulers/arena.yaml": WARNING.replace("replicas: 3", "replicas: 4")})
    await turns(world, process, 8)
    assert (motd(world), len(world.names("arena"))) == ("mine", 4), "it changes something else"
    world.commit({FILE: SETTINGS.replace("welcome", "farewell")})
    assert told(await turns(world, process)) == []
    assert motd(world) == "farewell"


async def test_who_writes_heal_has_all_as_git_says() -> None:
    world, process = await standing(**ASKED)
    await turns(world, process)
    write(world, "mine")
    await turns(world, process)
    world.commit({"schedulers/arena.yaml": HEALING})
    assert told(await turns(world, process)) == []
    assert motd(world) == "welcome"
    assert process.lane.store.state(ARENA).applied == ()


async def test_what_is_missing_is_made_and_what_protects_rooms_is_set_back() -> None:
    world, process = await standing(**ASKED)
    await turns(world, process)
    world.delete(f"{PATH}/arena-settings")
    part = world.ask(SPACE)["metadata"]["labels"][labels.PART_OF]
    world.patch(BUDGET, {"spec": {"minAvailable": 0}})
    world.patch(SPACE, {"metadata": {"labels": {labels.PART_OF: "other"}}})
    report = await turns(world, process)
    assert (told(report), motd(world)) == ([], "welcome")
    assert world.ask(BUDGET)["spec"]["minAvailable"] > 0
    namespace = world.ask(SPACE)
    assert namespace["metadata"]["labels"][labels.PART_OF] == part


async def test_a_look_at_the_cluster_tells_of_it_and_would_not_change_it() -> None:
    world, process = await standing(**ASKED)
    await turns(world, process)
    write(world, "mine")
    looking = await world.process()
    await looking.view.read()
    await head.look(looking.head, world.time.now())
    (item,) = await preview_plans(looking.lane, [ARENA], world.time.now())
    assert [hold.kind for hold in item.holds] == [HoldKind.DRIFTED]
    assert (item.objects, motd(world)) == ((), "mine")


class Failing:
    """A cluster in which dry runs of namespaces end with an error."""

    def __init__(self, cluster: Any, error: Exception) -> None:
        self._cluster, self._error = cluster, error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    async def apply(self, body: Json, *, dry_run: bool = False, force: bool = False) -> Json:
        if dry_run and body["kind"] == "Namespace":
            raise self._error
        return dict(await self._cluster.apply(body, dry_run=dry_run, force=force))


LEVEL = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "baseline"}}}


async def test_a_dry_run_that_is_refused_stops_no_room_and_is_told() -> None:
    world, process = await standing(**ASKED)
    await turns(world, process)
    world.patch(SPACE, LEVEL)
    process.lane.cluster = cast("Any", Failing(process.lane.cluster, Denied("no (403)")))
    world.delete("/api/v1/namespaces/arena/pods/arena-0")
    report = await turns(world, process)
    assert world.names("arena") == ["arena-1", "arena-2", "arena-3"]
    (reason,) = told(report)
    assert "Namespace arena in .metadata.labels" in reason


async def test_a_dry_run_that_gets_no_answer_stops_no_room_and_says_nothing() -> None:
    world, process = await standing(**ASKED)
    await turns(world, process)
    world.patch(SPACE, LEVEL)
    process.lane.cluster = cast("Any", Failing(process.lane.cluster, Unavailable("time-out")))
    world.delete("/api/v1/namespaces/arena/pods/arena-0")
    report = await turns(world, process)
    assert world.names("arena") == ["arena-1", "arena-2", "arena-3"]
    assert told(report) == []
    process.lane.cluster = process.cluster
    assert len(told(await turns(world, process))) == 1
