"""What is told of a selector that selects nothing."""

import pytest

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.cli.adopt import nothing_selected
from reconciler.model.refs import Json
from tests.loop.transport import SandboxTransport
from tests.loop.world import World

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
