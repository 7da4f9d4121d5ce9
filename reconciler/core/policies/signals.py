"""What others were asked: whether it can be believed, and which number it is.

What is missing, failed, old, from the future, no number, not finite or negative is not believed,
and the policy holds: an outage of a metric never moves a room. While an answer is young enough
and no newer one can be had, rooms may come by it and none goes.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from reconciler.core.mistakes import Mistake
from reconciler.core.policies.policy import Ask
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Look, Signal

EVERY_SECONDS = 30
STALE_SECONDS = 120
_FUTURE_SECONDS = 30.0
"""Clocks of others may be a little ahead of ours."""
_MOST_TOLD = 250
_MOST = 1e308


def doubt(ask: Ask, look: Look, stale_seconds: float) -> str:
    """Say why what was asked cannot be believed, "" when it can."""
    signal = look.signals.get(ask.name)
    if signal is None:
        return f"the {ask.kind} was not asked yet"
    since = f": {signal.trouble[:_MOST_TOLD]}" if signal.trouble else ""
    if since and signal.value is None:
        return f"the {ask.kind} told nothing{since}"
    age = look.now - signal.at
    if not -_FUTURE_SECONDS <= age <= stale_seconds:
        when = f"{age:.0f} s old" if age > 0 else f"{-age:.0f} s from the future"
        return f"the {ask.kind}'s answer is {when}, and {stale_seconds:g} s is the most{since}"
    return "" if signal.value is not None else f"the {ask.kind} gave no answer"


def attested(ask: Ask, look: Look, advice: Advice) -> Advice:
    """Return an advice by what was told last; no room goes where nothing newer can be had."""
    trouble = look.signals[ask.name].trouble[:_MOST_TOLD]
    if not trouble:
        return advice
    why = f"no room goes while the {ask.kind} tells nothing newer"
    said = "; ".join(filter(None, (advice.said, trouble)))
    return replace(advice, reason=f"{advice.reason}; {why}", may_remove=False, said=said)


def pace_mistakes(parameters: Json) -> Iterator[Mistake]:
    """Yield the mistake of an answer that is too old before it can be a newer one."""
    every = float(parameters.get("everySeconds", EVERY_SECONDS))
    stale = float(parameters.get("staleSeconds", STALE_SECONDS))
    if stale < 2 * every:
        message = f"staleSeconds {stale:g} is less than twice everySeconds, {every:g}"
        fix = f"write staleSeconds: {2 * every:g} or more, so that one question may be lost"
        yield Mistake((), message, fix, "staleSeconds", at_key=True)


def number_of(signal: Signal) -> float | None:
    """Return the number of a signal; None where it is none that rooms could be counted by."""
    return sound_number(signal.value)


def number_doubt(signal: Signal) -> str:
    """Say why the number of a signal counts no rooms, "" where it does."""
    if number_of(signal) is not None:
        return ""
    return f"it gives {str(signal.value)[:40]}, and rooms are counted by 0 or more"


def sound_number(value: Any) -> float | None:
    """Return a finite number that is not negative; None for all else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # An integer may be larger than any other number.
    return float(value) if 0 <= value <= _MOST else None
