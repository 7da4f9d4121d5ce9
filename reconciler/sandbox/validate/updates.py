"""What may not change once an object lives."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

from reconciler.sandbox.kinds import CONFIG_MAP, NAMESPACE, NODE, POD, SECRET, Kind
from reconciler.sandbox.refusals import Cause, forbidden_value, invalid_value, quoted
from reconciler.sandbox.requests import Json
from reconciler.sandbox.validate.gated import check_nodes_only_narrow, keep_nodes
from reconciler.sandbox.validate.placement import check_gates_only_shrink

_FIXED = "field is immutable"
_POD_TEXT = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
    "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
    "(allow it to be set to 1 if it was previously negative)"
)


def check_update(kind: Kind, live: Json, updated: Json) -> Iterator[Cause]:
    """Check the content of an update against what was there."""
    if kind is POD:
        yield from _pod(live["spec"], updated.get("spec") or {})
    elif kind in (CONFIG_MAP, SECRET):
        yield from _content(kind, live, updated)
    elif kind is NAMESPACE:
        yield from _phase(live["metadata"], updated.get("status") or {})
    elif kind is NODE:
        block = live["spec"].get("podCIDR")
        if block and (updated.get("spec") or {}).get("podCIDR") != block:
            detail = 'node updates may not change podCIDR except from "" to valid'
            yield forbidden_value("spec.podCIDRs", detail)


def check_identity(before: Json, after: Json) -> Iterator[Cause]:
    """Check what an update says the object is against what it was."""
    live, updated = before["metadata"], after["metadata"]
    if updated.get("uid", live["uid"]) != live["uid"]:
        # The server looks twice: once for every object, once for its kind.
        yield from [invalid_value("metadata.uid", updated["uid"], _FIXED)] * 2
    if live.get("deletionTimestamp"):
        known = live.get("finalizers") or []
        added = sorted({*(updated.get("finalizers") or ())} - {*known})
        if added:
            listed = ", ".join(quoted(one) for one in added)
            detail = (
                "no new finalizers can be added if the object is being deleted, "
                f"found new finalizers []string{{{listed}}}"
            )
            yield from [forbidden_value("metadata.finalizers", detail)] * 2


def _phase(metadata: Json, status: Json) -> Iterator[Cause]:
    phase, ending = status.get("phase", ""), bool(metadata.get("deletionTimestamp"))
    wanted = "Terminating" if ending else "Active"
    if phase != wanted:
        when = "not empty" if ending else "empty"
        detail = f"may only be '{wanted}' if `deletionTimestamp` is {when}"
        yield invalid_value("status.Phase", phase, detail)


def _content(kind: Kind, live: Json, updated: Json) -> Iterator[Cause]:
    if live.get("immutable"):
        if not updated.get("immutable"):
            yield forbidden_value("immutable", "field is immutable when `immutable` is set")
        for part in ("data", "binaryData"):
            if (live.get(part) or {}) != (updated.get(part) or {}):
                yield forbidden_value(part, "field is immutable when `immutable` is set")
    if kind is SECRET and live.get("type") != updated.get("type"):
        yield invalid_value("type", updated.get("type", ""), _FIXED)


def _pod(live: Json, updated: Json) -> Iterator[Cause]:
    for part in ("containers", "initContainers"):
        if len(live.get(part) or ()) != len(updated.get(part) or ()):
            yield forbidden_value(f"spec.{part}", "pod updates may not add or remove containers")
            return
    wrong = list(_deadline(live, updated))
    yield from wrong
    if wrong and updated.get("activeDeadlineSeconds") is not None:
        return
    yield from _tolerations(live, updated)
    yield from check_gates_only_shrink(live, updated)
    yield from _selector(live, updated)
    if live.get("schedulingGates"):
        yield from check_nodes_only_narrow(live, updated)
    if _fixed_part(live, updated) != _fixed_part(live, live):
        yield forbidden_value("spec", _POD_TEXT)


def _selector(live: Json, updated: Json) -> Iterator[Cause]:
    before, after = live.get("nodeSelector") or {}, updated.get("nodeSelector") or {}
    if live.get("schedulingGates") and not before.items() <= after.items():
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield invalid_value("spec.nodeSelector", updated.get("nodeSelector"), detail)


def _deadline(live: Json, updated: Json) -> Iterator[Cause]:
    before, after = live.get("activeDeadlineSeconds"), updated.get("activeDeadlineSeconds")
    if before is not None and after is None:
        detail = "must not update from a positive integer to nil value"
        yield invalid_value("spec.activeDeadlineSeconds", after, detail)
    elif before is not None and after is not None and after > before:
        detail = "must be less than or equal to previous value"
        yield invalid_value("spec.activeDeadlineSeconds", after, detail)


def _tolerations(live: Json, updated: Json) -> Iterator[Cause]:
    after = [_timeless(one) for one in updated.get("tolerations") or ()]
    if any(_timeless(one) not in after for one in live.get("tolerations") or ()):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        yield forbidden_value("spec.tolerations", detail)


def _timeless(toleration: Json) -> Json:
    return {name: value for name, value in toleration.items() if name != "tolerationSeconds"}


def _fixed_part(live: Json, spec: Json) -> Json:
    fixed = deepcopy(spec)
    for name in ("activeDeadlineSeconds", "tolerations", "schedulingGates"):
        fixed.pop(name, None)
    for container in [*(fixed.get("containers") or ()), *(fixed.get("initContainers") or ())]:
        container.pop("image", None)
    if live.get("schedulingGates"):
        fixed.pop("nodeSelector", None)
        keep_nodes(live, fixed)
    return fixed
