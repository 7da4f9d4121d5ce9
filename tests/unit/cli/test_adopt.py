"""What is told of the pods that become rooms, and of a selector that selects nothing."""

from dataclasses import replace

import pytest

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.cli.adopt import as_rooms, nothing_selected
from reconciler.core.adopting import Adoption
from reconciler.loop.adopt import Candidates
from reconciler.model import labels
from reconciler.model.refs import Json
from reconciler.model.specs import Departure, Timeouts
from tests.loop.transport import SandboxTransport
from tests.loop.world import World
from tests.unit.core.making import a_workload

SPEC = {"containers": [{"name": "game", "image": "registry.example/game:0"}]}
LOOK = "kubectl get pods --namespace legacy --show-labels lists all."


@pytest.mark.parametrize(
    ("pods", "said"),
    [
        pytest.param([], "No pod is there at all.", id="no pod"),
        pytest.param([{}], "No pod there has a label.", id="no label"),
        pytest.param(
            [{"app": "arena", "tier": "eu"}, {"app": "arena"}, {}],
            "What there is has app=arena (2), tier=eu (1).",
            id="the commonest first",
        ),
        pytest.param(
            [{f"n{number}": "x" for number in range(9)}],
            "What there is has n0=x (1), n1=x (1), n2=x (1), n3=x (1), n4=x (1).",
            id="of many a few",
        ),
    ],
)
async def test_a_selector_that_selects_nothing_is_told_with_what_there_is(
    pods: list[dict[str, str]], said: str
) -> None:
    world = World()
    world.create("/api/v1/namespaces", {"metadata": {"name": "legacy"}})
    world.pass_time(5.0)
    for number, marks in enumerate(pods):
        metadata: Json = {"name": f"web-{number}", "labels": marks}
        world.create("/api/v1/namespaces/legacy/pods", {"metadata": metadata, "spec": SPEC})
    cluster = KubernetesCluster(SandboxTransport(world.sandbox, world.time.now), "main")
    told = str(await nothing_selected(cluster, "legacy", "app=typo"))
    assert told == f'"app=typo" selects no pod in the namespace legacy. {said} {LOOK}'


@pytest.mark.parametrize(
    ("as_current", "above", "until"),
    [
        pytest.param(True, 0, "the template changes, or fewer are wanted", id="of the template"),
        pytest.param(True, 1, "it is known to be empty", id="more than are wanted"),
        pytest.param(False, 0, "it is known to be empty", id="old ones"),
    ],
)
def test_how_long_a_room_stays_is_told(as_current: bool, above: int, until: str) -> None:
    workload = replace(a_workload(), reports="required", replicas=1)
    pods = [{"metadata": {"name": name}} for name in ("web-a", "web-b")]
    adoption = Adoption(workload, "main", as_current)
    _, first, second, *more = as_rooms(Candidates(pods, (), (), (), above), adoption)
    assert (first, second) == (f"  web-a  stays until {until}", f"  web-b  stays until {until}")
    assert len(more) == bool(above)
    assert all("1 more than the 1 rooms that are wanted: as many go" in line for line in more)


@pytest.mark.parametrize(
    ("mark", "silent", "deadline", "until"),
    [
        pytest.param("busy", None, None, 'it ends: its label says "busy"', id="busy"),
        pytest.param(
            "allocated",
            600.0,
            None,
            'it ends, or silentBusySeconds are over: its label says "allocated"',
            id="allocated, and silence has a limit",
        ),
        pytest.param(
            "busy",
            None,
            60.0,
            "it ends, or drainDeadlineSeconds are over since it was told to leave: its label says "
            '"busy"',
            id="busy, and who leaves has a deadline",
        ),
        pytest.param(
            "busy",
            600.0,
            60.0,
            "it ends, or silentBusySeconds are over, or drainDeadlineSeconds are over since it was "
            'told to leave: its label says "busy"',
            id="busy, with both",
        ),
        pytest.param(
            "draining", None, 60.0, "the template changes, or fewer are wanted", id="taken off"
        ),
        pytest.param("idle", 600.0, 60.0, 'it ends: its label says "idle"', id="idle"),
    ],
)
def test_a_room_that_its_label_protects_is_not_said_to_go_in_a_scale_in(
    mark: str, silent: float | None, deadline: float | None, until: str
) -> None:
    workload = replace(
        a_workload(),
        reports="none",
        replicas=1,
        timeouts=Timeouts(silent_busy_seconds=silent),
        departure=Departure(drain_deadline_seconds=deadline),
    )
    pods = [{"metadata": {"name": "web-a", "labels": {labels.STATE: mark}}}]
    adoption = Adoption(workload, "main", as_current=True)
    assert as_rooms(Candidates(pods, (), (), (), 0), adoption)[1] == f"  web-a  stays until {until}"
