"""The message of a commit of ours, read back: which steps it tells of a workload.

Anybody can write such a message. So it is read for its sentences and times alone, and only where
what it says agrees with the numbers that the commit itself holds.
"""

import re
from collections.abc import Iterator, Sequence

from reconciler.core.calendar import DAY_SECONDS, day_of
from reconciler.model.history import Told
from reconciler.model.intents import Step
from reconciler.model.refs import WorkloadKey

_NUMBERS = r"([0-9]{1,10}) -> ([0-9]{1,10})"
_CUT = re.compile(r"\(and [0-9]+ more (?:lines\)|steps of [0-9]+ workloads: .*)")
_NOT_LISTED = re.compile(r"  \([0-9]+ earlier steps? (?:is|are) not listed\)")
_END = "\nGamekeeper-Instance: "
"""What ends every message of ours: one that was cut lacks it."""
_STEP = re.compile(
    r"  ([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})Z "
    + _NUMBERS
    + r" \((.+?)\): (.*)"
)


def told_of(body: str, key: WorkloadKey) -> Told | None:
    """Return what a message says of a workload below its first line, None where it says nothing.

    One that tells of it twice is none of ours, and says nothing either.
    """
    lines = body.splitlines()
    head = re.compile(f"{re.escape(str(key))}: {_NUMBERS}")
    found = [(at, match) for at, line in enumerate(lines) if (match := head.fullmatch(line))]
    if len(found) != 1:
        return None
    at, match = found[0]
    return Told(int(match[1]), int(match[2]), tuple(_steps(lines[at + 1 :])))


def is_silent(body: str, key: WorkloadKey) -> bool:
    """Whether a message of ours tells of other workloads alone, and tells of all of them.

    Asked only of commits whose ids are on record: those change what they tell and nothing else.
    """
    lines = body.splitlines()
    if any(_CUT.fullmatch(line) for line in lines):
        return False
    return _END in body and not any(line.startswith(f"{key}: ") for line in lines)


def believed(told: Told | None, before: int | None, after: int | None) -> tuple[Step, ...]:
    """Return the steps of a message that lead from one number to the other, else none.

    Where bounds moved a decision its last step alone says why the number is what it is: it is
    told with the numbers that are there.
    """
    if told is None or not told.steps or before is None or after is None:
        return ()
    if (told.before, told.after) != (before, after):
        return ()
    ends = [before, *(step.after for step in told.steps)]
    if [step.before for step in told.steps] == ends[:-1] and ends[-1] == after:
        return told.steps
    last = told.steps[-1]
    return (Step(last.at, before, after, last.policy, last.reason),)


def _steps(lines: Sequence[str]) -> Iterator[Step]:
    for line in lines[1:] if lines and _NOT_LISTED.fullmatch(lines[0]) else lines:
        match = _STEP.fullmatch(line)
        day = day_of(match[1]) if match else None
        if match is None or day is None:
            return
        seconds = int(match[2]) * 3600 + int(match[3]) * 60 + int(match[4])
        at = float(day * DAY_SECONDS + seconds)
        yield Step(at, int(match[5]), int(match[6]), match[7], match[8])
