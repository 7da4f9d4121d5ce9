"""What of a held commit acts all the same: what stops somebody, and takes nothing away.

Who suspends a workload or switches its policy off wants just that, and at once: often because
something goes wrong. That the same commit would take rooms away waits for an approval; that
nobody acts, or decides, does not.

A brake holds for as long as the head has it. So every head is judged beside what was accepted
without brakes (`released`), and pulls its own anew.
"""

import json
from collections.abc import Mapping
from dataclasses import replace

from reconciler.core.carried_counts import is_moved
from reconciler.core.compile import canonical
from reconciler.core.pod_parts import child
from reconciler.model.records import Accepted, HeldRemoval, StateRecord
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Workload

_WORDS = {"suspend": "it is suspended", "autoscaling": "its policy is off"}


def braked(record: StateRecord, held: HeldRemoval, head: Workload) -> StateRecord:
    """Return a record of which a removal is `held`, with the brakes of the `head` that asks it."""
    accepted = record.accepted
    if accepted is None:
        return replace(record, held=held)
    document = json.loads(accepted.spec_json)
    pulled = _pulled(child(document, "spec"), head)
    if not pulled:
        return replace(record, held=held)
    were = canonical({name: document["spec"].get(name) for name in pulled})
    document["spec"] |= pulled
    accepted = replace(accepted, spec_json=canonical(document))
    return replace(record, accepted=accepted, held=replace(held, released=were))


def released(record: StateRecord) -> StateRecord:
    """Return a record whose brakes are released: with the spec as it was accepted."""
    accepted, held = record.accepted, record.held
    if accepted is None or held is None or not held.released:
        return record
    document = json.loads(accepted.spec_json)
    for name, value in json.loads(held.released).items():
        if value is None:
            document["spec"].pop(name, None)
        else:
            document["spec"][name] = value
    accepted = replace(accepted, spec_json=canonical(document))
    return replace(record, accepted=accepted, held=replace(held, released=""))


def all_released(
    records: Mapping[WorkloadKey, StateRecord],
) -> Mapping[WorkloadKey, StateRecord]:
    """Return records whose brakes are released: the same mapping where none is pulled."""
    pulled = [key for key, record in records.items() if record.held and record.held.released]
    if not pulled:
        return records
    return {**records, **{key: released(records[key]) for key in pulled}}


def told(head: Workload | None, accepted: Accepted | None) -> str:
    """Say which brakes a head pulls that is held: those that were not pulled when it came."""
    if head is None or accepted is None:
        return ""
    pulled = _pulled(child(json.loads(accepted.spec_json), "spec"), head)
    return " and ".join(words for name, words in _WORDS.items() if name in pulled)


def _pulled(spec: Json, head: Workload) -> Json:
    """Return the fields of an accepted spec that are others with the brakes of a head."""
    found: Json = {}
    if head.suspend:
        suspend = json.loads(head.spec_json)["spec"]["suspend"]
        if spec.get("suspend") != suspend:
            found["suspend"] = suspend
    policy = child(spec, "autoscaling")
    if policy.get("enabled", bool(policy)) and not is_moved(head):
        found["autoscaling"] = {**policy, "enabled": False}
    return found
