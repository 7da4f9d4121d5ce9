"""Counts that were decided and stand in Git later: what the state record keeps of scaling.

A decision acts at once as an intent; the committer lands it (DESIGN §5, ADR 6).
"""

from dataclasses import dataclass
from typing import Literal

from reconciler.model.decisions import NO_PAST, Past
from reconciler.model.refs import WorkloadKey
from reconciler.model.scaling import Autoscaling

BY_A_PERSON = "a person"
"""In place of a policy: a step that somebody asked for by a commit, be it without a number."""
CARRIED = "carry-over"
"""In place of a policy: a count that acted goes on where a person's act gave it another place in
Git. The number is not theirs, and may be a policy's; that it is to land there is their doing."""
PERSONS = frozenset({BY_A_PERSON, CARRIED})
"""Steps that no suspension and no policy ends before they have landed."""


@dataclass(frozen=True, slots=True)
class Step:
    """One decision, as the commit that lands it tells it. `at` is Unix seconds."""

    at: float
    before: int
    after: int
    policy: str
    reason: str


@dataclass(frozen=True, slots=True)
class Intent:
    """A count that is effective and not yet in Git.

    `base` is the number in Git over which it was decided, `value` what is wanted instead, and
    `steps` led there. Those until `told_at` (Unix seconds) stand in a commit of ours.
    """

    base: int
    value: int
    steps: tuple[Step, ...]
    told_at: float = 0.0

    @property
    def reason(self) -> str:
        """Why it is the number that it is, also where bounds that came later moved it."""
        last = self.steps[-1]
        more = f"; not {last.after}, for the bounds have changed since"
        return last.reason + more if self.is_bounded else last.reason

    @property
    def is_bounded(self) -> bool:
        """Whether bounds that came later moved it, and no step back while a commit was written.

        Such a step leads to the number in Git, over which the first of these was decided.
        """
        return self.value not in {self.steps[-1].after, self.base, self.steps[0].before}

    @property
    def moves_git(self) -> bool:
        """Whether Git has another number; one that it has may be overtaken by a late push."""
        return self.value != self.base

    @property
    def decided_at(self) -> float:
        """Since when, in Unix seconds."""
        return self.steps[-1].at

    @property
    def is_persons(self) -> bool:
        """Whether a person's act began it, and not a policy alone."""
        return any(step.policy in PERSONS for step in self.steps)

    @property
    def untold(self) -> tuple[Step, ...]:
        """The steps that no commit has told yet."""
        return tuple(step for step in self.steps if step.at > self.told_at)

    @property
    def waits_since(self) -> float:
        """Since when a commit is waited for, in Unix seconds.

        What was told waits no more, nor what led back to the number in Git before it was.
        """
        waiting = self.untold or self.steps
        back = max((at for at, step in enumerate(waiting, 1) if step.after == self.base), default=0)
        return waiting[min(back, len(waiting) - 1)].at


@dataclass(frozen=True, slots=True)
class Landing:
    """A number that we pushed for a workload, or were about to, with the id of the commit.

    It is put on record before the push: a commit of ours must never pass for a human's because
    we died in between. One that never reached the branch does no harm. Once it was answered,
    `told_before` is until when commits before it told the steps (Unix seconds).
    """

    commit: str
    value: int
    decided_at: float
    told_before: float | None = None


