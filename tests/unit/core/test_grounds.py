from collections import Counter
from dataclasses import replace

import pytest

from reconciler.core.grounds import Ground, eligible, ground_of
from reconciler.model.live import LiveNode, Nodes
from reconciler.model.refs import Json
from tests.unit.core.making import a_node, a_situation, a_workload, nodes_of

ARENA = (("kubernetes.io/os", "linux"), ("pool", "arena"))
TAINT = ("game", "arena", "NoSchedule")
IN_ARENA: Json = {"key": "pool", "operator": "In", "values": ["arena", "ring"]}


def required(*terms: Json) -> Json:
    inner = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": inner}}


@pytest.mark.parametrize(
    ("node", "spec", "takes"),
    [
        pytest.param(a_node("n"), {}, True, id="a template that asks for nothing"),
        pytest.param(a_node("n", ready=False), {}, False, id="not on a node that is not ready"),
        pytest.param(a_node("n", unschedulable=True), {}, False, id="not on a cordoned node"),
        pytest.param(a_node("n", labels=ARENA), {"nodeSelector": {"pool": "arena"}}, True, id="in"),
        pytest.param(a_node("n"), {"nodeSelector": {"pool": "arena"}}, False, id="out of the pool"),
        pytest.param(
            a_node("n", labels=ARENA),
            {"affinity": required({"matchExpressions": [IN_ARENA]})},
            True,
            id="required affinity that is met",
        ),
        pytest.param(
            a_node("n"),
            {"affinity": required({"matchExpressions": [IN_ARENA]})},
            False,
            id="required affinity that is not met",
        ),
        pytest.param(
            a_node("n"), {"affinity": {"podAffinity": {}}}, True, id="affinity to pods is no bar"
        ),
        pytest.param(a_node("n", taints=(TAINT,)), {}, False, id="a taint that is not tolerated"),
        pytest.param(
            a_node("n", taints=(TAINT,)),
            {"tolerations": [{"key": "game", "value": "arena"}]},
            True,
            id="a taint that is tolerated",
        ),
        pytest.param(
            a_node("n", taints=(("game", "", "PreferNoSchedule"),)), {}, True, id="a mild taint"
        ),
        pytest.param(a_node("n"), {"nodeName": "n"}, True, id="the node that it names"),
        pytest.param(a_node("n"), {"nodeName": "m"}, False, id="not the node that it names"),
    ],
)
def test_a_node_takes_rooms(node: LiveNode, spec: Json, takes: bool) -> None:
    assert eligible({"spec": spec}, nodes_of(node)) == (frozenset({"n"}) if takes else frozenset())


def test_what_a_template_may_use_is_worked_out_once_for_the_same_nodes() -> None:
    there = nodes_of(a_node("n"))
    assert eligible({"spec": {"containers": []}}, there) is eligible({}, there)
    assert eligible({}, nodes_of(a_node("m"))) == {"m"}


POOL = nodes_of(a_node("a-1", labels=ARENA), a_node("a-2", labels=ARENA), a_node("b-1"))
TEMPLATE: Json = {"spec": {"nodeSelector": {"pool": "arena"}}}
HELD = {
    "a-1": Counter({7000: 1}),
    "b-1": Counter({7000: 1, 7001: 1}),
    "left": Counter({7002: 1}),
    "": Counter({7003: 2}),
}
IN_USE = Counter({7000: 2, 7001: 1, 7002: 1, 7003: 2, 7004: 1})
"""7004 is reserved: it is planned for a room that is not made yet."""


def ground(template: Json, there: Nodes = POOL) -> Ground:
    situation = replace(a_situation(a_workload()), nodes=there, in_use=IN_USE, held=HELD)
    return ground_of(situation, a_workload(template=template))


def test_only_ports_on_nodes_of_its_own_are_in_the_way_of_a_room() -> None:
    found = ground(TEMPLATE)
    assert found.nodes == {"a-1", "a-2"}
    assert found.out_of == 3
    # Who has no node yet may come to these, and so may what is planned.
    assert +found.in_use == Counter({7000: 1, 7003: 2, 7004: 1})
    assert set(found.elsewhere) == {7000, 7001, 7002}
    assert IN_USE[7001] == 1, "what was handed in is not changed"


@pytest.mark.parametrize(
    ("template", "there", "names"),
    [
        pytest.param({}, POOL, {"a-1", "a-2", "b-1"}, id="where all will do"),
        pytest.param(
            {"spec": {"nodeSelector": {"pool": "none"}}},
            POOL,
            {"a-1", "a-2", "b-1"},
            id="where none will do all count",
        ),
        pytest.param({}, nodes_of(), set(), id="where no node is known"),
    ],
)
def test_the_ground_is(template: Json, there: Nodes, names: set[str]) -> None:
    assert ground(template, there).nodes == names


def test_without_nodes_every_port_counts() -> None:
    assert ground({}, nodes_of()).in_use == IN_USE
