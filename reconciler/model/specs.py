"""What users ask for, after validation: one Workload a spec document, one Config a repository."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from reconciler.model.copies import CopyFrom
from reconciler.model.freezes import Window
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.scaling import Autoscaling
from reconciler.model.shares import Share


@dataclass(frozen=True, slots=True)
class Source:
    """Where in Git something is asked for: file, line and column from 1."""

    file: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


_A_QUARTER = Share(25, percent=True)
_NONE = Share(0)


@dataclass(frozen=True, slots=True)
class Rollout:
    """How a changed template replaces rooms."""

    max_surge: Share = _A_QUARTER
    max_unavailable: Share = _NONE


@dataclass(frozen=True, slots=True)
class PortRange:
    """Host ports a workload may use, both ends included."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Disruption:
    """What voluntary evictions are refused.

    `occupied`: every room that is busy or allocated. `count`: a share of the rooms, where they
    report of the busy ones and `safety_percentage` more, looked at every `interval_seconds`.
    """

    mode: Literal["count", "occupied"] = "count"
    safety_percentage: float = 0.05
    interval_seconds: int = 5


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a room may take, in seconds.

    `initialize` counts from being bound to a node until it is ready (and heard, where rooms
    report); `ping` is the longest silence of a room that reports periodically; `terminate` is how
    long it may say that it ends, or Kubernetes be ending it. `silent_busy` is after how long a
    silence even a busy room is given up, None for never: the user's own limit.
    """

    initialize_seconds: float = 300.0
    ping_seconds: float = 240.0
    terminate_seconds: float = 120.0
    silent_busy_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Departure:
    """The fence before a removal: spec `removal`.

    A room is deleted at the earliest `quiet_seconds` after it was marked draining. It is deleted
    though it is busy `drain_deadline_seconds` after it was told to leave; None is never.
    """

    quiet_seconds: float = 5.0
    drain_deadline_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class FailurePolicy:
    """What becomes of rooms that fail, and when people are needed.

    `remove` keeps a failed room for a post-mortem, outside the count; `delete` deletes it. More
    than `max_failures` in `window_seconds` are replaced no more until the window has passed or a
    commit changes the spec; of 0 no window frees a place. None is no limit.
    """

    action: Literal["remove", "delete"] = "delete"
    max_failures: int | None = None
    window_seconds: float = 3600.0


@dataclass(frozen=True, slots=True)
class Suspension:
    """Why nothing of a workload is written, and until when (Unix seconds); None is for good.

    `source` is where that stands, None in what is on record.
    """

    reason: str = ""
    until: float | None = None
    source: Source | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Ignored:
    """Fields that others own, of our objects of one kind: `paths` are JSON pointers.

    `name` is that of the one object that is meant, "" for each of the kind.
    """

    kind: str
    paths: tuple[str, ...]
    name: str = ""


class Scheduling(StrEnum):
    """Whether rooms are drawn together, so that nodes can empty, or left to the scheduler."""

    PACKED = "packed"
    DISTRIBUTED = "distributed"


@dataclass(frozen=True, slots=True)
class Workload:
    """One fleet of rooms, compiled from its spec: what the engine knows and all it knows.

    `template` is the user's pod template as written. `revision` names its content.
    `spec_json` is the canonical JSON of the whole document: what the state record keeps.
    """

    key: WorkloadKey
    game: str
    replicas: int
    reports: Literal["none", "required"]
    rollout: Rollout
    port_range: PortRange | None
    disruption: Disruption
    scheduling: Scheduling
    suspend: bool
    template: Json
    revision: str
    spec_json: str
    source: Source
    replicas_source: Source
    matches_max: int = 1
    timeouts: Timeouts = Timeouts()
    departure: Departure = Departure()
    failure: FailurePolicy = FailurePolicy()
    ports_to_expose: tuple[int, ...] | None = None
    """The containerPorts that get a host port; None is all of them."""
    suspension: Suspension = Suspension()
    """What is told of `suspend`, which is false once `until` has passed (`core/suspension.py`)."""
    autoscaling: Autoscaling | None = None
    """No part of the revision: how many rooms there are is no reason to replace one."""
    templates: str = ""
    """The directory of the templates of its additional objects, "" for none."""
    objects: tuple[str, ...] = ()
    """Its additional objects, as JSON: rendered when the repository was read."""
    ignore: tuple[Ignored, ...] = ()
    drift: Literal["heal", "warn"] = "heal"
    """Whether objects that somebody else changed are set back, or told."""
    copy_from: tuple[CopyFrom, ...] = ()

    @property
    def scales(self) -> bool:
        """Whether its policy decides how many rooms there are."""
        autoscaling = self.autoscaling
        return autoscaling is not None and autoscaling.enabled and not self.suspend

    @property
    def hears(self) -> bool:
        """Whether its rooms report."""
        return self.reports == "required"


@dataclass(frozen=True, slots=True)
class Budgets:
    """Largest removal a commit may ask for without approval, over `window_seconds`.

    A budget is max(rooms, per cent of the largest count in the window): see DESIGN §6.
    """

    workload_rooms: int = 3
    workload_percent: float = 10.0
    total_rooms: int = 3
    total_percent: float = 5.0
    window_seconds: int = 600


LOOSEST = Budgets(
    workload_rooms=1_000_000,
    workload_percent=100.0,
    total_rooms=1_000_000,
    total_percent=100.0,
    window_seconds=0,
)
"""No ceiling: where an operator sets none, the repository's own budgets count."""


