"""What became of the pushes of one committer: of which of them nothing is on the branch."""

from dataclasses import dataclass, field

from reconciler.core import intents
from reconciler.model.errors import PortError, Unavailable
from reconciler.model.intents import Intent
from reconciler.model.refs import WorkloadKey


@dataclass(slots=True)
class Tries:
    """What one committer put on record for pushes that did not, or may not, reach the branch.

    `raced` is pushed again after a lost race. `lost` are ids of commits that never got there;
    those whose push nobody answered are `unanswered`, each with its base and when (Unix seconds).
    `taken` is the last one that the host said it took, at `taken_at`. `recorded_at` is when this
    committer put an id on record: another time there is another process'.
    """

    raced: dict[WorkloadKey, Intent] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    unanswered: dict[str, tuple[str, float]] = field(default_factory=dict)
    taken: tuple[str, str] = ("", "")
    taken_at: float = 0.0
    recorded_at: float = 0.0

    def begun(self, base: str) -> None:
        """Judge what the host took last, where `base` is built upon now.

        It stands there no longer, or never did, where that is what it was built upon: nobody
        knows then whether it comes.
        """
        commit, on = self.taken
        self.taken = "", ""
        if commit and on == base:
            self.unanswered[commit] = on, self.taken_at
        elif commit:
            self.unanswered.clear()

    def took(self, commit: str, base: str, now: float) -> None:
        """Remember that the host said that it took a commit onto `base`."""
        self.taken, self.taken_at = (commit, base), now

    def failed(self, error: PortError, commit: str, base: str, now: float) -> None:
        """Remember what became of a push onto `base` that failed."""
        if isinstance(error, Unavailable):
            self.unanswered[commit] = base, now
        elif commit not in self.unanswered:
            self.lost.add(commit)

    def overtaken(self, base: str) -> list[str]:
        """Return the unanswered ids over which the branch has moved: it holds each, or never will.

        We push forward only, each from the very commit that it was made of.
        """
        return [commit for commit, (on, _) in self.unanswered.items() if on != base]

    def answered(self, commit: str, *, stands: bool) -> None:
        """Remember what became of a push that nobody answered, now that the branch tells it."""
        del self.unanswered[commit]
        if not stands:
            self.lost.add(commit)

    def ended(self, base: str, now: float) -> set[str]:
        """Return the ids of which nothing can come any more, where the branch stands at `base`."""
        old = {
            commit
            for commit, (on, at) in self.unanswered.items()
            if on == base and abs(now - at) > intents.UNANSWERED_SECONDS
        }
        return self.lost | old
