"""When to ask again for what a cluster refused (a quota, a policy, a role), or failed at.

No event says when a policy or a quota of others lets it pass. What does say so has it asked for at
once: another room or object, what people wrote in the spec, the namespace and its labels, a
ResourceQuota or LimitRange of the workload's own, a room that left its place.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from reconciler.core import backoff
from reconciler.core.failing import mark_of
from reconciler.core.waits import soonest
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import LiveWorkload
from reconciler.model.plan_objects import ApplyObject
from reconciler.model.plans import Desired, Plan, Situation
from reconciler.model.refs import ObjectRef
from reconciler.model.refusals import ROOMS, Cause, Refusals

FIRST_DELAY_SECONDS = 0.5
"""A cluster refuses for a moment too: while it counts a quota, or makes an account."""
LONGEST_UNJUDGED_SECONDS = 25.0
"""Half a minute after a cluster that failed works again, its rooms are there."""
_MOST_UNJUDGED = 4
"""So many failures count where a verdict follows: after an outage a quota is counted anew."""
_BUDGET = "PodDisruptionBudget"
_RULES = ("ResourceQuota", "LimitRange")
_STILL = (HoldKind.SUSPENDED, HoldKind.FOREIGN)
"""While one of these holds nothing is asked for: a refusal is one of before."""


def after(before: Refusals | None, refusal: Refusals) -> Refusals:
    """Add one refusal to those before it."""
    forgiven = (
        before is None
        or before.asked != refusal.asked
        or refusal.last_at - before.last_at > backoff.FORGIVEN_AFTER_SECONDS
    )
    count = 0 if before is None or forgiven else before.count
    if before is not None and refusal.is_verdict and not before.is_verdict:
        count = min(count, _MOST_UNJUDGED)
    return replace(refusal, count=count + refusal.count)


def delay_seconds(before: Refusals | None, asked: str, now: float, rooms: int = 0) -> float:
    """Return for how long it is not asked for again, 0 for at once.

    `rooms` are there now. Where they are fewer than then, one that went may have left its place in
    a quota: a roll-out in one that is full would wait for minutes with each room that it replaces.
    """
    if before is None or before.asked != asked or (before.is_verdict and rooms < before.rooms):
        return 0.0
    wait_seconds = _wait_seconds(before)
    return backoff.delay_seconds(before.last_at + wait_seconds, now, wait_seconds)


def _wait_seconds(before: Refusals) -> float:
    """Return how long to wait; what failed just once is tried again as soon as it may be."""
    if before.is_verdict:
        return backoff.doubled(FIRST_DELAY_SECONDS, before.count - 1)
    return backoff.doubled(FIRST_DELAY_SECONDS, before.count - 2, LONGEST_UNJUDGED_SECONDS)


def asked_of_rooms(desired: Desired, live: LiveWorkload) -> str:
    """Return what is asked for when rooms are: of which revision, and by what they are judged."""
    workload = desired.workload
    return f"{workload.revision} {mark_of(workload.spec_json)} {_place(live)}"


def asked_of_object(desired: Desired, live: LiveWorkload, ref: ObjectRef) -> str:
    """Return the same of an object, and which one it is to change.

    As Git says it: the count of a budget that follows the rooms is no other one each time.
    """
    digest = next((item.digest for item in desired.objects if item.ref == ref), "")
    uid = next((item.uid for item in live.objects if item.ref == ref), "")
    return f"{digest} {uid} {_place(live)}"


def _place(live: LiveWorkload) -> str:
    """Return what we see of what rules over the namespace: its labels, and limits of ours."""
    rules: list[tuple[ObjectRef, object]] = [
        (item.ref, item.body.get("spec")) for item in live.objects if item.ref.kind in _RULES
    ]
    rules += [
        (item.ref, [item.uid, item.body["metadata"].get("labels")])
        for item in live.objects
        if item.ref.kind == "Namespace"
    ]
    return json.dumps(
        [(str(ref), rule) for ref, rule in sorted(rules, key=lambda each: each[0])], sort_keys=True
    )


def rooms_delay_seconds(situation: Situation, desired: Desired, now: float) -> float:
    """Return for how long no room of a workload is asked for again, 0 for at once."""
    before = situation.refused.get(ROOMS)
    if before is None:
        return 0.0
    asked = asked_of_rooms(desired, situation.live)
    return delay_seconds(before, asked, now, len(situation.live.pods))


class Asked(NamedTuple):
    """Which objects are asked for now, and which `wait`, as they were refused a while ago.

    `holds` tell of those among them that are somebody else's: then nothing is asked for.
    """

    now: tuple[ApplyObject, ...]
    waiting: tuple[ApplyObject, ...] = ()
    again_in_seconds: float | None = None
    holds: tuple[Hold, ...] = ()


def asked_for(proposed: tuple[ApplyObject, ...], situation: Situation, now: float) -> Asked:
    """Say which of the objects that are to be applied, in that order, are asked for now.

    Of a budget its count is still written, without what is added to it: it follows the rooms.
    """
    desired = situation.desired
    if desired is None or not situation.refused:
        return Asked(proposed)
    found, waiting, waits = list[ApplyObject](), list[ApplyObject](), list[float]()
    for item in proposed:
        left = _left(item, situation, desired, now)
        if not left:
            found.append(item)
            continue
        waiting.append(item)
        waits.append(left)
        if not item.live_version:
            break
        count = count_of(item)
        if count is not None:
            count_left = _left(count, situation, desired, now)
            found += [] if count_left else [count]
            waits += [count_left] if count_left else []
    told = [situation.refused[item.what] for item in waiting]
    holds = tuple(
        Hold(HoldKind.FOREIGN, situation.key, each.said)
        for each in told
        if each.cause is Cause.FOREIGN
    )
    return Asked(() if holds else tuple(found), tuple(waiting), soonest(*waits), holds)


def count_of(item: ApplyObject) -> ApplyObject | None:
    """Return the application of a budget's count alone, None where that is as wanted."""
    paths = tuple(path for path in item.paths if path.startswith(".spec."))
    if item.ref.kind != _BUDGET or not paths:
        return None
    reason = "its count, without what is added to it"
    return replace(item, paths=paths, reason=reason, alone=True)