@dataclass(frozen=True, slots=True)
class Scaling:
    """What is remembered of the scaling of one workload.

    `landings` may still come back as the head's number; the newest is last. Until `held_until`
    (Unix seconds by the API server's clock) its policy changes nothing, since a human changed the
    number in `held_by`. A hold is the same one while `held_by` and `held_at` are, however its end
    moves with a clock that is set: `held_at` is when it began, as the clock said then.
    """

    intent: Intent | None = None
    landings: tuple[Landing, ...] = ()
    held_until: float = 0.0
    held_by: str = ""
    held_at: float = 0.0
    lowered: tuple[tuple[float, int], ...] = ()
    """Counts that a policy left downwards, each with when (Unix seconds by the API server's
    clock): what slows it down."""
    past: Past = NO_PAST
    own: int | None = None
    """The number on the tracked branch that was taken in, where another branch's lies over it."""
    held_seconds: float = 0.0
    """How long the hold was to last by the Config of its commit, 0 where a record does not tell."""
    waits_by: str = ""
    """The commit of a person whose number waits for the end of a freeze, "" for none."""
    waits_back: bool = False
    """Whether the branch came to `waits_by` other than forward."""
    last: Step | None = None
    """What a policy decided last, with all that shaped it: it stays when the count has landed."""
    undone: tuple[Step, ...] = ()
    """Steps that led back to the number in Git before a commit told them: the next one does."""
    unlisted: tuple[int, int] | None = None
    """Of a count that stood nowhere in Git: what acted, and what our first line of it said."""
    went_back: bool = False
    """Whether the branch came to `held_by` other than forward: the number may be an older one."""

    @property
    def held_why(self) -> str:
        """Why its policy changes nothing until `held_until`."""
        if not self.went_back:
            return f"the number was set by hand in {self.held_by[:12]}"
        return (
            f"the branch moved to {self.held_by[:12]}, and not forward (a force-push, or a Git "
            "host whose replicas lag)"
        )


NO_SCALING = Scaling()
"""Nothing was decided, pushed or held."""


@dataclass(frozen=True, slots=True)
class HeadCount:
    """What the head of the branch says of one workload's count.

    `human` is the newest commit that changed the number since the head that was judged before,
    and that we did not push; "" where there is none. `asked` is the number that it writes, where
    another branch's lies over it (ADR 17), and `own` the one that stands there. `accepted` is the
    number that was taken in before, None where none was; `foreign` is the head's id where no
    commit since then is ours, else "": then a number that is another now is a person's, whoever
    can tell of which commit. The branch `went_back` where it came to `human`, or else to
    `foreign`, not forward.
    """

    replicas: int
    autoscaling: Autoscaling | None
    suspended: bool = False
    human: str = ""
    asked: int | None = None
    own: int | None = None
    accepted: int | None = None
    foreign: str = ""
    went_back: bool = False

    @property
    def acts(self) -> bool:
        """Whether a policy may change the count."""
        return self.is_moved and not self.suspended

    @property
    def is_moved(self) -> bool:
        """Whether a policy is switched on, though the workload may be suspended."""
        return self.autoscaling is not None and self.autoscaling.enabled


@dataclass(frozen=True, slots=True)
class Passage:
    """A commit of somebody else between two heads, and the number there, None for no workload.

    `before` are the numbers of its parents, in their order. Where the branch `went_back` to it, not
    forward, they are those of the head before, none where that is not there any more: nobody says
    that the number is new, it may stand there by a commit of ours.
    """

    commit: str
    after: int | None
    before: tuple[int | None, ...]
    went_back: bool = False


Fate = Literal["none", "kept", "landed", "rebased", "overruled", "off", "human"]
"""What became of an intent at a head."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A count that was decided and that a head took back: `number` is what the head says.

    `commit` is the human's that changed the number, "" where none did; `by` is its author, who
    need not have written the number where the branch `went_back` to it.
    """

    key: WorkloadKey
    value: int
    number: int
    fate: Fate
    commit: str = ""
    by: str = ""
    went_back: bool = False

    def __str__(self) -> str:
        """Say it in a sentence."""
        lost = f"{self.value}, which was decided, is dropped"
        if self.fate == "human" and self.went_back:
            there = f"{self.commit[:12]}, and not forward, which says {self.number}"
            return f"the branch moved to {there}: {lost}"
        if self.fate == "human":
            return f"{self.by or 'somebody'} set {self.number} in commit {self.commit[:12]}: {lost}"
        if self.fate == "off":
            return f"no policy may change the count any more: {self.number} as Git says, {lost}"
        return f"Git says {self.number}, and nobody knows of whom: {lost}"
