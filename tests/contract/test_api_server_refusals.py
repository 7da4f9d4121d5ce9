"""What an API server refuses, and in which words: the same on the sandbox and the real one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.api_server_world import MERGE, Speaker, pod
from tests.contract.refused_patches import REFUSED_PATCHES
from tests.contract.refused_pods import REFUSED_PODS
from tests.contract.refused_reads import REFUSED_READS
from tests.contract.refused_writes import REFUSED_WRITES


@pytest.mark.parametrize(
    ("method", "path", "body", "media", "status", "reason", "message"),
    REFUSED_WRITES + REFUSED_READS + REFUSED_PODS + REFUSED_PATCHES,
)
def test_a_refusal_has_the_words_of_the_real_server(
    api: Speaker,
    space: str,
    method: str,
    path: str,
    body: Any,
    media: str,
    status: int,
    reason: str | None,
    message: str,
) -> None:
    api.make(f"{space}/pods", pod("a"))
    reply = api.ask(method, space + path, body, media or "application/json")
    assert (reply.status, reply.body.get("reason"), reply.message) == (status, reason, message)
    assert (reply.body["kind"], reply.body["status"]) == ("Status", "Failure")
    assert reply.body["code"] == status


def test_a_pod_without_its_account_is_forbidden(api: Speaker, space: str) -> None:
    reply = api.ask("POST", f"{space}/pods", pod("j", serviceAccountName="nope"))
    name = space.rsplit("/", 1)[1]
    assert reply.status == 403
    assert reply.message == (
        f'pods "j" is forbidden: error looking up service account {name}/nope: '
        'serviceaccount "nope" not found'
    )


def test_a_namespace_that_is_not_there_lists_empty_and_takes_nothing(api: Speaker) -> None:
    listed = api.ask("GET", "/api/v1/namespaces/no-such-place/pods")
    assert (listed.status, listed.body["items"]) == (200, [])
    made = api.ask("POST", "/api/v1/namespaces/no-such-place/pods", pod("a"))
    assert (made.status, made.message) == (404, 'namespaces "no-such-place" not found')


def test_most_fields_of_a_pod_are_fixed(api: Speaker, space: str) -> None:
    api.make(f"{space}/pods", pod("a"))
    patch = {"spec": {"nodeSelector": {"a": "b"}}}
    reply = api.ask("PATCH", f"{space}/pods/a", patch, MERGE)
    assert reply.status == 422
    assert reply.message.startswith(
        'Pod "a" is invalid: spec: Forbidden: pod updates may not change fields other than '
        "`spec.containers[*].image`,`spec.initContainers[*].image`"
    )
    assert reply.body["details"]["causes"][0]["reason"] == "FieldValueForbidden"


def test_an_unknown_field_is_a_warning_by_default(api: Speaker, space: str) -> None:
    reply = api.ask("POST", f"{space}/pods", pod("w", bogus=1))
    assert reply.status == 201
    assert reply.headers["warning"] == '299 - "unknown field \\"spec.bogus\\""'


def test_an_unknown_group_is_no_part_of_the_api(api: Speaker) -> None:
    reply = api.ask("GET", "/apis/no.such.group/v1/things")
    assert (reply.status, reply.body) == (404, "404 page not found\n")


def test_the_default_namespace_cannot_be_deleted(api: Speaker) -> None:
    reply = api.ask("DELETE", "/api/v1/namespaces/default")
    assert (reply.status, reply.message) == (
        403,
        'namespaces "default" is forbidden: this namespace may not be deleted',
    )


def _needing(*keys: str) -> dict[str, Any]:
    expressions = [{"key": key, "operator": "Exists"} for key in keys]
    terms = [{"matchExpressions": expressions}] if keys else []
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"affinity": {"nodeAffinity": required}}


def test_what_a_gated_pod_needs_of_its_node_only_grows(api: Speaker, space: str) -> None:
    gates = {"schedulingGates": [{"name": "example.com/one"}]}
    api.make(f"{space}/pods", pod("a", **gates, **_needing("zone")))
    path, terms = f"{space}/pods/a", "nodeSelectorTerms"
    place = f"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.{terms}"
    more = api.ask("PATCH", path, {"spec": _needing("zone", "disk")}, MERGE)
    assert more.status == 200
    less = api.ask("PATCH", path, {"spec": _needing("disk")}, MERGE)
    shown = '{"MatchExpressions":[{"Key":"disk","Operator":"Exists","Values":null}],'
    assert less.message == (
        f'Pod "a" is invalid: {place}[0]: Invalid value: {shown}"MatchFields":null}}: '
        "only additions are allowed (no mutations or deletions)"
    )
    none = api.ask("PATCH", path, {"spec": {"affinity": None}}, MERGE)
    assert none.message == (
        f'Pod "a" is invalid: {place}: Invalid value: null: '
        "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
    )


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        pytest.param(
            {"selector": {}, "unhealthyPodEvictionPolicy": ""},
            'spec.unhealthyPodEvictionPolicy: Unsupported value: "": '
            'supported values: "AlwaysAllow", "IfHealthyBudget"',
            id="an unknown policy",
        ),
        pytest.param(
            {"selector": {}, "minAvailable": "101%"},
            'spec.minAvailable: Invalid value: "101%": must not be greater than 100%',
            id="more than all",
        ),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(
    api: Speaker, space: str, spec: dict[str, Any], told: str
) -> None:
    path = f"{space.replace('/api/v1', '/apis/policy/v1')}/poddisruptionbudgets"
    reply = api.ask("POST", path, {"metadata": {"name": "b"}, "spec": spec})
    assert (reply.status, reply.message) == (
        422,
        f'PodDisruptionBudget.policy "b" is invalid: {told}',
    )


def test_a_finalizer_of_a_budget_needs_no_domain(api: Speaker, space: str) -> None:
    path = f"{space.replace('/api/v1', '/apis/policy/v1')}/poddisruptionbudgets"
    metadata = {"name": "b", "finalizers": ["plain"]}
    api.make(path, {"metadata": metadata, "spec": {"selector": {}}})
    reply = api.ask("PATCH", f"{path}/b/status", {"status": {"expectedPods": 2}}, MERGE)
    assert (reply.status, reply.body["status"]["expectedPods"]) == (200, 2)
    bad = api.ask("PATCH", f"{path}/b/status", {"metadata": {"labels": {"a": "-"}}}, MERGE)
    assert bad.status == 422
    fields = [cause["field"] for cause in bad.body["details"]["causes"]]
    assert fields == ["metadata.labels"] * 2  # the server tells it twice
    assert api.ask("PATCH", f"{path}/b", {"metadata": {"finalizers": None}}, MERGE).status == 200


def test_a_node_has_whole_pods(api: Speaker) -> None:
    node = {"metadata": {"name": "half"}, "status": {"capacity": {"pods": 1.5}}}
    reply = api.ask("POST", "/api/v1/nodes?dryRun=All", node)
    assert reply.status == 422
    assert 'status.capacity.pods: Invalid value: "1500m": must be an integer' in reply.message
