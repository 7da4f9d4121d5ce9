"""Approvals by a signed trailer: which of them count (ADR 8)."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from reconciler.core.approval import Approval
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.records import Endorsement, RepositoryRecord
from reconciler.model.trailers import History, SignedCommit

TRAILER = "Gamekeeper-Approve"
ENDORSEMENTS_KEPT = 50


@dataclass(frozen=True, slots=True)
class Endorsed:
    """What the trailers of a head amount to.

    `given` are approvals by name; `doubts` say of the others why they do not count.
    """

    repository: RepositoryRecord
    given: dict[str, Approval]
    doubts: tuple[Hold, ...] = ()


def trailer_line(change_hash: str) -> str:
    """Return the line that a person pastes into a commit."""
    return f"{TRAILER}: {change_hash}"


def invitation(change_hash: str) -> Hold:
    """Say what to write into a commit that lets a held change through."""
    return _doubt(
        "whoever signed no part of what is held may also let all of it through at once, by an "
        f"empty signed commit with the line {trailer_line(change_hash)}"
    )


def judge(history: History, repository: RepositoryRecord, now: float) -> Endorsed:
    """Judge the trailers that stand at the end of a history; `now` is Unix seconds.

    Only commits that change nothing, with nothing but such commits after them, approve. All
    commits of the history that change something must be signed, and by nobody who approves. Those
    of ours, by their ids, are neither: they move counts, and none of what is held.
    """
    if history.problem:
        return Endorsed(repository, {}, (_doubt(f"no trailer counts: {history.problem}"),))
    ours = frozenset(repository.pushed)
    makers = tuple(each for each in history.commits if each.changes and each.commit not in ours)
    offered = {offer.change_hash for offer in repository.offers}
    # Seen in the future, by a clock that was set back since: its hour begins now.
    known_now = (replace(item, at=min(item.at, now)) for item in repository.endorsements)
    seen = {(item.commit, item.change_hash): item for item in known_now}
    given: dict[str, Approval] = {}
    doubts = []
    at_the_end = {commit.commit for commit in _approving(history.commits, ours)}
    for commit in history.commits:
        counted = any((commit.commit, change_hash) in seen for change_hash in commit.approves)
        if counted and commit.commit not in at_the_end:
            continue  # it was judged when it stood there
        problem = _misplaced(commit, at_the_end) or _problem(commit, makers)
        for change_hash in commit.approves:
            known = seen.get((commit.commit, change_hash))
            why = problem or _worn(known) or _unknown(change_hash, offered)
            if why:
                doubts.append(_doubt(f"{_named(commit, change_hash)} does not count: {why}"))
            elif commit.signer:
                by = f"{commit.signer.name} in commit {commit.commit[:12]}"
                fresh = Endorsement(commit.commit, change_hash, by, now)
                item = seen.setdefault((commit.commit, change_hash), fresh)
                given[item.name] = Approval(change_hash, item.by, item.at)
    kept = tuple(seen.values())[-ENDORSEMENTS_KEPT:]
    return Endorsed(replace(repository, endorsements=kept), given, tuple(doubts))


def spend(repository: RepositoryRecord, used: Collection[str]) -> RepositoryRecord:
    """Remember which trailers let their change through, or expired: none does so twice."""
    endorsements = tuple(
        replace(item, spent=True) if item.name in used else item for item in repository.endorsements
    )
    return replace(repository, endorsements=endorsements)


def _approving(commits: tuple[SignedCommit, ...], ours: Collection[str]) -> Iterator[SignedCommit]:
    """Yield the commits at the end of a history that change nothing and approve something."""
    by_id = {commit.commit: commit for commit in commits}
    commit = commits[0] if commits else None
    while commit is not None and (commit.commit in ours or not commit.changes):
        if commit.approves and not commit.changes:
            yield commit
        commit = by_id.get(commit.parent)


def _misplaced(commit: SignedCommit, at_the_end: Collection[str]) -> str:
    if commit.commit in at_the_end:
        return ""
    why = "the commit changes something" if commit.changes else "a later commit changes something"
    return f"{why}, and only empty commits at the end of the branch approve: push one"


def _problem(commit: SignedCommit, makers: tuple[SignedCommit, ...]) -> str:
    if commit.signer is None:
        return f"it is {commit.problem}"
    if not makers:
        return "no commit since the last head that was wholly in effect changes anything"
    for maker in makers:
        short = maker.commit[:12]
        if maker.signer is None:
            return f"commit {short}, which it would approve, is {maker.problem}"
        if maker.signer.is_same_person(commit.signer):
            return f"{commit.signer.name} signed commit {short} as well, and approves no own change"
    return ""


def _worn(known: Endorsement | None) -> str:
    return "it was used up or has expired; push another commit" if known and known.spent else ""


def _unknown(change_hash: str, offered: Collection[str]) -> str:
    return "" if change_hash in offered else "no change that is asked for has this hash"


def _named(commit: SignedCommit, change_hash: str) -> str:
    return f"{trailer_line(change_hash)} in commit {commit.commit[:12]}"


def _doubt(reason: str) -> Hold:
    return Hold(HoldKind.TRAILER, None, reason)
