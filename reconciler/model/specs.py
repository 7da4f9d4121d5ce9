"""What users ask for, after validation: one Workload a spec document, one Config a repository."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from reconciler.model.refs import Json, WorkloadKey


@dataclass(frozen=True, slots=True)
class Source:
    """Where in Git something is asked for: file, line and column from 1."""

    file: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Share:
    """A count, or a per cent of one (`25%`)."""

    value: int
    percent: bool = False

    def __str__(self) -> str:
        return f"{self.value}%" if self.percent else str(self.value)


@dataclass(frozen=True, slots=True)
class Rollout:
    """How a changed template replaces rooms."""

    max_surge: Share = Share(25, percent=True)
    max_unavailable: Share = Share(0)


@dataclass(frozen=True, slots=True)
class PortRange:
    """Host ports a workload may use, both ends included."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Disruption:
    """What voluntary evictions are refused (`mode: count`: a share of the rooms stays)."""

    mode: Literal["count"] = "count"
    safety_percentage: float = 0.05


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
    reports: Literal["none"]
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
class Config:
    """The repository's `gamekeeper.yaml`."""

    paths: tuple[str, ...] = ("schedulers",)
    kubernetes_version: str = "1.36"
    budgets: Budgets = field(default_factory=Budgets)
    resync_seconds: int = 300
    poll_seconds: int = 60
    spec_json: str = "{}"


@dataclass(frozen=True, slots=True)
class Permissions:
    """What the *process* allows repositories (rule 7); never set by a repository.

    `pod_security` is the Pod Security level that templates are checked against.
    `reserved_namespaces` may not be used as workload names.
    """

    pod_security: Literal["privileged", "baseline"] = "baseline"
    reserved_namespaces: frozenset[str] = frozenset({"default", "gamekeeper"})
