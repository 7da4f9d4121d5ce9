"""Commits between two: what they change, approve, and who signed them. Child process only."""

import re
from collections.abc import Mapping

from reconciler.adapters.git.failures import Damaged
from reconciler.adapters.git.objects import Objects, object_id
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
    texts = _texts(objects, identities)
    parents = {name for text in texts.values() for name in _header(text, b"parent")}
    texts |= _texts(objects, sorted(parents - texts.keys()))
    if any(not text for text in texts.values()):
        return History(problem=f"a commit is larger than {COMMIT_LIMIT_BYTES // 1024} KiB")
    commits = [_described(identity, texts) for identity in identities]
    if not any(commit.approves for commit in commits):
        return History(tuple(commits))
    try:
        with Signatures(signers_file, now) as signatures:
            checked = tuple(_checked(commit, texts, signatures) for commit in commits)
    except Unverifiable as error:
        return History(problem=str(error))
    return History(checked)


def _texts(objects: Objects, identities: list[str]) -> dict[str, bytes]:
    """Read commits as they are stored, each checked against its id; too large ones are empty."""
    if not identities:
        return {}
    asked = "".join(f"{identity}\n" for identity in identities).encode()
    sizes = objects.commands.read("cat-file", "--batch-check", stdin=asked).splitlines()
    found: dict[str, bytes] = {}
    small: list[str] = []
    for identity, line in zip(identities, sizes, strict=True):
        words = line.split()
        if len(words) != 3 or words[1] != b"commit":
            raise Damaged(f"commit {identity} cannot be read")
        if int(words[2]) > COMMIT_LIMIT_BYTES:
            found[identity] = b""
        else:
            small.append(identity)
    asked = "".join(f"{identity}\n" for identity in small).encode()
    output, at = objects.commands.read("cat-file", "--batch", stdin=asked), 0
    for identity in small:
        end = output.find(b"\n", at)
        size = int(output[at:end].split()[2])
        found[identity] = output[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
        if object_id("commit", found[identity], len(identity)) != identity:
            raise Damaged(f"commit {identity} has other content")
    return found


def _header(text: bytes, name: bytes) -> list[str]:
    lines = text.partition(b"\n\n")[0].split(b"\n")
    return [
        line[len(name) + 1 :].decode("ascii", "replace")
        for line in lines
        if line.startswith(name + b" ")
    ]


def _described(identity: str, texts: Mapping[str, bytes]) -> SignedCommit:
    parents = _header(texts[identity], b"parent")
    parent = parents[0] if len(parents) == 1 else ""
    trees = _header(texts[identity], b"tree")
    same = bool(parent) and trees == _header(texts[parent], b"tree")
    return SignedCommit(
        identity,
        parent,
        not same,
        approved(texts[identity].partition(b"\n\n")[2]),
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
    commit: SignedCommit, texts: Mapping[str, bytes], signatures: Signatures
) -> SignedCommit:
    if not commit.changes and not commit.approves:
        return commit
    signer, problem = signatures.signer(texts[commit.commit])
    return SignedCommit(
        commit.commit, commit.parent, commit.changes, commit.approves, signer, problem
    )
