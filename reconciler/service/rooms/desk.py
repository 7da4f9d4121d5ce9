"""The desk: what answers whoever asks at the door (`room_ports.Desk`), over book and flips."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace

from reconciler.core import flips as deciding
from reconciler.core.fence import Verdict
from reconciler.loop.lane import Lane
from reconciler.model.errors import Unavailable
from reconciler.model.live import LivePod
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.rooms import Mark, Report, Why
from reconciler.ports import Clock, Cluster
from reconciler.room_ports import AT_ONCE, Came, Change, Happening, RoomView
from reconciler.service.lease import Leading
from reconciler.service.retries import Retries
from reconciler.service.room_metrics import RoomObserver, Unobserved
from reconciler.service.rooms.book import Book
from reconciler.service.rooms.flips import Flips
from reconciler.service.rooms.lines import Line
from reconciler.service.rooms.roster import Room, Roster
from reconciler.service.rooms.showing import Showing
from reconciler.service.rooms.turned_away import TurnedAway, is_outdone
from reconciler.service.rooms.watchers import Known, Watchers

SWEEP_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0
LATE_SECONDS = 2.0
"""So long after it was sent a room may have told another process of players who came since."""

log = logging.getLogger("gamekeeper")


class RoomDesk:
    """Keeps the rooms of one cluster for as long as this process leads.

    `changed` is called with a workload whenever something that counts was heard of it. Marks are
    written through `cluster`, which must be fenced; `elapsed` never jumps (seconds).
    """

    def __init__(
        self,
        lane: Lane,
        cluster: Cluster,
        clock: Clock,
        leading: Leading,
        changed: Callable[[WorkloadKey], None],
        observer: RoomObserver | None = None,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        counts = observer or Unobserved()
        self._clock = clock
        self._elapsed = elapsed
        self._may_act = leading.may_act
        self._roster = Roster(lane, clock)
        # Each of the two tells the other: what a pod keeps may be news, and what is heard, too.
        self._flips = Flips(
            cluster,
            self._roster,
            clock,
            elapsed,
            counts,
            lambda *read: self.book.pages.renew(*read),
            leading.look,
        )
        self.book = Book(
            self._roster, clock, elapsed, changed, self._news, self._flips.arrange, counts
        )
        self._showing = Showing(self._roster, self.book, elapsed, clock.now)
        self._turned_away = TurnedAway(elapsed, clock.now)
        self._watchers = Watchers(
            self._known, self._known_room, self._change, self._roster.workloads
        )

    def share(self) -> None:
        """Expect that another process leads at the same time: none holds a lease."""
        self._roster.shared = True

    async def run(self) -> None:
        """Write what is due, take note of silence, and tell those who follow, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._flips.run(), name="flips")
            group.create_task(self._listen(), name="silence")
            group.create_task(self._beat(), name="pulse")
            group.create_task(self._watchers.run(), name="watchers")

    async def _beat(self) -> None:
        """Tell the book that this process is there: a sweep may have to wait for an answer."""
        while True:
            await self._clock.sleep(SWEEP_SECONDS)
            self.book.beat()

    async def _listen(self) -> None:
        """Take note of silence once a second; begin to listen even where nobody says a word."""
        retries = Retries(longest_seconds=LONGEST_WAIT_SECONDS)
        while True:
            await self._clock.sleep(SWEEP_SECONDS)
            try:
                if not self.closed():
                    self._open()
                    await self._flips.hindsight.look()
                    self._take_up()
                    await self.book.sweep()
                    for line in self.book.silence.turned():
                        self._news(line)
                retries.succeeded()
            except Exception:
                log.exception("a defect of Gamekeeper's own: silence is not taken note of")
                await self._clock.sleep(retries.failed())

    def forget(self) -> None:
        """Who leads has changed: nothing that was heard is known any more.

        Save for players whom no pod tells of yet: their game was not answered, and may give up.
        """
        for line in self.book.pages.all():
            if line.pod is not None:
                self._turned_away.keep(line, line.pod)
        self.book.forget()
        self._flips.forget()
        self._showing.forget()
        self._watchers.end()

    def room_changed(self, key: WorkloadKey, pod: LivePod) -> None:
        """The pod of a room changed in the cluster, or is gone."""
        self._watchers.touched(key, pod.name, pod.uid)
        self.book.pages.touch(key, pod)

    def closed(self) -> str:
        """Why nothing is answered now, "" when it is."""
        if not self._may_act():
            return "this process does not lead: ask again, another one may answer"
        if not self.book.listening and not self._roster.view.rooms_complete:
            return "the cluster was not read completely yet: ask again"
        return ""

    def find(self, workload: str, room: str) -> RoomView:
        """Find a room by the name of its workload and its own."""
        self._open()
        return self._showing.room(*self._roster.find(workload, room))

    def find_in(self, namespace: str, room: str) -> RoomView:
        """Find a room by its namespace and name."""
        self._open()
        return self._showing.room(*self._roster.find_in(namespace, room))

    async def report(self, room: RoomView, report: Report, came: Came = AT_ONCE) -> RoomView:
        """Take in what a room says of itself; return the room afterwards.

        In memory it counts at once, in the order in which reports come, and one that came slowly
        empties nothing that was told meanwhile; writes of one room wait for each other.
        """
        self._open()
        key, pod = self._again(room)
        line = self.book.pages.line(key, pod)
        report = report if came == AT_ONCE else line.in_order(report, came.begun)
        asked, sent = room.pod.mark, min(came.sent, self._elapsed())
        if report.players == 0 and self._is_late(came.begun, sent):
            raise Unavailable("this was long on its way: say how the room is now", 1.0)
        if asked is Mark.DRAINING and sent < pod.seen.draining:
            asked = Mark.NONE  # it was sent before, and came slowly
        if self.book.take(line, pod, self._roster.workload(key), report, asked, sent):
            if self._flips.is_prompt(line, pod):
                async with line.lock:
                    await self._flips.stand(line)
                return self._showing.room(*self._again(room))
            self._flips.arrange(line, pod)
        elif pod is room.pod and not room.overdue:
            return room  # it said nothing new, and it is shown as it is
        return self._showing.room(key, pod)

    def _is_late(self, begun: float, sent: float) -> bool:
        """Whether another process may have been told since of players who came."""
        late = self._elapsed() - sent > LATE_SECONDS
        return begun < self.book.since or (self._roster.shared and late)

    def last_seen(self, namespace: str, room: str) -> LivePod | None:
        """Return the pod of a room as it was seen last, whoever leads; None where none was."""
        found = self._roster.view.room(namespace, room)
        return None if found is None else found[1]

    def turned_away(self, pod: LivePod, players: int, came: Came) -> None:
        """Note how many players a room tells of while nothing is taken in."""
        self._turned_away.note(pod, players, came.begun)

    def _take_up(self) -> None:
        """Take in what rooms told while nothing was, unless they told another count since.

        Whether they did may be known only once all is seen that was written before this term: they
        are protected until then.
        """
        view, knows = self._roster.view, self._flips.hindsight.complete
        for untaken in self._turned_away.all():
            found = view.room(untaken.pod.namespace, untaken.pod.name)
            if found is None and not view.rooms_complete:
                continue
            if found is None or found[1].uid != untaken.pod.uid:
                self._turned_away.drop(untaken.pod.uid)
            elif self._roster.listens_to(*found):  # else what is wanted of it is not known yet
                key, pod = found
                line = self.book.pages.line(key, pod)
                self.book.await_untaken(line, None if is_outdone(untaken, pod, line) else untaken)
                if knows or line.untaken is None:
                    self._turned_away.drop(pod.uid)
                    self.book.take_up(line, pod, self._roster.workload(key))
                    self._flips.arrange(line, pod)

    def spoke_at(self, room: RoomView) -> float:
        """Return when a room spoke last, in Unix seconds, 0 where it never did to us."""
        return self._showing.spoke_at(room.pod.uid)

    def fence(self, room: RoomView) -> Verdict | None:
        """Whether a room that is to leave may be deleted now, and by what; None if it stays."""
        return self._showing.fence(room)

    async def leave(self, room: RoomView, leaves: bool, by: str, *, own: bool) -> RoomView:
        """Ask that a room leave when it is empty, or take that back; `by` is told in the log.

        `own` is whether the room itself asks.
        """
        self._open()
        key, pod = self._again(room)
        line = self.book.pages.line(key, pod)
        if own:
            self.book.lives(line)
        async with line.lock:
            await self._flips.change(line, lambda pod: self._leaving(line, pod, leaves, own))
        key, pod = self._again(room)
        self._flips.arrange(line, pod)
        asked = "to leave" if leaves else "to stay"
        told = pod.namespace, pod.name, by, asked, _course(pod)
        log.info("room %s/%s was asked by %s %s: it %s", *told)
        return self._showing.room(key, pod)

    def happened(self, room: RoomView, happening: Happening) -> None:
        """Pass an event on to those who watch."""
        if not happening.at:
            happening = replace(happening, at=self._clock.now())
        self._watchers.tell(Change("event", room, happening))

    def rooms(self, workload: WorkloadKey | None = None) -> Iterable[RoomView]:
        """Every room of one workload, or of all; sorted by name."""
        self._open()
        keys = self.workloads() if workload is None else (workload,)
        return (room for key in keys for room in self._showing.rooms(key))

    def workloads(self) -> Iterable[WorkloadKey]:
        """Every workload that has rooms or is wanted."""
        return self._roster.workloads()

    def changes(self, workload: WorkloadKey | None = None) -> AsyncIterator[Change]:
        """Follow rooms from now on."""
        self._open()
        return self._watchers.follow(workload)

    def _leaving(self, line: Line, pod: LivePod, leaves: bool, own: bool) -> list[Json]:
        now, workload = self._clock.now(), self._roster.workload(line.key)
        return deciding.leave_patch(pod, line.known, workload, leaves, now, own=own)

    def _again(self, room: RoomView) -> Room:
        pod = room.pod
        return self._roster.again(pod.namespace, pod.name, pod.uid)

    def _open(self) -> None:
        """Begin to listen, if that has not begun. Raises Unavailable while this is closed."""
        reason = self.closed()
        if reason:
            raise Unavailable(reason, 1.0)
        if not self.book.listening:
            self.book.begin()
            self._take_up()

    def _news(self, line: Line) -> None:
        self._watchers.touched(line.key, line.name, line.uid)

    def _known(self, key: WorkloadKey) -> dict[str, Known]:
        pods = self._roster.view.of(key).pods
        return {pod.uid: (pod, *self.book.told(pod.uid)) for pod in pods}

    def _known_room(self, key: WorkloadKey, name: str, uid: str) -> Known | None:
        found = self._roster.view.room(key.namespace, name)
        if found is None or found[0] != key or found[1].uid != uid:
            return None
        return found[1], *self.book.told(uid)

    def _change(self, key: WorkloadKey, pod: LivePod, gone: bool) -> Change:
        return Change("gone" if gone else "room", self._showing.room(key, pod))


def _course(pod: LivePod) -> str:
    """Say whether a room leaves, whatever it was asked."""
    if pod.leaving is Why.STAYS:
        return "stays"
    if pod.leaving is Why.REQUEST:
        return "leaves when it is empty"
    return f"leaves when it is empty ({pod.leaving.value}), which no request takes back"
