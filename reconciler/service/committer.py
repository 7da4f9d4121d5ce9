"""The committer: lands decided counts in Git, beside the loop and never in its way (DESIGN §5).

At most one commit in the quiet time, for all workloads: the count that has waited longest starts
the clock, and later ones never restart it. Nothing of the loop waits for a Git host.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import Protocol

from reconciler.loop import landing, noting
from reconciler.loop.head_lane import HeadLane
from reconciler.loop.landing import Landed, Terms
from reconciler.loop.tries import Tries
from reconciler.model.errors import (
    Conflict,
    Misconfigured,
    PortError,
    RecordChanged,
    Unavailable,
)
from reconciler.model.intents import Intent
from reconciler.model.refs import WorkloadKey
from reconciler.ports import Clock, WritableRepository
from reconciler.service.refused_counts import RefusedCounts, refused_counts
from reconciler.service.retries import Retries

LOOK_SECONDS = 1.0
LONGEST_RACE_SECONDS = 60.0
"""How long the head that came first is waited for, where no look succeeds."""
FIRST_SECONDS = 1.0
LONGEST_AWAY_SECONDS = 60.0
"""A host that is away is looked for as often as it is committed."""
MOST_RACES = 5
"""So many lost ones over a head that nobody moves are no races: a lock was left behind there."""
MOST_TAKEN = 3
"""So many that the host says it took, over a head that stays: it does not move the branch."""
LONGEST_SECONDS = 300.0
"""A branch that is protected, or a repaired credential, sends no event: it is tried again."""

log = logging.getLogger("gamekeeper")


class CommitObserver(Protocol):
    """Who hears of commits of ours: logs, metrics, events."""

    def landed(self, landed: Landed) -> None:
        """A commit of ours stands on the branch, edits were refused, or nothing is to be written.

        In any case nothing waits for the host.
        """

    def raced(self) -> None:
        """Somebody else's commit came first."""

    def unlanded(self, error: PortError) -> None:
        """The host took no commit; what was decided acts all the same."""

    def unrecorded(self, error: PortError) -> None:
        """A record of ours did not take what became of a commit; Git has nothing to do with it."""


