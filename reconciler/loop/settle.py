"""Carry out one plan, stage by stage: records first, then objects, rooms, and what goes.

Every write can be the last one before a crash. So a record is written before what it announces
(inventory and ordinals before objects and pods) and reduced after (a name is struck off once its
pod is known to be there), and every delete carries the uid and version that was decided upon.
"""

from dataclasses import replace

from reconciler.core import backoff, conditions
from reconciler.loop import apply_objects, prune_objects
from reconciler.loop.copy_sources import copy_sources
from reconciler.loop.lane import Lane
from reconciler.loop.look_at_drift import look_at_drift
from reconciler.loop.make_rooms import make_rooms
from reconciler.loop.mark_rooms import mark_rooms, relabel_rooms
from reconciler.loop.remove_rooms import remove_rooms
from reconciler.loop.steps import Steps
from reconciler.loop.unseen import is_left
from reconciler.model.errors import Conflict, PortError
from reconciler.model.live import LivePod
from reconciler.model.plans import Plan
from reconciler.model.refs import WorkloadKey
from reconciler.model.reports import Settled


async def settle(lane: Lane, plan: Plan, now: float) -> Settled:
    """Carry out `plan` and return what came of it; `now` is Unix seconds."""
    steps, failed, short, is_gone = Steps(plan.key), list[LivePod](), False, False
    try:
        await _check_still_wanted(lane, plan)
        if await apply_objects.apply(lane, plan, steps, now):
            await copy_sources(lane, plan, steps)
            await _count(lane, plan)
            short = await make_rooms(lane, plan, steps, now)
            marked = await mark_rooms(lane, plan, steps, now)
            removed = await remove_rooms(lane, plan, steps)
            failed = [mark.pod for mark in marked if mark.blames_revision]
            failed += [removal.pod for removal in removed if removal.blames_revision]
            await relabel_rooms(lane, plan, steps)
            is_gone = not await is_left(lane, plan, steps)
            if is_gone:
                await prune_objects.prune(lane, plan, steps)
            await look_at_drift(lane, plan, steps)
        await _count_failures(lane, plan, failed, now)
        if plan.forget and is_gone:
            await _forget(lane, plan, steps)
        else:
            await _remember(lane, plan, steps, now)
    except PortError as error:
        steps.failed("write", f"the records of {plan.key}", error)
    finally:
        if steps.unanswered:
            lane.unanswered_at[plan.key] = lane.view.elapsed()
    outcomes, holds = tuple(steps.outcomes), tuple(steps.holds)
    return Settled(plan, outcomes, holds, short, steps.first_request_at)


async def _count(lane: Lane, plan: Plan) -> None:
    """Put failures on record before anything is done about them: a restart forgets none."""
    failures = plan.failures
    if failures is not None:
        await lane.store.change_state(plan.key, lambda newest: replace(newest, failures=failures))


async def _check_still_wanted(lane: Lane, plan: Plan) -> None:
    """Look at the record before anything is written: was the plan made for what is accepted?

    This is the fence between two processes that both think they lead (DESIGN §2 rule 4): one
    that has not seen the newest commit yet would undo what the other does. Raises Conflict.
    """
    if plan.idle and plan.copies is None:
        return
    try:
        await lane.store.check_state(plan.key)
        lane.check_stands(plan)
        record = lane.store.state(plan.key)
        if plan.made_for is None:
            same = record.deleting
        else:
            accepted = None if record.deleting else record.accepted
            same = accepted is not None and plan.made_for == (
                accepted.spec_json,
                record.in_effect,
            )
        if not same:
            raise Conflict(f"the record of {plan.key} says something else: decided anew")
    except Conflict:
        lane.store.doubt()
        raise


async def _count_failures(lane: Lane, plan: Plan, failed: list[LivePod], now: float) -> None:
    """Let a revision whose rooms end by themselves back off, whoever leads next.

    `failed` are those that were dealt with: one whose delete is refused again and again is not
    another failure each time.
    """
    desired = lane.desired(plan.key)
    if desired is None:
        lane.failures.pop(plan.key, None)
        lane.blamed.pop(plan.key, None)
        return
    revision = desired.workload.revision
    if any(pod.revision == revision for pod in _blamed_first(lane, plan.key, failed)):
        ordinals = lane.store.ordinals(plan.key)
        latest = backoff.latest(lane.failures.get(plan.key), ordinals)
        lane.failures[plan.key] = failures = backoff.after(latest, revision, now)
        if ordinals is not None:
            await lane.store.save_ordinals(plan.key, replace(ordinals, failures=failures))


def _blamed_first(lane: Lane, key: WorkloadKey, failed: list[LivePod]) -> list[LivePod]:
    """Return those of `failed` that were not counted before; who is gone is forgotten."""
    before = lane.blamed.pop(key, frozenset())
    blamed = before.union(pod.uid for pod in failed)
    if blamed:
        lane.blamed[key] = blamed.intersection(pod.uid for pod in lane.view.of(key).pods)
    return [pod for pod in failed if pod.uid not in before]


async def _forget(lane: Lane, plan: Plan, steps: Steps) -> None:
    """Drop the records of a workload that is gone, unless its spec is back in Git."""
    if not lane.store.state(plan.key).deleting:
        return
    await lane.store.drop_ordinals(plan.key)
    await lane.store.drop_state(plan.key)
    lane.wanted = lane.wanted.without(plan.key)
    lane.forget(plan.key)
    steps.did("forget", str(plan.key), f"{plan.key} left Git, and what went with it is gone")


async def _remember(lane: Lane, plan: Plan, steps: Steps, now: float) -> None:
    """Write conditions and observed commit."""
    if lane.store.unreadable(plan.key):
        return  # its hold says so; nothing of it may be written
    record = lane.store.state(plan.key)
    failed = next((outcome.error for outcome in steps.outcomes if outcome.error), "")
    lane.refused.settled(plan)
    # What lasts comes first: what is told changes no more often than it does.
    failure = lane.refused.told(plan) or failed
    shown = replace(plan, holds=(*plan.holds, *steps.holds))
    after = conditions.conditions_of(shown, failure, record.conditions, now, lane.paused(plan.key))
    # The observed commit is written along with a condition, never alone: a commit about one
    # workload must not cost a write for each of a thousand others.
    applied = record.applied if plan.applied is None else plan.applied
    told = after != record.conditions or applied != record.applied
    if told or lane.store.is_doubtful(plan.key):
        commit = lane.wanted.commit
        await lane.store.change_state(
            plan.key,
            lambda newest: replace(
                newest, conditions=after, applied=applied, observed_commit=commit
            ),
        )
