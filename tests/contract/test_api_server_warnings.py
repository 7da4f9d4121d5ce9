"""What an API server takes, and warns of: the same on the sandbox and the real one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.api_server_world import STRATEGIC, Speaker, pod

_NONE = "a null labelSelector results in matching no pod"


def _affinity(side: str) -> Any:
    term = {"topologyKey": "kubernetes.io/hostname"}
    return {side: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        pytest.param(
            {
                "topologySpreadConstraints": [
                    {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "ScheduleAnyway"}
                ]
            },
            f"spec.topologySpreadConstraints[0].labelSelector: {_NONE}",
            id="a spread of no pods",
        ),
        pytest.param(
            {"affinity": _affinity("podAntiAffinity")},
            "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
            f"labelSelector: {_NONE}",
            id="far from no pods",
        ),
        pytest.param(
            {"imagePullSecrets": [{}]},
            'spec.imagePullSecrets[0].name: invalid empty name \\"\\"',
            id="a secret without a name",
        ),
        pytest.param(
            {"volumes": [{"name": "v", "projected": {"sources": [{}]}}]},
            'volume \\"v\\" (Projected) has no sources provided',
            id="a source of nothing",
        ),
        pytest.param(
            {
                "containers": [
                    {"name": "c", "image": "i", "resources": {"limits": {"memory": "0.5"}}}
                ]
            },
            "spec.containers[0].resources.%s[memory]: fractional byte value "
            '\\"500m\\" is invalid, must be an integer',
            id="half a byte",
        ),
    ],
)
def test_a_pod_that_is_taken_with_a_warning(
    api: Speaker, space: str, spec: dict[str, Any], told: str
) -> None:
    declined = {"automountServiceAccountToken": False}
    reply = api.ask("POST", f"{space}/pods", pod("a", **declined, **spec))
    assert reply.status == 201
    # A limit is a request too; only the last of several warnings is kept here.
    assert reply.headers["warning"] == f'299 - "{told.replace("%s", "requests")}"'


def test_a_refusal_warns_too(api: Speaker, space: str) -> None:
    api.make(f"{space}/pods", pod("a"))
    stale = {
        "metadata": {"resourceVersion": "1"},
        "spec": {"tolerations": [{"key": "a", "$patch": "delete"}]},
    }
    reply = api.ask("PATCH", f"{space}/pods/a", stale, STRATEGIC)
    assert reply.status == 409
    assert reply.headers["warning"] == '299 - "unknown field \\"spec.tolerations[0].$patch\\""'


def test_a_volume_of_no_sources_says_so(api: Speaker, space: str) -> None:
    made = api.make(f"{space}/pods", pod("a", volumes=[{"name": "v", "projected": {}}]))
    (source,) = (one["projected"] for one in made["spec"]["volumes"] if one["name"] == "v")
    assert source["sources"] is None
