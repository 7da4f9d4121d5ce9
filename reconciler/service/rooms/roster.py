"""The rooms there are: by their names, each with the workload that it belongs to."""

from collections.abc import Collection, Iterable, Set
from contextlib import suppress

from reconciler.core import flips, ordinals
from reconciler.core.departing import is_known, last_workload
from reconciler.core.reporting import is_listened_to, tells_by_silence
from reconciler.loop.lane import Lane
from reconciler.model.errors import Gone, NotFound, PortError, Unseen
from reconciler.model.live import NO_NODES, LiveNode, LivePod, LiveWorkload
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Mark
from reconciler.model.specs import Workload
from reconciler.model.wanted import Wanted
from reconciler.ports import Clock, LiveView
from reconciler.room_ports import Namesakes
from reconciler.service.rooms.lines import Line

Room = tuple[WorkloadKey, LivePod]


class Roster:
    """Finds rooms of one cluster; no I/O but to learn since when codes are good."""

    def __init__(self, lane: Lane, clock: Clock) -> None:
        self._lane = lane
        self._codes_since = 0.0
        self._clock = clock
        self.shared = False
        """Whether another process may lead at the same time: none holds a lease."""
        self._unknown: dict[WorkloadKey, tuple[LiveWorkload, Workload]] = {}
        self._lost: set[str] = set()
        self._lost_of = NO_NODES
        self._places: dict[str, tuple[WorkloadKey, ...]] = {}
        self._places_of: tuple[Wanted | None, int] = None, 0

    @property
    def view(self) -> LiveView:
        """What is there."""
        return self._lane.view

    def workload(self, key: WorkloadKey) -> Workload:
        """Return a workload as it is wanted, or as it last was.

        Where no spec of it is known, its rooms tell whether they report: their record was lost, or
        nobody can read it, and players are in them all the same.
        """
        desired = self._lane.wanted.effective.get(key)
        if desired is not None:
            self._unknown.pop(key, None)
            return desired.workload
        record, live = self._lane.store.state(key), self.view.of(key)
        if record.accepted is not None or not live.pods:
            self._unknown.pop(key, None)
            return last_workload(key, record, ())
        # It is asked for each room, and looks through all of them.
        found = self._unknown.get(key)
        if found is None or found[0] is not live:
            found = self._unknown[key] = live, last_workload(key, record, live.pods)
        return found[1]

    def listens_to(self, key: WorkloadKey, pod: LivePod) -> bool:
        """Whether it is known by now what counts of a room's words, or that they do."""
        workload = self.workload(key)
        return is_known(workload) or is_listened_to(pod, workload)

    def workloads(self) -> Iterable[WorkloadKey]:
        """Return every workload that has rooms or is wanted, sorted."""
        return sorted({*self._lane.wanted.keys, *self.view.workloads()})

    async def knows_codes(self) -> bool:
        """Find out since when rooms' codes are good; whether that is known now."""
        with suppress(PortError):
            self._codes_since = await self._lane.codes.made_at()
            return True
        return False

    def is_mute(self, pod: LivePod) -> bool:
        """Whether a room cannot speak by its code any more: the keys were lost after it was made.

        What it said last is then no news of how it is: it may be full by now.
        """
        return 0 < pod.created_at < self._codes_since

    def node(self, pod: LivePod) -> LiveNode | None:
        """Return the node of a room."""
        return self.view.node(pod.node) if pod.node else None

    def lost(self) -> Set[str]:
        """Return the nodes of which Kubernetes itself does not hear."""
        nodes = self.view.nodes
        if nodes is not self._lost_of:
            self._lost_of, self._lost = nodes, {node.name for node in nodes.all if not node.ready}
        return self._lost

    def find(self, workload: str, name: str) -> Room:
        """Find a room by the names of its workload and its own. Raises NotFound, Gone, Unseen.

        Names are unique in a namespace only. Where two workloads have this one, nobody is found
        (Namesakes): one game must never speak for a room of the other.
        """
        if self._places_of[0] is not self._lane.wanted:
            self._named(workload)
        if len(self._places.get(workload, ())) > 1:
            self._check_alone(workload)
        # A Scheduler's namespace has its name: almost every room is found at once.
        found = self.view.room(workload, name)
        if found is not None and found[0].name == workload:
            return found
        keys = self._named(workload)
        for key in keys:
            found = self.view.room(key.namespace, name)
            if found is not None and found[0] == key:
                return found
        if ordinals.ordinal_of(name, workload) >= 0:
            self._check_labels([*(key.namespace for key in keys), workload], name)
        raise self._absence(keys, name)

    def _check_alone(self, workload: str) -> None:
        """Raise Namesakes where workloads of several namespaces have this name."""
        keys = sorted(self._places[workload])
        namespaces = dict.fromkeys(key.namespace for key in keys)
        if len(namespaces) > 1:
            several = ", ".join(str(key) for key in keys)
            raise Namesakes(
                f"{workload} is the name of several workloads ({several}), which this path and "
                "whoever shows nothing cannot tell apart: ask /v1/rooms/NAMESPACE/ROOM, or show "
                "the room's own token",
                tuple(namespaces),
            )

    def find_in(self, namespace: str, name: str) -> Room:
        """Find a room by its namespace and name. Raises NotFound, Gone."""
        found = self.view.room(namespace, name)
        if found is not None:
            return found
        self._check_labels([namespace], name)
        keys = self._named(name.rpartition("-")[0])
        raise self._absence([key for key in keys if key.namespace == namespace], name)

    def again(self, namespace: str, name: str, uid: str) -> Room:
        """Find the same room as it is now. Raises Gone, Unseen."""
        found = self.view.room(namespace, name)
        if found is not None and found[1].uid == uid:
            return found
        if found is None and not self.view.rooms_complete:
            raise Unseen
        if found is None:
            self._check_labels([namespace], name)
        raise Gone(f"room {name} is no more; its name never comes back")

    def is_there(self, pod: LivePod) -> bool:
        """Whether there is that very room now."""
        found = self.view.room(pod.namespace, pod.name)
        return found is not None and found[1].uid == pod.uid

    def longest_silence(self, line: Line) -> float | None:
        """Return for how long a room may say nothing, in seconds, None where that tells nothing."""
        found, workload = self.view.room(line.namespace, line.name), self.workload(line.key)
        if found is None or not is_known(workload):
            return None
        pod = found[1]
        if flips.is_over(pod) or pod.uid != line.uid or not is_listened_to(pod, workload):
            return None
        if pod.mark is Mark.FAILED:
            return None  # it is kept as it is, though it says nothing for ever
        if line.heard is None and (self.is_mute(pod) or not tells_by_silence(pod)):
            return None  # it cannot speak, or never did as far as anybody knows
        if pod.ended and not (line.heard is not None and line.heard.busy):
            return None  # its game is over, and nobody has told of players since
        return workload.timeouts.ping_seconds

    def _named(self, workload: str) -> tuple[WorkloadKey, ...]:
        wanted, there = self._lane.wanted, self.view.workloads()
        if self._places_of[0] is not wanted or self._places_of[1] != len(there):
            self._places_of = wanted, len(there)
            self._places = {}
            for key in {*wanted.keys, *there, *self._lane.store.named()}:
                self._places[key.name] = (*self._places.get(key.name, ()), key)
        return self._places.get(workload, ())

    def _check_labels(self, namespaces: Iterable[str], name: str) -> None:
        """Raise Unseen where such a pod lives, and only its labels are gone or others.

        Its game must not be told to stop: the labels may be given back.
        """
        view = self.view
        if any(view.is_astray(each, name) or view.room(each, name) for each in namespaces):
            raise Unseen

    def _absence(self, keys: Collection[WorkloadKey], name: str) -> NotFound | Gone | Unseen:
        """Say why there is no room of this name: it never was, is no more, or is not seen yet."""
        if not self.view.rooms_complete:
            return Unseen()
        for key in keys:
            number, known = ordinals.ordinal_of(name, key.name), self._lane.store.ordinals(key)
            if known is None or not 0 <= number < known.next:
                continue
            blind = ordinals.is_blind(known, self.view.version, self._clock.now())
            if blind or number in known.outstanding:
                return Unseen()
            return Gone(f"room {name} is no more; its name never comes back")
        is_ours = any(ordinals.ordinal_of(name, key.name) >= 0 for key in keys)
        # Else it may be anything, a credential too that was pasted into the path.
        told = f"room {name}" if is_ours else "such room"
        return NotFound(f"there is no {told}: check the names of the workload and the room")
