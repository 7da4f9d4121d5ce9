"""Whose word a head is: what its signatures amount to, and what lets an unsigned one through.

An unsigned head waits as a whole; the last accepted one stays in effect (ADR 23).
"""

from collections.abc import Mapping
from dataclasses import replace

from reconciler.core.approval import APPROVAL_SECONDS, Approval
from reconciler.core.change import hash_of_lines
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.readings import Reading
from reconciler.model.records import RepositoryRecord
from reconciler.model.signatures import SigningRules, Verification, Vouched

UNSIGNED_COUNTS = (
    "signatures are asked for (--verify-commits), and counts are committed without one: this "
    "process knows its own commits by their ids, and nobody else does, nor it when its record is "
    "lost. Set --commit-signing, and add its key to those that are allowed"
)

_NO_RECORD = (
    "No commit that was vouched for is on record: where that was lost, the ids of Gamekeeper's own "
    "commits are lost with it, and one of them that is not signed waits like anybody's. "
)


def accepted_since(record: RepositoryRecord, url: str) -> str:
    """Return the commit from which signatures are looked at, "" where the head comes first.

    A commit that was accepted while nobody asked, or of another repository, vouches for nothing.
    """
    return record.commit if record.verified and record.repository == url else ""


def vouched(found: Verification, branch: str, rules: SigningRules, since: str) -> Vouched:
    """Say what was found of a branch since an accepted commit."""
    if not found.unsigned and not found.cut:
        return Vouched(found.by, since=since)
    lines = [f"unsigned {each.commit}" for each in found.unsigned]
    if found.cut:
        lines = [f"not looked at {found.tip}"]
    problem = f"{_what(found, branch)}; nothing of this head acts. {_remedy(found, rules, since)}"
    return Vouched("", problem, hash_of_lines(lines), since)


def let_through(head: Vouched, given: Mapping[str, Approval], now: float) -> Vouched:
    """Return a head that waits as one that acts where somebody approved it within the hour."""
    names = [
        name
        for name, approval in given.items()
        if approval.change_hash == head.change_hash and abs(now - approval.at) < APPROVAL_SECONDS
    ]
    if not head.problem or not names:
        return head
    by = ", ".join(sorted({given[name].by or "somebody" for name in names}))
    return Vouched(f"approved by {by}", since=head.since, approvals=frozenset(names))


def used(record: RepositoryRecord, head: Reading) -> frozenset[str]:
    """Return the approvals that are used up: what they let through is the accepted head now."""
    return head.vouched.approvals if record.commit == head.commit else frozenset()


def both(tracked: Vouched, counts: Vouched) -> Vouched:
    """Return whose word a head is with the branch of counts that lies over it."""
    if counts.problem:
        return counts
    return replace(tracked, approvals=tracked.approvals | counts.approvals)


def remarks(reading: Reading, *, signs: bool) -> tuple[Hold, ...]:
    """Say that nobody but us could verify the counts that we commit; `signs` is whether any can."""
    config = reading.config
    scaled = any(workload.autoscaling for workload in reading.workloads.values())
    if signs or config is None or config.write_back.mode == "off" or not scaled:
        return ()
    return (Hold(HoldKind.UNSIGNED_COUNTS, None, UNSIGNED_COUNTS),)


def _what(found: Verification, branch: str) -> str:
    if not found.unsigned:
        return f"more commits came to {branch} at once than are looked at"
    first = found.unsigned[0]
    others = len(found.unsigned) - 1
    more = f", and {others}{' or more' if found.cut else ''} beneath it likewise" if others else ""
    return f"commit {first.commit[:12]} of {branch} is {first.problem}{more}"


def _remedy(found: Verification, rules: SigningRules, since: str) -> str:
    if not since:
        return f"{_NO_RECORD}Push a commit that an allowed key signed"
    if not rules.strict:
        return "Push a commit that an allowed key signed"
    # The newest comes first. What lies beneath the last, a commit of ours perhaps, keeps its id.
    all_known = bool(found.unsigned) and not found.cut
    base = f"{found.unsigned[-1].commit[:12]}^" if all_known else since[:12]
    return f"Sign them anew (git rebase --force-rebase --gpg-sign {base}) and force-push"
