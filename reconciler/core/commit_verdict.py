"""What became of the newest commit, as a code host shows it beside it."""

from collections.abc import Iterable, Iterator

from reconciler.core.news import digest, topic_of
from reconciler.core.news_text import plain
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.notifications import CommitState, Topic, Verdict

LONGEST_DESCRIPTION = 140
"""GitHub's limit; the others take more."""
_WHOLE = frozenset({HoldKind.CONFIG, HoldKind.UNREADABLE})
"""Nothing, or no deletion, of the commit can be told."""
_IN_THE_WAY = frozenset(
    {HoldKind.FAILING, HoldKind.NEEDS_INTERVENTION, HoldKind.FOREIGN, HoldKind.CROWDED_PORTS}
)
"""What keeps a running workload from what the commit says."""


def verdict_of(
    commit: str, head: Iterable[Hold], plans: Iterable[Hold], is_applied: bool
) -> Verdict:
    """Return the verdict on a commit: what is held of it, else how far it is applied."""
    held = tuple(_told(head))
    if held:
        # What can be approved first: that is what waits for a person.
        first = min(held, key=lambda hold: (topic_of(hold.kind) is not Topic.REFUSED, hold.reason))
        state = CommitState.ERROR if first.kind in _WHOLE else CommitState.FAILURE
        return _held(commit, state, first, first.change_hash or digest(first.reason))
    if is_applied:
        return Verdict(commit, CommitState.SUCCESS, "every workload is as Git says", "")
    stuck = sorted(hold for hold in plans if hold.kind in _IN_THE_WAY)
    if stuck:
        return _held(commit, CommitState.FAILURE, stuck[0], str(stuck[0].key))
    return Verdict(commit, CommitState.PENDING, "being applied", "")


def _told(head: Iterable[Hold]) -> Iterator[Hold]:
    return (hold for hold in head if topic_of(hold.kind) is not None)


def _held(commit: str, state: CommitState, hold: Hold, identity: str) -> Verdict:
    word = "refused" if topic_of(hold.kind) is Topic.REFUSED else "held"
    about = f" {hold.key}" if hold.key and str(hold.key) not in hold.reason else ""
    description = plain(f"{word}{about}: {hold.reason}", LONGEST_DESCRIPTION)
    return Verdict(commit, state, description, digest(hold.kind, identity))
