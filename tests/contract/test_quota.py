"""Quotas: the sandbox has none, so the real API server alone says what its refusals are."""

import asyncio

import pytest

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.model.errors import PortError, Withheld
from reconciler.model.refs import Json
from tests.contract.cluster_world import make_namespace, pod, real_server
from tests.controlplane.cluster import ControlPlane

pytestmark = pytest.mark.real
COUNTED_SECONDS = 90.0


def quota(namespace: str, **hard: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "small", "namespace": namespace},
        "spec": {"hard": {name.replace("__", "."): most for name, most in hard.items()}},
    }


async def refusals_of(cluster: KubernetesCluster, namespace: str, last: str) -> list[PortError]:
    """Ask for one pod after the other until a refusal holds `last`; a quota is counted late."""
    found: list[PortError] = []
    async with asyncio.timeout(COUNTED_SECONDS):
        for number in range(1000):
            try:
                await cluster.create(pod(namespace, f"arena-{number}"))
            except PortError as error:
                found.append(error)
                if last in str(error):
                    return found
            await asyncio.sleep(0.05)
    raise AssertionError(f"no refusal held {last!r}: {found}")


@pytest.mark.parametrize(
    ("hard", "last"),
    [
        pytest.param({"pods": "2"}, "exceeded quota", id="a full one"),
        pytest.param({"limits__memory": "1Gi"}, "must specify", id="one of what a pod leaves out"),
    ],
)
async def test_what_a_quota_refuses_is_tried_again(
    real_cluster: ControlPlane, hard: dict[str, str], last: str
) -> None:
    async with real_server(real_cluster) as server:
        cluster = server.client()
        namespace = await make_namespace(cluster)
        await cluster.create(quota(namespace, **hard))
        refused = await refusals_of(cluster, namespace, last)
    assert {type(error) for error in refused} == {Withheld}
    assert all("quota" in str(error) for error in refused)
