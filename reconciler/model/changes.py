"""What a commit asks for beside what was accepted: the value that `diff` prints and hashes."""

from dataclasses import dataclass
from enum import StrEnum

from reconciler.model.holds import Hold
from reconciler.model.refs import ObjectRef, WorkloadKey


class Cause(StrEnum):
    """Why rooms go: the budgets count by cause, and outcomes and metrics name it."""

    LEFT_GIT = "left-git"
    SCALE_IN = "scale-in"
    ROLLOUT = "rollout"
    HEALING = "healing"
    REQUEST = "request"
    """Somebody asked that this room leave."""
    DEADLINE = "deadline"
    """It was busy beyond the drain deadline that the user wrote in Git."""


@dataclass(frozen=True, slots=True, order=True)
class Removal:
    """Rooms that a commit takes away, in the terms of a change hash (DESIGN §6).

    `to` is the count a scale-in ends at, 0 for a spec that left Git. `rooms` is how many go
    from the accepted count: shown and budgeted, yet no part of the hash, since an autoscaler
    may move the count that a change starts from.
    """

    cluster: str
    key: WorkloadKey
    cause: Cause
    to: int
    rooms: int

    @property
    def line(self) -> str:
        """The text that the change hash is computed from."""
        key = self.key
        return f"{self.cluster} {key.kind} {key.namespace}/{key.name} {self.cause} to={self.to}"


def key_of_line(line: str) -> WorkloadKey:
    """Return the workload that a removal line is about."""
    _, kind, place, _, _ = line.rsplit(" ", 4)
    namespace, _, name = place.partition("/")
    return WorkloadKey(kind, namespace, name)


def leaves_git(line: str) -> bool:
    """Return whether a removal line is about a workload that left Git."""
    return line.rsplit(" ", 2)[1] == Cause.LEFT_GIT


class Verb(StrEnum):
    """What happens to a workload or one of its objects."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a spec or manifest before and after, as JSON values; None is absent."""

    path: str
    before: object
    after: object


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """What happens to one object that is not a room; `fields` only where it is updated."""

    ref: ObjectRef
    verb: Verb
    reason: str
    fields: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkloadChange:
    """What happens to one workload: its fields, and what that means for rooms in a sentence."""

    key: WorkloadKey
    verb: Verb
    effect: str
    fields: tuple[FieldChange, ...] = ()
    source: str = ""
    """`file:line` of the spec, in the head (in the base when it is deleted)."""


@dataclass(frozen=True, slots=True)
class Change:
    """All that a head asks for beside a base. `change_hash` is "" when nothing is removed."""

    workloads: tuple[WorkloadChange, ...]
    removals: tuple[Removal, ...]
    change_hash: str
    holds: tuple[Hold, ...] = ()
    """What the loop would hold of it, as it would say so itself."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.workloads

    @property
    def refused(self) -> str:
        """Why removals would wait for an approval, "" when none would."""
        return "; ".join(dict.fromkeys(hold.reason for hold in self.holds if hold.change_hash))
