"""What a policy that asks others remembers: the rooms that a value is of, and whether a fall lasts.

A value that falls to less than half of the one before, a zero before which nothing was known and
the first answer to another question may be an exporter that was restarted, a query that lost its
series (or has a slip of the pen) or a webhook that lost its data.
It takes no room until it has been told for `LASTING_SECONDS`, the last time at their end or later:
one answer that grows old says nothing twice. A value that goes down by and by is believed at once.
What lasts is the highest that was told meanwhile: one zero at the end of a fall is doubted anew.
"""

import math
import struct
import zlib
from dataclasses import dataclass, replace

from reconciler.model.scaling import Advice

LASTING_SECONDS = 120.0
"""Four answers, usually; what is restarted is back by then."""
_FORM = struct.Struct("<IdIddd")


@dataclass(frozen=True, slots=True)
class Told:
    """The last value as it was told: `at` and `fell_at` are Unix seconds.

    `running` are the rooms that ran then. `believed` is the last value that no fall made doubtful,
    infinite where none is known; `fell_at` is since when less than half of it is told, 0 where
    that is not so, and `lately` the highest value since then.
    """

    at: float
    running: int
    believed: float
    fell_at: float = 0.0
    lately: float = 0.0

    @property
    def is_doubtful(self) -> bool:
        """Whether no room goes by it."""
        return self.fell_at != 0.0

    def undoubted(self) -> "Told":
        """Return it where who is asked says that all is well, and no count: what fell was no more
        told since, so that it does not last.
        """
        return replace(self, fell_at=0.0, lately=0.0)

    def packed(self, question: str) -> bytes:
        """Return it as the memory of a policy that asks a question, by the name of that."""
        mark = zlib.crc32(question.encode())
        return _FORM.pack(mark, self.at, self.running, self.believed, self.fell_at, self.lately)


def remembered(memory: bytes, question: str) -> Told | None:
    """Return what a policy remembers of a question, None where it remembers none.

    Memory is kept when a spec changes its policy. What another question told is no measure of this
    one, but there was one to fall from: whatever is told first waits as a fall does.
    """
    if len(memory) != _FORM.size:
        return None
    mark, *told = _FORM.unpack(memory)
    return Told(*told) if mark == zlib.crc32(question.encode()) else Told(0.0, 0, math.inf)


def followed(before: Told | None, at: float, value: float, running: int) -> Told:
    """Return what is to be remembered after a value; looked at again it is the same."""
    if before is not None and before.at == at:
        return before
    unknown = math.inf if value == 0 else value
    believed = before.believed if before is not None else unknown
    if value >= believed / 2:
        return Told(at, running, value)
    if before is None or not before.is_doubtful:
        return Told(at, running, believed, at, value)
    lately = max(before.lately, value)
    # A clock that was set back must not make a doubt last for ever.
    if abs(at - before.fell_at) < LASTING_SECONDS:
        return Told(at, running, believed, before.fell_at, lately)
    if value >= lately / 2:
        return Told(at, running, value)
    return Told(at, running, lately, at, value)


def doubted(advice: Advice, told: Told, question: str) -> Advice:
    """Return the advice by a value, with what is to be remembered; in doubt no room goes by it."""
    advice = replace(advice, memory=told.packed(question))
    if not told.is_doubtful:
        return advice
    is_first = math.isinf(told.believed)
    fell = "nothing is known of before" if is_first else f"it fell from {told.believed:.6g}"
    why = f"{fell}: no room goes until an answer {LASTING_SECONDS:g} s later tells it too"
    return replace(advice, reason=f"{advice.reason}; {why}", may_remove=False)
