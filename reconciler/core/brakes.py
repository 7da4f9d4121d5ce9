"""What of a held commit acts all the same: what stops somebody, and takes nothing away.

Who suspends a workload or switches its policy off wants just that, and at once: often because
something goes wrong. That the same commit would take rooms away waits for an approval; that
nobody acts, or decides, does not.

A brake holds for as long as the head has it. So every head is judged beside what was accepted
without brakes (`released`), and pulls its own anew; one that does not say of a workload what it
wants (its spec is broken, or gone and held) leaves the brakes as they are.
"""

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from reconciler.core.carried_counts import is_moved
from reconciler.core.compile import canonical
from reconciler.core.instants import instant_of_text
from reconciler.core.pod_parts import child, text
from reconciler.model.records import Accepted, HeldRemoval, StateRecord
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Workload

_SUSPENDED, _OFF = "suspend", "enabled"
_WORDS = {_SUSPENDED: "it is suspended", _OFF: "its policy is off"}


def braked(record: StateRecord, held: HeldRemoval, head: Workload) -> StateRecord:
    """Return a record of which a removal is `held`, with the brakes of the `head` that asks it."""
    accepted = record.accepted
    if accepted is None:
        return replace(record, held=held)
    document = json.loads(accepted.spec_json)
    pulled = _pulled(child(document, "spec"), head)
    if not pulled:
        return replace(record, held=held)
    were = _laid(document, pulled)
    accepted = replace(accepted, spec_json=canonical(document))
    return replace(record, accepted=accepted, held=replace(held, released=canonical(were)))


def released(record: StateRecord) -> StateRecord:
    """Return a record whose brakes are released: with the spec as it was accepted."""
    accepted, held = record.accepted, record.held
    if accepted is None or held is None or not held.released:
        return record
    document = json.loads(accepted.spec_json)
    _laid(document, json.loads(held.released))
    accepted = replace(accepted, spec_json=canonical(document))
    return replace(record, accepted=accepted, held=replace(held, released=""))


def all_released(
    records: Mapping[WorkloadKey, StateRecord], told_of: Collection[WorkloadKey]
) -> Mapping[WorkloadKey, StateRecord]:
    """Return records with the brakes of those workloads released that a head is `told_of` in.

    It is the same mapping where none of them is braked.
    """
    pulled = [key for key, record in records.items() if are_pulled(record) and key in told_of]
    if not pulled:
        return records
    return {**records, **{key: released(records[key]) for key in pulled}}


def waits_still(record: StateRecord, head: Workload, lines: Collection[str]) -> bool:
    """Whether what a head asks of a workload waits for an approval, and moves no brake of it.

    `lines` are those of all removals that the head asks for. A suspension whose time is over is
    nobody's change: the head that has it said so when it was held.
    """
    if record.held is None or record.held.line not in lines:
        return False
    free, heads = released(record), [head]
    if head.suspension.until:
        heads.append(replace(head, suspend=True))
    return any(braked(free, record.held, each).accepted == record.accepted for each in heads)


def are_pulled(record: StateRecord) -> bool:
    """Whether a workload acts with a brake of a commit that is held."""
    return bool(record.held and record.held.released)


def kept(before: HeldRemoval | None, held: HeldRemoval | None) -> HeldRemoval | None:
    """Return what is held of a workload of which a head says nothing: its brakes stay pulled."""
    if before is None or not before.released:
        return held
    if held is None:
        return unasked(before)
    return replace(held, acts=before.acts, released=before.released)


def unasked(held: HeldRemoval) -> HeldRemoval:
    """Return what is held that no head asks for any more: nothing waits, and its brakes stay."""
    return replace(held, line="") if held.line else held


def told(head: Workload | None, accepted: Accepted | None) -> str:
    """Say which brakes a head pulls that is held: those that were not pulled when it came."""
    if head is None or accepted is None:
        return ""
    pulled = _pulled(child(json.loads(accepted.spec_json), "spec"), head)
    return " and ".join(words for name, words in _WORDS.items() if name in pulled)


def _pulled(spec: Json, head: Workload) -> Json:
    """Return the fields of an accepted spec that are others with the brakes of a head.

    One that is suspended for longer than the head says stays so: nothing goes on by a commit that
    is held.
    """
    found: Json = {}
    if head.suspend:
        suspend = json.loads(head.spec_json)["spec"]["suspend"]
        if _ends(suspend) > _ends(spec.get("suspend")):
            found[_SUSPENDED] = suspend
    policy = child(spec, "autoscaling")
    if policy.get("enabled", bool(policy)) and not is_moved(head):
        found[_OFF] = False
    return found


def _ends(suspend: Any) -> float:
    """Return when a `suspend` ends, in Unix seconds: never, or before all times where it is not."""
    if suspend is None or suspend is False:
        return -math.inf
    until = text(suspend, "until") if isinstance(suspend, dict) else ""
    end = instant_of_text(until) if until else None
    return math.inf if end is None else end


def _laid(document: Json, fields: Json) -> Json:
    """Lay brakes over the spec of a document, and return how these fields were: None, not there."""
    were: Json = {}
    places = {_SUSPENDED: document["spec"], _OFF: document["spec"].get("autoscaling")}
    for name, place in places.items():
        if name in fields and isinstance(place, dict):
            were[name] = place.get(name)
            if fields[name] is None:
                place.pop(name, None)
            else:
                place[name] = fields[name]
    return were
