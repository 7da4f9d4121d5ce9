"""The book: what every room says, kept in memory; the lane is shown what counts of it.

A report that changes nothing costs a few lookups. What counts (DESIGN §4): other words or
numbers, the first word after a silence or since the room began to drain, a silence that begins.
"""

import logging
from collections.abc import Callable

from reconciler.core import hearing
from reconciler.core.reporting import is_listened_to
from reconciler.model.live import LivePod, LiveWorkload
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import NO_EARS, Ears, Heard, Mark, Report
from reconciler.model.specs import Workload
from reconciler.ports import Clock
from reconciler.service.room_metrics import RoomObserver
from reconciler.service.rooms import kept
from reconciler.service.rooms.ears import SLICE, Silence
from reconciler.service.rooms.lines import Line, line_of
from reconciler.service.rooms.roster import Roster
from reconciler.service.rooms.suspicion import UNSUSPECTED, Suspicion

AGE_EVERY_SWEEPS = 10

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
        self.silence = Silence(roster.longest_silence, elapsed, clock, roster.is_lost)
        self._roster = roster
        self._clock = clock
        self._elapsed = elapsed
        self._changed = changed
        self._news = news
        self._begun = begun
        self._observer = observer
        self._since: float | None = None
        self._seeded, self._sweeps = False, 0
        self._suspicion = UNSUSPECTED
        self._lines: dict[str, Line] = {}
        self._of: dict[WorkloadKey, dict[str, Line]] = {}
        self._ears: dict[WorkloadKey, Ears] = {}
        self._synced: dict[WorkloadKey, LiveWorkload] = {}
        self._ignored: set[WorkloadKey] = set()

    @property
    def listening(self) -> bool:
        """Whether this term has begun."""
        return self._since is not None

    @property
    def since(self) -> float:
        """When it began (on the clock that never jumps), 0 while it has not."""
        return self._since or 0.0

    @property
    def suspicion(self) -> Suspicion:
        """Why our own ears are suspect."""
        return self._suspicion

    @property
    def count(self) -> int:
        """How many rooms have a line."""
        return len(self._lines)

    def begin(self) -> None:
        """Listen from now on; rooms that were heard before are known by what their pods say."""
        self._since = self._elapsed()

    def forget(self) -> None:
        """Forget all that was heard: whoever led before heard other things."""
        self._since, self._seeded, self._suspicion = None, False, UNSUSPECTED
        for line in self._lines.values():
            line.closed = True
        self.silence.forget()
        for memory in (self._lines, self._of, self._ears, self._synced):
            memory.clear()

    def of(self, key: WorkloadKey) -> Ears:
        """What is heard of one workload; the same value until something that counts changes."""
        if self._since is None:
            return NO_EARS
        self._sync(key)
        ears = self._ears.get(key)
        if ears is None:
            lines = self._of.get(key, {})
            rooms = {uid: line.heard for uid, line in lines.items() if line.heard is not None}
            self._ears[key] = ears = self._suspicion.ears(key, rooms, self.since)
        return ears

    def of_room(self, key: WorkloadKey, uid: str) -> Ears:
        """What is heard of one room now; a workload of thousands is not looked through for it."""
        if self._since is None:
            return NO_EARS
        heard = self.heard(uid)
        rooms = {} if heard is None else {uid: heard}
        return self._suspicion.ears(key, rooms, self.since)

    def heard(self, uid: str) -> Heard | None:
        """What one room has said, None for nothing."""
        return self.told(uid)[0]

    def told(self, uid: str) -> tuple[Heard | None, bool]:
        """What one room has said, and whether it was found to be overdue."""
        line = self._lines.get(uid)
        return (None, False) if line is None else (line.heard, line.overdue)

    def spoke_at(self, uid: str) -> float | None:
        """When a room spoke last, whatever it said; None where it never did to us."""
        line = self._lines.get(uid)
        return None if line is None or line.spoke_at < 0 else line.spoke_at

    def is_overdue(self, uid: str) -> bool:
        """Whether a room that repeats itself has not been heard for too long to send anybody."""
        line = self._lines.get(uid)
        return line is not None and self.silence.is_overdue(line)

    def line(self, key: WorkloadKey, pod: LivePod) -> Line:
        """Return the line of a room."""
        line = self._lines.get(pod.uid)
        if line is None:
            line = self._lines[pod.uid] = line_of(key, pod, self._elapsed())
            self._of.setdefault(key, {})[pod.uid] = line
            self._seed(line, pod)
            self._turn(line)
        return line

    def take(
        self, line: Line, pod: LivePod, workload: Workload, report: Report, asked: Mark
    ) -> bool:
        """Take in what a room says, its pod standing as `asked`; whether that may be news there."""
        now = self._elapsed()
        pause = now - line.last_at
        line.gap = pause if pause > line.gap else line.gap - (line.gap - pause) / 4
        line.last_at = line.spoke_at = now
        if line.overdue:
            self.silence.spoke(line)
        if report.players is not None:
            line.counted_at = now
        if line.is_no_news(report, pod):
            return False
        if not is_listened_to(pod, workload):
            self._ignore(line.key)
            return False
        self._hear(line, pod, workload, report, asked)
        self.silence.follow(line)
        return True

    def renew(self, line: Line, pod: LivePod) -> None:
        """Take over what another process kept on a pod, until the room tells of its players."""
        if kept.renew(line, pod, self._elapsed()):
            self._turn(line)
            self._begun(line, pod)

    def _hear(
        self, line: Line, pod: LivePod, workload: Workload, report: Report, asked: Mark
    ) -> None:
        if report.players is not None:
            line.rests_on = None
        draining = pod.mark is asked is Mark.DRAINING
        before = line.heard
        line.report, line.mark, line.told_at = report, asked, line.last_at
        line.drain = pod.leaving_since if draining else None
        down = None if pod.running else pod.runs
        laid = hearing.lay(before, report, workload.matches_max, line.last_at, draining, down)
        line.heard = laid if report.players is None else hearing.told_under(laid, pod.runs)
        if line.heard is before:
            return
        if before is None or before.busy or not before.tells or line.heard.busy:
            line.empty_at = line.last_at
        self._news(line)
        self._tell(line.key)

    async def sweep(self) -> None:
        """Take note of who fell silent; to be called about once a second."""
        await self._seed_all()
        await self._sweep()
        self._sweeps += 1
        if self._sweeps % AGE_EVERY_SWEEPS == 0:
            now = self._elapsed()
            heard = (line.last_at for line in self._lines.values() if line.followed)
            self._observer.swept(max(0.0, now - min(heard, default=now)))

    async def _sweep(self) -> None:
        silent, forgiven = await self.silence.sweep(self._lines.values())
        if not self.listening:
            return  # the term ended while we looked
        # Told before anybody counts as silent, and until everybody is forgiven.
        before, self._suspicion = self._suspicion, self.silence.suspicion | self._suspicion
        for number, line in enumerate((*silent, *forgiven), 1):
            if number % SLICE == 0:
                await self._clock.sleep(0)
            if line.closed:
                continue  # it is gone, or the term ended
            if number > len(silent):
                line.forgive()
                self.silence.follow(line)
            elif self.silence.is_late(line):  # it may have spoken since
                line.fall_silent(self.since)
            self._news(line)
        keys = dict.fromkeys(line.key for line in (*silent, *forgiven))
        self._suspicion = self.silence.suspicion
        if self._suspicion != before:
            self._suspicion.say(before)
            keys.update(dict.fromkeys(self._of))
        for key in keys:
            self._tell(key)

    def _tell(self, key: WorkloadKey) -> None:
        self._ears.pop(key, None)
        self._changed(key)

    def _turn(self, line: Line) -> None:
        """Take in that something else is heard of a room by what its pod has kept."""
        self._ears.pop(line.key, None)
        self._news(line)

    async def _seed_all(self) -> None:
        """Begin a line for every room that was recorded as heard before this term."""
        since = self._since
        if self._seeded or not await self._roster.knows_codes():
            return
        for key in self._roster.workloads():
            for number, pod in enumerate(self._roster.view.of(key).pods, 1):
                if number % SLICE == 0:
                    await self._clock.sleep(0)
                if self._since != since:
                    return  # the term ended meanwhile
                if kept.is_recorded(pod) and self._roster.is_there(pod):
                    self.line(key, pod)
            self._tell(key)
        self._seeded = True

    def _sync(self, key: WorkloadKey) -> None:
        """Follow what there is: lines of pods that are gone go, recorded rooms get one."""
        live = self._roster.view.of(key)
        if not self._seeded or self._synced.get(key) is live:
            return
        self._synced[key] = live
        lines, known = self._of.setdefault(key, {}), 0
        for pod in live.pods:
            line = lines.get(pod.uid)
            if line is None and kept.is_recorded(pod):
                line = self.line(key, pod)
            known += line is not None
            if line is not None and line.pod is not pod:
                self._see(line, pod)
        if known < len(lines):
            self._ears.pop(key, None)
            for uid in lines.keys() - {pod.uid for pod in live.pods}:
                lines.pop(uid).closed = True
                del self._lines[uid]
        if not live.pods:
            del self._of[key], self._synced[key]

    def _see(self, line: Line, pod: LivePod) -> None:
        """Take in that a pod changed; where somebody took away what was said, it is said again."""
        before, line.pod = line.pod, pod
        if line.heard is None and kept.is_recalled(before, pod):
            self._seed(line, pod)
            self._turn(line)
        self.renew(line, pod)
        voided = kept.void(line, pod, self._elapsed(), self._clock.now())
        if kept.undrain(line, pod) or voided:
            self._turn(line)
        if line.heard is not None and not line.heard.silent:
            self._begun(line, pod)

    def _seed(self, line: Line, pod: LivePod) -> None:
        """Let a room begin with what its pod has kept."""
        kept.begin(line, pod, self._roster.is_mute(pod))
        if line.heard is not None:
            kept.void(line, pod, self._elapsed(), self._clock.now())
            self._begun(line, pod)
        if pod.mark is not Mark.NONE:
            self.silence.follow(line)

    def _ignore(self, key: WorkloadKey) -> None:
        if key not in self._ignored:
            self._ignored.add(key)
            log.info("rooms of %s report, and its spec says `reports: none`: not listened to", key)
