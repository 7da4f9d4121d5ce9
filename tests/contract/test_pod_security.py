"""Our word on Pod Security `restricted` against a real namespace that enforces it."""

import pytest

from reconciler.model.refs import Json
from tests.controlplane.cluster import ControlPlane
from tests.unit.core.test_pod_restricted import ALLOWED, REFUSED

NAMESPACE = "restricted-rooms"
ACCOUNT = "rooms"


@pytest.fixture(scope="module")
def server(real_cluster: ControlPlane) -> ControlPlane:
    """Have a namespace that enforces the level, with an account: dry runs need one."""
    level = {"pod-security.kubernetes.io/enforce": "restricted"}
    body: Json = {"metadata": {"name": NAMESPACE, "labels": level}}
    real_cluster.api.ask("POST", "/api/v1/namespaces", body)
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
    real_cluster.api.ask("POST", path, {"metadata": {"name": ACCOUNT}})
    return real_cluster


def is_refused(server: ControlPlane, spec: Json) -> bool:
    """Whether the level is what the server has against a pod; nothing else may be."""
    pod: Json = {
        "metadata": {"name": "check"},
        "spec": {**spec, "serviceAccountName": ACCOUNT, "automountServiceAccountToken": False},
    }
    answer = server.api.ask("POST", f"/api/v1/namespaces/{NAMESPACE}/pods?dryRun=All", pod)
    if answer.status < 300:
        return False
    said = str(answer.body["message"])
    assert 'violates PodSecurity "restricted:latest"' in said
    return True


@pytest.mark.real
@pytest.mark.parametrize(("spec", "paths"), REFUSED)
def test_what_we_refuse_the_server_refuses(
    server: ControlPlane, spec: Json, paths: list[str]
) -> None:
    assert paths
    assert is_refused(server, spec)


@pytest.mark.real
@pytest.mark.parametrize("spec", ALLOWED)
def test_what_we_allow_the_server_takes(server: ControlPlane, spec: Json) -> None:
    assert not is_refused(server, spec)
