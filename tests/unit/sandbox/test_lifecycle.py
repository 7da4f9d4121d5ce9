"""A node whose kubelet falls silent: what is said of it when, and what becomes of its pods."""

from reconciler.sandbox.requests import Json
from tests.unit.sandbox.virtual import PODS, Virtual, virtual

UNREACHABLE = "node.kubernetes.io/unreachable"
LOST_SECONDS, BEARS_SECONDS = 51.0, 300.0


def _node(v: Virtual, name: str) -> tuple[str, set[tuple[str, str]]]:
    node = v.read("GET", f"/api/v1/nodes/{name}")
    (ready,) = [one["status"] for one in node["status"]["conditions"] if one["type"] == "Ready"]
    return ready, {(one["key"], one["effect"]) for one in node["spec"].get("taints", ())}


def _pod(v: Virtual) -> Json:
    return v.read("GET", f"{PODS}/a")


def _is_ready(v: Virtual) -> bool:
    (ready,) = [one["status"] for one in v.status("a")["conditions"] if one["type"] == "Ready"]
    return bool(ready == "True")


def _lost() -> tuple[Virtual, str]:
    v = virtual()
    v.pod("a")
    v.let(3)
    node = _pod(v)["spec"]["nodeName"]
    v.sandbox.silence(node)
    return v, node


def test_a_silent_node_is_believed_for_a_while() -> None:
    v, node = _lost()
    v.let(10, step=1)
    assert _node(v, node) == ("True", set())
    assert _is_ready(v)


def test_a_node_that_is_silent_for_too_long_is_unknown_and_its_pods_are_not_ready() -> None:
    v, node = _lost()
    v.let(LOST_SECONDS, step=1)
    told = {(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")}
    assert _node(v, node) == ("Unknown", told)
    assert not _is_ready(v)
    assert v.status("a")["containerStatuses"][0]["ready"], "nobody knows better"
    assert "deletionTimestamp" not in _pod(v)["metadata"]


def test_its_pods_are_given_up_after_what_they_bear_and_end_only_when_it_is_back_or_gone() -> None:
    v, node = _lost()
    v.let(LOST_SECONDS + BEARS_SECONDS - 20, step=5)
    assert "deletionTimestamp" not in _pod(v)["metadata"]
    v.let(60, step=5)
    conditions = {one["type"]: one.get("reason") for one in v.status("a")["conditions"]}
    assert conditions["DisruptionTarget"] == "DeletionByTaintManager"
    v.let(600, step=20)
    assert "deletionTimestamp" in _pod(v)["metadata"], "its kubelet says nothing of its end"
    v.sandbox.wake(node)
    v.let(60, step=5)
    assert v.ask("GET", f"{PODS}/a").status == 404


def test_a_node_that_comes_back_is_as_it_was() -> None:
    v, node = _lost()
    v.let(LOST_SECONDS + 100, step=5)
    v.sandbox.wake(node)
    v.let(5)
    assert _node(v, node) == ("True", set())
    assert _is_ready(v)
    v.let(600, step=20)
    assert "deletionTimestamp" not in _pod(v)["metadata"]
