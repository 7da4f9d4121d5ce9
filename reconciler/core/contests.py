"""Objects of ours that somebody else changes again whenever they are set back: told, and calmed.

Two that want the same field otherwise would write it for ever, at each turn of the workload. What
people change once is set back at once.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from reconciler.core import backoff
from reconciler.core.mistakes import listed
from reconciler.core.waits import soonest
from reconciler.kube import managed_fields
from reconciler.kube.fieldpaths import text
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.plan_objects import ApplyObject, contest_name
from reconciler.model.plans import Situation
from reconciler.model.refs import Json

TOLD_FROM = 3
"""So often it was written alike, so that somebody changed it at least twice since."""
FIRST_DELAY_SECONDS = 0.5
LONGEST_BUDGET_DELAY_SECONDS = 25.0
"""What protects rooms is not left to others for long."""
_MOST_TOLD = 3


class Contests(NamedTuple):
    """Which objects are set back now, and which `wait`, as others change them each time."""

    now: tuple[ApplyObject, ...]
    waiting: tuple[ApplyObject, ...] = ()
    holds: tuple[Hold, ...] = ()
    again_in_seconds: float | None = None


def calmed(proposed: tuple[ApplyObject, ...], situation: Situation, now: float) -> Contests:
    """Say which of the objects that differ are set back now."""
    if not situation.refused:
        return Contests(proposed)
    found, waiting, waits = list[ApplyObject](), list[ApplyObject](), list[float]()
    for item in proposed:
        left_seconds = _left_seconds(item, situation, now)
        (waiting if left_seconds else found).append(item)
        waits += [left_seconds] if left_seconds else []
    told = dict(_told(situation, now))
    reason = "; ".join(list(told)[:_MOST_TOLD])
    holds = (Hold(HoldKind.DRIFTED, situation.key, reason),) if told else ()
    again_in_seconds = soonest(*waits, *told.values())
    return Contests(tuple(found), tuple(waiting), holds, again_in_seconds)


def mark_of(item: ApplyObject, uid: str) -> str:
    """Return what was written of which object: the same again is a contest, another is not."""
    return f"{item.digest} {uid}"


def said_of(item: ApplyObject, paths: Iterable[str], there: Json, manager: str) -> str:
    """Say who changes an object, as it was before we set it back, in which fields."""
    fields = [path.lstrip(".") for path in paths]
    others = _others(there, fields, manager)
    by = f" by {listed(others)}" if others else ""
    return (
        f"{item.ref} is changed{by} in {listed(fields)} each time that it is set back: it is set "
        "back ever more seldom. Have whoever does so stop, take these fields out of Git, or name "
        "them in spec.ignore"
    )


def _others(there: Json, fields: Iterable[str], manager: str) -> list[str]:
    """Return who else owns one of these fields, by the object's managedFields."""
    parts = {field.partition("[")[0] for field in fields}
    return sorted(
        {
            owner.manager
            for owner, owned in managed_fields.read(there).items()
            if owner.manager != manager
            and any(text(path).lstrip(".").partition("[")[0] in parts for path in owned.fields)
        }
    )


def _left_seconds(item: ApplyObject, situation: Situation, now: float) -> float:
    """Return how long an object is left as others want it, 0 for no longer."""
    before = situation.refused.get(contest_name(item.ref))
    if before is None or not item.live_version:
        return 0.0
    uid = next((each.uid for each in situation.live.objects if each.ref == item.ref), "")
    if before.asked != mark_of(item, uid):
        return 0.0
    is_budget = item.ref.kind == "PodDisruptionBudget"
    longest = LONGEST_BUDGET_DELAY_SECONDS if is_budget else backoff.LONGEST_DELAY_SECONDS
    wait_seconds = backoff.doubled(FIRST_DELAY_SECONDS, before.count - 2, longest)
    return backoff.delay_seconds(before.last_at + wait_seconds, now, wait_seconds)


def _told(situation: Situation, now: float) -> Iterator[tuple[str, float]]:
    """Yield what is told of contests that go on, with the seconds until each is over."""
    for item in situation.desired.objects if situation.desired else ():
        known = situation.refused.get(contest_name(item.ref))
        if known is None or known.count < TOLD_FROM:
            continue
        forgiven_seconds = backoff.FORGIVEN_AFTER_SECONDS
        until_seconds = known.last_at + forgiven_seconds
        left_seconds = backoff.delay_seconds(until_seconds, now, forgiven_seconds)
        if left_seconds:
            yield known.said, left_seconds
