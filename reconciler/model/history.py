"""A workload's number as the log of Git tells it: commit by commit, and step by step."""

from dataclasses import dataclass

from reconciler.model.intents import Step
from reconciler.model.pushes import Logged
from reconciler.model.specs import Source


@dataclass(frozen=True, slots=True)
class Told:
    """What a message of ours says of one workload: from which number to which, by which steps."""

    before: int
    after: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class WrittenCount:
    """A number as a file writes it, and where."""

    count: int
    source: Source


@dataclass(frozen=True, slots=True)
class CountChange:
    """A commit that changed a workload's number.

    `before` and `after` are what the files say there, None where they say no number; `source` is
    where `after` stands. `ours` is whether the record has its id as one of ours, None where no
    record was read, or where it is older than all ids that are kept. `steps` are those of its
    message that agree with the numbers.
    """

    logged: Logged
    before: int | None
    after: int | None
    source: Source | None
    ours: bool | None
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class CountHistory:
    """The newest changes of a number, the newest first; not all of them where it is `cut`.

    `ends_at` is the commit with which a shallow clone ends, whose change nobody can tell; "" where
    the log does not end so.
    """

    changes: tuple[CountChange, ...]
    cut: bool = False
    ends_at: str = ""
