"""The committer: lands decided counts in Git, beside the loop and never in its way (DESIGN §5).

At most one commit in the quiet time, for all workloads: the count that has waited longest starts
the clock, and later ones never restart it. Nothing of the loop waits for a Git host.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from reconciler.loop import landing
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
from reconciler.service.streaks import Streak
from reconciler.service.throttle import Throttle
from reconciler.service.withdrawals import Withdrawals

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
        self._throttle = Throttle(lane, self._tries)
        pace = Retries(FIRST_SECONDS, LONGEST_SECONDS)
        self._withdrawals = Withdrawals(lane, self._tries, leading, observer.unrecorded, pace)
        self._refused = RefusedCounts()
        """Those of the last try."""
        self._lost: tuple[str, str] | None = None
        """The head on which a push was made that lost its race."""
        self._races = Streak()
        """Of races that were lost."""
        self._taken = Streak()
        """Of commits that the host said it took."""
        self._doubtful: Landed | None = None
        """The last of too many: a head that is this very commit tells that it stands there."""
        self._is_failing = False
        """Whether it was told that the host takes nothing."""
        self._heads = 0
        self._moved = asyncio.Event()

    async def run(self) -> None:
        """Serve until cancelled."""
        while True:
            seconds = await self._look() if self._leading() else LOOK_SECONDS
            if self._lost:
                await self._overtaken()
            else:
                await self._rest(seconds)

    async def _rest(self, seconds: float) -> None:
        """Wait for the next try of what failed, no longer than anything is to be tried.

        What is decided after that waits for its quiet time alone.
        """
        try:
            while self._is_failing and seconds > LOOK_SECONDS:
                await self._clock.sleep(LOOK_SECONDS)
                seconds -= LOOK_SECONDS
                if not self._leading():
                    return
                self._tell_what_ended(self._terms(), self._clock.now())
                if not self._is_failing:
                    return
        except Exception:
            log.exception("a defect of Gamekeeper's own: a trouble is told until the next try")
        await self._clock.sleep(seconds)

    def head_taken_in(self) -> None:
        """A head was judged."""
        self._heads += 1
        self._moved.set()

    def leadership_changed(self) -> None:
        """Take no count that lost a race before for one that nobody has pushed since."""
        self._tries.begin_term()

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
            came = self._come_after_all()
            if came is not None:
                self._tell_outcome(came)
                self._doubtful = None
            waits = self._writable(landing.waiting(self._lane), now) if terms else {}
            left = self._throttle.left_seconds(waits.values(), terms, now) if terms else None
            if left is None:
                self._tell_what_ended(terms, now)
                await self._withdrawals.look()
            if terms is None or left is None or left > 0:
                return LOOK_SECONDS if left is None else min(LOOK_SECONDS, left)
            landed = await landing.land(self._lane, self._repository, terms, now, self._tries)
        except Conflict as error:
            return self._lose(base, error)
        except PortError as error:
            if not self._leading():
                return LOOK_SECONDS  # the host has nothing to do with it
            self._tell_failing(error)
            self._wake()  # an answer that was lost shows at the next look
            retries = self._away if isinstance(error, Unavailable) else self._retries
            return retries.failed()
        except Exception:
            log.exception("a defect of Gamekeeper's own: nothing was committed")
            return self._retries.failed()
        self._took(landed, base, now)
        return LOOK_SECONDS

    def _took(self, landed: Landed, base: tuple[str, str], now: float) -> None:
        """Tell of what was tried over `base`, and what became of it.

        A commit that the host took stands there, as far as anybody can know, unless the host said
        so too often over one head.
        """
        self._retries.succeeded()
        self._away.succeeded()
        self._races.end()
        taken = self._taken.go_on(base) if landed.commit else 0
        if taken > MOST_TAKEN:
            self._doubtful = landed
            self._tell_failing(_moves_nothing(taken, base))
        else:
            self._tell_outcome(landed)
        if landed.unrecorded is not None:
            self._observer.unrecorded(landed.unrecorded)
        self._refused = refused_counts(base, landed.refused, now)
        if landed.commit:
            self._wake()

    def _come_after_all(self) -> Landed | None:
        """Return the last of too many where the branch stands at it now.

        That the head has moved tells nothing: a person's commit may lie over the base, and at the
        begin of a term no head is known.
        """
        last = self._doubtful
        return last if last and last.commit in self._lane.home.wanted.head else None

    def _tell_failing(self, error: PortError) -> None:
        """Tell that the host takes nothing: so it is until an outcome is told."""
        self._is_failing = True
        self._observer.unlanded(error)

    def _tell_outcome(self, landed: Landed) -> None:
        """Tell what a try came to, and by that the end of whatever failed before."""
        self._is_failing = False
        self._observer.landed(landed)

    def _tell_what_ended(self, terms: Terms | None, now: float) -> None:
        """Tell that nothing can be committed any more, where it was told that something is to be.

        The count went back to the number in Git, a person's overruled it, or Git is not to be
        written now: no commit comes that would tell the end of that trouble. The next one begins
        anew: it is tried at once, and told though it be the same. What no edit can write is told
        on, without what failed beside it. Where nothing waits since the last of too many came after
        all that one is told.
        """
        if not self._is_failing and not self._refused.refusals:
            return
        waits = landing.waiting(self._lane) if terms else {}
        if terms and (self._writable(waits, now) or landing.may_hide(self._lane)):
            return
        left = self._refused.only(waits.keys())
        if not self._is_failing and left == self._refused:
            return
        self._refused = left
        refused = tuple(left.refusals.values())
        self._tell_outcome(replace(self._come_after_all() or Landed(), refused=refused))
        self._doubtful = None
        self._races.end()
        self._taken.end()
        self._retries.succeeded()
        self._away.succeeded()

    def _writable(
        self, waits: Mapping[WorkloadKey, Intent], now: float
    ) -> Mapping[WorkloadKey, Intent]:
        """Return what waits, without what cannot be written: its quiet time is no other's."""
        head = self._lane.home.wanted.head
        return {
            key: intent
            for key, intent in waits.items()
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
        if self._races.go_on(base) < MOST_RACES:
            self._lost = base if is_of_git else None
            return LOOK_SECONDS
        self._tell_failing(error)
        self._wake()
        return self._away.failed()


def _moves_nothing(taken: int, base: tuple[str, str]) -> Misconfigured:
    return Misconfigured(
        f"the Git host says that it took {taken} commits, and the branch stands at "
        f"{(base[1] or base[0])[:12]} all the same: see what sets it back, or whether another "
        "host is read than is pushed to"
    )
