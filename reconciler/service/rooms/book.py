"""The book: what every room says, kept in memory; the lane is shown what counts of it.

Its pages (`pages`) are the lines of the rooms there are, and what these take from their pods;
`liveness` takes note of who says nothing.

A report that changes nothing costs a few lookups. What counts (DESIGN §4): other words or
numbers, the first word after a silence or since the room began to drain, a silence that begins.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace

from reconciler.core import fence, hearing, kept_reports
from reconciler.core.reporting import is_listened_to
from reconciler.model.live import LivePod
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import NO_EARS, Ears, Heard, Mark, Report, Said
from reconciler.model.specs import Workload
from reconciler.ports import Clock
from reconciler.service.room_metrics import RoomObserver
from reconciler.service.rooms import kept
from reconciler.service.rooms.ears import Silence, least_patience
from reconciler.service.rooms.lines import Line, Untaken
from reconciler.service.rooms.liveness import Liveness
from reconciler.service.rooms.pages import Pages
from reconciler.service.rooms.roster import Roster
from reconciler.service.rooms.suspicion import Suspicion

LONG_AGO_SECONDS = 600.0
"""Of players of whom a room told in vain before that another process may have heard that they left:
a 0 that stood on its pod before is not written anew. Players who stand there are no such doubt."""

log = logging.getLogger("gamekeeper")


class Book:
    """Keeps `ports.Reports` for as long as this process leads; each term begins empty.

    `changed` is called with a workload whenever something that counts was heard of it, `news`
    with each line of which something else may be known, `begun` with one that begins with what
    its pod has kept. `elapsed` never jumps (seconds).
    """

    def __init__(
        self,
        roster: Roster,
        clock: Clock,
        elapsed: Callable[[], float],
        changed: Callable[[WorkloadKey], None],
        news: Callable[[Line], None],
        begun: Callable[[Line, LivePod], None],
        observer: RoomObserver,
    ) -> None:
        self.silence = Silence(roster.longest_silence, elapsed, clock, roster.lost)
        self._roster = roster
        self._clock = clock
        self._elapsed = elapsed
        self._changed = changed
        self.news = news
        self.pages = Pages(roster, clock, elapsed, begun, self._turn, self.silence.follow)
        self._liveness = Liveness(self.pages, self.silence, clock, elapsed, self, observer)
        self._ears: dict[WorkloadKey, Ears] = {}
        self._turned: dict[WorkloadKey, dict[str, Line]] = {}
        """Of whom something else is heard than `_ears` has, by uid."""
        self._ignored: set[WorkloadKey] = set()

    @property
    def listening(self) -> bool:
        """Whether this term has begun."""
        return self._liveness.presence.since is not None

    @property
    def since(self) -> float:
        """When it began (on the clock that never jumps), 0 while it has not."""
        return self._liveness.presence.since or 0.0

    @property
    def suspicion(self) -> Suspicion:
        """Why our own ears are suspect."""
        return self._liveness.suspicion

    @property
    def count(self) -> int:
        """How many rooms have a line."""
        return len(self.pages)

    def begin(self) -> None:
        """Listen from now on; rooms that were heard before are known by what their pods say."""
        self._liveness.presence.begin()

    def forget(self) -> None:
        """Forget all that was heard: whoever led before heard other things."""
        self._liveness.forget()
        self.pages.forget()
        self._ears.clear()
        self._turned.clear()

    def beat(self) -> None:
        """Note that this process is there, each second; one that stood still listens anew."""
        if self._liveness.presence.beat():
            self._ears.clear()

    def of(self, key: WorkloadKey) -> Ears:
        """What is heard of one workload; the same value until something that counts changes."""
        if not self.listening:
            return NO_EARS
        self.beat()
        if self.pages.sync(key):
            self._ears.pop(key, None)
        ears, turned = self._ears.get(key), self._turned.pop(key, None)
        if ears is None or turned:
            # A workload of thousands is not looked through for the few that said something else.
            rooms = {} if ears is None else dict(ears.rooms)
            anew = self.pages.of(key) if ears is None else turned or {}
            for uid, line in anew.items():
                if (heard := line.known) is None or line.closed:
                    rooms.pop(uid, None)
                else:
                    rooms[uid] = heard
            self._ears[key] = ears = self._liveness.ears(key, rooms)
        return ears

    def of_room(self, key: WorkloadKey, uid: str) -> Ears:
        """What is heard of one room now; a workload of thousands is not looked through for it."""
        if not self.listening:
            return NO_EARS
        heard = self.heard(uid)
        rooms = {} if heard is None else {uid: heard}
        return self._liveness.ears(key, rooms)

    def heard(self, uid: str) -> Heard | None:
        """What one room has said, None for nothing."""
        return self.told(uid)[0]

    def told(self, uid: str) -> tuple[Heard | None, bool]:
        """What one room has said, and whether it was found to be overdue."""
        line = self.pages.find(uid)
        if line is None:
            return None, False
        return line.known, line.overdue or self._liveness.is_unsure(line)

    def spoke_at(self, uid: str) -> float | None:
        """When a room spoke last, whatever it said; None where it never did to us."""
        line = self.pages.find(uid)
        return None if line is None or line.spoke_at < 0 else line.spoke_at

    def is_overdue(self, uid: str, workload: Workload) -> bool:
        """Whether a room was not heard for too long to send anybody, or may not be heard at all.

        Ten thousand are looked at for one list: nobody is looked up who has just spoken.
        """
        line = self.pages.find(uid)
        if line is None:
            return False
        if self._liveness.is_unsure(line):
            return True
        silent_seconds = self._elapsed() - line.last_at
        late = silent_seconds >= least_patience(workload.timeouts.ping_seconds)
        return late and self.silence.is_overdue(line)

    def lives(self, line: Line) -> None:
        """Take in that a room does what no hung one does, though it says nothing of itself."""
        line.last_at = self._elapsed()
        self._liveness.spoke(line)

    def take(
        self, line: Line, pod: LivePod, workload: Workload, report: Report, asked: Mark, sent: float
    ) -> bool:
        """Take in what a room says, its pod standing as `asked`; whether that may be news there.

        It was surely not `sent` before that, on the clock that never jumps.
        """
        now = self._elapsed()
        pause = now - line.last_at
        line.gap = pause if pause > line.gap else line.gap - (line.gap - pause) / 4
        line.last_at = line.spoke_at = now
        self._liveness.spoke(line)
        if report.players is not None:
            line.counted_at = now
            self.await_untaken(line, None)
        if report.health is not None:
            line.health_at = now
        if report.said is Said.TERMINATED:
            line.over_at, line.over_runs = now, pod.runs
        if kept.unconfirm(line, pod, workload, self._liveness.presence.since_on):
            self._turn(line)
        no_news = line.is_no_news(report, pod, workload.matches_max)
        if no_news and not line.is_to_renew(report, self._clock.now):
            return False
        if not is_listened_to(pod, workload):
            self._ignore(line.key)
            return False
        self._hear(line, pod, workload, report, asked, sent)
        self.silence.follow(line)
        return True

    def await_untaken(self, line: Line, untaken: Untaken | None) -> None:
        """Protect a room for players of whom it told in vain, or no more."""
        if line.untaken is not untaken:
            line.untaken = untaken
            self._turn(line)
            self._changed(line.key)

    def take_up(self, line: Line, pod: LivePod, workload: Workload) -> None:
        """Take in the count that a room told at a moment when nobody took it in, if it stands.

        It speaks not now: whether anybody is heard in this term, it does not tell.
        """
        untaken = line.untaken
        self.await_untaken(line, None)
        if untaken is None or not is_listened_to(pod, workload):
            return
        line.told_at, line.counted_at, line.report = line.last_at, untaken.at, None
        kept.tell_over(line, pod)
        stands = kept_reports.heard_of(pod.kept_report)
        same = stands is not None and stands.players > 0 and not stands.long_ago
        is_long_ago = not same and self._elapsed() - untaken.at > LONG_AGO_SECONDS
        heard = replace(line.recalled(untaken), long_ago=is_long_ago)
        line.heard = hearing.told_under(heard, None, untaken.pod, untaken.unix_seconds)
        kept.void(line, pod, line.last_at, self._clock.now())
        line.empty_at = line.last_at
        self.silence.follow(line)

    def _hear(
        self, line: Line, pod: LivePod, workload: Workload, report: Report, asked: Mark, sent: float
    ) -> None:
        # What stands on its pod is an earlier term's word: its own is news, be it the same.
        first = line.rests_on is not None
        if report.players is not None:
            kept.tell_over(line, pod)
        draining, before = pod.mark is asked is Mark.DRAINING, line.heard
        alone = draining and fence.was_left_alone(pod, workload, sent)
        line.report, line.told_at = report, line.last_at
        # What it says before it was left alone is news each time.
        line.mark = Mark.NONE if draining and not alone else asked
        line.drain = pod.leaving_since if draining else None
        confirms_at = sent if alone else 0.0
        laid = hearing.lay(before, report, workload.matches_max, line.last_at, confirms_at, pod)
        unix_seconds = self._clock.now()
        if report.players is not None:
            told = unix_seconds - (self._elapsed() - line.counted_at)
            laid = hearing.told_under(laid, None if first else before, pod, told)
        line.heard = laid
        if not kept.void(line, pod, line.last_at, unix_seconds) and laid is before:
            return
        if before is None or before.busy or not before.tells or line.heard.busy:
            line.empty_at = line.last_at
        self._turn(line)
        self._changed(line.key)

    async def sweep(self) -> None:
        """Take note of who fell silent; to be called about once a second."""
        await self.pages.seed(self.tell)
        self.beat()
        await self._liveness.sweep()

    def hears_anew(self) -> None:
        """Take in that all rooms are listened to since a moment ago."""
        again_on = self._liveness.presence.again_on
        self._ears = {key: replace(ears, again_on=again_on) for key, ears in self._ears.items()}

    def asked(self) -> Iterable[WorkloadKey]:
        """Return the workloads of which somebody was told how well they are heard."""
        return self._ears

    def tell(self, key: WorkloadKey) -> None:
        """Take in that something that counts is heard of a workload."""
        self._ears.pop(key, None)
        self._changed(key)

    def _turn(self, line: Line) -> None:
        """Take in that something else is heard of a room, by its word or what its pod has kept."""
        self._turned.setdefault(line.key, {})[line.uid] = line
        self.news(line)

    def _ignore(self, key: WorkloadKey) -> None:
        if key not in self._ignored:
            self._ignored.add(key)
            told = (
                "rooms of %s report that were made under `reports: none`: these are not listened to"
            )
            log.info(told, key)
