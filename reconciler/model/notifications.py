"""What people are told outside: which states, to whom, and how telling them fares."""

from dataclasses import dataclass, field
from enum import StrEnum

from reconciler.model.refs import WorkloadKey


class Topic(StrEnum):
    """What a notification is about. The values stand in files of users: never rename one."""

    APPLIED = "applied"
    """Every workload is as Git says."""
    HELD = "held"
    REFUSED = "refused"
    """The commit removes more rooms than the budgets allow."""
    PORTS_EXHAUSTED = "ports-exhausted"
    NEEDS_INTERVENTION = "needs-intervention"
    WRITE_BACK = "write-back-failing"
    """Counts act and do not come into Git."""


class Form(StrEnum):
    """How a target is spoken to; a label of metrics too."""

    WEBHOOK = "webhook"
    SLACK = "slack"


@dataclass(frozen=True, slots=True)
class Target:
    """Somebody who is told. Secrets are named by their files, which are read at each message."""

    name: str
    form: Form
    topics: frozenset[Topic] = frozenset(Topic)
    workloads: tuple[str, ...] = ()
    """Patterns of names; none is every workload."""
    url: str = ""
    url_file: str = ""
    secret_file: str = ""
    give_up_seconds: float = 21_600.0


@dataclass(frozen=True, slots=True)
class News:
    """One state that began.

    `place` is what it is known by, `identity` what makes it new there: the same at the same place
    is told once. `key` is None where it is about the repository.
    """

    topic: Topic
    key: WorkloadKey | None
    place: str
    identity: str
    reason: str
    hold: str = ""
    change_hash: str = ""


@dataclass(frozen=True, slots=True)
class Origin:
    """Which installation speaks."""

    instance: str
    cluster: str
    repository: str
    branch: str


@dataclass(frozen=True, slots=True, order=True)
class Trouble:
    """A target that is not reached since `since` (Unix seconds), in words that hold no secret.

    `gave_up` counts messages that were never delivered.
    """

    name: str
    since: float
    error: str
    gave_up: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """What a target is told: as a JSON object, and as a text of one line."""

    body: dict[str, object] = field(repr=False)
    text: str = ""


class CommitState(StrEnum):
    """What a code host shows beside a commit, in the words of GitHub and Gitea."""

    PENDING = "pending"
    SUCCESS = "success"
    FAILURE = "failure"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a commit. `identity` is what makes it another one of the same commit."""

    commit: str
    state: CommitState
    description: str
    identity: str
