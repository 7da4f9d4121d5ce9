"""When a policy stands still, and what of that is told.

A decision is made every few seconds, and its sentence names numbers that change all the time.
What stands on record is written seldom: a pause once it lasts, its sentence every few minutes.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from reconciler.core.conditions import SCALING_HELD
from reconciler.model.decisions import GIVEN_UP, Decision
from reconciler.model.intents import Scaling
from reconciler.model.pauses import Pause, PauseReason
from reconciler.model.records import Condition

LASTING_SECONDS = 60.0
"""A shorter pause is not told: rooms that start, or a signal that is late once, are no news."""
RENEWED_SECONDS = 300.0
_REASONS: tuple[PauseReason, ...] = get_args(PauseReason)
_AT_ONCE: tuple[PauseReason, ...] = ("HumanHold", "SwitchedOff")
"""What people did is told at once: they look whether it came through."""


def pause_of(
    before: Pause | None, scaling: Scaling, decision: Decision, now: float
) -> Pause | None:
    """Return why a policy changes nothing, or takes no room, now (Unix seconds); None where it may.

    `scaling` is what was remembered before the decision, `before` what was returned at the look
    before: a pause that goes on keeps its beginning.
    """
    found = _why(scaling, decision, now)
    if found is None:
        return None
    reason, message = found
    begins = before is None or before.reason != reason
    if before is None or begins or (reason in _AT_ONCE and message != before.message):
        return Pause(reason, message, now, now)
    if message == before.message:
        return before
    if 0 <= now - before.since < LASTING_SECONDS:
        # Nobody was told yet: "not asked yet" is not what is to stand there for minutes.
        return replace(before, message=message)
    if 0 <= now - before.told_at < RENEWED_SECONDS:
        return before
    return replace(before, message=message, told_at=now)


def told(pause: Pause | None, now: float) -> Pause | None:
    """Return a pause where it is to be told: a person's, or one that lasts."""
    if pause is None or pause.reason in _AT_ONCE:
        return pause
    return None if 0 <= now - pause.since < LASTING_SECONDS else pause


def condition_of(pause: Pause) -> Condition:
    """Return a pause as a condition in kstatus' form, which is there only while it is true."""
    return Condition(SCALING_HELD, True, pause.reason, pause.message, pause.since)


def on_record(conditions: Sequence[Condition]) -> Pause | None:
    """Return the pause that stands on record, so that a restart tells nothing twice."""
    for condition in conditions:
        for reason in _REASONS:
            if condition.type == SCALING_HELD and condition.reason == reason:
                return Pause(reason, condition.message, condition.since, condition.since)
    return None


def _why(scaling: Scaling, decision: Decision, now: float) -> tuple[PauseReason, str] | None:
    if decision.reason == GIVEN_UP:
        return "SwitchedOff", GIVEN_UP
    if now < scaling.held_until:
        return "HumanHold", scaling.held_why
    if decision.hold:
        return "PolicyHold" if decision.advised is None else "DemandDoubted", decision.hold
    return ("MemberSilent", decision.missing) if decision.missing else None
