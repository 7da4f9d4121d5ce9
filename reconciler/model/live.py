"""What is there: slotted records made from list and watch on arrival.

A pod is 25 KiB as dicts and a few hundred bytes here, which is what lets one process watch
10,000 rooms. Strings that repeat are interned by whoever makes the records.
"""

from dataclasses import dataclass
from enum import StrEnum

from reconciler.model.refs import Json, ObjectRef
from reconciler.model.rooms import Mark, Why


class Phase(StrEnum):
    """Kubernetes' pod phases."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


ENDED_PHASES = frozenset({Phase.SUCCEEDED, Phase.FAILED})
"""In these no container runs any more, nor ever will: what the pod held is free."""


@dataclass(frozen=True, slots=True)
class HostPort:
    """A host port in use or wanted. `protocol` is TCP, UDP or SCTP; `name` is the container's."""

    port: int
    protocol: str
    name: str = ""
    container_port: int = 0


@dataclass(frozen=True, slots=True)
class Seen:
    """When our view first saw something of a pod: seconds on a clock that never jumps, 0 for not.

    Ages that let a room go are counted from these, never from other machines' clocks: a wall
    clock that jumps, or is another one than the cluster's, brings no end nearer. A restart begins
    anew, which only makes us wait longer. `starting` is of its present start, `draining` of the
    mark. `left` is when it began to leave: the age that its annotation had when it was first seen
    goes before that moment. `ending` is of its deletion.
    """

    starting: float = 0.0
    draining: float = 0.0
    left: float = 0.0
    ending: float = 0.0


NEVER_SEEN = Seen()


@dataclass(frozen=True, slots=True)
class LivePod:
    """One pod. `instance`, `workload`, `revision` are our labels and annotation, "" if absent.

    `ordinal` is the n of `<workload>-<n>`, -1 where the pod is not a room of ours.
    `waiting` is the first waiting container's reason (ImagePullBackOff, CrashLoopBackOff).
    `created_at` is in Unix seconds, 0 if not known.
    """

    uid: str
    namespace: str
    name: str
    resource_version: str
    phase: Phase
    ready: bool
    terminating: bool
    node: str
    host_ip: str
    instance: str
    workload: str
    ordinal: int
    revision: str
    host_ports: tuple[HostPort, ...]
    created_at: float
    waiting: str = ""
    unschedulable: str = ""
    """The scheduler's message when it can place the pod nowhere."""
    stamps: str = ""
    """Digest of the labels, annotations and finalizers that we own on this pod."""
    lapsed: bool = False
    """Was ready, is not, and its containers run on: perhaps full of players."""
    played_since: float = 0.0
    """Unix seconds of the start of the first container that players may be in, 0 if none runs."""
    mark: Mark = Mark.NONE
    odd_mark: str = ""
    """The text of its state label where it is none of ours: `mark` is busy then."""
    leaving: Why = Why.STAYS
    odd_leaving: str = ""
    """The text of its reason to leave where it is none of ours: `leaving` is a request then."""
    leaving_since: float = 0.0
    """Unix seconds of the mark `draining`, or of being told to leave while busy, as annotated."""
    was_heard: bool = False
    """Whether it is annotated that its mark, `draining` or `failed`, is of one that was heard."""
    guard: tuple[str, str] = ("", "")
    """Our two disruption annotations as they stand (safe-to-evict, do-not-disrupt)."""
    kept_report: str = ""
    """The annotation that holds the last report of a game that reports on change only."""
    running: bool = False
    """Whether any container runs, or nobody tells: somebody may be playing."""
    started_at: float = 0.0
    """Unix seconds of the start of the container that started last, 0 while none runs."""
    game_started_at: float = 0.0
    """The same of the game's container that started first; of any where nobody can tell."""
    ended: str = ""
    """Why it ended: Evicted, OOMKilled, Completed, Error (exit code 139), NodeLost; "" if not.

    Or why its game did, for good, while a container beside it runs on.
    """
    game_ended_at: float = 0.0
    """Unix seconds of that, by its node's clock and rounded down; 0 where nobody tells."""
    brief: bool = False
    """Whether its game is over, and ended sooner after it had begun than any match does."""
    runs: tuple[int, ...] = ()
    """How often each container of the game was restarted; () where none was. Where nobody can tell
    which is the game, all are counted."""
    beside_since: float = 0.0
    """Unix seconds of the start of the first container that runs beside the game and declares no
    port: a proxy may stand before it, which players do not see begin anew. 0 where none does."""
    pod_ip: str = ""
    host_network: bool = False
    address: str = ""
    """The public address that its annotation says."""
    bare: bool = False
    """Whether it has no annotation at all, not even ours: somebody took them away."""
    seen: Seen = NEVER_SEEN

    @property
    def restarts(self) -> int:
        """How often these were restarted, all together."""
        return sum(self.runs)


@dataclass(frozen=True, slots=True)
class LiveNode:
    """One node, as far as placing rooms needs it."""

    name: str
    ready: bool
    unschedulable: bool
    labels: tuple[tuple[str, str], ...]
    taints: tuple[tuple[str, str, str], ...]
    """(key, value, effect)"""
    addresses: tuple[tuple[str, str], ...]
    """(type, address)"""


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """All nodes at one instant, and those of them that are ready and take new pods.

    Equal only to itself: what is worked out of one can be kept by it, however many nodes there are.
    """

    all: tuple[LiveNode, ...] = ()
    open: tuple[LiveNode, ...] = ()


NO_NODES = Nodes()


@dataclass(frozen=True, slots=True)
class LiveObject:
    """One non-room object of ours, without managedFields; a namespace that ends has its status."""

    ref: ObjectRef
    uid: str
    resource_version: str
    instance: str
    workload: str
    body: Json
    terminating: bool = False


@dataclass(frozen=True, slots=True)
class LiveWorkload:
    """Everything there is of one workload, at one instant of the view."""

    pods: tuple[LivePod, ...] = ()
    objects: tuple[LiveObject, ...] = ()
