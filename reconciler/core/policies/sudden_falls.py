"""What a policy that asks others remembers: the rooms that a value is of, and whether a fall lasts.

A value that falls to less than half of the one before, a zero before which nothing was known and
the first answer to another question may be an exporter that was restarted, a query that lost its
series (or has a slip of the pen) or a webhook that lost its data.
It takes no room until it has been told for `LASTING_SECONDS`, the last time at their end or later:
one answer that grows old says nothing twice. A value that goes down by and by is believed at once.
What lasts is the highest that was told meanwhile: one zero at the end of a fall is doubted anew.

A zero is attested by rooms alone. While one that is heard has players it is contradicted, and
holds however long it is told; from when all of them are empty it has to last as any fall.
"""

import math
import struct
import zlib
from dataclasses import dataclass, replace

from reconciler.core.policies.policy import Ask, held, plural
from reconciler.model.scaling import Advice, Load, Look

LASTING_SECONDS = 120.0
"""Four answers, usually; what is restarted is back by then."""
_FORM = struct.Struct("<IdIdddd")


@dataclass(frozen=True, slots=True)
class Told:
    """The last value as it was told: `at` and `fell_at` are Unix seconds.

    `running` are the rooms that ran then. `believed` is the last value that no fall made doubtful,
    infinite where none is known; `fell_at` is since when less than half of it is told, 0 where
    that is not so, and `lately` the highest value since then. `contradicted_at` is when rooms with
    players last contradicted a zero, 0 where that is no matter any more.
    """

    at: float
    running: int
    believed: float
    fell_at: float = 0.0
    lately: float = 0.0
    contradicted_at: float = 0.0

    @property
    def is_doubtful(self) -> bool:
        """Whether no room goes by it."""
        return self.fell_at != 0.0

    def undoubted(self) -> "Told":
        """Return it where who is asked says that all is well, and no count: what fell was no more
        told since, so that it does not last.
        """
        return replace(self, fell_at=0.0, lately=0.0, contradicted_at=0.0)

    def packed(self, question: str) -> bytes:
        """Return it as the memory of a policy that asks a question, by the name of that."""
        mark = zlib.crc32(question.encode())
        fall = (self.believed, self.fell_at, self.lately, self.contradicted_at)
        return _FORM.pack(mark, self.at, self.running, *fall)


def remembered(memory: bytes, question: str) -> Told | None:
    """Return what a policy remembers of a question, None where it remembers none.

    Memory is kept when a spec changes its policy. What another question told is no measure of this
    one, but there was one to fall from: whatever is told first waits as a fall does.
    """
    if len(memory) != _FORM.size:
        return None
    mark, *told = _FORM.unpack(memory)
    return Told(*told) if mark == zlib.crc32(question.encode()) else Told(0.0, 0, math.inf)


def follow(ask: Ask, look: Look, value: float) -> Told:
    """Return what is to be remembered after a value was told, of which rooms say what they say."""
    before, at = remembered(look.memory, ask.name), look.signals[ask.name].at
    running = look.load.members - look.load.starting
    if value == 0 and look.load.busy_heard:
        return contradicted(before, at, running, look.now)
    return followed(before, at, value, running)


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
    if abs(at - max(before.fell_at, before.contradicted_at)) < LASTING_SECONDS:
        return replace(before, at=at, running=running, lately=lately)
    if value >= lately / 2:
        return Told(at, running, value)
    return Told(at, running, lately, at, value)


def contradicted(before: Told | None, at: float, running: int, now: float) -> Told:
    """Return what is to be remembered after a zero that rooms with players contradict now.

    It is never believed, and whatever is told next waits. Since when it is told goes on, also from
    a time in which rooms attested it.
    """
    known = before or Told(at, running, math.inf)
    fell_at = at if known.believed else at - LASTING_SECONDS
    if known.contradicted_at:
        fell_at = known.fell_at
    running = known.running if known.at == at else running
    return Told(at, running, known.believed or math.inf, fell_at, 0.0, now)


def doubted(advice: Advice, told: Told, ask: Ask, look: Look) -> Advice:
    """Return the advice by a value, with what is to be remembered; in doubt no room goes by it."""
    advice = replace(advice, memory=told.packed(ask.name), ground="others")
    if told.contradicted_at == look.now:
        why = f"the {ask.kind} comes to 0, while {_players_in(look.load)}: no room goes by it"
        if look.load.replicas > look.bounds.minimum:
            lasts = abs(told.at - told.fell_at) >= LASTING_SECONDS
            return replace(held(look, why), memory=advice.memory, contradicted=lasts)
        # Where none may go anyway, nothing stands still that a person should look after.
        return replace(advice, reason=f"{advice.reason}; {why}", may_remove=False)
    if not told.is_doubtful:
        return advice
    why = f"{_doubt(told)}: no room goes until an answer {LASTING_SECONDS:g} s later tells it too"
    return replace(advice, reason=f"{advice.reason}; {why}", may_remove=False)


def _doubt(told: Told) -> str:
    if told.contradicted_at:
        return "rooms had players while it came to 0"
    if math.isinf(told.believed):
        return "nothing is known of before"
    return f"it fell from {told.believed:.6g}"


def _players_in(load: Load) -> str:
    verb = "has" if load.busy_heard == 1 else "have"
    of = plural(load.ready + load.busy_heard, "room")
    return f"{load.busy_heard} of {of} that are heard {verb} players"
