"""Logs: what a simulated container would have printed."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

from reconciler.sandbox import refusals
from reconciler.sandbox.kinds import NODE, POD
from reconciler.sandbox.options import positive
from reconciler.sandbox.printout import lines
from reconciler.sandbox.requests import Answer, Json, Response, flag
from reconciler.sandbox.verbs import write
from reconciler.sandbox.world import Call

_TEXT = "text/plain"
_LOOK_SECONDS = 0.25  # how late what a process prints may be shown


class Followed:
    """A log that is read while the container still runs."""

    def __init__(self, call: Call, container: str, text: bytes) -> None:
        self.content_type = _TEXT
        self.delay_seconds = 0.0
        self.wake: Callable[[], None] | None = None
        self._call, self._container, self._text = call, container, text
        self._shelf = call.world.store.shelves[POD]
        self._shelf.watchers[self] = None
        self._seen = len(_printed(call, container, write.live_object(call).decode(POD)))
        self._ended = False
        self._due: float | None = None

    @property
    def ended(self) -> bool:
        """Tell whether the container has ended."""
        return self._ended

    @property
    def due(self) -> float | None:
        """Tell when to look again: only what really runs prints without a change of its pod."""
        return self._due

    def take(self, now: float) -> bytes:
        """Take what was printed since."""
        text, self._text = self._text, b""
        target = self._call.target
        stored = self._call.world.store.get(POD, target.namespace, target.name)
        if stored is None:
            self.close()
            return text
        pod = stored.decode(POD)
        if self._call.world.runtime.runs(stored.uid):
            self._due = now + _LOOK_SECONDS
        printed = _printed(self._call, self._container, pod)
        text += b"".join(line.encode() + b"\n" for _, line in printed[self._seen :])
        self._seen = max(self._seen, len(printed))
        if "running" not in _state(pod, self._container):
            self.close()
        return text

    def close(self) -> None:
        """Stop following."""
        self._ended = True
        self._shelf.watchers.pop(self, None)


def read_log(call: Call) -> Answer:
    """Answer the log of a container. Raises Refused."""
    pod = write.live_object(call).decode(POD)
    name = _container(call, pod)
    if not pod["spec"].get("nodeName"):
        return Response(204, b"", _TEXT)
    if call.world.store.get(NODE, "", pod["spec"]["nodeName"]) is None:
        # The server looks for the kubelet, and tells its absence as if it were the pod's.
        raise refusals.not_found(POD, pod["spec"]["nodeName"])
    state = _state(pod, name)
    if "waiting" in state and not state.get("restarted"):
        why = state["waiting"].get("reason", "ContainerCreating")
        told = f'container "{name}" in pod "{pod["metadata"]["name"]}" is waiting to start: {why}'
        raise refusals.bad_request(told)
    printed = _printed(call, name, pod)
    tail = call.request.query.get("tailLines")
    if tail is not None:
        count = positive(call.request, "tailLines")
        printed = printed[-count:] if count else []
    stamped = flag(call.request, "timestamps")
    text = "".join(f"{when} {line}\n" if stamped else f"{line}\n" for when, line in printed)
    if flag(call.request, "follow") and "running" in state:
        return Followed(call, name, text.encode())
    return Response(200, text.encode(), _TEXT)


def _printed(call: Call, name: str, pod: Json) -> list[tuple[str, str]]:
    previous = flag(call.request, "previous")
    printed = lines(pod, name, previous=previous)
    if previous:
        return printed
    own = call.world.runtime.printed(pod["metadata"]["uid"], name)
    return sorted([*printed, *own], key=itemgetter(0)) if own else printed


def _container(call: Call, pod: Json) -> str:
    spec, asked = pod["spec"], call.request.query.get("container", "")
    # The server visits them in this order, and says the names in it.
    parts = ("initContainers", "containers", "ephemeralContainers")
    known = [one["name"] for part in parts for one in spec.get(part, ())]
    name = pod["metadata"]["name"]
    if asked and asked not in known:
        raise refusals.bad_request(f"container {asked} is not valid for pod {name}")
    if not asked and len(spec["containers"]) > 1:
        listed = " ".join(known)
        raise refusals.bad_request(
            f"a container name must be specified for pod {name}, choose one of: [{listed}]"
        )
    return asked or str(spec["containers"][0]["name"])


def _state(pod: Json, name: str) -> Json:
    status = pod["status"]
    for part in ("containerStatuses", "initContainerStatuses"):
        for one in status.get(part, ()):
            if one["name"] == name:
                return dict(one.get("state", {}), restarted=one.get("restartCount", 0))
    return {"waiting": {"reason": "ContainerCreating"}}
