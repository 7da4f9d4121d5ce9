"""The pytest fixture `real_cluster`: one real control plane for a whole test run.

Without the built programs it fails and never skips: a suite that quietly tested less than it says
would be worse than a red one.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.controlplane.cluster import ControlPlane

NODES = 3


@pytest.fixture(scope="session")
def real_cluster() -> Iterator[ControlPlane]:
    """Run a real control plane with three ready nodes until the last test is over."""
    with ControlPlane() as cluster:
        cluster.add_nodes(NODES)
        yield cluster
