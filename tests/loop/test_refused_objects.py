"""Objects that a cluster refuses: told, asked for ever more seldom, at once where that may help."""

from collections.abc import Callable

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.refusals import refusal
from reconciler.core.backoff import LONGEST_DELAY_SECONDS
from reconciler.core.refusals import LONGEST_UNJUDGED_SECONDS
from reconciler.model import labels
from reconciler.model.additional import OWN
from reconciler.model.holds import HoldKind
from tests.loop.test_additional_objects import (
    ARENA,
    FILE,
    MAPS,
    OTHER,
    PATH,
    SETTINGS,
    standing,
)
from tests.loop.test_own_objects import WHERE, files, template
from tests.loop.test_own_objects import standing as standing_with_own
from tests.loop.world import Process, World, spec

POLICY = 'ValidatingAdmissionPolicy "audit" with binding "audit" denied request: not today'
QUOTA = 'configmaps "a" is forbidden: exceeded quota: few, requested: count/configmaps=1'
WEBHOOK = 'Internal error occurred: failed calling webhook "audit.example.com": connection refused'
HOUR = 3600


class Gate:
    """Refuses what is applied to a path while it is closed, and counts every request there."""

    def __init__(self, process: Process, path: str, status: int = 403, says: str = POLICY) -> None:
        self.closed = True
        self.asked: list[tuple[float, str]] = []
        self._path, self._status, self._says = path, status, says
        self._now = process.world.time.now
        self._before = process.transport.before
        process.transport.before = self._judge

    def _judge(self, number: int, call: Call) -> None:
        self._before(number, call)
        if call.path.startswith(self._path):
            self.asked.append((self._now(), call.verb))
            if self.closed and call.verb not in ("get", "list"):
                raise refusal(call.what, self._status, {"message": self._says})


def ready_of(process: Process) -> tuple[str, float]:
    conditions = process.lane.store.state(ARENA).conditions
    (ready,) = (each for each in conditions if each.type == "Ready")
    return ready.message, ready.since


async def pass_by(world: World, process: Process, seconds: int) -> None:
    """Let a workload be planned each second, as it is where people play."""
    for _ in range(seconds):
        await process.turn()
        world.pass_time(1.0)


@pytest.mark.long
@pytest.mark.parametrize(
    ("status", "says"),
    [
        pytest.param(403, POLICY, id="a policy"),
        pytest.param(422, POLICY, id="a policy, in another word"),
        pytest.param(403, QUOTA, id="a quota"),
        pytest.param(500, WEBHOOK, id="a webhook that is down"),
        pytest.param(504, "the server timed out", id="a store that does not answer"),
    ],
)
async def test_a_change_that_is_refused_is_asked_for_ever_more_seldom(
    status: int, says: str
) -> None:
    world, process = await standing()
    gate = Gate(process, f"{PATH}/arena-settings", status, says)
    world.commit({FILE: SETTINGS.replace("welcome", "farewell")})
    await pass_by(world, process, 120)
    assert len(gate.asked) <= 2 * 12, (
        "a look and a dry run, half a second apart and then twice that"
    )
    told = ready_of(process)
    assert says[:40] in told[0]
    world.delete("/api/v1/namespaces/arena/pods/arena-0")
    await pass_by(world, process, 60)
    assert world.names("arena") == ["arena-1", "arena-2", "arena-3"]
    assert ready_of(process) == told, "it is told once, and as long as it is so"
    gate.closed = False
    await pass_by(world, process, int(LONGEST_DELAY_SECONDS))
    assert world.ask(f"{PATH}/arena-settings")["data"] == {"motd": "farewell"}
    assert ready_of(process)[0] == ""


@pytest.mark.long
async def test_one_that_is_missing_is_waited_for_by_all_that_follows() -> None:
    world = World(kinds=("ConfigMap",))
    process = await world.process()
    gate = Gate(process, f"{PATH}/arena-settings")
    world.commit({"schedulers/arena.yaml": spec("arena", 3, objects="objects/arena")})
    world.commit({FILE: SETTINGS})
    await pass_by(world, process, HOUR)
    assert len(gate.asked) <= 2 * (11 + HOUR / LONGEST_DELAY_SECONDS)
    assert world.names("arena") == []
    assert "not today" in ready_of(process)[0]
    world.commit({FILE: SETTINGS.replace("welcome", "hello")})
    gate.closed = False
    await pass_by(world, process, 10)
    assert len(world.names("arena")) == 3, "another object is asked for at once"


@pytest.mark.long
@pytest.mark.parametrize("kind", OWN)
async def test_what_is_added_to_ours_is_asked_for_no_oftener(kind: str) -> None:
    world, process = await standing_with_own()
    gate = Gate(process, WHERE[kind])
    world.commit(files(**{kind: template(kind, "red")}))
    await pass_by(world, process, 120)
    assert len(gate.asked) <= 2 * 10


