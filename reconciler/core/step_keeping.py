"""Which steps of an intent stand on record until a commit tells them: the oldest become one.

Each is kept whole while there are no more than `STEPS_KEPT`. One that is several says so in its
reason, which older versions read, too: `11 steps in one, 12:01 to 12:14; the last: ...`.
"""

import json
import re
from dataclasses import replace

from reconciler.core.instants import told
from reconciler.model.intents import PERSONS, Step
from reconciler.model.masks import redact

STEPS_KEPT = 240
"""Four hours of a decision a minute, while the branch takes nothing.

A step takes 400 bytes of the record at most: 320 its reason, the rest its times, numbers and
policy. So all are 94 KiB of the 240 that a record has (`record_codec.py`). A demand of 64 KiB is 86
as base64, which leaves 60 for the accepted spec (compressed), the inventory and all else. 50 more
would take a third of that from a workload whose spec may need it; then the demand would give way.
"""
REASON_CHARACTERS = 300
"""As long as a commit tells one."""
_REASON_BYTES = 320
"""As JSON: a letter outside ASCII takes six bytes or twelve."""
_IN_ONE = re.compile(r"([0-9]{1,9}) steps in one, ")


def kept(steps: tuple[Step, ...], told_at: float) -> tuple[Step, ...]:
    """Return no more steps than are kept; what was told becomes one with nothing that was not.

    The newest keeps its whole reason: it says why the count is what it is.
    """
    steps = (*(_short(step) for step in steps[:-1]), *steps[-1:])
    if len(steps) <= STEPS_KEPT:
        return steps
    start = 1 if steps[0].at <= told_at < steps[1].at else 0
    return (*steps[:start], _as_one(*steps[start : start + 2]), *steps[start + 2 :])


def count_of(step: Step) -> int:
    """Return how many decisions a step stands for."""
    several = _IN_ONE.match(step.reason)
    return int(several[1]) if several else 1


def _as_one(first: Step, second: Step) -> Step:
    count = count_of(first) + count_of(second)
    reason = f"{count} steps in one, {_span(first.at, second.at)}; the last: {second.reason}"
    # What a person began is theirs for as long as it waits: a suspension does not end it.
    policy = first.policy if first.policy in PERSONS else second.policy
    one = replace(second, before=first.before, at=first.at, policy=policy, reason=reason)
    return _short(one)


def _span(since: float, until: float) -> str:
    one, other = told(since), told(until)
    day, _, begin = one.partition(" ")
    if other.startswith(day):
        return f"{begin.removesuffix(' UTC')} to {other.split()[1]}"
    return f"{one} to {other}"


def _short(step: Step) -> Step:
    """Return a step whose reason fits; what is secret is masked before a part is cut off."""
    if len(step.reason) <= REASON_CHARACTERS and _size(step.reason) <= _REASON_BYTES:
        return step
    reason = redact(step.reason)[: REASON_CHARACTERS - 1]
    while _size(reason) > _REASON_BYTES - len(r"\u2026"):
        reason = reason[: len(reason) * 7 // 8]
    return replace(step, reason=f"{reason}…")


def _size(text: str) -> int:
    return len(json.dumps(text))
