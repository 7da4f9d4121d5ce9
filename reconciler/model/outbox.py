"""How our commits fare, as whoever leads tells it: what `status` shows of write-back."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.model.refs import WorkloadKey


@dataclass(frozen=True, slots=True)
class Outbox:
    """What became of our commits since this process leads; times are Unix seconds, 0 for never.

    `commit` is the last one, pushed at `pushed_at`. `pushes` reached the branch, `races` were lost
    to somebody else's commit, `unrecorded` notes of them no record of ours took. `error`
    says in the host's words why it takes none since `failing_since`, "" where nothing is wrong.
    `refused` are counts that no edit can write.
    """

    commit: str = ""
    pushed_at: float = 0.0
    pushes: int = 0
    races: int = 0
    unrecorded: int = 0
    error: str = ""
    failing_since: float = 0.0
    refused: Mapping[WorkloadKey, str] = field(default_factory=dict)
    is_over: bool = False
    """Whether who made commits leads no more, and nobody after them: none is on its way."""


EMPTY_OUTBOX = Outbox()
"""Nothing was committed, or nobody tells of it."""
OVER = Outbox(is_over=True)
"""Somebody led and nobody does: their last words tell nothing of what became of a push."""