async def test_an_object_of_somebody_else_is_looked_at_ever_more_seldom_and_always_told() -> None:
    world, process = await standing()
    named = {"name": "arena-maps", "namespace": "arena"}
    world.create(PATH, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": named})
    gate = Gate(process, f"{PATH}/arena-maps")
    world.commit({OTHER: MAPS, FILE: SETTINGS.replace("welcome", "farewell")})
    for _ in range(120):
        (plan,) = (each for each in (await process.turn()).settled if each.plan.key == ARENA)
        told = (*plan.plan.holds, *plan.holds)
        assert [hold.kind for hold in told] == [HoldKind.FOREIGN]
        world.pass_time(1.0)
    assert len(gate.asked) <= 12
    settings = world.ask(f"{PATH}/arena-settings")
    assert settings["data"] == {"motd": "welcome"}, "nothing of the workload is written"
    world.delete(f"{PATH}/arena-maps")
    gate.closed = False
    await pass_by(world, process, 27)
    assert world.ask(f"{PATH}/arena-maps")["data"] == {"motd": "welcome"}
    assert world.ask(f"{PATH}/arena-settings")["data"] == {"motd": "farewell"}


async def test_who_changes_an_object_whenever_it_is_set_back_is_told_and_not_fought_for_ever() -> (
    None
):
    world, process = await standing()
    path = f"{PATH}/arena-settings"
    for change in ("mine", "welcome", "mine"):
        world.patch(path, {"data": {"motd": change}})
        await process.turn()
        assert world.ask(path)["data"] == {"motd": "welcome"}, "what people change once is set back"
        world.pass_time(1.0)
    before = len(process.transport.writes)
    told = set[str]()
    for _ in range(120):
        world.patch(path, {"data": {"motd": "mine"}})
        (plan,) = (each for each in (await process.turn()).settled if each.plan.key == ARENA)
        told |= {hold.reason for hold in plan.plan.holds if hold.kind is HoldKind.DRIFTED}
        world.pass_time(1.0)
    writes = [call for call in process.transport.writes[before:] if call.path == path]
    assert len(writes) <= 20
    (reason,) = told
    assert reason.startswith("ConfigMap arena/arena-settings is changed by ")
    assert " in data.motd each time" in reason
    await pass_by(world, process, int(LONGEST_DELAY_SECONDS))
    assert world.ask(path)["data"] == {"motd": "welcome"}, "it is Git's all the same"
    world.pass_time(600.0)
    assert not [hold for each in (await process.turn()).settled for hold in each.plan.holds]


@pytest.mark.long
@pytest.mark.parametrize(
    ("status", "says", "follow"),
    [
        pytest.param(403, POLICY, True, id="a policy: it protects as it was"),
        pytest.param(500, WEBHOOK, False, id="a webhook that is down"),
    ],
)
@pytest.mark.parametrize("replicas", [2, 8])
async def test_rooms_follow_no_budget_at_whose_count_the_cluster_fails(
    replicas: int, status: int, says: str, follow: bool
) -> None:
    world, process = await standing()
    path = WHERE["PodDisruptionBudget"]
    before = world.ask(path)["spec"]["minAvailable"]
    gate = Gate(process, path, status, says)
    world.commit({"schedulers/arena.yaml": spec("arena", replicas, objects="objects/arena")})
    seen = set[int]()
    for _ in range(20):
        await pass_by(world, process, 1)
        seen.add(len(world.names("arena")))
    assert (seen != {3}) is follow
    assert world.ask(path)["spec"]["minAvailable"] == before
    gate.closed = False
    await pass_by(world, process, int(LONGEST_UNJUDGED_SECONDS))
    assert len(world.names("arena")) == replicas
    assert world.ask(path)["spec"]["minAvailable"] != before


@pytest.mark.long
async def test_what_protects_a_room_is_written_while_the_cluster_fails_at_its_budget() -> None:
    world, process = await standing()
    Gate(process, WHERE["PodDisruptionBudget"], 500, WEBHOOK)
    world.commit({"schedulers/arena.yaml": spec("arena", 8, objects="objects/arena")})
    await pass_by(world, process, 20)
    room = "/api/v1/namespaces/arena/pods/arena-0"
    ours = world.ask(room)["metadata"]
    marks = {labels.PART_OF: "other"}, {labels.SAFE_TO_EVICT: "true"}
    world.patch(room, {"metadata": {"labels": marks[0], "annotations": marks[1]}})
    await pass_by(world, process, int(LONGEST_UNJUDGED_SECONDS))
    metadata = world.ask(room)["metadata"]
    assert metadata["labels"] == ours["labels"]
    kept = labels.SAFE_TO_EVICT
    assert metadata["annotations"][kept] == ours["annotations"][kept]


async def test_the_count_of_a_budget_makes_no_label_of_others_ours() -> None:
    world, process = await standing_with_own()
    path = WHERE["PodDisruptionBudget"]
    world.patch(path, {"metadata": {"labels": {"example.com/other": "theirs"}}})
    _refuse_red(process)
    world.commit(files(PodDisruptionBudget=template("PodDisruptionBudget", "red")))
    world.commit({"schedulers/arena.yaml": spec("arena", 6, objects="objects/arena")})
    await pass_by(world, process, 10)
    assert world.ask(path)["spec"]["minAvailable"] == 5
    metadata = world.ask(path)["metadata"]
    marks = metadata["labels"]
    assert (marks["example.com/other"], marks["example.com/team"]) == ("theirs", "blue")
    (ours,) = (
        each["fieldsV1"]["f:metadata"]["f:labels"]
        for each in metadata["managedFields"]
        if each["manager"] == "gamekeeper-main"
    )
    assert "f:example.com/other" not in ours, "who put it there can take it away"
    assert "f:example.com/team" in ours


def _refuse_red(process: Process) -> None:
    """Refuse a label wherever it is written."""
    before: Callable[[int, Call], None] = process.transport.before

    def judge(number: int, call: Call) -> None:
        before(number, call)
        if call.verb not in ("get", "list") and '"red"' in str(call.body).replace("'", '"'):
            raise refusal(call.what, 403, {"message": POLICY})

    process.transport.before = judge
