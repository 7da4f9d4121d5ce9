"""Fixtures of the contracts: each test of a cluster runs on the sandbox and on the real one."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from reconciler.adapters.git.memory import MemoryHost
from reconciler.adapters.kubernetes.client import KubernetesCluster
from tests.contract.api_server_world import Speaker, real_speaker, sandbox_speaker
from tests.contract.cluster_world import ApiServer, make_namespace, real_server, sandbox_server
from tests.contract.far import Far
from tests.gitservers.repositories import BareRepository
from tests.gitservers.signing import Person

SIDES = [
    pytest.param("sandbox", marks=pytest.mark.paired),
    pytest.param("real", marks=(pytest.mark.real, pytest.mark.paired)),
]
"""Every test of an API server runs on both; `make real` runs both and counts them."""


@pytest.fixture(params=SIDES)
async def api_server(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ApiServer]:
    """Serve the sandbox, or speak to the real control plane."""
    if request.param == "sandbox":
        async with sandbox_server(tmp_path) as server:
            yield server
    else:
        async with real_server(request.getfixturevalue("real_cluster")) as server:
            yield server


@pytest.fixture
def cluster(api_server: ApiServer) -> KubernetesCluster:
    """Open a client of the administrator."""
    return api_server.client()


@pytest.fixture
async def namespace(cluster: KubernetesCluster) -> str:
    """Make a namespace of the test's own."""
    return await make_namespace(cluster)


@pytest.fixture(scope="session", params=SIDES)
def api(request: pytest.FixtureRequest) -> Iterator[Speaker]:
    """Speak raw HTTP to the sandbox, or to the real control plane."""
    if request.param == "sandbox":
        with sandbox_speaker() as speaker:
            yield speaker
    else:
        yield real_speaker(request.getfixturevalue("real_cluster"))


@pytest.fixture
def space(api: Speaker) -> str:
    """Make a namespace of the test's own and give its path."""
    return api.namespace()


@pytest.fixture(params=["memory", "file"])
def far(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Far]:
    """Have a Git host in memory, or on disk."""
    people = [Person.create(tmp_path, name) for name in ("anna", "bea", "carl")]
    if request.param == "memory":
        yield Far(tmp_path, MemoryHost(), None, *people)
    else:
        yield Far(tmp_path, None, BareRepository.create(tmp_path / "srv", "fleet.git"), *people)