class Committer:
    """Serves one branch. `wake` has the head looked at soon; `terms` may change with the Config.

    Where there are none nothing is committed: what was decided acts, and is shown.
    """

    def __init__(
        self,
        lane: HeadLane,
        repository: WritableRepository,
        clock: Clock,
        observer: CommitObserver,
        leading: Callable[[], bool],
        wake: Callable[[], None],
        terms: Callable[[], Terms | None],
    ) -> None:
        self._lane = lane
        self._repository = repository
        self._clock = clock
        self._observer = observer
        self._leading = leading
        self._wake = wake
        self._terms = terms
        self._retries = Retries(FIRST_SECONDS, LONGEST_SECONDS)
        self._away = Retries(FIRST_SECONDS, LONGEST_AWAY_SECONDS)
        self._tries = Tries()
        self._refused = RefusedCounts()
        self._lost: tuple[str, str] | None = None
        """The head on which a push was made that lost its race."""
        self._raced_on: tuple[str, str] | None = None
        self._races = 0
        """How many races were lost over that head, one after the other."""
        self._taken_on: tuple[str, str] | None = None
        """The head on which the host took a commit last."""
        self._taken = 0
        """How many it took over that head, one after the other."""
        self._doubtful: Landed | None = None
        """The last of too many: whether it stands there the next head tells."""
        self._is_told = False
        """Whether it was told of counts that do not come into Git."""
        self._heads = 0
        self._moved = asyncio.Event()
        self._set_back_at: float | None = None
        """When it was seen that the clock was set back behind what waits, by that clock."""

    async def run(self) -> None:
        """Serve until cancelled."""
        while True:
            seconds = await self._look() if self._leading() else LOOK_SECONDS
            if self._lost:
                await self._overtaken()
            else:
                await self._rest(seconds)

    async def _rest(self, seconds: float) -> None:
        """Wait; where nothing is to be committed any more that is told before the next try.

        Then nothing is left to be tried: what is decided next waits for its quiet time alone.
        """
        try:
            while self._is_told and seconds > LOOK_SECONDS:
                await self._clock.sleep(LOOK_SECONDS)
                seconds -= LOOK_SECONDS
                if not self._leading():
                    return
                self._take_back(self._terms())
                if not self._is_told:
                    return
        except Exception:
            log.exception("a defect of Gamekeeper's own: a trouble is told until the next try")
        await self._clock.sleep(seconds)

    def head_taken_in(self) -> None:
        """A head was judged."""
        self._heads += 1
        self._moved.set()

    async def _overtaken(self) -> None:
        """Wait for the head that came first, and not a moment longer: who pushes may go on.

        A look that was under way when the race was lost may still tell the old one.
        """
        lost, self._lost = self._lost, None
        enough = self._heads + 2
        self._wake()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_RACE_SECONDS):
                while self._lane.home.wanted.head == lost and self._heads < enough:
                    self._wake()
                    self._moved.clear()
                    await self._moved.wait()

    async def _look(self) -> float:
        """Land what is due; return the seconds until the next look."""
        now, base = self._clock.now(), self._lane.home.wanted.head
        try:
            terms = self._terms()
            if self._doubtful and base != self._taken_on:
                self._tell(self._doubtful)
                self._doubtful = None
            left = self._left_seconds(terms, now) if terms else None
            if left is None:
                self._take_back(terms)
                if self._tries.raced and landing.is_judged(self._lane):
                    await noting.withdraw(self._lane, self._tries.raced)
            if terms is None or left is None or left > 0:
                return LOOK_SECONDS if left is None else min(LOOK_SECONDS, left)
            landed = await landing.land(self._lane, self._repository, terms, now, self._tries)
        except Conflict as error:
            return self._lose(base, error)
        except PortError as error:
            if not self._leading():
                return LOOK_SECONDS  # the host has nothing to do with it
            self._fail(error)
            self._wake()  # an answer that was lost shows at the next look
            retries = self._away if isinstance(error, Unavailable) else self._retries
            return retries.failed()
        except Exception:
            log.exception("a defect of Gamekeeper's own: nothing was committed")
            return self._retries.failed()
        self._took(landed, base, now)
        return LOOK_SECONDS

    def _took(self, landed: Landed, base: tuple[str, str], now: float) -> None:
        """Tell of what was tried over `base`, and what became of it."""
        self._retries.succeeded()
        self._away.succeeded()
        self._races = 0
        if self._is_told_as_landed(landed, base):
            self._tell(landed)
        if landed.unrecorded is not None:
            self._observer.unrecorded(landed.unrecorded)
        self._refused = refused_counts(base, landed.refused, now)
        if landed.commit:
            self._wake()

    def _is_told_as_landed(self, landed: Landed, base: tuple[str, str]) -> bool:
        """Whether a commit that the host took stands there, as far as anybody can know."""
        if not landed.commit:
            return True
        if base != self._taken_on:
            self._taken_on, self._taken = base, 0
        self._taken += 1
        if self._taken <= MOST_TAKEN:
            return True
        self._doubtful = landed
        self._fail(
            Misconfigured(
                f"the Git host says that it took {self._taken} commits, and the branch stands "
                f"at {(base[1] or base[0])[:12]} all the same: see what sets it back, or whether "
                "another host is read than is pushed to"
            )
        )
        return False

    def _fail(self, error: PortError) -> None:
        """Tell that the host took nothing."""
        self._is_told = True
        self._observer.unlanded(error)

    def _tell(self, landed: Landed) -> None:
        """Tell what a try came to."""
        self._is_told = bool(landed.refused)
        self._observer.landed(landed)

    def _take_back(self, terms: Terms | None) -> None:
        """Tell that nothing is to be committed any more, where it was told that something is.

        The count went back to the number in Git, a person's overruled it, or Git is not to be
        written now: no commit comes that would tell the end of that trouble. The next one begins
        anew: it is tried at once, and told though it be the same.
        """
        if self._is_told and (terms is None or landing.is_done(self._lane)):
            self._tell(Landed())
            self._refused = RefusedCounts()
            self._retries.succeeded()
            self._away.succeeded()

    def _waiting(self, now: float) -> Mapping[WorkloadKey, Intent]:
        """Return what waits, without what cannot be written: its quiet time is no other's."""
        head = self._lane.home.wanted.head
        return {
            key: intent
            for key, intent in landing.waiting(self._lane).items()
            if not self._refused.has(key, intent.value, head, now)
        }

    def _lose(self, base: tuple[str, str], error: Conflict) -> float:
        """Have the head that came first judged, and what is still wanted laid over it.

        Over a record that was read again it is decided at the next look, whoever wrote it.
        """
        is_of_git = not isinstance(error, RecordChanged)
        if is_of_git:
            self._observer.raced()
        else:
            self._observer.unrecorded(error)
        self._races = self._races + 1 if base == self._raced_on else 1
        self._raced_on = base
        if self._races < MOST_RACES:
            self._lost = base if is_of_git else None
            return LOOK_SECONDS
        self._fail(error)
        self._wake()
        return self._away.failed()

    def _left_seconds(self, terms: Terms, now: float) -> float | None:
        """Return how long the throttle lasts, None where nothing waits."""
        waits = self._waiting(now)
        if not waits:
            return None
        first = min(intent.waits_since for intent in waits.values())
        begins = [first, self._tries.taken_at, self._others_at()]
        if max(begins) <= now:
            self._set_back_at = None
        else:
            # The clock was set back: nothing waits longer than the quiet time from here on. What
            # came after that counts as ever.
            self._set_back_at = min(self._set_back_at or now, now)
            begins = [self._set_back_at, *(each for each in begins if each <= now)]
        return max(begins) + terms.quiet_seconds - now

    def _others_at(self) -> float:
        """Return when another process put a commit on record last: it may stand there."""
        at = self._lane.home.store.repository.pushed_at
        return 0.0 if at == self._tries.recorded_at else at
