"""Patches of every kind of object: merge, JSON, strategic, and what appliers send."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.contract.differential.objects import body, content, labels
from tests.contract.differential.places import Place
from tests.contract.differential.pods import IMAGES
from tests.contract.differential.steps import Json


def merge(rng: Random, place: Place) -> Json:
    """Write a merge patch."""
    choices: list[Json] = [
        {"metadata": {"labels": labels(rng)}},
        {"metadata": {"labels": {"app": None, "extra": "1"}}},
        {"metadata": {"annotations": {"example.com/note": rng.choice(("y", None, "")), "n": "1"}}},
        {"metadata": {"labels": None}},
        {"metadata": {"finalizers": rng.choice((None, ["example.com/keep"], []))}},
        {},
    ]
    return rng.choice(choices + _own(rng, place) * 2)


def strategic(rng: Random, place: Place) -> Json:
    """Write a strategic-merge patch."""
    choices: list[Json] = [
        {"metadata": {"labels": {"app": "b", "$patch": "replace"}}},
        {"metadata": {"finalizers": ["a.io/new"]}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/keep"]}},
        {"metadata": {"annotations": {"$patch": "delete"}}},
    ]
    if place.kind == "Pod":
        choices += _strategic_pod(rng)
    if place.kind == "Node":
        choices += [
            {"spec": {"taints": [{"key": "new", "effect": "NoSchedule"}]}},
            {"spec": {"taints": [{"key": "games", "$patch": "delete"}]}},
        ]
    if place.kind == "ServiceAccount":
        choices.append({"imagePullSecrets": [{"name": "b"}], "secrets": [{"name": "s"}]})
    return rng.choice([*choices, merge(rng, place)])


def _strategic_pod(rng: Random) -> list[Json]:
    image = {"name": "c", "image": rng.choice(IMAGES)}
    toleration = {"key": "late", "operator": "Exists", "effect": "NoExecute"}
    order = {"$setElementOrder/containers": [{"name": "c"}, {"name": "d"}]}
    return [
        {"spec": {"containers": [image]}},
        {"spec": {"containers": [image], **order}},
        {"spec": {"tolerations": [toleration]}},
        {"spec": {"activeDeadlineSeconds": rng.choice((300, 900))}},
        {"spec": {"containers": [{"name": "new", "image": "i"}]}},
        {"spec": {"containers": [{"name": "c", "$patch": "delete"}]}},
        {"metadata": {"ownerReferences": [{"uid": "u-1", "$patch": "delete"}]}},
    ]


def json_patch(rng: Random, place: Place) -> list[Json]:
    """Write a JSON patch; some fail."""
    choices: list[list[Json]] = [
        [{"op": "add", "path": "/metadata/labels", "value": labels(rng)}],
        [{"op": "add", "path": "/metadata/labels/x", "value": "1"}],
        [{"op": "replace", "path": "/metadata/labels/app", "value": "b"}],
        [{"op": "remove", "path": "/metadata/labels/app"}],
        [{"op": "test", "path": "/metadata/labels/app", "value": "a"}],
        [{"op": "remove", "path": "/metadata/finalizers"}],
        [
            {"op": "add", "path": "/metadata/annotations", "value": {"k": "v"}},
            {"op": "copy", "from": "/metadata/annotations/k", "path": "/metadata/annotations/l"},
            {"op": "move", "from": "/metadata/annotations/k", "path": "/metadata/annotations/m"},
        ],
        [
            {"op": "add", "path": "/metadata/annotations", "value": {}},
            {"op": "add", "path": "/metadata/annotations/a~1b", "value": "slash"},
        ],
        [],
    ]
    if place.kind == "Pod":
        choices += [
            [{"op": "replace", "path": "/spec/containers/0/image", "value": "game:3"}],
            [
                {
                    "op": "add",
                    "path": "/spec/tolerations/-",
                    "value": {"key": "j", "operator": "Exists"},
                }
            ],
            [{"op": "remove", "path": "/spec/schedulingGates/0"}],
        ]
    if place.kind == "ConfigMap":
        choices += [
            [{"op": "add", "path": "/data/k", "value": "9"}],
            [{"op": "remove", "path": "/data"}],
        ]
    return rng.choice(choices)


def _own(rng: Random, place: Place) -> list[Json]:
    choices: dict[str, list[Json]] = {
        "ConfigMap": [{"data": content(rng)}, {"data": {"k": None}}, {"data": None}],
        "Secret": [{"data": {"k": "YQ=="}}, {"stringData": {"s": "t"}}, {"data": None}],
        "Pod": [
            {"spec": {"activeDeadlineSeconds": 100}},
            {"spec": {"priority": 5}},
            {"spec": {"nodeName": "n9"}},
            {"spec": {"schedulingGates": None}},
        ],
        "Node": [
            {"spec": {"unschedulable": rng.choice((True, None))}},
            {"spec": {"taints": None}},
            {"status": {"capacity": {"cpu": "9"}}},
        ],
        "PodDisruptionBudget": [
            {"spec": {"minAvailable": 2, "maxUnavailable": None}},
            {"spec": {"selector": {"matchLabels": {"app": "b"}}}},
        ],
        "Lease": [{"spec": {"holderIdentity": "z", "leaseTransitions": 3}}, {"spec": None}],
        "Event": [{"count": 2}, {"message": "again"}],
        "ServiceAccount": [{"automountServiceAccountToken": rng.choice((True, False, None))}],
        "Namespace": [{"spec": {"finalizers": []}}, {"metadata": {"labels": {"t": "1"}}}],
    }
    return choices[place.kind]


def status(rng: Random, place: Place) -> Json:
    """Write the status of an object, with what `/status` ignores."""
    condition: Json = {
        "type": rng.choice(("Ready", "Odd")),
        "status": rng.choice(("True", "False")),
    }
    choices: dict[str, list[Json]] = {
        "Pod": [
            {"status": {"phase": rng.choice(("Running", "Succeeded", "Failed"))}},
            {"status": {"message": "m", "reason": rng.choice(("R", None))}},
            {"status": {"conditions": [condition]}},
            {"status": {"podIP": "10.0.0.9", "podIPs": [{"ip": "10.0.0.9"}]}},
            {"status": {"phase": "Running"}, "spec": {"priority": 3}},
        ],
        "Node": [
            {"status": {"conditions": [{**condition, "lastHeartbeatTime": None}]}},
            {"status": {"capacity": {"cpu": "8"}}},
        ],
        "PodDisruptionBudget": [
            {
                "status": {
                    "observedGeneration": generation,
                    "disruptionsAllowed": allowed,
                    "currentHealthy": 2,
                    "desiredHealthy": 1,
                    "expectedPods": 2,
                }
            }
            for generation in (1, 2)
            for allowed in (0, 1, 3)
        ],
        "Namespace": [{"status": {"phase": rng.choice(("Active", "Terminating"))}}],
    }
    return rng.choice(choices[place.kind]) | rng.choice(({}, {"metadata": {"labels": {"s": "1"}}}))


def application(rng: Random, place: Place, name: str, namespace: str) -> Json:
    """Write what an applier wants: a whole object, or a few fields of one."""
    if rng.random() < 0.5:
        return body(rng, place, name, namespace)
    whole: Json = {"apiVersion": place.api_version, "kind": place.kind}
    whole["metadata"] = {"name": name, "labels": labels(rng)}
    own: Any = rng.choice(_own(rng, place))
    return whole | (own if rng.random() < 0.5 and "metadata" not in own else {})