def _left(item: ApplyObject, situation: Situation, desired: Desired, now: float) -> float:
    before = situation.refused.get(item.what)
    if before is None:
        return 0.0
    return delay_seconds(before, asked_of_object(desired, situation.live, item.ref), now)


def held_up(plan: Plan, situation: Situation) -> Plan:
    """Return a plan without what may only follow an object that waits.

    Where that is missing, nothing goes on; what nobody has looked at yet, whether it is somebody
    else's, goes on no inventory. Where the cluster failed at the count of a budget, no room is made
    or removed: fewer would be protected than their number asks for. What protects them is written.
    """
    if all(item.live_version for item in plan.waiting):
        is_behind = any(_has_failed_count(item, plan, situation) for item in plan.waiting)
        return replace(plan, creates=None, removals=()) if is_behind else plan
    record = situation.record.inventory
    known = {owned.ref for owned in record} | {item.ref for item in plan.objects}
    return replace(
        plan,
        inventory=tuple(owned for owned in plan.inventory if owned.ref in known),
        creates=None,
        strike=None,
        failures=None,
        removals=(),
        marks=(),
        patches=(),
        prunes=(),
        copies=None,
        suspects=(),
    )


def _has_failed_count(item: ApplyObject, plan: Plan, situation: Situation) -> bool:
    """Whether the cluster failed at the count of a budget that waits, and is not asked now.

    Whose count is refused by a verdict protects as it was.
    """
    count = count_of(item)
    if count is None or count in plan.objects:
        return False
    before = situation.refused.get(count.what)
    return before is not None and not before.is_verdict


def told(plan: Plan, refused: Mapping[str, Refusals]) -> str:
    """Return what was said of the first refusal of what a plan still asks for, else ""."""
    if not refused or any(hold.kind in _STILL for hold in plan.holds):
        return ""
    counts = plan.counts
    asked = {item.what for item in (*plan.objects, *plan.waiting)}
    if counts.ready + counts.unready - counts.old < counts.desired:
        asked.add(ROOMS)
    return next((each.said for what, each in sorted(refused.items()) if what in asked), "")
