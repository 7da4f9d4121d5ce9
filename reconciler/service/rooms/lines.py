"""What is kept in memory of one room: a line of the book."""

import asyncio
from dataclasses import dataclass, field

from reconciler.model.live import LivePod
from reconciler.model.refs import ObjectRef, WorkloadKey
from reconciler.model.rooms import Heard, Mark, Report
from reconciler.service.retries import Retries


@dataclass(slots=True, eq=False)
class Line:
    """One room by its pod's uid. Moments are seconds of a clock that never jumps.

    `report` is the last one, and `mark` what its pod said then: the same again with the same mark
    changes nothing. `last_at` is when it was heard last, or when listening to it began; `gap` its
    longest pause of late. `told_at` is when something new was heard, below 0 for never. `drain`
    is the `leaving_since` of the draining that it was heard in, None where it was not; `pod` is
    how its pod was known when it was looked at last. `empty_at` is since when it says
    that nobody plays there. `due_at` is when its pod is to be looked at; who writes on it holds
    the `lock`. `followed` is whether its silence is watched, `doubtful` whether a write may stand
    that we were not told of, `rests_on` the kept report that its players are known by, None
    once it told of them itself, `closed` whether it is in the book no more.
    """

    key: WorkloadKey
    uid: str
    namespace: str
    name: str
    last_at: float
    heard: Heard | None = None
    report: Report | None = None
    mark: Mark = Mark.NONE
    gap: float = 0.0
    drain: float | None = None
    pod: LivePod | None = None
    empty_at: float = 0.0
    told_at: float = -1.0
    due_at: float | None = None
    followed: bool = False
    doubtful: bool = False
    rests_on: str | None = None
    closed: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    retries: Retries | None = None

    @property
    def ref(self) -> ObjectRef:
        """Its pod."""
        return ObjectRef("v1", "Pod", self.namespace, self.name)

    @property
    def periodic(self) -> bool:
        """Whether its silence tells anything: it was recorded as heard, or repeats itself."""
        return self.heard is None or self.heard.periodic

    @property
    def silent(self) -> bool:
        """Whether its silence was taken note of."""
        return self.heard is not None and self.heard.silent


def line_of(key: WorkloadKey, pod: LivePod, at: float) -> Line:
    """Return the line of a room that nothing was heard of yet."""
    line = Line(key, pod.uid, pod.namespace, pod.name, last_at=at, empty_at=at, pod=pod)
    # Another process marked it, and may have taken that back: our view may be behind.
    line.doubtful = pod.mark is Mark.BUSY
    return line
