"""Conditions in kstatus' form: what a person, Flux or Argo CD reads off a workload's record.

Messages name no counts: a condition is written when it changes, and counts change all the time.
"""

from collections.abc import Sequence

from reconciler.core.suspension import reason_of
from reconciler.model.holds import Hold, HoldKind, is_suspended
from reconciler.model.plans import Plan
from reconciler.model.records import Condition
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Workload

READY, RECONCILING, STALLED = "Ready", "Reconciling", "Stalled"
STEP_FAILED = "StepFailed"
"""The reason of Ready where the cluster did not do what it was asked for."""
SCALING_HELD = "ScalingHeld"
"""Its policy stands still: there only while it is true, and no part of the three."""


def conditions_of(
    plan: Plan,
    failure: str,
    before: Sequence[Condition],
    now: float,
    paused: Condition | None = None,
) -> tuple[Condition, ...]:
    """Return the conditions after a tick; `failure` is the first step's error, "" if none.

    `since` is kept where a condition did not change, and is `now` (Unix seconds) where it did.
    `paused` is what is told of a policy that stands still.
    """
    counts = plan.counts
    suspended = is_suspended(plan.holds)
    as_wanted = plan.done and not counts.old and counts.ready == counts.desired
    moving = not as_wanted and not suspended
    held = _told(plan.holds)
    stalled = held[0] if held else None
    kind, reason = (stalled.kind, stalled.reason) if stalled else ("NothingHeld", "")
    old = {condition.type: condition for condition in before}
    found = tuple(
        _since(old.get(type_), (type_, status, why, message), now)
        for type_, status, why, message in (
            (READY, as_wanted and not failure, *_why_ready(as_wanted, failure)),
            (RECONCILING, moving, "Progressing" if moving else "Settled", ""),
            (STALLED, stalled is not None, kind, reason),
            *((type_of(hold.kind), True, hold.kind, hold.reason) for hold in held[1:]),
        )
    )
    return found if paused is None else (*found, paused)


def _why_ready(as_wanted: bool, failure: str) -> tuple[str, str]:
    if failure:
        return STEP_FAILED, failure
    return ("AllRoomsReady", "") if as_wanted else ("NotAsWanted", "not every room is as wanted")


def _told(holds: Sequence[Hold]) -> list[Hold]:
    """Return the holds to tell of, the first of each kind."""
    found: dict[HoldKind, Hold] = {}
    for hold in holds:
        if hold.kind is not HoldKind.INCOMPLETE_READ:
            found.setdefault(hold.kind, hold)
    return list(found.values())


def type_of(kind: HoldKind) -> str:
    """Return the type of a condition of its own for such a hold: `NeedsIntervention`.

    Stalled tells of one hold; of the others each has one that is there while it is true.
    """
    return "".join(part.capitalize() for part in kind.split("-"))


def _since(old: Condition | None, fresh: tuple[str, bool, str, str], now: float) -> Condition:
    if old is not None and (old.type, old.status, old.reason, old.message) == fresh:
        return old
    return Condition(*fresh, now)


def suspension_told(workload: Workload, conditions: Sequence[Condition]) -> str:
    """Say by what a workload is suspended, as the loop did: a spec on record has no line of it."""
    holds = held_by(workload.key, conditions)
    told = (hold.reason for hold in holds if hold.kind is HoldKind.SUSPENDED)
    return next(told, reason_of(workload))


def held_by(key: WorkloadKey, conditions: Sequence[Condition]) -> tuple[Hold, ...]:
    """Return what a workload's conditions say is held, for whoever has no plan at hand."""
    return tuple(
        Hold(kind, key, condition.message)
        for condition in conditions
        for kind in HoldKind
        if condition.status
        and kind == condition.reason
        and condition.type in (STALLED, type_of(kind))
    )
