"""Whatever the body, the sandbox answers: a property over mutated objects."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.sandbox.requests import Request, Response
from tests.unit.sandbox.virtual import Virtual, virtual

pytestmark = pytest.mark.long

ROOM = "/api/v1/namespaces/default"
OBJECTS: dict[str, Any] = {
    f"{ROOM}/pods": {
        "metadata": {"name": "a", "labels": {"a": "b"}, "finalizers": ["x.io/f"]},
        "spec": {
            "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
            "volumes": [{"name": "v", "emptyDir": {}}],
            "containers": [
                {
                    "name": "c",
                    "image": "game:1",
                    "env": [{"name": "E", "value": "v"}],
                    "ports": [{"containerPort": 7000, "hostPort": 7000}],
                    "resources": {"requests": {"cpu": "10m"}},
                    "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                }
            ],
        },
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    },
    f"{ROOM}/configmaps": {"metadata": {"name": "a"}, "data": {"a": "b"}},
    f"{ROOM}/secrets": {"metadata": {"name": "a"}, "data": {"a": "ZA=="}, "type": "Opaque"},
    f"{ROOM}/events": {"metadata": {"name": "a"}, "involvedObject": {"namespace": "default"}},
    "/apis/policy/v1/namespaces/default/poddisruptionbudgets": {
        "metadata": {"name": "a"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}},
    },
    "/apis/coordination.k8s.io/v1/namespaces/default/leases": {
        "metadata": {"name": "a"},
        "spec": {"holderIdentity": "x", "leaseDurationSeconds": 5},
    },
    "/api/v1/nodes": {
        "metadata": {"name": "a"},
        "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]},
        "status": {"capacity": {"cpu": "4"}},
    },
    "/api/v1/namespaces": {"metadata": {"name": "a"}},
}
PATCHES = (
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/json-patch+json",
)
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for name, part in pairs:
        found.append((*path, name))
        if isinstance(part, dict | list):
            found.extend(_places(part, (*path, name)))
    return found


@st.composite
def _mutated(draw: st.DrawFn) -> tuple[str, Any]:
    url = draw(st.sampled_from(sorted(OBJECTS)))
    body = copy.deepcopy(OBJECTS[url])
    place = draw(st.sampled_from(_places(body)))
    inner = body
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = draw(ODD)
    return url, body


def _send(v: Virtual, method: str, url: str, body: object, media: str) -> Response:
    headers = {"content-type": media}
    request = Request.of(method, url, json.dumps(body).encode(), headers)
    answer = v.sandbox.handle(request, v.now)
    assert isinstance(answer, Response)
    return answer


WORLD = virtual()


@settings(max_examples=300, deadline=None)
@given(_mutated(), st.sampled_from(["POST", "PUT", "DELETE", *PATCHES]), st.booleans())
def test_every_body_gets_an_answer_and_the_cluster_lives_on(
    sent: tuple[str, Any], way: str, through_status: bool
) -> None:
    url, body = sent
    below = "/a/status" if through_status and way not in ("POST", "DELETE") else "/a"
    if way == "POST":
        answer = _send(WORLD, way, url, body, "application/json")
    elif way in PATCHES:
        target = f"{url}{below}?fieldManager=m&force=true" if "apply" in way else f"{url}{below}"
        answer = _send(WORLD, "PATCH", target, body, way)
    else:
        answer = _send(WORLD, way, f"{url}{below}", body, "application/json")
    assert 200 <= answer.status < 600
    assert json.loads(answer.body)["kind"]
    WORLD.let(0.2)
    tables = "application/json;as=Table;v=v1;g=meta.k8s.io"
    listed = WORLD.sandbox.handle(Request.of("GET", url, b"", {"accept": tables}), WORLD.now)
    assert isinstance(listed, Response)
    assert listed.status == 200
