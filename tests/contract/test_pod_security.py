"""Our word on Pod Security `baseline` and `restricted` against namespaces that enforce them."""

import pytest

from reconciler.core.pod_security import check_baseline
from reconciler.model.refs import Json
from tests.controlplane.cluster import ControlPlane
from tests.unit.core.reading import container, loaded, pod
from tests.unit.core.test_pod_restricted import ALLOWED, REFUSED
from tests.unit.core.test_pod_security import ALLOWED as BASELINE_ALLOWS
from tests.unit.core.test_pod_security import CONTAINER, POD

LEVELS = ("baseline", "restricted")
ACCOUNT = "rooms"
UNMASKED = container(securityContext={"procMount": "Unmasked"})
INVALID = ("hostProcess", "procMount")
"""By themselves they make no valid pod, so the server has something else against it first."""
BASELINE = [
    *(
        pytest.param(spec, id=path)
        for spec, path in (
            *((pod(**loaded(text)), path) for text, path in POD),
            *((pod(containers=[container(**loaded(text))]), path) for text, path in CONTAINER),
        )
        if not path.endswith(INVALID)
    ),
    *(pytest.param(pod(**loaded(text)), id=text) for text in BASELINE_ALLOWS),
    pytest.param(pod(hostUsers=False, containers=[UNMASKED]), id="proc of users of its own"),
]


@pytest.fixture(scope="module")
def server(real_cluster: ControlPlane) -> ControlPlane:
    """Have a namespace that enforces each level, with an account: dry runs need one."""
    for level in LEVELS:
        marks = {"pod-security.kubernetes.io/enforce": level}
        body: Json = {"metadata": {"name": f"{level}-rooms", "labels": marks}}
        real_cluster.api.ask("POST", "/api/v1/namespaces", body)
        path = f"/api/v1/namespaces/{level}-rooms/serviceaccounts"
        real_cluster.api.ask("POST", path, {"metadata": {"name": ACCOUNT}})
    return real_cluster


def is_refused(server: ControlPlane, spec: Json, level: str) -> bool:
    """Whether the level is what the server has against a pod; nothing else may be."""
    body: Json = {
        "metadata": {"name": "check"},
        "spec": {**spec, "serviceAccountName": ACCOUNT, "automountServiceAccountToken": False},
    }
    answer = server.api.ask("POST", f"/api/v1/namespaces/{level}-rooms/pods?dryRun=All", body)
    if answer.status < 300:
        return False
    said = str(answer.body["message"])
    assert f'violates PodSecurity "{level}:latest"' in said
    return True


@pytest.mark.real
@pytest.mark.parametrize("spec", BASELINE)
def test_baseline_is_the_servers(server: ControlPlane, spec: Json) -> None:
    ours = list(check_baseline({"spec": spec}, "1.36"))
    assert is_refused(server, spec, "baseline") == bool(ours)


@pytest.mark.real
@pytest.mark.parametrize(("spec", "paths"), REFUSED)
def test_what_we_refuse_the_server_refuses(
    server: ControlPlane, spec: Json, paths: list[str]
) -> None:
    assert paths
    assert is_refused(server, spec, "restricted")


@pytest.mark.real
@pytest.mark.parametrize("spec", ALLOWED)
def test_what_we_allow_the_server_takes(server: ControlPlane, spec: Json) -> None:
    assert not is_refused(server, spec, "restricted")
