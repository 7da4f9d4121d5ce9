"""The book: what every room says, kept in memory; the lane is shown what counts of it.

A report that changes nothing costs a few lookups. What counts (DESIGN §4): other words or
numbers, the first word after a silence or since the room began to drain, a silence that begins.
"""

import logging
from collections.abc import Callable
from dataclasses import replace

from reconciler.core import hearing
from reconciler.core.reporting import is_listened_to
from reconciler.model.live import LivePod, LiveWorkload
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import NO_EARS, Ears, Heard, Mark, Report
from reconciler.model.specs import Workload
from reconciler.ports import Clock
from reconciler.service.room_metrics import RoomObserver
from reconciler.service.rooms.ears import SLICE, Silence
from reconciler.service.rooms.lines import Line, line_of
from reconciler.service.rooms.roster import Roster

AGE_EVERY_SWEEPS = 10

log = logging.getLogger("gamekeeper")


class Book:
    """Keeps `ports.Reports` for as long as this process leads; each term begins empty.

    `changed` is called with a workload whenever something that counts was heard of it, `begun`
    with a line that begins with what its pod has kept. `elapsed` never jumps (seconds).
    """

    def __init__(
        self,
        roster: Roster,
        clock: Clock,
        elapsed: Callable[[], float],
        changed: Callable[[WorkloadKey], None],
        begun: Callable[[Line, LivePod], None],
        observer: RoomObserver,
    ) -> None:
        self.silence = Silence(self._silence_of, elapsed, clock)
        self._roster = roster
        self._clock = clock
        self._elapsed = elapsed
        self._changed = changed
        self._begun = begun
        self._observer = observer
        self._since: float | None = None
        self._seeded = False
        self._sweeps = 0
        self._deaf = ""
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
    def deaf(self) -> str:
        """Why our own ears are suspect, "" while they are not."""
        return self._deaf

    @property
    def count(self) -> int:
        """How many rooms have a line."""
        return len(self._lines)

    def begin(self) -> None:
        """Listen from now on; rooms that were heard before are known by what their pods say."""
        self._since = self._elapsed()

    def forget(self) -> None:
        """Forget all that was heard: whoever led before heard other things."""
        self._since, self._seeded, self._deaf = None, False, ""
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
            self._ears[key] = ears = Ears(rooms, self._deaf, self._since)
        return ears

    def heard(self, uid: str) -> Heard | None:
        """What one room has said, None for nothing."""
        line = self._lines.get(uid)
        return None if line is None else line.heard

    def line(self, key: WorkloadKey, pod: LivePod) -> Line:
        """Return the line of a room."""
        line = self._lines.get(pod.uid)
        if line is None:
            line = self._lines[pod.uid] = line_of(key, pod, self._elapsed())
            self._of.setdefault(key, {})[pod.uid] = line
            self._seed(line, pod)
        return line

    def take(
        self, line: Line, pod: LivePod, workload: Workload, report: Report, asked: Mark
    ) -> bool:
        """Take in what a room says, its pod standing as `asked`; whether that may be news there."""
        now = self._elapsed()
        pause = now - line.last_at
        line.gap = pause if pause > line.gap else line.gap - (line.gap - pause) / 4
        line.last_at = now
        if (
            line.mark is pod.mark
            and line.report == report
            and (line.followed or not line.periodic)
            and line.due_at is None
            and not line.lock.locked()
            and (pod.mark is Mark.BUSY or line.heard is None or not line.heard.busy)
        ):
            return False
        if not is_listened_to(pod, workload):
            self._ignore(line.key)
            return False
        self._hear(line, pod, workload, report, asked)
        self.silence.follow(line)
        return True

    def renew(self, line: Line, pod: LivePod) -> None:
        """Take over what another process kept on a pod, until the room tells of its players."""
        if line.rests_on is None or line.rests_on == pod.kept_report:
            return
        line.rests_on, before = pod.kept_report, line.heard
        line.heard = hearing.renewed(before, pod.kept_report, self._elapsed())
        if line.heard is not before:
            line.report, line.empty_at = None, self._elapsed()
            self._ears.pop(line.key, None)
            self._begun(line, pod)

    def _hear(
        self, line: Line, pod: LivePod, workload: Workload, report: Report, asked: Mark
    ) -> None:
        if report.periodic or report.players is not None:
            line.rests_on = None
        draining = pod.mark is asked is Mark.DRAINING
        before = line.heard
        line.report, line.mark, line.told_at = report, asked, line.last_at
        line.drain = pod.leaving_since if draining else None
        line.heard = hearing.lay(before, report, workload.matches_max, line.last_at, draining)
        if line.heard is before:
            return
        if before is None or before.busy or not before.tells or line.heard.busy:
            line.empty_at = line.last_at
        self._tell(line.key)

    async def sweep(self) -> None:
        """Take note of who fell silent; to be called about once a second."""
        await self._seed_all()
        await self._sweep()
        self._sweeps += 1
        if self._sweeps % AGE_EVERY_SWEEPS == 0:
            self._observer.swept(self._oldest_seconds())

    async def _sweep(self) -> None:
        silent, forgiven = await self.silence.sweep(self._lines.values())
        if not self.listening:
            return  # the term ended while we looked
        # Told before anybody counts as silent, and until everybody is forgiven.
        was_deaf, self._deaf = self._deaf, self.silence.deaf or self._deaf
        for number, line in enumerate((*silent, *forgiven), 1):
            if number % SLICE == 0:
                await self._clock.sleep(0)
            if line.closed:
                continue  # it is gone, or the term ended
            if number > len(silent):
                self._forgive(line)
            elif self.silence.is_late(line):  # it may have spoken since
                heard = line.heard or Heard(at=self.since, said_since=self.since, tells=False)
                line.heard = replace(heard, silent=True, at=max(heard.at, line.last_at))
                line.report = None
        keys = dict.fromkeys(line.key for line in (*silent, *forgiven))
        self._deaf = self.silence.deaf
        if self._deaf != was_deaf:
            self._say_deaf()
            keys.update(dict.fromkeys(self._of))
        for key in keys:
            self._tell(key)

    def _forgive(self, line: Line) -> None:
        """Listen to a silent room anew: we may have been deaf."""
        if line.silent and line.heard is not None:
            # One that never spoke was noted for its silence alone.
            line.heard = replace(line.heard, silent=False) if line.told_at >= 0 else None
        self.silence.follow(line)

    def _say_deaf(self) -> None:
        if self._deaf:
            log.warning("%s. Nothing is replaced for its silence", self._deaf)
        else:
            log.info("rooms are heard again: whoever is silent has its whole time-out once more")

    def _tell(self, key: WorkloadKey) -> None:
        self._ears.pop(key, None)
        self._changed(key)

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
                if _is_recorded(pod) and self._roster.is_there(pod):
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
            if line is None and _is_recorded(pod):
                self._ears.pop(key, None)
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
        line.pod = pod
        self.renew(line, pod)
        draining = pod.leaving_since if pod.mark is Mark.DRAINING else None
        if line.drain is not None and line.drain != draining:
            # It drains no more, or began anew: what it said before confirms nothing.
            line.report = line.drain = None
            if line.heard is not None and line.heard.confirmed:
                line.heard = replace(line.heard, confirmed=False)
                self._ears.pop(line.key, None)
        if line.heard is not None and not line.heard.silent:
            self._begun(line, pod)

    def _seed(self, line: Line, pod: LivePod) -> None:
        """Let a room begin with what its pod has kept."""
        if not self._roster.is_mute(pod):
            line.heard = hearing.heard_of(pod.kept_report, line.last_at)
        line.rests_on = pod.kept_report
        if line.heard is not None:
            self._begun(line, pod)
        if pod.mark is not Mark.NONE:
            self.silence.follow(line)

    def _silence_of(self, line: Line) -> float | None:
        return self._roster.longest_silence(line.key, line.namespace, line.name, line.uid)

    def _oldest_seconds(self) -> float:
        heard = (line.last_at for line in self._lines.values() if line.followed)
        return max(0.0, self._elapsed() - min(heard, default=self._elapsed()))

    def _ignore(self, key: WorkloadKey) -> None:
        if key not in self._ignored:
            self._ignored.add(key)
            log.info("rooms of %s report, and its spec says `reports: none`: not listened to", key)


def _is_recorded(pod: LivePod) -> bool:
    """Whether a room was heard before this process listened."""
    return bool(pod.kept_report) or pod.mark not in (Mark.NONE, Mark.FAILED)
