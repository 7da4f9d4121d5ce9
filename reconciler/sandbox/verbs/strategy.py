"""What the server itself sets on an object when it is written."""

from __future__ import annotations

from reconciler.kube import resources
from reconciler.sandbox import defaults
from reconciler.sandbox.kinds import BUDGET, EVENT, LEASE, NAMESPACE, NODE, POD, SECRET, Kind
from reconciler.sandbox.requests import Json
from reconciler.sandbox.world import Call

_EMPTY_BUDGET = {
    "disruptionsAllowed": 0,
    "currentHealthy": 0,
    "desiredHealthy": 0,
    "expectedPods": 0,
}
_SPLIT = (POD, NAMESPACE, NODE, BUDGET)  # their status is written through /status only
_SYSTEM = (
    "name",
    "generateName",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
)
_UNCONDITIONAL = frozenset({"Lease", "PodDisruptionBudget"})


def needs_revision(kind: Kind) -> bool:
    """Tell whether a PUT must carry a resourceVersion."""
    return kind.kind in _UNCONDITIONAL


def normalise(kind: Kind, value: Json) -> None:
    """Fill defaults and fold what was only a convenience of the client."""
    value.setdefault("metadata", {})
    texts = value.pop("stringData", None) if kind is SECRET else None
    if texts:
        data = value.setdefault("data", {})
        data.update({key: defaults.base64_text(text) for key, text in texts.items()})
    if kind is EVENT:
        _event(value)
    defaults.fill(kind, value)


def _event(value: Json) -> None:
    for name in ("source", "involvedObject"):
        value.setdefault(name, {})
    for name in ("firstTimestamp", "lastTimestamp", "eventTime"):
        value.setdefault(name, None)
    for name in ("reportingComponent", "reportingInstance"):
        value.setdefault(name, "")


def begin(call: Call, value: Json) -> None:
    """Give a new object its identity; its status is dropped where it is not the client's."""
    metadata, kind = value["metadata"], call.kind
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = metadata["generateName"] + call.world.ids.suffix()
    for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"):
        metadata.pop(name, None)
    metadata["uid"] = call.world.ids.uid()
    metadata["creationTimestamp"] = call.stamp
    if kind.generation:
        metadata["generation"] = 1
    else:
        metadata.pop("generation", None)
    if kind in _SPLIT and kind is not NODE:
        value.pop("status", None)


def first_status(kind: Kind, value: Json, stamp: str) -> None:
    """Set the status that a new object starts with."""
    if kind is POD:
        value["status"] = {"phase": "Pending", "qosClass": resources.qos_class(value["spec"])}
        if value["spec"].get("schedulingGates"):
            condition = {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "lastTransitionTime": stamp,
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
            value["status"]["conditions"] = [condition]
    elif kind is NAMESPACE:
        value["spec"] = {"finalizers": ["kubernetes"]}
        value["status"] = {"phase": "Active"}
    elif kind is BUDGET:
        value["status"] = dict(_EMPTY_BUDGET)


def complete(kind: Kind, value: Json) -> None:
    """Put in the parts that an object of its kind always has, be they empty."""
    if kind in _SPLIT or kind is LEASE:
        value.setdefault("spec", {})
    if kind in _SPLIT:
        status = value.setdefault("status", {})
        if kind is BUDGET:
            for name, zero in _EMPTY_BUDGET.items():
                status.setdefault(name, zero)


def keep(kind: Kind, live: Json, updated: Json, subresource: str) -> None:
    """Carry over what an update through this path may not touch."""
    before, after = live["metadata"], updated.setdefault("metadata", {})
    for name in _SYSTEM:
        if name == "uid" and after.get("uid"):
            continue
        after.pop(name, None)
        if name in before:
            after[name] = before[name]
    if subresource == "status":
        _keep_part(live, updated, "spec")
        if kind is POD:
            _keep_part(before, after, "ownerReferences")
    elif kind in _SPLIT:
        _keep_part(live, updated, "status")
        if kind is NAMESPACE and not subresource:
            _keep_part(live, updated, "spec")
    if kind.generation and live.get("spec") != updated.get("spec"):
        after["generation"] = before.get("generation", 0) + 1


def _keep_part(live: Json, updated: Json, name: str) -> None:
    updated.pop(name, None)
    if name in live:
        updated[name] = live[name]
