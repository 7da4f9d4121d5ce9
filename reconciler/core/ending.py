"""The end of a workload that left Git: its rooms, then objects, namespace and records."""

from dataclasses import replace

from reconciler.core import objects, room_holds, rooms
from reconciler.core.departing import workload_of
from reconciler.core.departures import Departures
from reconciler.core.waits import soonest
from reconciler.model.copies import Copies
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.neighbours import Sharing
from reconciler.model.plans import Plan, Situation
from reconciler.model.rooms import Mark, Why

NEIGHBOUR_LOOK_SECONDS = 5.0
"""How often a workload that goes looks whether those it shares its namespace with are gone."""
LATE_SECONDS = 60.0
"""How long an API server carries out a request at most: its `--request-timeout`, as it is set where
nobody set it. It is counted from when the answer was given up, and so is never too short."""


def plan_removal(situation: Situation) -> Plan:
    """Return the next step of its end."""
    workload = workload_of(situation)
    there = rooms.sort_rooms(situation.live.pods, workload, situation.ears, situation.elapsed)
    counts = rooms.count(there, 0)
    base = Plan(situation.key, counts, situation.record.inventory, holds=situation.holds)
    if not situation.deleting:
        return base
    if not situation.complete:
        return room_holds.unread(base, situation, "nothing is removed")
    strangers = [pod.name for pod in situation.live.pods if pod.ordinal < 0]
    if strangers:
        base = replace(base, holds=(*base.holds, room_holds.stranger(situation, strangers)))
    if situation.live.pods:
        return _empty(base, situation, there)
    unseen = objects.unseen(situation)
    if unseen:
        return replace(base, holds=(*base.holds, *unseen))
    copies = situation.record.copied
    if copies:
        dropped = Copies(dropped=copies)
        return replace(base, copies=dropped, wake_in_seconds=NEIGHBOUR_LOOK_SECONDS)
    prunes = objects.to_prune(situation)
    passing = () if prunes else objects.to_pass_on(situation)
    if passing:
        holds = (*base.holds, *passing)
        return replace(base, holds=holds, wake_in_seconds=NEIGHBOUR_LOOK_SECONDS)
    left = [item for item in objects.applied(situation) if item.terminating]
    if not prunes and situation.sharing is Sharing.WAITS:
        return replace(base, wake_in_seconds=NEIGHBOUR_LOOK_SECONDS)
    forget = not prunes and not left
    late = late_seconds(situation.unanswered_at, situation.elapsed)
    if late and (prunes or forget):
        return replace(base, wake_in_seconds=late)
    return replace(base, prunes=prunes, forget=forget)


def late_seconds(unanswered_at: float | None, elapsed: float) -> float:
    """Return for how long something may yet be made that nobody would know of; 0 where nothing may.

    What a request makes that was not answered would be nobody's once the records are gone, and a
    room that it makes would have no budget: all of that stays for as long. Both times are seconds
    of the view's clock.
    """
    return 0.0 if unanswered_at is None else max(0.0, unanswered_at + LATE_SECONDS - elapsed)


def _empty(base: Plan, situation: Situation, there: rooms.Sorted) -> Plan:
    """Let every room of a workload that left Git leave; who has players stays until they end."""
    going = Departures(there)
    reason = f"{situation.key} left Git"
    for pod in (*there.members, *there.failed):
        if pod.uid in there.busy or (pod.uid in there.protected and pod.mark is Mark.NONE):
            going.tell(pod, Why.LEFT_GIT, reason)
        else:
            going.go(pod, Why.LEFT_GIT, reason)
    going.end_post_mortems(there.kept, reason)
    going.on_their_way(there.leaving)
    going.let_go(there.left)
    holds = base.holds
    if there.protected:
        stays = f"{situation.key} left Git: rooms with players, or not heard, stay until they end"
        holds = (*holds, Hold(HoldKind.OCCUPIED, situation.key, stays))
    holds = (*holds, *room_holds.deaf(situation), *room_holds.never_heard(situation, there))
    return replace(
        base,
        removals=tuple(going.removals),
        marks=tuple(going.marks),
        holds=holds,
        wake_in_seconds=soonest(there.again_in_seconds, going.again_in_seconds),
    )
