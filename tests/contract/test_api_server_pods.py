"""How pods live and end in a cluster: scheduling, grace, finalizers, budgets, namespaces."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

import pytest

from tests.contract.api_server_world import (
    MERGE,
    Json,
    Reply,
    Speaker,
    config_map,
    is_ready,
    pod,
    running_pod,
)

BLOCKED = "Cannot evict pod as it would violate the pod's disruption budget."


def _gone(reply: Reply) -> bool:
    return reply.status == 404


def _run(api: Speaker, space: str, name: str, **spec: Any) -> Json:
    api.make(f"{space}/pods", running_pod(name, **spec))
    body: Json = api.until(f"{space}/pods/{name}", is_ready).body
    return body


def _budget(api: Speaker, space: str, name: str, spec: Json) -> str:
    path = f"{space}/poddisruptionbudgets".replace("/api/v1", "/apis/policy/v1")
    selector = {"matchLabels": {"app": "a"}}
    api.make(path, {"metadata": {"name": name}, "spec": {"selector": selector, **spec}})
    api.until(f"{path}/{name}", lambda reply: reply.body["status"].get("observedGeneration"))
    return f"{path}/{name}"


def _evict(api: Speaker, space: str, name: str, query: str = "") -> Reply:
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    return api.ask("POST", f"{space}/pods/{name}/eviction{query}", body)


def test_a_pod_is_scheduled_and_runs(api: Speaker, space: str) -> None:
    status = _run(api, space, "r")["status"]
    assert status["phase"] == "Running"
    assert status["podIP"]
    assert status["hostIP"]
    assert status["startTime"]
    (container,) = status["containerStatuses"]
    assert (container["name"], container["ready"], container["restartCount"]) == ("c", True, 0)
    assert "running" in container["state"]


@pytest.mark.parametrize(
    ("spec", "obstacle"),
    [
        pytest.param(
            {
                "containers": [
                    {"name": "c", "image": "i", "resources": {"requests": {"cpu": "10000"}}}
                ]
            },
            "3 Insufficient cpu",
            id="no node is large enough",
        ),
        pytest.param(
            {"nodeSelector": {"a": "b"}},
            "3 node(s) didn't match Pod's node affinity/selector",
            id="no node has the label",
        ),
    ],
)
def test_an_unschedulable_pod_says_why(api: Speaker, space: str, spec: Json, obstacle: str) -> None:
    api.make(f"{space}/pods", running_pod("big", **spec))
    reply = api.until(f"{space}/pods/big", lambda reply: reply.body["status"].get("conditions"))
    (condition,) = reply.body["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "PodScheduled",
        "False",
        "Unschedulable",
    )
    assert condition["message"] == (
        f"0/3 nodes are available: {obstacle}. no new claims to deallocate, preemption: "
        "0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    )


def test_host_ports_go_to_different_nodes(api: Speaker, space: str) -> None:
    port = {"containerPort": 7000, "hostPort": 27017, "protocol": "UDP"}
    containers = [{"name": "c", "image": "i", "ports": [port]}]
    found = [_run(api, space, name, containers=containers) for name in ("p1", "p2", "p3")]
    assert len({one["spec"]["nodeName"] for one in found}) == 3
    api.make(f"{space}/pods", running_pod("p4", containers=containers))
    reply = api.until(f"{space}/pods/p4", lambda reply: reply.body["status"].get("conditions"))
    assert reply.body["status"]["conditions"][0]["message"].startswith(
        "0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports. "
    )


def test_what_never_ran_goes_at_once(api: Speaker, space: str) -> None:
    api.make(f"{space}/pods", pod("a"))
    last = api.ask("DELETE", f"{space}/pods/a").body
    assert last["kind"] == "Pod"
    assert last["metadata"]["deletionGracePeriodSeconds"] == 0
    assert api.ask("GET", f"{space}/pods/a").status == 404


def test_a_running_pod_ends_with_grace(api: Speaker, space: str) -> None:
    _run(api, space, "r", terminationGracePeriodSeconds=5)
    first = api.ask("DELETE", f"{space}/pods/r").metadata
    assert (first["deletionGracePeriodSeconds"], first["generation"]) == (5, 2)
    assert first["deletionTimestamp"]
    api.until(f"{space}/pods/r", _gone)


def test_grace_only_shrinks(api: Speaker, space: str) -> None:
    api.make(f"{space}/pods", pod("b"))
    binding = {"metadata": {"name": "b"}, "target": {"kind": "Node", "name": "nowhere"}}
    api.ask("POST", f"{space}/pods/b/binding", binding)
    path = f"{space}/pods/b"
    seen = [
        api.ask("DELETE", path, {"gracePeriodSeconds": seconds}).metadata[
            "deletionGracePeriodSeconds"
        ]
        for seconds in (20, 25, 10)
    ]
    assert seen == [20, 20, 10]
    api.ask("DELETE", path, {"gracePeriodSeconds": 0})
    assert api.ask("GET", path).status == 404


@pytest.mark.parametrize("phase", ["Running", "Failed"])
@pytest.mark.parametrize(
    ("seconds", "left"),
    [
        pytest.param(None, 30, id="not said"),
        pytest.param(40, 30, id="longer"),
        pytest.param(7, 7, id="shorter"),
        pytest.param(-3, 1, id="below none"),
        pytest.param(0, 0, id="none"),
    ],
)
def test_what_ends_behind_a_finalizer_is_only_hurried(
    api: Speaker, space: str, phase: str, seconds: int | None, left: int
) -> None:
    held = pod("held", nodeName="nowhere", terminationGracePeriodSeconds=30)
    held["metadata"]["finalizers"] = ["a.io/held"]
    api.make(f"{space}/pods", held)
    path = f"{space}/pods/held"
    api.ask("DELETE", path)
    api.ask("PATCH", f"{path}/status", {"status": {"phase": phase}}, MERGE)
    api.ask("DELETE", path, None if seconds is None else {"gracePeriodSeconds": seconds})
    metadata = api.ask("GET", path).metadata
    api.ask("PATCH", path, {"metadata": {"finalizers": None}}, MERGE)
    assert (metadata["deletionGracePeriodSeconds"], metadata["generation"]) == (left, 2)


@pytest.mark.long
def test_a_grace_that_is_over_already_ends_now(api: Speaker, space: str) -> None:
    api.make(f"{space}/pods", pod("late", nodeName="nowhere", terminationGracePeriodSeconds=30))
    path = f"{space}/pods/late"
    begun = _ends_at(api.ask("DELETE", path)) - 30
    time.sleep(4)
    hurried = api.ask("DELETE", path, {"gracePeriodSeconds": 2})
    again = api.ask("DELETE", path, {"gracePeriodSeconds": 1})
    assert hurried.metadata["deletionGracePeriodSeconds"] == 1
    assert begun + 3 <= _ends_at(hurried) == _ends_at(again)


def _ends_at(reply: Reply) -> float:
    return datetime.fromisoformat(reply.metadata["deletionTimestamp"]).timestamp()


@pytest.mark.parametrize(
    ("preconditions", "told"),
    [
        pytest.param({"uid": "bogus"}, "the UID in the precondition (bogus)", id="another uid"),
        pytest.param(
            {"resourceVersion": "1"},
            "the ResourceVersion in the precondition (1)",
            id="an old revision",
        ),
    ],
)
def test_preconditions_protect(api: Speaker, space: str, preconditions: Json, told: str) -> None:
    api.make(f"{space}/pods", pod("a"))
    reply = api.ask("DELETE", f"{space}/pods/a", {"preconditions": preconditions})
    assert reply.status == 409
    assert reply.message.startswith(
        f'Operation cannot be fulfilled on Pod "a": {told} does not match the '
    )
    assert api.ask("GET", f"{space}/pods/a").status == 200


def test_a_deleted_config_map_is_answered_with_a_status(api: Speaker, space: str) -> None:
    made = api.make(f"{space}/configmaps", config_map("m"))
    reply = api.ask("DELETE", f"{space}/configmaps/m")
    uid = made["metadata"]["uid"]
    assert reply.body["details"] == {"name": "m", "kind": "configmaps", "uid": uid}


def test_a_finalizer_holds_an_object(api: Speaker, space: str) -> None:
    body = config_map("f")
    body["metadata"]["finalizers"] = ["x.io/f"]
    api.make(f"{space}/configmaps", body)
    path = f"{space}/configmaps/f"
    assert api.ask("DELETE", path).metadata["deletionTimestamp"]
    more = {"metadata": {"finalizers": ["x.io/f", "y.io/g"]}}
    assert api.ask("PATCH", path, more, MERGE).status == 422
    last = api.ask("PATCH", path, {"metadata": {"finalizers": None}}, MERGE)
    assert (last.status, last.body["metadata"]["name"]) == (200, "f")
    assert api.ask("GET", path).status == 404


def test_a_collection_is_deleted_by_selector(api: Speaker, space: str) -> None:
    for name in ("a", "b"):
        api.make(f"{space}/pods", pod(name))
    reply = api.ask("DELETE", f"{space}/pods?fieldSelector=metadata.name%3Da")
    assert reply.body["kind"] == "PodList"
    left = api.ask("GET", f"{space}/pods").body["items"]
    assert [one["metadata"]["name"] for one in left] == ["b"]


def test_a_budget_of_a_million_lets_nobody_go(api: Speaker, space: str) -> None:
    _run(api, space, "r")
    path = _budget(api, space, "q", {"minAvailable": 1_000_000})
    api.until(path, lambda reply: reply.body["status"].get("currentHealthy") == 1)
    reply = _evict(api, space, "r")
    assert (reply.status, reply.message) == (429, BLOCKED)
    assert "retry-after" not in reply.headers
    assert reply.body["details"] == {
        "causes": [
            {
                "reason": "DisruptionBudget",
                "message": "The disruption budget q needs 1000000 healthy pods and has 1 currently",
            }
        ]
    }


def test_a_budget_that_is_met_lets_a_pod_go(api: Speaker, space: str) -> None:
    _run(api, space, "r", terminationGracePeriodSeconds=3)
    path = _budget(api, space, "q", {"minAvailable": 0})
    api.until(path, lambda reply: reply.body["status"].get("disruptionsAllowed") == 1)
    assert _evict(api, space, "r", "?dryRun=All").status == 201
    assert "deletionTimestamp" not in api.ask("GET", f"{space}/pods/r").metadata
    reply = _evict(api, space, "r")
    assert (reply.status, reply.body["status"]) == (201, "Success")
    api.until(f"{space}/pods/r", _gone)


def test_two_budgets_over_one_pod_are_an_error(api: Speaker, space: str) -> None:
    _run(api, space, "r")
    for name in ("q1", "q2"):
        _budget(api, space, name, {"minAvailable": 0})
    reply = _evict(api, space, "r")
    assert (reply.status, reply.message) == (
        500,
        "This pod has more than one PodDisruptionBudget, "
        "which the eviction subresource does not support.",
    )


def test_a_pending_pod_is_evicted_whatever_its_budget(api: Speaker, space: str) -> None:
    api.make(f"{space}/pods", pod("p"))
    _budget(api, space, "q", {"minAvailable": 1_000_000})
    assert _evict(api, space, "p").status == 201
    assert api.ask("GET", f"{space}/pods/p").status == 404


def test_bare_pods_have_no_scale_to_take_a_share_of(api: Speaker, space: str) -> None:
    _run(api, space, "r")
    path = _budget(api, space, "q", {"maxUnavailable": 1})
    status = api.until(path, lambda reply: reply.body["status"].get("currentHealthy") == 1).body
    assert (status["status"]["expectedPods"], status["status"]["disruptionsAllowed"]) == (0, 0)


def test_a_namespace_goes_with_all_it_holds(api: Speaker, space: str) -> None:
    _run(api, space, "r", terminationGracePeriodSeconds=1)
    api.make(f"{space}/configmaps", config_map("m"))
    ending = api.ask("DELETE", space).body
    assert ending["status"]["phase"] == "Terminating"
    refused = api.ask("POST", f"{space}/configmaps", config_map("y"))
    name = space.rsplit("/", 1)[1]
    assert refused.message == (
        'configmaps "y" is forbidden: unable to create new content in namespace '
        f"{name} because it is being terminated"
    )
    assert refused.body["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    api.until(space, _gone)
    assert api.ask("GET", f"{space}/configmaps").body["items"] == []


def test_a_log_is_empty_before_a_pod_has_a_node(api: Speaker, space: str) -> None:
    api.make(f"{space}/pods", pod("a"))
    assert api.ask("GET", f"{space}/pods/a/log").status == 204


def test_a_log_of_several_containers_names_them_as_they_start(api: Speaker, space: str) -> None:
    made = pod("a")
    container = made["spec"]["containers"][0]
    made["spec"]["containers"] = [container | {"name": name} for name in ("d", "c")]
    made["spec"]["initContainers"] = [container | {"name": "init"}]
    api.make(f"{space}/pods", made)
    refused = api.ask("GET", f"{space}/pods/a/log")
    assert (refused.status, refused.message) == (
        400,
        "a container name must be specified for pod a, choose one of: [init d c]",
    )


def test_an_empty_value_of_a_resolvers_option_is_kept(api: Speaker, space: str) -> None:
    made = pod("a")
    made["spec"]["dnsConfig"] = {"options": [{"name": "ndots", "value": ""}, {"name": "debug"}]}
    there = api.make(f"{space}/pods", made)
    assert there["spec"]["dnsConfig"] == made["spec"]["dnsConfig"]
