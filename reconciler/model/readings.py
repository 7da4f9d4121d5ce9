"""A repository read: what is valid, what is not, and what cannot even be told."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.model.findings import Finding, Severity
from reconciler.model.refs import WorkloadKey
from reconciler.model.signatures import NOBODY_ASKS, Vouched
from reconciler.model.specs import Config, Workload


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything one tree says.

    `config` is None when gamekeeper.yaml is missing or has an error: the whole commit is held.
    `invalid` are documents whose kind and name can be told but that have errors: their
    workloads are held at the accepted spec. `unreadable` are files in which some document's
    kind or name cannot be told: while there is one, nothing at all is deleted.
    `missing_paths` are entries of `config.paths` that the tree does not have.
    """

    commit: str
    config: Config | None
    workloads: Mapping[WorkloadKey, Workload]
    invalid: Mapping[WorkloadKey, tuple[Finding, ...]]
    unreadable: tuple[str, ...]
    missing_paths: tuple[str, ...]
    findings: tuple[Finding, ...]
    directories: frozenset[str] = frozenset()
    """All directories of the tree, so that a vanished one can be told from an emptied one."""
    counts: Mapping[WorkloadKey, int] = field(default_factory=dict)
    """The counts of `replicas.yaml`, of workloads that are not there, too."""
    counts_commit: str = ""
    """The commit of the branch of counts, "" where there is none (ADR 17)."""
    over: Mapping[WorkloadKey, int] = field(default_factory=dict)
    """All counts of that branch."""
    own: Mapping[WorkloadKey, int] = field(default_factory=dict)
    """What the tracked branch says where a count of that branch lies over it."""
    unnumbered: frozenset[WorkloadKey] = frozenset()
    """Workloads whose count stands nowhere yet: `min`, unless more is known of them."""
    vouched: Vouched = NOBODY_ASKS
    """Whose word it is. While that has a problem the tree was not read, and all else is empty."""

    @property
    def head(self) -> tuple[str, str]:
        """What was read: the commit of the tracked branch, and that of the branch of counts."""
        return self.commit, self.counts_commit

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that hold something."""
        return tuple(f for f in self.findings if f.severity is Severity.ERROR)


@dataclass(frozen=True, slots=True)
class Rendered:
    """The manifests of one workload, from templates: counts, names and ports not yet stamped.

    `objects` are applied (Namespace first); `room` is the pod that every room is stamped from.
    Values are JSON text, parsed where used, so that 1,000 workloads stay small.
    """

    key: WorkloadKey
    objects: tuple[str, ...]
    room: str
