"""Where the rooms of a workload may stand: which nodes, and who holds host ports there.

Of all that the kube-scheduler looks at, what a template asks of nodes themselves: name, labels,
required node affinity, tolerated taints. What depends on other pods or on free CPU changes by the
second and is the scheduler's. Nodes that may come are not counted (ADR 13).
"""

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from reconciler.kube.affinity import node_selector_matches
from reconciler.kube.taints import untolerated
from reconciler.model.live import LiveNode, Nodes
from reconciler.model.plans import Situation
from reconciler.model.refs import Json
from reconciler.model.specs import Workload

_ASKED = ("nodeName", "nodeSelector", "affinity", "tolerations")


@dataclass(frozen=True, slots=True)
class Ground:
    """The nodes of a workload, by name, out of how many that take pods.

    `in_use` counts the users of each host port there, pods that have no node yet included;
    `elsewhere` are the numbers that somebody holds on other nodes.
    """

    nodes: frozenset[str]
    out_of: int
    in_use: Counter[int]
    elsewhere: Collection[int] = frozenset()


NO_GROUND = Ground(frozenset(), 0, Counter())
"""No node is known, and nobody holds a port."""


def ground_of(situation: Situation, workload: Workload) -> Ground:
    """Return where the rooms of a workload may stand.

    Where no node will do, all that take pods count: the pool is empty, or an injector gives rooms
    what their template does not say, and then their own nodes are not known here.
    """
    nodes = situation.nodes
    names = eligible(workload.template, nodes) or frozenset(node.name for node in nodes.open)
    away = [held for node, held in situation.held.items() if node and node not in names]
    if not away or not names:
        return Ground(names, len(nodes.open), situation.in_use)
    in_use = situation.in_use.copy()
    for held in away:
        in_use.subtract(held)
    return Ground(names, len(nodes.open), in_use, frozenset().union(*away))


def eligible(template: Json, nodes: Nodes) -> frozenset[str]:
    """Return the names of the nodes that take pods of a template; kept by the nodes' value."""
    spec = template.get("spec") or {}
    return _eligible(json.dumps({name: spec.get(name) for name in _ASKED}, sort_keys=True), nodes)


@lru_cache(maxsize=1024)
def _eligible(asked: str, nodes: Nodes) -> frozenset[str]:
    spec = json.loads(asked)
    return frozenset(node.name for node in nodes.open if _takes(node, spec))


def _takes(node: LiveNode, spec: Json) -> bool:
    if spec["nodeName"] and spec["nodeName"] != node.name:
        return False
    if node.taints:
        taints = [{"key": key, "value": value, "effect": to} for key, value, to in node.taints]
        if untolerated(spec["tolerations"] or (), taints) is not None:
            return False
    if not spec["nodeSelector"] and not spec["affinity"]:
        return True
    metadata = {"name": node.name, "labels": dict(node.labels)}
    return node_selector_matches(spec, {"metadata": metadata})
