"""`gamekeeper reconcile --wait` in a new cluster, whose first loop is making our namespace."""

import time

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.cli import reconcile
from reconciler.loop.requests import pending, request_ref
from reconciler.model.errors import Unavailable
from reconciler.model.refs import Json
from reconciler.settings import Settings
from tests.loop.transport import SandboxTransport
from tests.loop.world import World

SETTINGS = Settings(instance="main")
REF = request_ref("gamekeeper", "main")
SPACE: Json = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gamekeeper"}}


def cluster_of(world: World, *, made_before_call: int | None) -> KubernetesCluster:
    """Connect to a cluster in which our namespace is made right before a request, by its number."""
    transport = SandboxTransport(world.sandbox, world.time.now)

    def make(number: int, call: Call) -> None:
        if number == made_before_call:
            world.create("/api/v1/namespaces", SPACE)

    transport.before = make
    return KubernetesCluster(transport, "main", name="local")


@pytest.mark.parametrize("number", range(9))
async def test_it_asks_whenever_the_namespace_is_made(number: int) -> None:
    cluster = cluster_of(World(), made_before_call=number)
    await reconcile._asked(cluster, REF, SETTINGS, time.monotonic() + 60)
    assert await pending(cluster, REF)


async def test_a_namespace_that_nobody_makes_is_named_in_the_end() -> None:
    cluster = cluster_of(World(), made_before_call=None)
    with pytest.raises(Unavailable, match='namespaces "gamekeeper" not found'):
        await reconcile._asked(cluster, REF, SETTINGS, time.monotonic() + 0.5)
