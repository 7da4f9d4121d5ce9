"""Asks both servers the same, one request after the other, and keeps where they differ."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.contract.differential.claims import CLAIMS, claims
from tests.contract.differential.neutral import Neutral
from tests.contract.differential.servers import Reply, Server
from tests.contract.differential.steps import Json, Step, Together
from tests.contract.differential.unclaimed import without

_SHOWN = 12
_MARGIN_SECONDS = 0.15
_MOST_SECONDS = 0.8
_OPENING_SECONDS = 0.1  # a real server has then told what was there
_LAST_BOOKMARK_SECONDS = 2  # before the end of a watch
_TIMEOUT = re.compile(r"timeoutSeconds=(\d+)")
_ABSENT = "<absent>"


@dataclass(frozen=True, slots=True)
class Difference:
    """One request that was answered in two ways; `parts` says where (status, body, owners...)."""

    seed: str
    number: int
    step: Step
    parts: tuple[str, ...]
    places: tuple[str, ...]
    sandbox: Json
    real: Json

    @property
    def parts_ways(self) -> bool:
        """Tell whether the two servers hold different things from here on."""
        return self.step.changes and min(self.sandbox["status"], self.real["status"]) < 400

    @property
    def kind(self) -> str:
        """Name the class of this difference."""
        return f"{self.step.label}: {', '.join(self.parts)}"

    def __str__(self) -> str:
        body = self.step.body
        told = body.decode(errors="replace") if isinstance(body, bytes) else json.dumps(body)
        return "\n".join(
            (
                f"seed {self.seed}, step {self.number}: {self.step.method} {self.step.path}",
                f"  sent ({self.step.media}): {told[:2000]}",
                *(f"  differs at {place}" for place in self.places[:_SHOWN]),
                f"  sandbox: {json.dumps(self.sandbox)[:3000]}",
                f"  real:    {json.dumps(self.real)[:3000]}",
            )
        )


@dataclass(slots=True)
class Tally:
    """What a run compared and found."""

    compared: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    cut_short: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    def report(self) -> str:
        """Say how many requests were compared, and the differences by class."""
        found = Counter(one.kind for one in self.differences)
        statuses = ", ".join(f"{code}: {count}" for code, count in sorted(self.statuses.items()))
        lines = [
            f"differential run: {self.compared.total()} requests compared "
            f"({len(self.compared)} classes; {statuses}), {len(self.differences)} differences"
        ]
        why = "not compared to the end: this machine was too slow for them"
        lines += [f"  {count:5} {what} {why}" for what, count in self.cut_short.items()]
        lines += [f"  {self.claims[claim]:5} requests on {claim}" for claim in CLAIMS]
        lines += [f"  {count:5} x {kind}" for kind, count in found.most_common()]
        return "\n".join(lines)


class Lockstep:
    """Two servers, side by side."""

    def __init__(self, sandbox: Server, real: Server) -> None:
        self.tally = Tally()
        self._sandbox, self._real = sandbox, real
        self._neutral = (Neutral(), Neutral())
        self._seconds_differ = False
        self._write_seconds = 0.0  # of the slowest of the last writes

    def run(self, seed: str, steps: Iterable[Step | Together]) -> None:
        """Ask all of a scenario; it ends where the two no longer hold the same."""
        # A difference in one scenario may not shift the names of identities in the next.
        self._neutral = (Neutral(), Neutral())
        self._seconds_differ = False
        for number, step in enumerate(steps):
            try:
                found = [*self._step(seed, number, step)]
            except OSError as error:
                error.add_note(f"seed {seed}, step {number}: {step}")
                raise
            self.tally.differences += found
            if any(one.parts_ways for one in found):
                return
            if self._seconds_differ:
                self.tally.cut_short["lives"] += 1
                return

    def _step(self, seed: str, number: int, step: Step | Together) -> Iterator[Difference]:
        if isinstance(step, Together):
            return self._watched(seed, number, step)
        return self._asked(seed, number, step)

    def _asked(self, seed: str, number: int, step: Step) -> Iterator[Difference]:
        if step.changes:
            _await_same_second(1.5 * self._write_seconds)
        begun = time.time()
        replies = self._sandbox.answer(step), self._real.answer(step)
        if step.changes:
            ended = time.time()
            # From here on they may list the owners of a field in two orders.
            self._seconds_differ |= int(ended) != int(begun)
            self._write_seconds = max(ended - begun, 0.9 * self._write_seconds)
        yield from self._compare(seed, number, step, *replies)

    def _watched(self, seed: str, number: int, watched: Together) -> Iterator[Difference]:
        begun = time.monotonic()
        opened = [(one, self._sandbox.open(one), self._real.open(one)) for one in watched.watches]
        time.sleep(_OPENING_SECONDS)
        for step in watched.meanwhile:
            yield from self._asked(seed, number, step)
        spent = time.monotonic() - begun
        for one, mine, other in opened:
            replies = mine(), other()
            # A watch ends by the clock, at the real server alone before all was written.
            if spent < _seconds_to_write(one):
                yield from self._compare(seed, number, one, *replies)
            else:
                self.tally.cut_short["watches"] += 1

    def _compare(
        self, seed: str, number: int, step: Step, sandbox: Reply, real: Reply
    ) -> Iterator[Difference]:
        mine = without(self._neutral[0].reply(sandbox, step.generated))
        other = without(self._neutral[1].reply(real, step.generated))
        self.tally.compared[step.label] += 1
        self.tally.statuses[other["status"]] += 1
        self.tally.claims.update(claims(step, other))
        if mine == other:
            return
        places = tuple(differing("", mine, other))
        parts = tuple(dict.fromkeys(_part(place) for place in places))
        yield Difference(seed, number, step, parts, places, mine, other)


def _seconds_to_write(watch: Step) -> float:
    """Say within which time all must be written that a watch, and its last bookmark, tell."""
    timeout = _TIMEOUT.search(watch.path)
    lasts = int(timeout[1]) if timeout else 1
    return max(1, lasts - _LAST_BOOKMARK_SECONDS) - _MARGIN_SECONDS


def _await_same_second(needed_seconds: float) -> None:
    # Owners are listed by the second of their last write: both servers must see the same one.
    left = 1.0 - time.time() % 1.0
    if left < max(_MARGIN_SECONDS, min(needed_seconds, _MOST_SECONDS)):
        time.sleep(left)


def _part(place: str) -> str:
    if "managedFields" in place.partition(": ")[0]:
        return "managedFields"
    return place.strip(".").partition(".")[0].partition(":")[0]


def differing(path: str, mine: Any, other: Any) -> Iterator[str]:
    """Walk every place where two answers differ."""
    if isinstance(mine, dict) and isinstance(other, dict):
        for name in sorted({*mine, *other}):
            yield from differing(
                f"{path}.{name}", mine.get(name, _ABSENT), other.get(name, _ABSENT)
            )
    elif isinstance(mine, list) and isinstance(other, list) and len(mine) == len(other):
        for index, pair in enumerate(zip(mine, other, strict=True)):
            yield from differing(f"{path}.{index}", *pair)
    elif mine != other:
        yield f"{path}: {json.dumps(mine)[:500]} instead of {json.dumps(other)[:500]}"
