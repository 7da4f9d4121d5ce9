"""The rooms of a workload, sorted by what they are and by what may become of them.

Each is judged by the rules of `room_state`. Most rooms of most passes are plainly idle or plainly
busy, or were so when whoever led before heard them; ten thousand of them: those are told apart
without a call.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from reconciler.core.hearing import is_doubtful
from reconciler.core.reporting import is_heard
from reconciler.core.room_state import CRASHING, judge
from reconciler.core.waits import soonest
from reconciler.model.live import ENDED_PHASES, LivePod, Phase
from reconciler.model.plans import Counts, Situation
from reconciler.model.rooms import (
    BUSY_MARKS,
    NO_EARS,
    Ears,
    Heard,
    Judged,
    Mark,
    RoomState,
    Said,
    Why,
)
from reconciler.model.specs import Workload

TAKEN_BACK = frozenset({Why.SCALE_IN, Why.ROLLOUT, Why.LEFT_GIT})
"""Reasons to leave that were ours: where the room is wanted again, it stays."""

_FAILED = frozenset({RoomState.ERROR, RoomState.TERMINATED})
_PLAIN_SAID = frozenset({Said.READY, None})


class _Plain(NamedTuple):
    """What is plain of a room that is up: as `Judged` tells it."""

    protected: bool = False
    demand: bool = False
    unheard: bool = False


_IDLE, _BUSY = _Plain(), _Plain(protected=True, demand=True)
_UNHEARD = {
    Mark.IDLE: _Plain(protected=True, unheard=True),
    Mark.BUSY: _Plain(protected=True, demand=True, unheard=True),
}


@dataclass(slots=True)
class Sorted:
    """The rooms of a workload by state and revision. Terminating pods are no rooms any more.

    The first four are its members: who is to leave, has failed or is kept for a post-mortem is
    not counted, nor is who ended as it was told to (`left`: that is no failure). `unspoken` are
    those of any that are up for longer than it takes to say a first word, and never did. An old one
    that lapsed stands with the ready ones: it may be full, so it goes at a roll-out's pace.
    A new one does not: what is not ready is no reason to take old ones away. `protected` are the
    uids of rooms that may not go by our own doing, of `busy` those that serve players.
    """

    workload: Workload
    ears: Ears = NO_EARS
    now: float = 0.0
    new_ready: list[LivePod] = field(default_factory=list)
    new_unready: list[LivePod] = field(default_factory=list)
    old_ready: list[LivePod] = field(default_factory=list)
    old_unready: list[LivePod] = field(default_factory=list)
    leaving: list[LivePod] = field(default_factory=list)
    left: list[LivePod] = field(default_factory=list)
    failed: list[LivePod] = field(default_factory=list)
    kept: list[LivePod] = field(default_factory=list)
    terminating: list[LivePod] = field(default_factory=list)
    protected: set[str] = field(default_factory=set)
    busy: set[str] = field(default_factory=set)
    unspoken: list[LivePod] = field(default_factory=list)
    unheard: int = 0
    again_in_seconds: float | None = None
    _judged: dict[str, Judged] = field(default_factory=dict)

    @property
    def members(self) -> list[LivePod]:
        """Rooms that count: neither leaving, nor failed, nor kept, nor terminating."""
        return [*self.new_ready, *self.new_unready, *self.old_ready, *self.old_unready]

    @property
    def alive(self) -> int:
        """Rooms that are there or on their way, as a roll-out's surge counts them.

        Who leaves counts while it is only a matter of seconds. A room that stays for its players,
        or was asked to leave, does not: nothing may wait for its place.
        """
        members = len(self.new_ready) + len(self.new_unready)
        members += len(self.old_ready) + len(self.old_unready)
        going = sum(
            pod.uid not in self.protected and pod.leaving is not Why.REQUEST for pod in self.leaving
        )
        return members + going

    def free(self, pods: Iterable[LivePod]) -> list[LivePod]:
        """Return those of `pods` that may go by our own doing."""
        return [pod for pod in pods if pod.uid not in self.protected]

    def held(self, pods: Iterable[LivePod]) -> list[LivePod]:
        """Return those of `pods` that may not."""
        return [pod for pod in pods if pod.uid in self.protected]

    def heard(self, pod: LivePod) -> Heard | None:
        """Return what a room said."""
        return self.ears.rooms.get(pod.uid)

    def of(self, pod: LivePod) -> Judged:
        """Return what a room is and why."""
        known = self._judged.get(pod.uid)
        if known is None:
            known = judge(pod, self.workload, self.heard(pod), self.ears, self.now)
            self._judged[pod.uid] = known
        return known

    def take(self, pod: LivePod) -> None:
        """Put one room where it belongs."""
        is_new = pod.revision == self.workload.revision
        plain = self._plain(pod)
        if plain is not None:
            if plain.protected:
                self.protected.add(pod.uid)
            if plain.demand:
                self.busy.add(pod.uid)
            self.unheard += plain.unheard
            (self.new_ready if is_new else self.old_ready).append(pod)
            return
        judged = self.of(pod)
        if pod.terminating and pod.seen.ending:
            # No event says that it takes too long.
            self._again(pod.seen.ending + self.workload.timeouts.terminate_seconds - self.now)
        if judged.protected:
            self.protected.add(pod.uid)
        if judged.demand:
            self.busy.add(pod.uid)
        self.unheard += judged.unheard
        if judged.unheard and pod.mark is Mark.NONE:
            self._await_first_word(pod)
        if judged.again_in_seconds is not None:
            self._again(judged.again_in_seconds)
        self._shelf(pod, judged, is_new).append(pod)

    def _await_first_word(self, pod: LivePod) -> None:
        """Note a room that never spoke, if somebody listened to it for long enough."""
        if not self.ears.since or self.ears.deaf_to(pod.node):
            return
        since = max(pod.seen.starting, self.ears.since)
        left = since + first_word_seconds(self.workload) - self.now
        if left > 0:
            self._again(left)
        else:
            self.unspoken.append(pod)

    def _again(self, seconds: float) -> None:
        if seconds > 0:
            self.again_in_seconds = soonest(self.again_in_seconds, seconds)

    def _plain(self, pod: LivePod) -> _Plain | None:
        """What a room plainly is; None: judge it."""
        if pod.phase is not Phase.RUNNING or pod.terminating or pod.leaving or not pod.ready:
            return None
        heard = self.ears.rooms.get(pod.uid)
        if not is_heard(pod, self.workload):
            # One that nobody waits for may speak all the same.
            plain = pod.mark is Mark.NONE and heard is None and not pod.waiting
            return _IDLE if plain else None
        if not pod.running:
            return None
        if heard is None:
            limited = self.workload.timeouts.silent_busy_seconds is not None
            return None if limited else _UNHEARD.get(pod.mark)
        if heard.silent or heard.health is not None or pod.ended:
            return None
        if not heard.periodic and self.ears.deaf_to(pod.node):
            return None
        if pod.runs and is_doubtful(heard, pod):
            return None
        if pod.mark is Mark.IDLE:
            idle = heard.said in _PLAIN_SAID and not heard.matches and not heard.players
            return _IDLE if idle else None
        busy = pod.mark is Mark.BUSY and heard.busy and heard.said not in _ENDING
        return _BUSY if busy else None

    def _shelf(self, pod: LivePod, judged: Judged, is_new: bool) -> list[LivePod]:
        if pod.terminating:
            return self.terminating
        if pod.mark is Mark.FAILED:
            return self.kept
        if judged.state in _FAILED:
            return self.left if self._has_left(pod) else self.failed
        if pod.leaving or pod.mark is Mark.DRAINING:
            return self.leaving
        # Nobody will hear of one that never spoke that it is free: it is told to leave, else it
        # would take its place in a roll-out for ever.
        never_spoke = judged.unheard and pod.mark is Mark.NONE
        if judged.up or (pod.lapsed and not is_new and not never_spoke):
            return self.new_ready if is_new else self.old_ready
        return self.new_unready if is_new else self.old_unready

    def _has_left(self, pod: LivePod) -> bool:
        """Whether a room ended empty after it was told to: a game may do so by exiting.

        Kubernetes starts its container anew, or waits with that, and calls it a crash.
        """
        if not is_told_to_leave(pod) or not has_exited(pod):
            return False
        heard = self.heard(pod)
        return pod.mark not in BUSY_MARKS if heard is None else not heard.busy


def first_word_seconds(workload: Workload) -> float:
    """Return how long after its start a room has said its first word, whatever it waits for."""
    return workload.timeouts.initialize_seconds + workload.timeouts.ping_seconds


def is_told_to_leave(pod: LivePod) -> bool:
    """Whether a room is to leave for another reason than that it failed, told by whomever."""
    return pod.leaving is not Why.FAILED and bool(pod.leaving or pod.mark is Mark.DRAINING)


def has_exited(pod: LivePod) -> bool:
    """Whether a room's game ended for good, or exited and is to be started anew."""
    over = pod.phase in ENDED_PHASES or bool(pod.ended)
    return over or (pod.waiting in CRASHING and not pod.running)


