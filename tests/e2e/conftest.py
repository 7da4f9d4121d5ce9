"""What tests of real rooms share."""

from collections.abc import Iterator

import pytest

from tests.controlplane.cluster import ControlPlane, Parts
from tests.e2e.real_removals import forbidden
from tests.e2e.test_real_story import ACCOUNT, installed


@pytest.fixture(scope="module")
def deployed() -> Iterator[ControlPlane]:
    """Run a real control plane that audits, with deploy/ applied but for its Deployment.

    In the end nothing was refused to its account.
    """
    with installed(Parts(audited=True)) as cluster:
        cluster.add_nodes(1, labels={"pool": "own"})
        yield cluster
        assert forbidden(cluster, ACCOUNT) == []
