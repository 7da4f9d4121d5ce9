"""What is kept in memory of one room: a line of the book."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from reconciler.core import hearing
from reconciler.model.live import LivePod
from reconciler.model.refs import ObjectRef, WorkloadKey
from reconciler.model.rooms import Health, Heard, Mark, Report, Said
from reconciler.service.retries import Retries


@dataclass(frozen=True, slots=True)
class Untaken:
    """The last count that a room told in vain, of more than 0 `players`.

    `pod` is how its pod stood then, and `at` is by the clock that never jumps.
    """

    pod: LivePod
    players: int
    at: float
    unix_seconds: float


@dataclass(slots=True, eq=False)
class Line:
    """One room by its pod's uid. Moments are seconds of a clock that never jumps.

    `report` is the last one, and `mark` what its pod said then, none while one that drains was not
    left alone for long enough: the same again with the same mark changes nothing. `last_at` is when
    it was heard last, or when listening to it began; `gap` its longest pause of late. `spoke_at` is
    when it spoke last, below 0 for never: a silence that is forgiven moves `last_at` alone.
    `told_at` is when something new was heard, below 0 for never, `counted_at` when it told how many
    players there are, `health_at` when it told of its health, `over_at` when it said last that it
    is over, under the restarts `over_runs`. `untaken` are players of whom it told in vain, until it
    is known what was told since. `unclear` is `LivePod.runs` of a restart that its pod told of
    right after such a count. `drain` is the `leaving_since` of the draining that it confirmed, None
    where it did not; `pod` is how its pod was known when it was looked at last. `empty_at` is since
    when it says that nobody plays there. `due_at` is when its pod is to be looked at, `wrote_at`
    when we wrote on it last, and `rewrites` how often in a row that was for no word of the room's;
    who writes on it holds the `lock`. `followed` is whether its silence is watched, `overdue`
    whether it was found to say nothing for longer than it ever paused, `doubtful` whether a write
    of ours may stand that we were not told of, `inherited` whether another process marked it busy,
    who may have taken that back unseen, `rests_on` the kept report that its players are known by,
    None once it told of them itself, `told_over` the one that stood there then, or that we wrote
    since, `rests_at` the version of the pod that has it, `closed` whether it is in the book no
    more.
    """

    key: WorkloadKey
    uid: str
    namespace: str
    name: str
    last_at: float
    heard: Heard | None = None
    report: Report | None = None
    mark: Mark = Mark.NONE
    gap: float = 0.0
    drain: float | None = None
    pod: LivePod | None = None
    empty_at: float = 0.0
    spoke_at: float = -1.0
    told_at: float = -1.0
    counted_at: float = -math.inf
    health_at: float = -math.inf
    over_at: float = -math.inf
    over_runs: tuple[int, ...] = ()
    untaken: Untaken | None = None
    unclear: tuple[int, ...] | None = None
    due_at: float | None = None
    wrote_at: float = -math.inf
    rewrites: int = 0
    followed: bool = False
    overdue: bool = False
    doubtful: bool = False
    inherited: bool = False
    rests_on: str | None = None
    told_over: str = ""
    rests_at: str = ""
    closed: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    retries: Retries | None = None

    @property
    def ref(self) -> ObjectRef:
        """Its pod."""
        return ObjectRef("v1", "Pod", self.namespace, self.name)

    @property
    def node(self) -> str:
        """Its node, "" where that is not known."""
        return self.pod.node if self.pod is not None else ""

    @property
    def periodic(self) -> bool:
        """Whether its silence tells anything: it was recorded as heard, or repeats itself."""
        return self.heard is None or self.heard.periodic

    def is_no_news(self, report: Report, pod: LivePod, matches_max: int) -> bool:
        """Whether a report of the room of a pod changes nothing anywhere.

        It says the same as the last; the pod stands as it did then, so it confirms no draining;
        its silence is watched already, where that tells anything; nothing is to be written, and
        nobody writes; and whoever says that players are there stands as busy, on a pod that runs as
        it did when they were told of, and whoever says that it is over, as when that was said. And
        it may not have more matches than it might when they were counted.
        """
        return (
            self.mark is pod.mark
            and self.report == report
            and (self.followed or not self.periodic)
            and self.due_at is None
            and not self.lock.locked()
            and (self.heard is None or self._stands(self.heard, pod))
            and not (self.heard and self.heard.matches < min(report.matches or 0, matches_max))
        )

    def is_to_renew(self, report: Report, now: Callable[[], float]) -> bool:
        """Whether a count that is no news is to stand on the pod with the time of `now` (Unix).

        Never one that is repeated by itself: the next leader hears it again within seconds.
        """
        if self.heard is None or report.periodic or not report.players:
            return False
        return hearing.is_to_renew(self.heard, now())

    def _stands(self, heard: Heard, pod: LivePod) -> bool:
        if heard.said is Said.TERMINATED:
            return heard.over_runs == pod.runs  # else it may be the next process that says so
        if not heard.busy:
            return True
        return pod.mark is Mark.BUSY and heard.defies == (None if pod.running else pod.runs)

    def in_order(self, report: Report, begun: float) -> Report:
        """Return what counts of a report that had `begun` to come in then.

        What came in whole meanwhile was said later, as far as anybody knows: a slow report
        empties no room of players who were told of while it came.
        """
        busy = report.said is Said.OCCUPIED or (report.matches or 0) + (report.players or 0) > 0
        counted_at = max(self.counted_at, self.untaken.at if self.untaken else -math.inf)
        if begun >= max(self.spoke_at, counted_at) or busy:
            return report
        players = report.players if begun >= counted_at else None
        # Who tells of players is created.
        late = begun < counted_at and report.health is Health.CREATING
        health = None if late else report.health
        return replace(report, said=None, matches=None, players=players, health=health)

    @property
    def known(self) -> Heard | None:
        """What is heard of it, with the players of whom it told in vain: they may be there."""
        return self.heard if self.untaken is None else self.recalled(self.untaken)

    def recalled(self, untaken: Untaken) -> Heard:
        """Return what is heard of it with players of whom it told in vain."""
        over_runs = self.over_runs if self.over_at >= untaken.at else None
        return hearing.recalled(self.heard, untaken.players, over_runs, self.last_at)

    @property
    def silent(self) -> bool:
        """Whether its silence was taken note of."""
        return self.heard is not None and self.heard.silent

    @property
    def is_known(self) -> bool:
        """Whether more is heard of it than that it is silent.

        Players that its pod tells of are there also where it never spoke to us: a game that tells
        them on change does not say them again.
        """
        return self.told_at >= 0 or (self.heard is not None and self.heard.busy)

    def fall_silent(self, since: float) -> None:
        """Note that it was silent for too long; `since` is when we began to listen to anybody."""
        heard = self.heard or replace(hearing.UNHEARD, at=since, said_since=since)
        self.heard = replace(heard, silent=True, at=max(heard.at, self.last_at))
        self.report = None

    def forgive(self) -> None:
        """Take that back: it may be we who did not hear."""
        self.overdue = False
        if self.silent and self.heard is not None:
            self.heard = replace(self.heard, silent=False) if self.is_known else None


def line_of(key: WorkloadKey, pod: LivePod, at: float) -> Line:
    """Return the line of a room that nothing was heard of yet."""
    line = Line(key, pod.uid, pod.namespace, pod.name, last_at=at, empty_at=at, pod=pod)
    line.inherited = pod.mark is Mark.BUSY
    return line
