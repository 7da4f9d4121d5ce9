"""The pages of the book: a line for each room, and what it takes from its pod.

A room that was recorded as heard has a line from the beginning of a term on, one that never spoke
from its first word on, or since it was asked to leave, and none once its pod is gone.
"""

from collections.abc import Callable, Iterable, Mapping

from reconciler.core.departing import is_known
from reconciler.core.reporting import is_recorded, tells_by_silence
from reconciler.model.live import LivePod, LiveWorkload
from reconciler.model.refs import WorkloadKey
from reconciler.ports import Clock
from reconciler.service.rooms import kept
from reconciler.service.rooms.ears import SLICE
from reconciler.service.rooms.lines import Line, line_of
from reconciler.service.rooms.roster import Roster

_NONE: Mapping[str, Line] = {}


class Pages:
    """Keeps the lines of one term.

    `begun` is called with a line that begins, or goes on, with what its pod has kept; `turned` with
    one of which something else is heard by that; `follow` with one to listen to from now on.
    `elapsed` never jumps (seconds).
    """

    def __init__(
        self,
        roster: Roster,
        clock: Clock,
        elapsed: Callable[[], float],
        begun: Callable[[Line, LivePod], None],
        turned: Callable[[Line], None],
        follow: Callable[[Line], None],
    ) -> None:
        self._roster = roster
        self._clock = clock
        self._elapsed = elapsed
        self._begun = begun
        self._turned = turned
        self._follow = follow
        self._seeded, self._term = False, 0
        self._lines: dict[str, Line] = {}
        self._of: dict[WorkloadKey, dict[str, Line]] = {}
        self._synced: dict[WorkloadKey, LiveWorkload] = {}
        self._touched: dict[WorkloadKey, dict[str, str]] = {}
        self._known: set[WorkloadKey] = set()

    def __len__(self) -> int:
        return len(self._lines)

    def forget(self) -> None:
        """Close all lines: another term begins."""
        self._seeded = False
        self._term += 1
        for line in self._lines.values():
            line.closed = True
        for memory in (self._lines, self._of, self._synced, self._touched):
            memory.clear()
        self._known.clear()

    def find(self, uid: str) -> Line | None:
        """Return the line of a pod, None where it has none."""
        return self._lines.get(uid)

    def all(self) -> Iterable[Line]:
        """Return all lines."""
        return self._lines.values()

    def of(self, key: WorkloadKey) -> Mapping[str, Line]:
        """Return those of a workload, by the uids of their pods."""
        return self._of.get(key, _NONE)

    def workloads(self) -> Iterable[WorkloadKey]:
        """Return the workloads that have any."""
        return self._of

    def line(self, key: WorkloadKey, pod: LivePod) -> Line:
        """Return the line of a room, a new one where it has none."""
        line = self._lines.get(pod.uid)
        if line is not None and line.key != key:  # somebody gave it to another workload
            self._close(line.key, (pod.uid,))
            self._turned(line)
            line = None
        if line is None:
            line = self._lines[pod.uid] = line_of(key, pod, self._elapsed())
            self._of.setdefault(key, {})[pod.uid] = line
            self._seed(line, pod)
            self._turned(line)
        return line

    def renew(self, line: Line, pod: LivePod) -> None:
        """Take over what another process kept on a pod, until the room tells of its players.

        Where another may lead beside us, also what it kept after that.
        """
        moment, shared = (self._elapsed(), self._clock.now()), self._roster.shared
        if kept.renew(line, pod, *moment) or (shared and kept.give_way(line, pod, *moment)):
            self._turned(line)
            self._begun(line, pod)
            self._follow(line)  # it may be known by now to repeat itself

    async def seed(self, told: Callable[[WorkloadKey], None]) -> None:
        """Begin a line for every room that was recorded as heard before this term; once a term.

        `told` is called with each workload that is done.
        """
        if self._seeded or not await self._roster.knows_codes():
            return
        term = self._term
        for key in self._roster.workloads():
            for number, pod in enumerate(self._roster.view.of(key).pods, 1):
                if number % SLICE == 0:
                    await self._clock.sleep(0)
                if self._term != term:
                    return  # it ended meanwhile
                if is_recorded(pod) and self._roster.is_there(pod):
                    self.line(key, pod)
            told(key)
        self._seeded = True

    def touch(self, key: WorkloadKey, pod: LivePod) -> None:
        """Note that a pod changed, or is gone: it is looked at when its workload is."""
        if key in self._synced:
            self._touched.setdefault(key, {})[pod.uid] = pod.name

    def sync(self, key: WorkloadKey) -> bool:
        """Follow what there is: lines of pods that are gone go, recorded rooms get one.

        Return whether any went. All pods are looked at once a term, then those that were touched.
        """
        live = self._roster.view.of(key)
        if not self._seeded:
            return False
        if self._learns_of(key):
            self._heed(self.of(key).values())
        if self._synced.get(key) is live:
            return False
        first = key not in self._synced
        self._synced[key] = live
        touched = self._touched.pop(key, {})
        if first:
            pods = {pod.uid: pod for pod in live.pods}
            gone = self.of(key).keys() - pods.keys()
        else:
            there = (self._roster.view.room(key.namespace, name) for name in touched.values())
            pods = {found[1].uid: found[1] for found in there if found and found[0] == key}
            gone = touched.keys() - pods.keys()
        self._close(key, gone)
        for pod in pods.values():
            if pod.uid in self._lines or is_recorded(pod):
                line = self.line(key, pod)
                if line.pod is not pod:
                    self._see(line, pod)
        if not live.pods:
            self._of.pop(key, None)
            self._known.discard(key)
            del self._synced[key]
        return bool(gone)

    def _learns_of(self, key: WorkloadKey) -> bool:
        """Note whether a spec of a workload is known; return whether it is, and was not before."""
        was = key in self._known
        if not is_known(self._roster.workload(key)):
            self._known.discard(key)
            return False
        self._known.add(key)
        return not was

    def _heed(self, lines: Iterable[Line]) -> None:
        """Count silences from now on: before, nobody knew for how long a room may be silent."""
        for line in lines:
            if line.periodic and not (line.followed or line.silent):
                line.last_at = self._elapsed()
                self._follow(line)

    def _close(self, key: WorkloadKey, uids: Iterable[str]) -> None:
        lines = self._of.get(key, {})
        for uid in uids:
            line = lines.pop(uid, None)
            if line is not None:
                line.closed = True
                del self._lines[uid]

    def _see(self, line: Line, pod: LivePod) -> None:
        """Take in that a pod changed; where somebody took away what was said, it is said again."""
        before, line.pod = line.pod, pod
        counted = line.followed and before is not None and tells_by_silence(before)
        if line.heard is None and not counted:
            line.last_at = self._elapsed()  # from when its silence tells anything, if it does now
        if line.heard is None and kept.is_recalled(before, pod):
            self._seed(line, pod)
            self._turned(line)
        self.renew(line, pod)
        unsaid = kept.unsay_silence(line, pod)
        if line.heard is None:
            self._follow(line)
        moment = self._elapsed(), self._clock.now()
        voided, buried = kept.void(line, pod, *moment), kept.bury(line, before, pod, *moment)
        if kept.undrain(line, pod) or voided or buried or unsaid:
            self._turned(line)
        if line.heard is not None and not line.heard.silent:
            self._begun(line, pod)

    def _seed(self, line: Line, pod: LivePod) -> None:
        """Let a room begin with what its pod has kept."""
        kept.begin(line, pod, self._roster.is_mute(pod))
        if line.heard is not None:
            moment = self._elapsed(), self._clock.now()
            kept.void(line, pod, *moment)
            kept.bury(line, None, pod, *moment)
            self._begun(line, pod)
        self._follow(line)
