"""What is held, and why: a hold is a value with a reason, never a silent skip."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from reconciler.model.refs import WorkloadKey


class HoldKind(StrEnum):
    """Why something is held. The values stand in status, metrics and records: never rename one."""

    FINDING = "finding"
    """The document has an error: its workload stays at the accepted spec."""
    UNREADABLE = "unreadable"
    """Some document's kind and name cannot be told: nothing is deleted."""
    CONFIG = "config"
    """gamekeeper.yaml is missing or has an error: the whole commit is held."""
    UNSIGNED = "unsigned"
    """Commits of the head are not signed by an allowed key: the whole head is held."""
    UNSIGNED_COUNTS = "unsigned-counts"
    """Signatures are asked for, and our own commits have none: shown, never a stop."""
    PATH_VANISHED = "path-vanished"
    FILE_IN_DOUBT = "file-in-doubt"
    """The file that held the spec is there, but empty or with a mistake: deleted it is not."""
    PATHS_CHANGED = "paths-changed"
    REPOSITORY_CHANGED = "repository-changed"
    LAST_SPEC = "last-spec"
    FORCE_PUSHED = "force-pushed"
    NO_ACCEPTED_COMMIT = "no-accepted-commit"
    OVER_BUDGET = "over-budget"
    """The commit removes more rooms than the budget allows."""
    TRAILER = "trailer"
    """A trailer in a commit approves nothing: shown beside what it would have let through."""
    FROZEN = "frozen"
    """People changed it while a freeze is open: it acts by itself when that ends."""
    SUSPENDED = "suspended"
    FOREIGN = "foreign"
    """An object of that name belongs to somebody else."""
    DRIFTED = "drifted"
    """Somebody changed an object, and that is told, or does so again and again: never a stop."""
    NOT_COPIED = "not-copied"
    """A source of `copyFrom` is missing or may not be copied: shown, never a stop."""
    FAILING = "failing"
    """So many rooms fail at once that voluntary removals are frozen."""
    CROWDED_PORTS = "crowded-ports"
    """Every host port of the range has as many users as there are nodes: shown, never a stop."""
    UNREADABLE_RECORD = "unreadable-record"
    """A record of the workload cannot be read: nothing of it is written, whatever Git says."""
    NEEDS_INTERVENTION = "needs-intervention"
    """More rooms failed within the window than the spec allows: those beyond stay as they are."""
    OCCUPIED = "occupied"
    """Rooms with players stay until they are empty, though they are to go."""
    STUCK = "stuck"
    """Rooms, or their namespace, do not end though they were deleted: shown, never a stop."""
    DEAF = "deaf"
    """So many rooms fell silent at once, or all of a workload, that our own ears are suspect."""
    NEVER_HEARD = "never-heard"
    """Rooms that are to report are up for long and never did: shown, never a stop."""
    INCOMPLETE_READ = "incomplete-read"
    """The cluster was not read completely: nothing is deleted."""
    UNSERVED = "unserved"
    """The cluster has no such kind as the process is to follow: nothing is deleted."""


WHOLE_HEADS = frozenset({HoldKind.CONFIG, HoldKind.UNSIGNED})
"""What holds all of a commit: nothing of it was taken in."""


@dataclass(frozen=True, slots=True, order=True)
class Hold:
    """One thing that is not done. `key` is None where a whole commit or every deletion is held.

    `change_hash` is what to approve, "" where approval does not apply, and `line` what of all that
    it stands for is held here.
    """

    kind: HoldKind
    key: WorkloadKey | None
    reason: str
    change_hash: str = ""
    line: str = ""


def is_suspended(holds: Iterable[Hold]) -> bool:
    """Whether somebody wrote that nothing is to be done with the workload."""
    return any(hold.kind is HoldKind.SUSPENDED for hold in holds)


def is_untouched(holds: Iterable[Hold]) -> bool:
    """Whether no room of the workload is removed, nor told to leave, whatever was asked before.

    It is suspended, or a record of it cannot be read.
    """
    return any(hold.kind in (HoldKind.SUSPENDED, HoldKind.UNREADABLE_RECORD) for hold in holds)