_ENDING = frozenset({Said.TERMINATING, Said.TERMINATED})


def sort_rooms(
    pods: Iterable[LivePod], workload: Workload, ears: Ears = NO_EARS, now: float = 0.0
) -> Sorted:
    """Sort a workload's rooms (pods with an ordinal).

    `now` is seconds on a clock that never jumps.
    """
    rooms = Sorted(workload, ears, now)
    for pod in pods:
        if pod.ordinal >= 0:
            rooms.take(pod)
    return rooms


@dataclass(slots=True)
class SortedOnce:
    """The rooms of one situation: its policy and its plan share what is sorted once."""

    situation: Situation
    workload: Workload
    sorted: Sorted | None = None

    def rooms(self) -> Sorted:
        """Return the rooms, sorted."""
        if self.sorted is None:
            there = self.situation
            self.sorted = sort_rooms(there.live.pods, self.workload, there.ears, there.elapsed)
        return self.sorted


def without(rooms: Sorted, gone: Iterable[LivePod]) -> Sorted:
    """Return the rooms without those of `gone` that are not ready."""
    uids = {pod.uid for pod in gone}
    if not uids:
        return rooms
    return replace(
        rooms,
        new_unready=[pod for pod in rooms.new_unready if pod.uid not in uids],
        old_unready=[pod for pod in rooms.old_unready if pod.uid not in uids],
    )


def count(rooms: Sorted, desired: int) -> Counts:
    """Return the counts that status, metrics and plans show."""
    ready = sum(rooms.of(pod).up for pod in rooms.old_ready if not pod.ready)
    ready += len(rooms.new_ready) + sum(pod.ready for pod in rooms.old_ready)
    members = len(rooms.members)
    return Counts(
        desired=desired,
        ready=ready,
        unready=members - ready,
        old=len(rooms.old_ready) + len(rooms.old_unready),
        ended=len(rooms.failed),
        terminating=len(rooms.terminating),
        busy=len(rooms.busy),
        leaving=len(rooms.leaving) + len(rooms.left),
        kept=len(rooms.kept),
        unheard=rooms.unheard,
    )
