"""Commits between two: what they change, approve, and who signed them. Child process only."""

import re
from collections.abc import Mapping, Sequence

from reconciler.adapters.git.commits import header, split, texts, trees
from reconciler.adapters.git.objects import Objects
from reconciler.adapters.git.signatures import Signatures, Unverifiable
from reconciler.model.trailers import History, SignedCommit
from reconciler.model.trees import Relation

COMMITS_LIMIT = 100
COMMIT_LIMIT_BYTES = 64 * 1024
_TRAILER = re.compile(rb"gamekeeper-approve[ \t]*:[ \t]*([0-9a-f]{12})[ \t]*", re.IGNORECASE)
_TRAILERS_LIMIT = 10
_UNCHECKED = "not checked"


def history(
    objects: Objects, base: str, head: str, signers_file: str, now: float, ours: frozenset[str]
) -> History:
    """Read the commits of `base..head`, newest first, and check their signatures.

    They are checked with ssh-keygen, not by git, which would take the time of the signature and
    the program to check it with from the commit and from configuration. `now` is Unix seconds.
    What nobody approves is not checked at all, nor are `ours`. Raises Damaged, PortError.
    """
    relation = objects.relation(base, head)
    if relation not in (Relation.SAME, Relation.FORWARD):
        return History(problem=f"commit {base[:12]} is no ancestor of {head[:12]}")
    commands = objects.commands
    bound = f"--max-count={COMMITS_LIMIT + len(ours) + 1}"
    listed = commands.read(
        "rev-list", bound, "--parents", "--topo-order", "--end-of-options", f"{base}..{head}", "--"
    )
    lines = [line.split() for line in listed.decode().splitlines()]
    theirs = [identity for identity, *_ in lines if identity not in ours]
    if len(theirs) > COMMITS_LIMIT:
        return History(problem=f"more than {COMMITS_LIMIT} commits since {base[:12]}")
    found = texts(objects, theirs, COMMIT_LIMIT_BYTES)
    if any(not text for text in found.values()):
        return History(problem=f"a commit is larger than {COMMIT_LIMIT_BYTES // 1024} KiB")
    # Of a parent only the tree counts: it may be ours, or an older one, and of any size.
    before = trees(objects, sorted({name for name in map(_parent, found.values()) if name}))
    commits = [
        _mine(identity, behind)
        if identity in ours
        else _described(identity, found[identity], before)
        for identity, *behind in lines
    ]
    if not any(commit.approves for commit in commits):
        return History(tuple(commits))
    try:
        with Signatures.with_signers(signers_file, now) as signatures:
            checked = tuple(
                each if each.commit in ours else _checked(each, found, signatures)
                for each in commits
            )
    except Unverifiable as error:
        return History(problem=str(error))
    return History(checked)


def _mine(identity: str, parents: Sequence[str]) -> SignedCommit:
    """Return a commit of ours as it is: it moves counts, and approves nothing."""
    parent = parents[0] if len(parents) == 1 else ""
    return SignedCommit(identity, parent, True, (), None, _UNCHECKED)


def _parent(text: bytes) -> str:
    """Return the parent of a commit that has one, else ""."""
    parents = header(text, b"parent")
    return parents[0] if len(parents) == 1 else ""


def _described(identity: str, text: bytes, before: Mapping[str, str]) -> SignedCommit:
    """Describe a commit; `before` are the trees of the parents, by their ids."""
    parent = _parent(text)
    same = bool(parent) and header(text, b"tree") == [before[parent]]
    approves = approved(text.partition(b"\n\n")[2])
    return SignedCommit(identity, parent, not same, approves, None, _UNCHECKED)


def approved(message: bytes) -> tuple[str, ...]:
    """Return the hashes of a message's trailers; these are its last paragraph, never its first."""
    message = message.strip().replace(b"\r\n", b"\n")
    _, blank, last = message.rpartition(b"\n\n")
    if not blank:
        return ()
    matches = [_TRAILER.fullmatch(line) for line in last.split(b"\n")]
    hashes = [match[1].lower().decode() for match in matches if match]
    return tuple(dict.fromkeys(hashes))[:_TRAILERS_LIMIT]


def _checked(
    commit: SignedCommit, found: Mapping[str, bytes], signatures: Signatures
) -> SignedCommit:
    if not commit.changes and not commit.approves:
        return commit
    signer, problem = signatures.signer(split(found[commit.commit]))
    return SignedCommit(
        commit.commit, commit.parent, commit.changes, commit.approves, signer, problem
    )
