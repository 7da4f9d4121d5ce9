"""What becomes of pods whose node is not ready any more: taints, eviction, return."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import pytest

from tests.contract.api_server_world import MERGE, Json, Reply, Speaker, is_ready, running_pod
from tests.controlplane.nodes import NodeShape
from tests.controlplane.nodes import node as frail_node

SILENT = "controlplane.test/silent"
"""With this annotation the real control plane's simulated kubelet leaves a node alone."""
FIRST = 15_000
"""The number of the first node here: it tells its addresses, and the cluster's own begin at 0."""
_NUMBERS = itertools.count()
GONE = "node.kubernetes.io/not-ready"


@pytest.fixture
def node(api: Speaker) -> Iterator[str]:
    """A node of the test's own that no scheduler uses, ready at first."""
    name = f"frail-{time.time_ns() // 1000}"
    body = frail_node(name, FIRST + next(_NUMBERS), NodeShape(labels={"contract": name}))
    body["spec"]["taints"] = [{"key": "contract", "value": name, "effect": "NoSchedule"}]
    api.make("/api/v1/nodes", body)
    path = f"/api/v1/nodes/{name}"
    api.until(path, lambda reply: is_ready(reply) and not _taints(reply))
    yield path
    api.ask("DELETE", path)


def _taints(reply: Reply) -> list[tuple[str, str]]:
    held = reply.body["spec"].get("taints") or ()
    return sorted((one["key"], one["effect"]) for one in held if one["key"] != "contract")


def _place(api: Speaker, space: str, node: str, name: str, seconds: int | None = None) -> str:
    """Run a pod there, which bears with a lost node for so long; None is what is usual."""
    where = node.rpartition("/")[2]
    bears: list[Json] = [{"key": "contract", "operator": "Exists", "effect": "NoSchedule"}]
    if seconds is not None:
        lost = {"key": GONE, "operator": "Exists", "effect": "NoExecute"}
        bears.append({**lost, "tolerationSeconds": seconds})
    spec = {"nodeSelector": {"contract": where}, "tolerations": bears}
    api.make(f"{space}/pods", running_pod(name, **spec, terminationGracePeriodSeconds=1))
    path = f"{space}/pods/{name}"
    api.until(path, is_ready)
    return path


def _tell(api: Speaker, node: str, ready: str) -> None:
    """Write what the node's kubelet would tell of it, and let nobody else tell anything."""
    note = None if ready == "True" else "true"
    head = {"metadata": {"annotations": {SILENT: note}}}
    assert api.ask("PATCH", node, head, MERGE).status == 200
    told = api.ask("GET", node).body["status"]["conditions"]
    conditions = [{**one, "status": ready} if one["type"] == "Ready" else one for one in told]
    body = {"status": {"conditions": conditions}}
    assert api.ask("PATCH", f"{node}/status", body, MERGE).status == 200


def test_a_node_that_says_it_is_not_ready_is_tainted_and_its_pods_stay_as_they_say(
    api: Speaker, space: str, node: str
) -> None:
    stays = _place(api, space, node, "stays")
    _tell(api, node, "False")
    api.until(node, lambda reply: _taints(reply) == [(GONE, "NoExecute"), (GONE, "NoSchedule")])
    there = api.ask("GET", stays)
    assert is_ready(there), "its kubelet speaks, and knows better"
    assert "deletionTimestamp" not in there.metadata


def test_pods_go_when_they_bear_a_lost_node_no_longer(api: Speaker, space: str, node: str) -> None:
    stays, goes = _place(api, space, node, "stays"), _place(api, space, node, "goes", 1)
    _tell(api, node, "False")
    api.until(goes, _ends)
    assert "deletionTimestamp" not in api.ask("GET", stays).metadata


def _ends(reply: Reply) -> bool:
    return reply.status == 404 or "deletionTimestamp" in reply.metadata


def test_a_node_that_comes_back_in_time_loses_its_taints_and_no_pod(
    api: Speaker, space: str, node: str
) -> None:
    stays = _place(api, space, node, "stays", 60)
    _tell(api, node, "False")
    api.until(node, _taints)
    _tell(api, node, "True")
    api.until(node, lambda reply: not _taints(reply))
    assert "deletionTimestamp" not in api.ask("GET", stays).metadata


def test_a_taint_that_executes_evicts_who_does_not_bear_it(
    api: Speaker, space: str, node: str
) -> None:
    goes = _place(api, space, node, "goes")
    held = api.ask("GET", node).body["spec"]["taints"]
    taint = {"key": "broken", "value": "yes", "effect": "NoExecute"}
    assert api.ask("PATCH", node, {"spec": {"taints": [*held, taint]}}, MERGE).status == 200
    api.until(goes, _ends)
