"""Pods: rooms of ours by workload, the host ports of all, and what we wrote but not yet see."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from reconciler.kube.owners import key_of
from reconciler.model import labels
from reconciler.model.live import ENDED_PHASES, NEVER_SEEN, LivePod
from reconciler.model.refs import Json, WorkloadKey
from reconciler.service.live_records import pod_of
from reconciler.service.pod_ports import held_ports_of
from reconciler.service.port_shelf import NOTHING, Held, PortShelf
from reconciler.service.seen import has_lapsed, seen_of
from reconciler.service.shelves import ByWorkload, Touched, is_older

EXPECTATION_SECONDS = 180.0
"""How long the watch has to show a write of ours before it is taken back."""

RoomChanged = Callable[[WorkloadKey, LivePod], None]
"""Called with a room that changed, as it is now or, where it is gone, as it was."""

log = logging.getLogger(__name__)

_STRIPPED = (
    "room %s/%s lost our labels by somebody's hand: it runs on, is replaced, and is neither "
    "counted nor deleted any more. Give the labels back, or delete the pod"
)


class PodShelf:
    """Rooms of one instance by workload; of other pods only the host ports that they ask for.

    A tick right after a write would repeat it until the watch has caught up. So what the server
    answered to our writes is taken in at once, and taken back if no watch has shown it in time.
    """

    def __init__(
        self,
        instance: str,
        touched: Touched,
        now: Callable[[], float],
        elapsed: Callable[[], float] = time.monotonic,
        room_changed: RoomChanged = lambda _key, _pod: None,
    ) -> None:
        self._instance = instance
        self._touched = touched
        self._room_changed = room_changed
        self._now = now
        self._elapsed = elapsed
        self._rooms: ByWorkload[LivePod] = ByWorkload()
        self._foreign: dict[str, Held] = {}
        self._ports = PortShelf()
        self._made: dict[str, float] = {}
        self._doomed: dict[str, float] = {}
        self._before: dict[str, LivePod] = {}
        self._gone: dict[str, float] = {}
        self._uids: dict[tuple[str, str], str] = {}
        self._astray: dict[str, tuple[str, str]] = {}

    def workloads(self) -> Collection[WorkloadKey]:
        """Return the workloads that have rooms."""
        return self._rooms.workloads()

    def of(self, key: WorkloadKey) -> tuple[LivePod, ...]:
        """Return the rooms of a workload."""
        return self._rooms.of(key)

    def room(self, namespace: str, name: str) -> tuple[WorkloadKey, LivePod] | None:
        """Find a room by its name, with its workload."""
        uid = self._uids.get((namespace, name))
        return None if uid is None else self._rooms.find(uid)

    def is_astray(self, namespace: str, name: str) -> bool:
        """Whether there is a pod of this name that was a room, and lost our labels."""
        return (namespace, name) in self._astray.values()

    def port_use(self) -> Counter[int]:
        """Return how many pods ask for each host port number; not to be changed."""
        return self._ports.use()

    def ports_held(self) -> Mapping[str, Counter[int]]:
        """Return the same by their nodes, "" for pods without one; not to be changed."""
        return self._ports.by_node()

    def put(self, obj: Json) -> None:
        """Take in a pod as it is now, unless a newer version of it is known."""
        key = key_of(obj)
        metadata = obj["metadata"]
        known = self._rooms.find(metadata["uid"])
        if known is not None and known[1].resource_version == metadata["resourceVersion"]:
            # The watch shows what the answer to our POST told: half of all events of a scale-up.
            self._made.pop(metadata["uid"], None)
            return
        if key is None or metadata["labels"].get(labels.INSTANCE) != self._instance:
            if known is not None:
                log.warning(_STRIPPED, metadata.get("namespace"), metadata["name"])
            was_ours = known is not None or metadata["uid"] in self._astray
            self._remove(metadata["uid"])
            if was_ours or self._bears_our_signs(metadata):
                self._astray[metadata["uid"]] = metadata["namespace"], metadata["name"]
            self._put_foreign(obj)
        else:
            self._ports.give_back(self._foreign.pop(metadata["uid"], NOTHING))
            self._put_room(key, pod_of(obj))

    def take_in(self, obj: Json) -> None:
        """Take in a pod as the answer to a patch has it: an answer may come after the pod's end.

        A pod that was missing in a list which is older than itself is shown by the watch again.
        """
        if obj["metadata"]["uid"] not in self._gone:
            self.put(obj)

    def drop(self, obj: Json) -> None:
        """Take in that a pod is gone."""
        uid = obj["metadata"]["uid"]
        self._bury(uid)
        self._remove(uid)

    def keep_only(self, uids: Collection[str], version: str = "") -> None:
        """Take in that there are no pods but these, and those that we made after the list."""
        known = {*self._rooms.uids(), *self._foreign, *self._astray}
        for uid in known.difference(uids, self._made_after(version)):
            self._bury(uid)
            self._remove(uid)

    def _made_after(self, version: str) -> set[str]:
        made = ((uid, self._rooms.find(uid)) for uid in self._made)
        return {
            uid
            for uid, found in made
            if found is not None and (not version or is_older(version, found[1].resource_version))
        }

    def expect_created(self, obj: Json) -> None:
        """Count a room as there, as the server answered it, until the watch shows it."""
        uid = obj["metadata"]["uid"]
        if uid in self._gone or self._rooms.find(uid) is not None:
            return
        self.put(obj)
        self._made[uid] = self._now() + EXPECTATION_SECONDS

    def expect_deleted(self, uid: str) -> None:
        """Count a room as terminating until the watch shows it."""
        found = self._rooms.find(uid)
        if found is None or found[1].terminating:
            return
        key, pod = found
        self._doomed[uid] = self._now() + EXPECTATION_SECONDS
        self._before[uid] = pod
        self._place(key, replace(pod, terminating=True))

    def expire(self) -> None:
        """Take back what no watch has shown in time."""
        now = self._now()
        for uid in _due(self._made, now):
            del self._made[uid]
            self._remove(uid)
        for uid in _due(self._doomed, now):
            del self._doomed[uid]
            pod = self._before.pop(uid)
            found = self._rooms.find(uid)
            if found is not None:
                self._place(found[0], pod)

    def _bears_our_signs(self, metadata: Json) -> bool:
        """Whether a pod that is no room was one before this process saw it."""
        instance = (metadata.get("labels") or {}).get(labels.INSTANCE, self._instance)
        noted = labels.REVISION in (metadata.get("annotations") or {})
        return noted and instance == self._instance

    def _put_room(self, key: WorkloadKey, pod: LivePod) -> None:
        self._made.pop(pod.uid, None)
        self._astray.pop(pod.uid, None)
        found = self._rooms.find(pod.uid)
        if found is not None and is_older(pod.resource_version, found[1].resource_version):
            return
        if pod.terminating:
            self._doomed.pop(pod.uid, None)
            self._before.pop(pod.uid, None)
        elif pod.uid in self._doomed:
            self._before[pod.uid] = pod
            pod = replace(pod, terminating=True)
        known = found[1] if found else None
        if has_lapsed(pod, known) and not pod.lapsed:
            pod = replace(pod, lapsed=True)
        seen = seen_of(pod, known, self._now(), self._elapsed())
        if seen is not NEVER_SEEN:
            pod = replace(pod, seen=seen)
        if found == (key, pod):
            return
        held, before = _held_by(pod), _held_by(found[1]) if found else NOTHING
        if held != before:  # a room that flips keeps its ports: the count of all stays as it is
            self._ports.give_back(before)
            self._ports.take(held)
        self._uids[pod.namespace, pod.name] = pod.uid
        self._place(key, pod)
        if found is not None and found[0] != key:
            self._tell(*found)

    def _put_foreign(self, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        ended = (obj.get("status") or {}).get("phase") in ENDED_PHASES
        spec = obj.get("spec") or {}
        ports = () if ended else held_ports_of(spec)
        if not ports and uid not in self._foreign:
            return
        self._ports.give_back(self._foreign.pop(uid, NOTHING))
        if ports:
            held = self._foreign[uid] = spec.get("nodeName") or "", ports
            self._ports.take(held)

    def _remove(self, uid: str) -> None:
        self._astray.pop(uid, None)
        self._made.pop(uid, None)
        self._doomed.pop(uid, None)
        self._before.pop(uid, None)
        self._ports.give_back(self._foreign.pop(uid, NOTHING))
        removed = self._rooms.remove(uid)
        if removed is not None:
            name = removed[1].namespace, removed[1].name
            if self._uids.get(name) == uid:
                del self._uids[name]
            self._ports.give_back(_held_by(removed[1]))
            self._tell(*removed)

    def _place(self, key: WorkloadKey, pod: LivePod) -> None:
        self._rooms.put(key, pod.uid, pod)
        self._tell(key, pod)

    def _tell(self, key: WorkloadKey, pod: LivePod) -> None:
        self._touched(key)
        self._room_changed(key, pod)

    def _bury(self, uid: str) -> None:
        """Remember for a while that a pod is gone: the answer to its POST may be read later."""
        now = self._now()
        for expired in _due(self._gone, now):
            del self._gone[expired]
        self._gone[uid] = now + EXPECTATION_SECONDS


def _held_by(pod: LivePod) -> Held:
    return NOTHING if pod.phase in ENDED_PHASES else (pod.node, pod.host_ports)


def _due(deadlines: dict[str, float], now: float) -> list[str]:
    """Return what is due; the first entries are the oldest, so this looks at few."""
    due = []
    for uid, deadline in deadlines.items():
        if deadline > now:
            break
        due.append(uid)
    return due
