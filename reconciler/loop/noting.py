"""What our records say of a commit: its id and its counts before the push, how it came out after.

All are written by compare-and-swap: what somebody else wrote meanwhile is raised as RecordChanged.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial

from reconciler.core import intents
from reconciler.loop.head_lane import HeadLane
from reconciler.loop.tries import Tries
from reconciler.model.errors import PortError
from reconciler.model.intents import Intent, Scaling
from reconciler.model.records import IDS_KEPT, RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey

WRITES = 50


async def note_id(
    lane: HeadLane, commit: str, tries: Tries, ended: Collection[str], now: float
) -> None:
    """Put the id of a commit on record, in place of those that the branch never saw.

    Else an outage of a day would fill the record with them, and none that stands would be known.
    """

    def noted(newest: RepositoryRecord) -> RepositoryRecord:
        known = tuple(each for each in newest.pushed if each not in ended)
        return replace(newest, pushed=(*known, commit)[-IDS_KEPT:], pushed_at=now)

    await lane.home.store.change_repository(noted)
    tries.recorded_at = now
    tries.own = (*tries.own, commit)[-IDS_KEPT:]
    tries.lost.clear()
    tries.unanswered = {
        each: tried for each, tried in tries.unanswered.items() if each not in ended
    }


async def change(
    lane: HeadLane,
    keys: Iterable[WorkloadKey],
    changed_to: Callable[[WorkloadKey, StateRecord], Scaling],
) -> None:
    """Change what is remembered of workloads, of all of them: the first failure is raised last."""

    def changed(key: WorkloadKey, newest: StateRecord) -> StateRecord:
        return replace(newest, scaling=changed_to(key, newest))

    several, failures = sorted(keys), []
    for start in range(0, len(several), WRITES):
        writes = (
            lane.home.store.change_state(key, partial(changed, key))
            for key in several[start : start + WRITES]
        )
        told = await asyncio.gather(*writes, return_exceptions=True)
        failures += [each for each in told if isinstance(each, BaseException)]
    for failure in failures:
        raise failure


async def withdraw(lane: HeadLane, raced: dict[WorkloadKey, Intent]) -> None:
    """Take off the record what never reached the branch."""
    stale = dict(raced)
    await change(lane, stale, lambda key, known: intents.not_pushed(known.scaling, stale[key]))
    raced.clear()


def leave_out(raced: dict[WorkloadKey, Intent], landed: Mapping[WorkloadKey, Intent]) -> None:
    """Leave out of what a race was lost with the numbers that land after all."""
    for key, other in landed.items():
        mine = raced.get(key)
        if mine and (other.value, other.decided_at) == (mine.value, mine.decided_at):
            del raced[key]


async def note_pushed(
    lane: HeadLane, commit: str, tries: Tries, landed: Mapping[WorkloadKey, Intent]
) -> PortError | None:
    """Put on record that a commit stands on the branch; return why that failed, None if it did."""
    leave_out(tries.raced, landed)  # first: whatever fails then, they stand there
    pushed = intents.pushed
    try:
        await change(lane, landed, lambda key, known: pushed(known.scaling, commit, landed[key]))
        await withdraw(lane, tries.raced)
    except PortError as error:
        return error
    return None
