"""Why a policy changes nothing for a while: a value, as conditions, metrics and Events tell it."""

from dataclasses import dataclass
from typing import Literal

PauseReason = Literal["HumanHold", "PolicyHold", "DemandDoubted", "MemberSilent", "SwitchedOff"]
"""A person set the number; the policy cannot tell (a signal is missing, old or absurd); what the
rooms tell is no ground for taking one away; one of several policies cannot tell, so that the others
add rooms and none goes; the operator lets no policy act."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A policy's standstill. `since` is when it began, `told_at` of when its sentence is (Unix
    seconds)."""

    reason: PauseReason
    message: str
    since: float
    told_at: float