@dataclass(frozen=True, slots=True)
class WriteBack:
    """How decided counts come into the repository: `off` decides and commits nothing.

    `quiet_seconds` is the least time between two commits; a human's change of a number holds its
    policy for `human_hold_seconds`. `message` is the first line of a commit. `to` says where a
    count goes that stands nowhere yet; `branch` is a branch of counts, "" for none (ADR 17).
    """

    mode: Literal["direct", "off"] = "direct"
    quiet_seconds: int = 60
    human_hold_seconds: int = 900
    message: str = "$summary"
    to: Literal["inline", "file"] = "inline"
    branch: str = ""


@dataclass(frozen=True, slots=True)
class Config:
    """The repository's `gamekeeper.yaml`."""

    paths: tuple[str, ...] = ("schedulers",)
    kubernetes_version: str = "1.36"
    budgets: Budgets = field(default_factory=Budgets)
    resync_seconds: int = 300
    poll_seconds: int = 60
    write_back: WriteBack = WriteBack()
    freeze: tuple[Window, ...] = ()
    spec_json: str = "{}"


PodSecurity = Literal["privileged", "baseline", "restricted"]
"""The levels of the Pod Security Standards, the laxest first."""


@dataclass(frozen=True, slots=True)
class Permissions:
    """What the *process* allows repositories (rule 7); never set by a repository.

    `pod_security` is the Pod Security level that templates are checked against. `tracked` is the
    branch that says what is wanted, "" where that is not known.
    `reserved_namespaces` may not be used as workload names. `egress` are those whom webhooks of
    policies may ask, as `core/egress.py` reads them; None where that is not known here.
    `kinds` are those that it may make or add to, `namespaces` globs of where rooms may be.
    `instance` is whose labels additional objects carry. `copy_from` are namespaces to copy from, or
    NAMESPACE/NAME for one object alone; None where that is not known here. `values` are the files
    of this environment that are laid over the specs, the later over the earlier.
    """

    pod_security: PodSecurity = "baseline"
    reserved_namespaces: frozenset[str] = frozenset({"default", "gamekeeper"})
    egress: tuple[str, ...] | None = None
    tracked: str = ""
    kinds: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ("*",)
    instance: str = ""
    copy_from: tuple[str, ...] | None = ()
    values: tuple[str, ...] = ()
