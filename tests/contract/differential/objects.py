"""Objects of every kind that a run writes: bodies that the API server takes."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from random import Random

from tests.contract.differential.places import Place
from tests.contract.differential.pods import pod_spec
from tests.contract.differential.steps import Json

LABELS = {"app": ("a", "b"), "tier": ("one", "two", ""), "example.com/team": ("red",)}
LONG_AGO = "2020-02-03T04:05:06Z"


def body(rng: Random, place: Place, name: str, namespace: str) -> Json:
    """Write an object of a kind."""
    made: Json = {"apiVersion": place.api_version, "kind": place.kind}
    made["metadata"] = {"name": name, **_metadata(rng)}
    if place.namespaced and rng.random() < 0.3:
        made["metadata"]["namespace"] = namespace
    return made | _WRITERS[place.kind](rng, namespace)


def labels(rng: Random) -> dict[str, str]:
    """Write some labels."""
    chosen = rng.sample(sorted(LABELS), rng.randrange(1, 3))
    return {name: rng.choice(LABELS[name]) for name in chosen}


def _metadata(rng: Random) -> Json:
    made: Json = {}
    if rng.random() < 0.7:
        made["labels"] = labels(rng)
    if rng.random() < 0.3:
        made["annotations"] = {"example.com/note": rng.choice(("x", "", "a b"))}
    if rng.random() < 0.12:
        made["finalizers"] = rng.choice((["example.com/keep"], ["example.com/keep", "b.io/x"]))
    if rng.random() < 0.08:
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u-1"}
        made["ownerReferences"] = [owner | rng.choice(({}, {"controller": True}))]
    return made


def content(rng: Random) -> dict[str, str]:
    """Write the data of a ConfigMap."""
    return {
        name: rng.choice(("1", "2", "", "é\n")) for name in rng.sample("klmn", rng.randrange(4))
    }


def _config_map(rng: Random, namespace: str) -> Json:
    made: Json = {"data": content(rng)} if rng.random() < 0.85 else {}
    if rng.random() < 0.15:
        made["binaryData"] = {"raw": "AAEC"}
    if rng.random() < 0.06:
        made["immutable"] = rng.random() < 0.7
    return made


def _secret(rng: Random, namespace: str) -> Json:
    made: Json = {
        "data": {k: base64.b64encode(v.encode()).decode() for k, v in content(rng).items()}
    }
    if rng.random() < 0.3:
        made["stringData"] = {"plain": "word", "k": "over"}
    if rng.random() < 0.3:
        made["type"] = rng.choice(("Opaque", "example.com/own"))
    return made


def _account(rng: Random, namespace: str) -> Json:
    made: Json = {}
    if rng.random() < 0.4:
        made["automountServiceAccountToken"] = rng.random() < 0.5
    if rng.random() < 0.3:
        made["imagePullSecrets"] = [{"name": "a"}]
    if rng.random() < 0.2:
        made["secrets"] = [{"name": "token"}]
    return made


def _lease(rng: Random, namespace: str) -> Json:
    spec: Json = {}
    if rng.random() < 0.8:
        spec = {"holderIdentity": rng.choice("xy"), "leaseDurationSeconds": 15}
    if rng.random() < 0.5:
        spec |= {"renewTime": "2020-02-03T04:05:06.123456Z", "leaseTransitions": 1}
    return {"spec": spec}


def _event(rng: Random, namespace: str) -> Json:
    about = {"kind": "Pod", "name": rng.choice("ab"), "namespace": namespace}
    made: Json = {"involvedObject": about, "reason": rng.choice(("Started", "Killing"))}
    made |= {"message": "told", "type": rng.choice(("Normal", "Warning"))}
    if rng.random() < 0.6:
        made |= {"firstTimestamp": LONG_AGO, "lastTimestamp": LONG_AGO, "count": 1}
        made["source"] = {"component": "kubelet", "host": "n1"}
    return made


def _budget(rng: Random, namespace: str) -> Json:
    selector: Json = rng.choice(
        (
            {"matchLabels": {"app": "a"}},
            {"matchLabels": {"app": "b"}},
            {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["one"]}]},
            {},
        )
    )
    spec: Json = {"selector": selector}
    spec |= rng.choice(
        ({"minAvailable": 1}, {"maxUnavailable": "50%"}, {"minAvailable": "20%"}, {})
    )
    if rng.random() < 0.2:
        spec["unhealthyPodEvictionPolicy"] = rng.choice(("AlwaysAllow", "IfHealthyBudget"))
    return {"spec": spec}


def _node(rng: Random, namespace: str) -> Json:
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "up"}
    ready |= {"lastHeartbeatTime": LONG_AGO, "lastTransitionTime": LONG_AGO}
    amounts = {"cpu": rng.choice(("4", "0.5")), "memory": "8Gi", "pods": 110}
    made: Json = {"status": {"conditions": [ready], "capacity": amounts}}
    if rng.random() < 0.5:
        made["status"]["allocatable"] = amounts
    if rng.random() < 0.5:
        made["status"]["addresses"] = [{"type": "InternalIP", "address": "10.1.1.1"}]
    if rng.random() < 0.6:
        made["spec"] = {"taints": [{"key": "games", "value": "yes", "effect": "NoSchedule"}]}
        if rng.random() < 0.5:
            made["spec"] |= {"unschedulable": True, "podCIDR": "10.64.0.0/24"}
    return made


def _namespace(rng: Random, namespace: str) -> Json:
    return {}


def _pod(rng: Random, namespace: str) -> Json:
    return {"spec": pod_spec(rng)}


_WRITERS: Mapping[str, Callable[[Random, str], Json]] = {
    "ConfigMap": _config_map,
    "Secret": _secret,
    "ServiceAccount": _account,
    "Lease": _lease,
    "Event": _event,
    "PodDisruptionBudget": _budget,
    "Node": _node,
    "Namespace": _namespace,
    "Pod": _pod,
}
