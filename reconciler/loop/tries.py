"""What became of the pushes of one committer: of which of them nothing is on the branch."""

from dataclasses import dataclass, field

from reconciler.core import intents
from reconciler.model.errors import Conflict, PortError
from reconciler.model.intents import Intent
from reconciler.model.refs import WorkloadKey

Place = tuple[str, str]
"""A branch, and the commit that it stands at when a push begins, "" where it is not there yet."""
_NOWHERE = ("", "")
SAID_KEPT = 10
"""More of them at one time are those of a host that takes everything and moves nothing."""


@dataclass(slots=True)
class Tries:
    """What one committer put on record for pushes that did not, or may not, reach the branch.

    `raced` is pushed again after a lost race. `lost` are ids of commits that never got there;
    those whose push may come there yet are `unanswered`, each with its place and when (by the
    clock that never jumps): what stands between us and the host may say no to one that the host
    took. `taken` is the last one that the host said it took, at `taken_at`. `recorded_at` is when
    this committer put an id on record: another time there is another process' (both Unix seconds).
    """

    raced: dict[WorkloadKey, Intent] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    unanswered: dict[str, tuple[Place, float]] = field(default_factory=dict)
    taken: tuple[str, Place] = ("", _NOWHERE)
    said: tuple[str, ...] = ()
    """Those of the unanswered that the host said it took: a copy of it may tell much later."""
    own: tuple[str, ...] = ()
    """Ids that this process put on record in this term: of others it cannot tell what became."""
    taken_at: float = 0.0
    recorded_at: float = 0.0

    def begin_term(self) -> None:
        """Withdraw nothing of an earlier term: whoever led in between may have pushed it too."""
        self.raced.clear()
        self.own = ()

    def begun(self, place: Place, elapsed: float) -> None:
        """Judge what the host took last, where the next one goes to `place`.

        It stands there no longer, or never did, where that is where it went to: nobody knows then
        whether it comes.
        """
        commit, on = self.taken
        self.taken = "", _NOWHERE
        if commit and on == place:
            self.unanswered[commit] = on, elapsed
            self.said = (*self.said, commit)[-SAID_KEPT:]
        elif commit and on[0] == place[0]:
            self.unanswered = {
                each: tried for each, tried in self.unanswered.items() if tried[0][0] != on[0]
            }

    def took(self, commit: str, place: Place, now: float) -> None:
        """Remember that the host said that it took a commit."""
        self.taken, self.taken_at = (commit, place), now

    def failed(self, error: PortError, commit: str, place: Place, elapsed: float) -> None:
        """Remember what became of a push that failed: only a lost race says it is not there."""
        if not isinstance(error, Conflict):
            self.unanswered[commit] = place, elapsed
        elif commit not in self.unanswered:
            self.lost.add(commit)

    def overtaken(self, place: Place) -> list[str]:
        """Return the unanswered ids over which the branch has moved: it holds each, or never will.

        We push forward only, each from the very commit that it was made of; one that makes the
        branch may come for as long as that is not there, whatever happens to the tracked one.
        """
        branch, at = place
        return [
            commit for commit, ((to, on), _) in self.unanswered.items() if to == branch and on != at
        ]

    def answered(self, commit: str, *, stands: bool) -> None:
        """Remember what became of a push that nobody answered, now that the branch tells it."""
        del self.unanswered[commit]
        if not stands:
            self.lost.add(commit)

    def ended(self, elapsed: float) -> set[str]:
        """Return the ids of which nothing can come any more."""
        old = {
            commit
            for commit, (_, at) in self.unanswered.items()
            if commit not in self.said and elapsed - at > intents.UNANSWERED_SECONDS
        }
        return self.lost | old
