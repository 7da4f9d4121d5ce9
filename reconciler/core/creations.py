"""Which rooms are made now: under which names, on which host ports, or not yet."""

from dataclasses import dataclass, replace

from reconciler.core import backoff, host_ports, ordinals, refusals
from reconciler.core.grounds import ground_of
from reconciler.model.live import ENDED_PHASES
from reconciler.model.plans import CreateRooms, Desired, RoomSeat, Situation
from reconciler.model.records import Ordinals
from reconciler.model.specs import Workload

BLIND_LOOK_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Creations:
    """Rooms to create, or else the ordinal record with settled names struck off.

    `again_in_seconds` is when they may be made that may not be made now, None where none waits.
    """

    creates: CreateRooms | None
    strike: Ordinals | None
    again_in_seconds: float | None = None


def of_step(situation: Situation, desired: Desired, number: int, now: float) -> Creations:
    """Return how `number` rooms are made; `now` is Unix seconds."""
    delay_seconds = _delay(situation, desired, now) if number else 0.0
    if delay_seconds:
        return Creations(None, None, delay_seconds)  # names that were raised are for later
    creates, strike = _creates(situation, desired, number, now)
    return Creations(creates, strike)


def _delay(situation: Situation, desired: Desired, now: float) -> float:
    """Return for how many seconds no room may be made, 0 when it may."""
    known = situation.ordinals
    if known is not None and ordinals.is_blind(known, situation.version, now):
        return BLIND_LOOK_SECONDS
    failed_seconds = backoff.delay_seconds(situation.create_not_before, now)
    return max(failed_seconds, refusals.rooms_delay_seconds(situation, desired, now))


def _creates(
    situation: Situation, desired: Desired, number: int, now: float
) -> tuple[CreateRooms | None, Ordinals | None]:
    """Return the rooms to create, or else the ordinal record with settled names struck off."""
    workload = desired.workload
    if not number and (situation.ordinals is None or not situation.ordinals.outstanding):
        return None, None
    record = ordinals.first(
        situation.ordinals,
        situation.record.highest,
        situation.live.pods,
        now,
        newborn=situation.newborn,
    )
    settled = ordinals.settled(record, situation.live.pods)
    if not number:
        blind = ordinals.is_blind(record, situation.version, now)
        return None, None if blind else replace(settled, outstanding=frozenset())
    taken, raised = ordinals.take(settled, number)
    chosen = host_ports.choose_for(workload, number, ground_of(situation, workload))
    seats = tuple(RoomSeat(n, numbers) for n, numbers in zip(taken, chosen, strict=True))
    reason = f"{_wanted(situation, workload)}, {_there(situation, workload.replicas - number)}"
    return CreateRooms(seats, raised, reason), None


def _there(situation: Situation, explained: int) -> str:
    """Say how many rooms there are to stay, and how many more are to leave, which may be full.

    In a roll-out, and where rooms have failed, more are made than the counts tell: there are more
    than `explained` already.
    """
    alive = [
        pod for pod in situation.live.pods if not pod.terminating and pod.phase not in ENDED_PHASES
    ]
    leaving = sum(bool(pod.leaving) for pod in alive)
    stay = len(alive) - leaving
    others = ", not all of them as wanted" if stay > explained else ""
    if not leaving:
        return f"{stay} there{others}"
    return f"{stay} there to stay{others}, {leaving} to leave"


def _wanted(situation: Situation, workload: Workload) -> str:
    """Say how many rooms are wanted and whose word that is: a policy's, or that of Git."""
    intent = situation.record.scaling.intent
    if intent is None or intent.value != workload.replicas:
        return f"{workload.replicas} wanted by {workload.replicas_source}"
    policy, says = intent.steps[-1].policy, f"{workload.replicas_source} says"
    if workload.replicas_source == workload.source:
        # A spec on record has no line of its number, and the newest file may say another one.
        says = "Git said"
    return f"{workload.replicas} wanted by {policy} ({intent.reason}), where {says} {intent.base}"
