"""`spec.drift`: what is done about objects that somebody else changed: set back, or told.

Told is what differs though Git asks for the same as when it was last as Git says: whoever changes
the object in Git has it as Git says again. What rooms are protected by, and what marks an object as
ours, is always set back, and an object that is missing is always made.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from reconciler.model import labels
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import LiveObject
from reconciler.model.plan_objects import ApplyObject, DesiredObject
from reconciler.model.plans import Situation
from reconciler.model.records import Applied
from reconciler.model.refs import ObjectRef
from reconciler.model.specs import Workload

LOOK_AGAIN_SECONDS = 5.0
"""When what a dry run said of a suspect is told."""
_BUDGET = "PodDisruptionBudget"
_MOST_TOLD = 3


class Drift(NamedTuple):
    """What becomes of objects that seem to differ.

    `suspects` are to be asked about by a dry run: they may only seem to (a quantity, a default).
    `applied` is what the record is to say, None where it says so.
    """

    apply: tuple[ApplyObject, ...]
    suspects: tuple[ApplyObject, ...] = ()
    holds: tuple[Hold, ...] = ()
    applied: tuple[Applied, ...] | None = None


def sort_out(
    proposed: tuple[ApplyObject, ...],
    situation: Situation,
    workload: Workload,
    desired: Iterable[DesiredObject],
    live: Mapping[ObjectRef, LiveObject],
) -> Drift:
    """Say which of the `proposed` objects are applied, and which are looked at or told."""
    known = situation.record.applied
    if workload.drift == "heal":
        return Drift(proposed, applied=() if known else None)
    digests = {item.ref: item.digest for item in known}
    apply, suspects, told = [], [], []
    for item in proposed:
        if _is_ours_to_set(item) or digests.get(item.ref) != item.digest:
            apply.append(item)
        elif (item.digest, item.live_version) in situation.drifted:
            told.append(item)
        else:
            suspects.append(item)
    equal = _equal(proposed, desired, live)
    kept = (item for item in known if item.ref not in equal and item.ref in live)
    applied = tuple(sorted((*(Applied(*pair) for pair in equal.items()), *kept)))
    holds = (_hold(situation, told),) if told else ()
    return Drift(tuple(apply), tuple(suspects), holds, None if applied == known else applied)


def _is_ours_to_set(item: ApplyObject) -> bool:
    marks = any(mark in path for mark in labels.OWNED_LABELS for path in item.paths)
    return not item.live_version or item.ref.kind == _BUDGET or marks


def _equal(
    proposed: Iterable[ApplyObject],
    desired: Iterable[DesiredObject],
    live: Mapping[ObjectRef, LiveObject],
) -> dict[ObjectRef, str]:
    """Return the digests of what is as Git says. Budgets follow the rooms, and are not counted."""
    differ = {item.ref for item in proposed}
    return {
        item.ref: item.digest
        for item in desired
        if item.ref.kind != _BUDGET and item.ref not in differ and item.ref in live
    }


def _hold(situation: Situation, told: list[ApplyObject]) -> Hold:
    return Hold(HoldKind.DRIFTED, situation.key, told_of(told))


def told_of(items: Iterable[ApplyObject]) -> str:
    """Say what somebody else changed, and how it becomes as Git says again."""
    said = [f"{item.ref} in {', '.join(item.paths)}" for item in items]
    more = f" and {len(said) - _MOST_TOLD} more" if len(said) > _MOST_TOLD else ""
    return (
        f"somebody changed {'; '.join(said[:_MOST_TOLD])}{more}. It stays, for spec.drift says "
        "warn: change it in Git, or write drift: {mode: heal}, to have it as Git says"
    )
