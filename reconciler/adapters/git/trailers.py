"""Commits between two: what they change, approve, and who signed them. Child process only."""

import re
from collections.abc import Mapping

from reconciler.adapters.git.commits import header, split, texts
from reconciler.adapters.git.objects import Objects
from reconciler.adapters.git.signatures import Signatures, Unverifiable
from reconciler.model.trailers import History, SignedCommit
from reconciler.model.trees import Relation

COMMITS_LIMIT = 100
COMMIT_LIMIT_BYTES = 64 * 1024
_TRAILER = re.compile(rb"gamekeeper-approve[ \t]*:[ \t]*([0-9a-f]{12})[ \t]*", re.IGNORECASE)
_TRAILERS_LIMIT = 10


def history(objects: Objects, base: str, head: str, signers_file: str, now: float) -> History:
    """Read the commits of `base..head`, newest first, and check their signatures.

    They are checked with ssh-keygen, not by git, which would take the time of the signature and
    the program to check it with from the commit and from configuration. `now` is Unix seconds.
    What nobody approves is not checked at all. Raises Damaged, PortError.
    """
    relation = objects.relation(base, head)
    if relation not in (Relation.SAME, Relation.FORWARD):
        return History(problem=f"commit {base[:12]} is no ancestor of {head[:12]}")
    commands = objects.commands
    bound = f"--max-count={COMMITS_LIMIT + 1}"
    listed = commands.read(
        "rev-list", bound, "--topo-order", "--end-of-options", f"{base}..{head}", "--"
    )
    identities = listed.decode().split()
    if len(identities) > COMMITS_LIMIT:
        return History(problem=f"more than {COMMITS_LIMIT} commits since {base[:12]}")
    found = texts(objects, identities, COMMIT_LIMIT_BYTES)
    parents = {name for text in found.values() for name in header(text, b"parent")}
    found |= texts(objects, sorted(parents - found.keys()), COMMIT_LIMIT_BYTES)
    if any(not text for text in found.values()):
        return History(problem=f"a commit is larger than {COMMIT_LIMIT_BYTES // 1024} KiB")
    commits = [_described(identity, found) for identity in identities]
    if not any(commit.approves for commit in commits):
        return History(tuple(commits))
    try:
        with Signatures.with_signers(signers_file, now) as signatures:
            checked = tuple(_checked(commit, found, signatures) for commit in commits)
    except Unverifiable as error:
        return History(problem=str(error))
    return History(checked)


def _described(identity: str, found: Mapping[str, bytes]) -> SignedCommit:
    parents = header(found[identity], b"parent")
    parent = parents[0] if len(parents) == 1 else ""
    trees = header(found[identity], b"tree")
    same = bool(parent) and trees == header(found[parent], b"tree")
    return SignedCommit(
        identity,
        parent,
        not same,
        approved(found[identity].partition(b"\n\n")[2]),
        None,
        "not checked",
    )


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
