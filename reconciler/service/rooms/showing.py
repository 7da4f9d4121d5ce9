"""Rooms as they are shown: pod and reports judged together, kept until either changes."""

from collections.abc import Callable, Iterable

from reconciler.core import fence, room_state
from reconciler.core.fence import Verdict
from reconciler.kube.addresses import public_address
from reconciler.model.live import LiveNode, LivePod
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import OPEN_STATES, Ears, Heard, Mark, Why
from reconciler.model.specs import Workload
from reconciler.room_ports import RoomView
from reconciler.service.rooms.book import Book
from reconciler.service.rooms.roster import Roster

FRESH_SECONDS = 30.0
"""A view is judged anew after that: a limit may have passed that no event tells."""
SPARE = 1000
"""So many views of rooms that are gone are kept before all are made anew."""

_Basis = tuple[LivePod, Heard | None, Workload, LiveNode | None, str, bool]


class Showing:
    """Makes views of rooms."""

    def __init__(
        self,
        roster: Roster,
        book: Book,
        elapsed: Callable[[], float],
        now: Callable[[], float],
    ) -> None:
        """Show what `roster` and `book` know; `elapsed` never jumps, `now` is Unix seconds."""
        self._roster = roster
        self._book = book
        self._elapsed = elapsed
        self._now = now
        self._shown: dict[str, tuple[_Basis, float, RoomView]] = {}

    def room(self, key: WorkloadKey, pod: LivePod) -> RoomView:
        """Return a room as it is now."""
        workload = self._roster.workload(key)
        heard = self._book.heard(pod.uid)
        node, deaf = self._roster.node(pod), self._book.suspicion.of(key, pod.node)
        overdue = self._book.is_overdue(pod.uid, workload)
        known = self._shown.get(pod.uid)
        if known is not None:
            (was, said, spec, place, *answers), until, view = known
            same = was is pod and said is heard and spec is workload and place is node
            if same and answers == [deaf, overdue] and self._elapsed() < until:
                return view
        return self._made(key, (pod, heard, workload, node, deaf, overdue))

    def rooms(self, key: WorkloadKey) -> Iterable[RoomView]:
        """Yield the rooms of a workload by name.

        They are those of when it began: whoever reads ten thousand may pause in between.
        """
        for pod in sorted(self._roster.view.of(key).pods, key=lambda each: each.name):
            yield self.room(key, pod)

    def spoke_at(self, uid: str) -> float:
        """When a room spoke last, in Unix seconds, 0 where it never did."""
        at = self._book.spoke_at(uid)
        return 0.0 if at is None else self._now() - (self._elapsed() - at)

    def fence(self, room: RoomView) -> Verdict | None:
        """Say what the fence says of a room that is to leave, as the loop asks it; None if none."""
        pod, workload = room.pod, self._roster.workload(room.key)
        if pod.leaving is Why.STAYS and pod.mark is not Mark.DRAINING:
            return None
        now, ears = self._elapsed(), self._book.of_room(room.key, pod.uid)
        judged = room_state.judge(pod, workload, ears.rooms.get(pod.uid), ears, now)
        return fence.verdict(pod, workload, judged, ears, now)

    def forget(self) -> None:
        """Forget what was shown."""
        self._shown.clear()

    def _made(self, key: WorkloadKey, basis: _Basis) -> RoomView:
        pod, heard, workload, node, deaf, overdue = basis
        now = self._elapsed()
        judged = room_state.judge(
            pod, workload, heard, Ears(deaf=deaf, since=self._book.since), now
        )
        stays = not pod.leaving and pod.mark is not Mark.DRAINING
        view = RoomView(
            key=key,
            pod=pod,
            judged=judged,
            heard=heard,
            address=address_of(node),
            available=stays and judged.state in OPEN_STATES and not overdue,
            overdue=overdue,
            matches_max=workload.matches_max,
            heard_at=self._now() - (now - heard.at) if heard is not None else 0.0,
        )
        again = judged.again_in_seconds
        until = now + (FRESH_SECONDS if again is None else min(again, FRESH_SECONDS))
        if overdue:
            until = now  # it may speak at any moment, and say nothing new
        if len(self._shown) > 2 * self._book.count + SPARE:
            self._shown.clear()
        self._shown[pod.uid] = basis, until, view
        return view


def address_of(node: LiveNode | None) -> str:
    """Return the address under which players reach a node, "" where there is none."""
    return "" if node is None else public_address(node.addresses)
