"""What the book makes stand on the pods: at once where an answer waits for it, else soon.

Each write is decided anew from the pod as it is and what was heard, and fails where the pod was
changed meanwhile. What the cluster does not take is tried again until it stands, or is no longer
so; in memory it holds from the first moment.
"""

import asyncio
import heapq
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from reconciler.core import flips
from reconciler.model.errors import Conflict, Gone, PortError, Unavailable
from reconciler.model.live import LivePod
from reconciler.model.refs import Json
from reconciler.model.rooms import Mark
from reconciler.ports import Clock, Cluster
from reconciler.service.retries import Retries
from reconciler.service.room_metrics import RoomObserver
from reconciler.service.rooms import contests, kept
from reconciler.service.rooms.hindsight import Hindsight
from reconciler.service.rooms.lines import Line
from reconciler.service.rooms.roster import Roster

log = logging.getLogger("gamekeeper")

IN_FLIGHT = 32
"""Patches at once: an API server serves no more by being asked for more."""
TRIES = 5
TICK_SECONDS = 0.001
LONGEST_WAIT_SECONDS = 10.0
TELL_EVERY_SECONDS = 60.0

Decide = Callable[[LivePod], list[Json]]
"""The JSON patch from a pod as it is; [] where nothing is to be written."""


class Flips:
    """Writes marks and kept reports; whoever calls `stand` or `change` holds the line's lock."""

    def __init__(
        self,
        cluster: Cluster,
        roster: Roster,
        clock: Clock,
        elapsed: Callable[[], float],
        observer: RoomObserver,
        renew: Callable[[Line, LivePod], None],
        look: Callable[[], Awaitable[None]],
    ) -> None:
        """Write through `cluster`, which must be fenced.

        `renew` is told of each pod that was read for a line; `look` sees who leads now.
        """
        self._cluster = cluster
        self._roster = roster
        self._clock = clock
        self._elapsed = elapsed
        self._observer = observer
        self._slots = asyncio.Semaphore(IN_FLIGHT)
        self._due: list[tuple[float, int, Line]] = []
        self._count = 0
        self._news = asyncio.Event()
        self._renew = renew
        self._look = look
        self._tell_again_at = 0.0
        self.hindsight = Hindsight(cluster, roster.view, elapsed)
        # In order, as a set is not: one seed of a test is one run.
        self._at_work: dict[asyncio.Task[None], None] = {}

    def forget(self) -> None:
        """Give up the flips in hand: somebody else leads."""
        self._due.clear()
        self.hindsight.forget()
        for task in self._at_work:
            task.cancel()

    def is_prompt(self, line: Line, pod: LivePod) -> bool:
        """Whether what was heard must stand on the pod before it is answered."""
        # What may stand without our knowing is looked up first, whatever the view shows.
        unsure = line.heard is not None and line.heard.busy and self._is_doubtful(line)
        return unsure or flips.is_prompt(pod, line.heard)

    def arrange(self, line: Line, pod: LivePod) -> None:
        """See to it that what was heard stands on the pod in time."""
        delay = flips.delay_seconds(pod, line.heard, self._empty_seconds(line))
        if delay is not None:
            # What the cluster did not take is tried again in its own time, not at every report.
            if line.retries is None or line.due_at is None:
                # Never at the very instant: a rounding short of it would be found early, and again.
                rest_seconds = contests.rest_seconds(line, self._elapsed())
                self._later(line, max(delay, rest_seconds) + TICK_SECONDS)
        elif line.due_at is not None and not self._is_doubtful(line):
            line.due_at = None
            self._observer.flipped(Mark.IDLE, "dropped", 0.0)

    async def stand(self, line: Line) -> None:
        """Make what was heard stand on the pod. Raises Gone, Unavailable (it is tried on)."""
        began_at, flipped, note = self._elapsed(), Mark.NONE, ""

        def decide(pod: LivePod) -> list[Json]:
            nonlocal flipped, note
            self._renew(line, pod)
            wish = flips.wished(pod, line.heard, self._empty_seconds(line))
            flipped, note = wish.mark if wish.mark is not pod.mark else Mark.NONE, wish.note
            workload = self._roster.workload(line.key)
            if line.closed:
                raise Unavailable("who leads has changed meanwhile: send it again", 1.0)
            address = self._roster.view.addresses.get(pod.node, "")
            return flips.patch(pod, wish, workload, self._clock.now(), address)

        try:
            written = await self.change(line, decide)
        except Gone:
            # Where our view has it, a server may have answered that lags, and does not know it yet.
            # One that is gone is closed as soon as the view tells.
            self._try_on(line)
            raise
        except (Unavailable, asyncio.CancelledError):
            self._try_on(line)
            if flipped:
                self._observer.flipped(flipped, "failed", self._elapsed() - began_at)
            raise
        line.retries = None
        kept.stand(line, note, self._pod(line))
        if flipped:
            self._observer.flipped(flipped, "done", self._elapsed() - began_at)
        if written and contests.wrote(line, self._elapsed()):
            self._tell_contest(line)
        self.arrange(line, self._pod(line))

    def _try_on(self, line: Line) -> None:
        """Write later what could not be written, whatever stands there by then."""
        line.doubtful = True
        line.retries = line.retries or Retries(longest_seconds=LONGEST_WAIT_SECONDS)
        self._later(line, line.retries.failed())

    def _tell_contest(self, line: Line) -> None:
        """Tell that somebody writes against us, each time in a number, once a while in the log."""
        self._observer.flipped(self._pod(line).mark, "contested", 0.0)
        now = self._elapsed()
        if now < self._tell_again_at:
            return
        self._tell_again_at = now + TELL_EVERY_SECONDS
        log.warning(
            "somebody sets back what we write on %s: another process that believes it leads, or a "
            "tool that sets gamekeeper.dev labels? Look who holds the Lease (`gamekeeper status`) "
            "and who else changes the pod (`kubectl get pod --show-managed-fields -o yaml`)",
            line.ref,
        )

    async def change(self, line: Line, decide: Decide) -> bool:
        """Patch the pod as `decide` says; whether that was needed. Raises Gone, Unavailable."""
        try:
            pod = await self._read(line) if self._is_doubtful(line) else self._pod(line)
            for _ in range(TRIES):
                operations = decide(pod)
                if not operations:
                    return False
                try:
                    await self._patch(line, operations)
                    return True
                except Conflict:
                    pod = await self._read(line)
        except (Gone, Unavailable):
            raise
        except PortError as error:
            raise Unavailable(f"the cluster does not take it: {error}") from error
        raise Unavailable(f"room {line.name} changed {TRIES} times meanwhile: send it again", 1.0)

    async def run(self) -> None:
        """Write what is due until cancelled."""
        try:
            while True:
                await self._wait()
                for line in self._take_due():
                    task = asyncio.create_task(self._settle(line), name=f"flip {line.name}")
                    self._at_work[task] = None
                    task.add_done_callback(self._at_work.pop)
        finally:
            self.forget()

    async def _settle(self, line: Line) -> None:
        async with line.lock:
            try:
                if self._is_set_back(line):
                    await self._look()
                await self.stand(line)
            except PortError:
                pass  # gone, or tried again later
            except Exception:
                log.exception("a defect of Gamekeeper's own: the state of %s stays", line.ref)

    def _is_set_back(self, line: Line) -> bool:
        """Whether a pod lacks the mark of the players of whom its room told us.

        Where we wrote it, somebody took it away. That may be who leads by now, and heard since that
        they left: it alone would hear it.
        """
        return line.heard is not None and line.heard.busy and self._pod(line).mark is not Mark.BUSY

    async def _patch(self, line: Line, operations: list[Json]) -> None:
        async with self._slots:
            answer = await self._cluster.json_patch(line.ref, operations)
        if answer is None:
            raise Gone(f"room {line.name} is no more; its name never comes back")
        self._roster.view.take_in(answer)

    async def _read(self, line: Line) -> LivePod:
        found = await self._cluster.get(line.ref)
        if found is None or found["metadata"]["uid"] != line.uid:
            raise Gone(f"room {line.name} is no more; its name never comes back")
        self._roster.view.take_in(found)
        line.doubtful = line.inherited = False
        # The view may know a newer version by now: what was read is then of the past.
        pod = self._pod(line)
        self._renew(line, pod)
        return pod

    def _is_doubtful(self, line: Line) -> bool:
        """Whether the pod may stand otherwise than we see it, by a write that we were not told of.

        Our view may be behind whoever led before, until it has caught up.
        """
        return line.doubtful or (line.inherited and not self.hindsight.complete)

    def _pod(self, line: Line) -> LivePod:
        return self._roster.again(line.namespace, line.name, line.uid)[1]

    def _empty_seconds(self, line: Line) -> float:
        return self._elapsed() - line.empty_at

    def _later(self, line: Line, delay_seconds: float) -> None:
        """Look at a room in a while, or sooner where that was asked for before."""
        due_at = self._elapsed() + delay_seconds
        if line.closed or (line.due_at is not None and line.due_at <= due_at):
            return
        line.due_at = due_at
        self._count += 1
        heapq.heappush(self._due, (due_at, self._count, line))
        if self._due[0][2] is line:
            self._news.set()

    async def _wait(self) -> None:
        """Wait until something is due."""
        while not self._due or self._due[0][0] > self._elapsed():
            self._news.clear()
            wait = self._due[0][0] - self._elapsed() if self._due else None
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._news.wait()

    def _take_due(self) -> list[Line]:
        now, taken = self._elapsed(), []
        while self._due and self._due[0][0] <= now:
            due_at, _, line = heapq.heappop(self._due)
            # Asked for anew, or no longer: this entry is an old one.
            if line.due_at == due_at:
                line.due_at = None
                taken.append(line)
        return taken
