"""A plan carried on: a few rooms turned busy or idle, and nothing else of the workload changed.

In a fleet in full play that is what almost every wake is about. Where all rooms are as wanted, one
that stays as wanted changes nothing of a plan but how many are busy. Only rooms that are not the
same values as before are judged, by the rules by which all are.
"""

from dataclasses import replace

from reconciler.core import repairs
from reconciler.core.budget_objects import counts_occupied
from reconciler.core.lasting import Basis, basis_of
from reconciler.core.rooms import Sorted, sort_rooms
from reconciler.core.turning import turned_of
from reconciler.model.live import LivePod
from reconciler.model.plans import Counts, Desired, Plan, Situation
from reconciler.model.rooms import Ears
from reconciler.model.specs import Workload

MOST_TURNED = 100
"""Where more rooms changed all are looked at, in a thread if they are many."""


def carry(plan: Plan, before: Basis, situation: Situation) -> Plan | None:
    """Return the plan of a situation by one that lasts, made of `before`; None: make it anew."""
    desired, after = situation.desired, basis_of(situation)
    if desired is None or not _is_calm(plan, desired, situation):
        return None
    if before._replace(live=after.live, ears=after.ears) != after:
        return None
    if before.live.objects != after.live.objects or not _hear_alike(before.ears, after.ears):
        return None
    turned = turned_of(before.live, before.ears, after.live, after.ears)
    if turned is None or len(turned) > MOST_TURNED:
        return None
    workload, now = desired.workload, situation.elapsed
    then = _stays([was for was, _ in turned], workload, before.ears, now)
    there = _stays([pod for _, pod in turned], workload, after.ears, now)
    if then is None or there is None:
        return None
    # Nobody leaves: no time counts.
    if repairs.notes(there, (), situation.addresses, 0.0) or repairs.labels(there, desired):
        return None
    busy = plan.counts.busy + len(there.busy) - len(then.busy)
    return replace(plan, counts=replace(plan.counts, busy=busy))


def _is_calm(plan: Plan, desired: Desired, situation: Situation) -> bool:
    """Whether all rooms are as wanted, and nothing that is written counts the busy ones."""
    counts = plan.counts
    as_wanted = Counts(desired=counts.desired, ready=counts.desired, busy=counts.busy)
    calm = counts == as_wanted and not situation.record.failures
    return calm and not counts_occupied(desired.workload)


def _hear_alike(was: Ears, now: Ears) -> bool:
    """Whether our ears were good and are, since the same time."""
    deaf = [(each.deaf, each.deaf_on, each.deaf_here) for each in (was, now)]
    return was.since == now.since and not any(map(any, deaf))


def _stays(pods: list[LivePod], workload: Workload, ears: Ears, now: float) -> Sorted | None:
    """Return rooms that are as wanted, whatever the time, sorted; None where one is not."""
    there = sort_rooms(pods, workload, ears, now)
    plain = len(there.new_ready) == len(pods) and not there.unheard
    return there if plain and there.again_in_seconds is None else None
