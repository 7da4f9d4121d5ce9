"""The kubelets: take in bound pods, run them, let them crash, and end them with grace."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from reconciler.sandbox import behaviour as habits
from reconciler.sandbox import clock
from reconciler.sandbox.controllers import containers
from reconciler.sandbox.controllers.agenda import Agenda
from reconciler.sandbox.kinds import NODE, POD
from reconciler.sandbox.requests import Json
from reconciler.sandbox.store import Change, Stored
from reconciler.sandbox.verbs.remove import DeleteOptions, remove
from reconciler.sandbox.world import World

_MOST = 50  # transitions a step
_DONE = ("Succeeded", "Failed")
_LONGEST_BACKOFF_SECONDS = 300.0
_CRASH_SECONDS = 1.0


@dataclass(slots=True)
class Run:
    """How far a pod is: bound, creating, running, unpulled, backing-off or done."""

    uid: str
    stage: str = "bound"
    since: float = 0.0
    restarts: int = 0


class Kubelets:
    """All kubelets of the cluster."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._runs: dict[str, Run] = {}
        self._fresh: dict[str, None] = {}
        self._agenda = Agenda()
        self._addresses = 0

    @property
    def busy(self) -> bool:
        """Tell whether pods wait to be looked at."""
        return bool(self._fresh)

    def saw(self, change: Change) -> None:
        """Note a pod that is bound to a node."""
        if change.kind is NODE and change.verb != "DELETED":
            name = change.stored.name
            pods = self._world.store.shelves[POD].objects
            self._fresh.update((key, None) for key, pod in pods.items() if pod.fields[0] == name)
        if change.kind is not POD:
            return
        key = change.stored.key
        if change.verb == "DELETED":
            self._runs.pop(key, None)
            self._fresh.pop(key, None)
            self._agenda.drop(key)
            self._world.runtime.forget(change.stored.uid)
        elif change.stored.fields[0]:
            self._fresh[key] = None

    def notice(self, key: str) -> None:
        """Look at a pod (`namespace/name`) at the next step: what runs in it has ended."""
        if key in self._world.store.shelves[POD].objects:
            self._fresh[key] = None

    def step(self, now: float) -> float | None:
        """Carry out what is due; tells when the next is (Unix seconds)."""
        for key in list(islice(self._fresh, _MOST)):
            self._fresh.pop(key, None)
            self._look(key, now)
        for key in [*self._agenda.take(now, _MOST)]:
            self._look(key, now)
        return self._agenda.next

    def _look(self, key: str, now: float) -> None:
        stored = self._world.store.shelves[POD].objects.get(key)
        if stored is None or self._world.store.get(NODE, "", stored.fields[0]) is None:
            return
        if stored.fields[0] in self._world.silent:
            return
        run = self._runs.get(key)
        if run is None or run.uid != stored.uid:
            run = self._runs[key] = Run(stored.uid, since=now)
        if stored.ending:
            self._world.runtime.stop(stored.uid)
        due = self._due(run, stored, now)
        if due is not None and due <= now:
            self._act(run, stored, now)
            self._fresh.pop(key, None)
            stored = self._world.store.shelves[POD].objects.get(key)
            due = self._due(run, stored, now) if stored is not None else None
        if due is None:
            self._agenda.drop(key)
        else:
            self._agenda.put(key, due)

    def _due(self, run: Run, stored: Stored, now: float) -> float | None:
        """Say when this pod has its next turn; None when nothing is to be done."""
        pod, habit = stored.decode(POD), self._world.behaviour
        if stored.ending:
            return self._ending(pod, stored, now)
        if run.stage == "bound":
            return now
        if run.stage == "creating":
            return run.since + _seconds(pod, habits.START, habit.start_seconds)
        if run.stage == "unpulled":
            return run.since + habit.backoff_seconds
        if run.stage == "backing-off":
            return run.since + self._backoff(run)
        if run.stage == "running":
            return self._running(run, pod, stored, now)
        return None

    def _ending(self, pod: Json, stored: Stored, now: float) -> float | None:
        metadata = pod["metadata"]
        grace: int = metadata.get("deletionGracePeriodSeconds", 0)
        if not grace and metadata.get("finalizers"):
            return None
        deadline: float = clock.moment(metadata["deletionTimestamp"])
        if self._world.runtime.runs(stored.uid):
            return deadline
        stop = 0.0 if stored.fields[5] in _DONE else self._world.behaviour.stop_seconds
        return min(deadline, deadline - grace + stop)

    def _running(self, run: Run, pod: Json, stored: Stored, now: float) -> float | None:
        if self._world.runtime.ended(run.uid) is not None:
            return now
        moments = []
        died = self._death(pod)
        if died is not None:
            moments.append(run.since + died[0])
        wanted = _annotation(pod, habits.READY) != "false"
        containers_ready = all(one["ready"] for one in pod["status"].get("containerStatuses", ()))
        if wanted and not containers_ready:
            moments.append(run.since + self._world.behaviour.ready_seconds)
        elif wanted != containers_ready or self._is_told_otherwise(pod, stored):
            moments.append(now)
        return min(moments, default=None)

    def _is_told_otherwise(self, pod: Json, stored: Stored) -> bool:
        """Whether a pod's readiness is not what its kubelet knows: its node was lost meanwhile."""
        if pod["spec"].get("readinessGates"):
            return _gate_moved(pod, stored)
        status = pod["status"]
        ready = all(one["ready"] for one in status.get("containerStatuses", ()))
        node = self._world.store.get(NODE, "", stored.fields[0])
        conditions = node.decode(NODE)["status"].get("conditions", ()) if node else ()
        lost = any(one["type"] == "Ready" and one["status"] != "True" for one in conditions)
        return ready != stored.ready and not lost

    def _death(self, pod: Json) -> tuple[float, int] | None:
        """Say after how many seconds the containers end, and with which exit code."""
        crash, leave = _annotation(pod, habits.CRASH), _annotation(pod, habits.EXIT)
        if crash:
            return float(crash), 1
        if leave:
            return float(leave), 0
        images = (one["image"] for one in pod["spec"]["containers"])
        if any(self._world.behaviour.crashes(image) for image in images):
            return _CRASH_SECONDS, 1
        return None

    def _backoff(self, run: Run) -> float:
        first = self._world.behaviour.backoff_seconds
        return min(first * 2.0 ** min(run.restarts - 1, 20), _LONGEST_BACKOFF_SECONDS)

    def _act(self, run: Run, stored: Stored, now: float) -> None:
        if stored.ending:
            remove(self._world, POD, stored, DeleteOptions(grace_seconds=0), now)
            return
        pod = stored.decode(POD)
        if run.stage == "bound":
            containers.begin(pod, self._address(stored.fields[0]), now)
            run.stage, run.since = "creating", now
        elif run.stage in ("creating", "unpulled"):
            self._start(run, pod, now)
        elif run.stage == "backing-off":
            self._run(run, pod, now)
        else:
            self._live(run, pod, now)
        self._world.store.put(POD, pod)

    def _start(self, run: Run, pod: Json, now: float) -> None:
        images = [one["image"] for one in pod["spec"]["containers"]]
        bad = [image for image in images if not self._world.behaviour.pulls(image)]
        if _annotation(pod, habits.PULL) == "fail":
            bad = bad or images[:1]
        if not bad:
            self._run(run, pod, now)
            return
        reason = "ErrImagePull" if run.stage == "creating" else "ImagePullBackOff"
        message = f'failed to pull and unpack image "{bad[0]}": not found'
        if reason == "ImagePullBackOff":
            message = f'Back-off pulling image "{bad[0]}": ErrImagePull: {message}'
        containers.wait(pod, reason, message, now)
        if run.stage == "creating":
            told = f'Failed to pull image "{bad[0]}": {message}'
            self._world.tell(pod, "Warning", "Failed", told, "kubelet", now)
        run.stage, run.since = "unpulled", now

    def _run(self, run: Run, pod: Json, now: float) -> None:
        ready = not self._world.behaviour.ready_seconds
        ready = ready and _annotation(pod, habits.READY) != "false"
        address = pod["status"].get("podIP") or self._fresh_address()
        containers.start(pod, address, now, ready=ready)
        run.stage, run.since = "running", now
        self._world.runtime.start(pod, now)

    def _live(self, run: Run, pod: Json, now: float) -> None:
        code = self._world.runtime.ended(run.uid)
        if code is not None:
            self._die(run, pod, code, now)
            return
        died = self._death(pod)
        if died is not None and now >= run.since + died[0]:
            self._die(run, pod, died[1], now)
            return
        wanted = _annotation(pod, habits.READY) != "false"
        containers.set_ready(pod, now, ready=wanted)

    def _die(self, run: Run, pod: Json, code: int, now: float) -> None:
        self._world.runtime.kill(run.uid)
        policy = pod["spec"].get("restartPolicy", "Always")
        if policy == "Never" or (policy == "OnFailure" and not code):
            containers.end(pod, code, now, phase="Failed" if code else "Succeeded")
            run.stage, run.since = "done", now
            return
        containers.end(pod, code, now)
        run.restarts += 1
        containers.back_off(pod, self._backoff(run), now)
        name = pod["metadata"]["name"]
        told = f"Back-off restarting failed container in pod {name}"
        self._world.tell(pod, "Warning", "BackOff", told, "kubelet", now)
        run.stage, run.since = "backing-off", now

    def _address(self, node: str) -> str:
        stored = self._world.store.get(NODE, "", node)
        addresses = stored.decode(NODE)["status"].get("addresses", ()) if stored else ()
        found = (one["address"] for one in addresses if one["type"] == "InternalIP")
        return next(found, "10.0.0.1")

    def _fresh_address(self) -> str:
        self._addresses += 1
        number = self._addresses % 62_500
        return f"10.244.{number // 250}.{number % 250 + 1}"


def _annotation(pod: Json, name: str) -> str:
    return str((pod["metadata"].get("annotations") or {}).get(name, ""))


def _seconds(pod: Json, name: str, default: float) -> float:
    text = _annotation(pod, name)
    return float(text) if text else default


def _gate_moved(pod: Json, stored: Stored) -> bool:
    gates = pod["spec"].get("readinessGates") or ()
    if not gates:
        return False
    held = {one["type"] for one in pod["status"]["conditions"] if one["status"] == "True"}
    return all(gate["conditionType"] in held for gate in gates) != stored.ready
