"""Where pods go, and why some go nowhere."""

from typing import Any

import pytest

from reconciler.sandbox.behaviour import NodeShape
from tests.unit.sandbox.virtual import PODS, Virtual, virtual

THREE = tuple(NodeShape(name, cpu="4", labels={"zone": name[-1]}) for name in ("n1", "n2", "n3"))


def _node(v: Virtual, name: str) -> str:
    node: str = v.read("GET", f"{PODS}/{name}")["spec"].get("nodeName", "")
    return node


def _asking(cpu: str) -> dict[str, Any]:
    return {"resources": {"requests": {"cpu": cpu}}}


def _near(kind: str, weight: int = 0) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": "g"}}, "topologyKey": "kubernetes.io/hostname"}
    if weight:
        soft = [{"weight": weight, "podAffinityTerm": term}]
        return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": soft}}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def test_pods_spread_when_nothing_else_is_said() -> None:
    v = virtual(nodes=THREE)
    for number in range(6):
        v.pod(f"p{number}", container=_asking("500m"))
    v.let(0.5)
    assert sorted(_node(v, f"p{number}") for number in range(6)) == [
        "n1",
        "n1",
        "n2",
        "n2",
        "n3",
        "n3",
    ]


def test_preferred_affinity_packs_pods_until_a_node_is_full() -> None:
    v = virtual(nodes=THREE)
    for number in range(6):
        v.pod(
            f"p{number}",
            container=_asking("1"),
            labels={"app": "g"},
            affinity=_near("podAffinity", 100),
        )
        v.let(0.2)
    assert [_node(v, f"p{number}") for number in range(6)] == ["n1"] * 4 + ["n2"] * 2


def test_required_anti_affinity_keeps_pods_apart() -> None:
    v = virtual(nodes=THREE)
    for number in range(4):
        v.pod(f"p{number}", labels={"app": "g"}, affinity=_near("podAntiAffinity"))
        v.let(0.2)
    assert len({_node(v, f"p{number}") for number in range(3)}) == 3
    assert _node(v, "p3") == ""
    assert "3 node(s) didn't match pod anti-affinity rules" in _why(v, "p3")


def _why(v: Virtual, name: str) -> str:
    return str(v.status(name)["conditions"][0]["message"])


@pytest.mark.parametrize(
    ("node", "spec", "obstacle"),
    [
        pytest.param(
            {"unschedulable": True}, {}, "1 node(s) were unschedulable", id="a cordoned node"
        ),
        pytest.param(
            {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]},
            {},
            "1 node(s) had untolerated taint(s)",
            id="a tainted node",
        ),
        pytest.param(
            {}, {"container": _asking("99")}, "1 Insufficient cpu", id="a node that is too small"
        ),
        pytest.param(
            {},
            {"nodeSelector": {"a": "b"}},
            "1 node(s) didn't match Pod's node affinity/selector",
            id="a node without the label",
        ),
    ],
)
def test_an_obstacle_is_named(node: dict[str, Any], spec: dict[str, Any], obstacle: str) -> None:
    v = virtual(nodes=THREE[:1])
    v.ask("PATCH", "/api/v1/nodes/n1", {"spec": node}, "application/merge-patch+json")
    v.pod("a", **spec)
    v.let(0.2)
    assert _why(v, "a").startswith(f"0/1 nodes are available: {obstacle}. ")


def test_a_waiting_pod_is_tried_again_when_room_appears() -> None:
    v = virtual(nodes=THREE[:1])
    v.pod("first", container=_asking("3"))
    v.let(0.2)
    v.pod("second", container=_asking("3"))
    v.let(2)
    assert _node(v, "second") == ""
    v.ask("DELETE", f"{PODS}/first", {"gracePeriodSeconds": 0})
    v.let(1)
    assert _node(v, "second") == "n1"


def test_new_nodes_are_used() -> None:
    v = virtual(nodes=())
    v.pod("a")
    v.let(0.2)
    assert _why(v, "a") == "no nodes available to schedule pods"
    v.sandbox.add_nodes(THREE[:1], v.now)
    v.let(1)
    assert _node(v, "a") == "n1"


def test_gates_keep_a_pod_off_the_queue() -> None:
    v = virtual()
    v.pod("a", schedulingGates=[{"name": "x.io/g"}])
    v.let(1)
    assert v.status("a")["conditions"][0]["reason"] == "SchedulingGated"
    patch = {"spec": {"schedulingGates": None}}
    assert v.ask("PATCH", f"{PODS}/a", patch, "application/merge-patch+json").status == 200
    v.let(1)
    assert _node(v, "a")


def test_a_host_port_of_udp_leaves_tcp_free() -> None:
    v = virtual(nodes=THREE[:1])
    for name, protocol in (("u", "UDP"), ("t", "TCP"), ("again", "UDP")):
        port = {"containerPort": 1, "hostPort": 7000, "protocol": protocol}
        v.pod(name, container={"ports": [port]})
        v.let(0.2)
    assert (_node(v, "u"), _node(v, "t"), _node(v, "again")) == ("n1", "n1", "")
