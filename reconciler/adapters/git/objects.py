"""Read trees, blobs, heads and relations from an object store with git. Child process only."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reconciler.adapters.git.commands import Commands, Output, failed
from reconciler.adapters.git.failures import Damaged, one_line
from reconciler.adapters.git.listing import LISTING_LIMIT_BYTES, Listing, parsed_listing
from reconciler.model.errors import Misconfigured
from reconciler.model.trees import Folder, Relation

_USAGE_STATUS = 129
_NO_FOLDERS = {"120000": Folder.SYMLINK, "160000": Folder.SUBMODULE}
_SEVERAL = "is ambiguous"
_WHOLE_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DATE = re.compile(r"[0-9]{1,11}")
"""To the year 5138, which every calendar here has."""
_FORMAT = "%H%x00%P%x00%an%x00%ct%x00%s"


def seconds_of(text: str) -> float:
    """Return when a commit says that it was made, in Unix seconds; 0 where that is no date.

    Git prints nothing for one that it cannot read, and takes one far beyond any calendar.
    """
    return float(text) if _DATE.fullmatch(text) else 0.0


@dataclass(frozen=True, slots=True)
class Objects:
    """An object store; `name` is how people know the repository."""

    commands: Commands
    name: str

    def resolve(self, revision: str) -> str:
        """Return the commit id of a revision. Raises Misconfigured for none, and for several."""
        output = self._parsed(revision)
        if output.status:
            raise Misconfigured(self._no_such(revision))
        name = re.split(r"[~^@:]", revision, maxsplit=1)[0]
        if _SEVERAL in output.stderr and not _WHOLE_ID.fullmatch(name):
            # Git takes the tag, and people mean the branch.
            raise Misconfigured(
                f"{name!r} is the name of more than one reference in {self.name}, a branch and a "
                f"tag, say: write which one, as refs/heads/{name}"
            )
        return output.stdout.decode().strip()

    def find(self, revision: str) -> str | None:
        """Return the commit id of a revision, or None."""
        output = self._parsed(revision)
        return output.stdout.decode().strip() if output.status == 0 else None

    def _parsed(self, revision: str) -> Output:
        return self.commands.run(
            "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}"
        )

    def describe(self, commit: str) -> Mapping[str, Any]:
        """Return commit, parents, author, committed_at and subject."""
        text = self.commands.read(
            "log", "-1", "--no-show-signature", "--no-mailmap", "--no-color", "--encoding=UTF-8",
            f"--format={_FORMAT}", "--end-of-options", commit, "--",
        ).decode("utf-8", "replace")  # fmt: skip
        fields = text.rstrip("\n").split("\0")
        if len(fields) != 5:
            raise Damaged(f"commit {commit} cannot be read")
        identity, parents, author, committed_at, subject = fields
        return {
            "commit": identity,
            "parents": parents.split(),
            "author": one_line(author),
            "committed_at": seconds_of(committed_at),
            "subject": one_line(subject),
        }

    def parents(self, commit: str) -> Sequence[str] | None:
        """Return the parents of a commit, or None where there is no such commit."""
        output = self.commands.run(
            "rev-list", "--parents", "--max-count=1", "--end-of-options", commit, "--"
        )
        return output.stdout.decode().split()[1:] if output.status == 0 else None

    def listing(self, treeish: str, prefix: str = "") -> Listing:
        """List every path below a commit or tree, or below a folder of it.

        Raises Misconfigured past the limits, Damaged.
        """
        for name in filter(None, prefix.split("/")):
            treeish, folder = self._child(treeish, name)
            if folder is not Folder.THERE:
                return Listing(folder=folder)
        arguments = ("ls-tree", "-r", "-z", "-t", "--long", "--full-tree", treeish)
        return parsed_listing(self.commands.read(*arguments, limit_bytes=LISTING_LIMIT_BYTES))

    def _child(self, treeish: str, name: str) -> tuple[str, Folder]:
        """Return the folder of a name in a tree, and what it is. Raises Damaged.

        The tree that names it is read, for to git one that is missing and one that cannot be read
        are the same where it is asked for it by name.
        """
        told = self.commands.read(
            "ls-tree", "-z", "--full-tree", treeish, "--", f":(literal){name}"
        )
        for line in told.split(b"\0")[:-1]:
            attributes, _, found = line.partition(b"\t")
            mode, what, identity = attributes.decode("ascii", "replace").split()
            if found != name.encode():
                continue
            return identity, Folder.THERE if what == "tree" else _NO_FOLDERS.get(mode, Folder.FILE)
        return "", Folder.ABSENT

    def blobs(self, identities: Sequence[str]) -> list[bytes]:
        """Read blobs, each checked against its id. Raises Damaged."""
        asked = "".join(f"{identity}\n" for identity in identities).encode()
        output = self.commands.read("cat-file", "--batch", stdin=asked)
        found: list[bytes] = []
        at = 0
        for identity in identities:
            end = output.find(b"\n", at)
            words = output[at:end].split()
            if end < 0 or len(words) != 3 or words[1] != b"blob":
                raise Damaged(f"blob {identity} cannot be read")
            size = int(words[2])
            content = output[end + 1 : end + 1 + size]
            if blob_id(content, len(identity)) != identity:
                raise Damaged(f"blob {identity} has other content")
            found.append(content)
            at = end + 1 + size + 1
        return found

    def relation(self, old: str, new: str) -> Relation:
        """Say how `new` stands to `old`. Raises Misconfigured when `new` is unknown."""
        latest = self.resolve(new)
        before = self.find(old)
        if before is None:
            return Relation.UNKNOWN
        if before == latest:
            return Relation.SAME
        output = self.commands.run("merge-base", "--is-ancestor", before, latest)
        if output.status > 1:
            raise failed(output)
        return Relation.DIVERGED if output.status else Relation.FORWARD

    def merge(self, base: str, head: str) -> tuple[str | None, tuple[str, ...]]:
        """Merge two commits in the object store: the tree's id, or the paths that conflict."""
        output = self.commands.run(
            "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", base, head
        )
        if output.status == _USAGE_STATUS:
            raise Misconfigured("merging needs git 2.38 or newer: install it")
        if "unrelated histories" in output.stderr:
            raise Misconfigured(self._unrelated(base, head))
        if output.status > 1 or not output.stdout:
            raise failed(output)
        tree, *paths = output.stdout.rstrip(b"\0").split(b"\0")
        if output.status == 0:
            return tree.decode(), ()
        return None, tuple(path.decode("utf-8", "replace") for path in paths)

    def shallow(self) -> bool:
        """Tell whether history was cut off by the clone."""
        output = self.commands.run("rev-parse", "--is-shallow-repository")
        return output.stdout.strip() == b"true"

    def _no_such(self, revision: str) -> str:
        commits = self.commands.run("rev-list", "--all", "--max-count=1")
        if commits.status == 0 and not commits.stdout:
            return f"there is no revision {revision!r} in {self.name}: no commit yet; commit first"
        text = f"there is no revision {revision!r} in {self.name}"
        if self.shallow():
            return f"{text}: it is a shallow clone. {_DEEPEN}"
        return f"{text}: fetch it first (git fetch origin {revision.removeprefix('origin/')})"

    def _unrelated(self, base: str, head: str) -> str:
        text = f"{base[:12]} and {head[:12]} have no common ancestor in {self.name}"
        return f"{text}: it is a shallow clone. {_DEEPEN}" if self.shallow() else text


_DEEPEN = (
    "Fetch the whole history (fetch depth 0): git fetch --unshallow, in GitHub Actions "
    "actions/checkout with fetch-depth: 0, in GitLab GIT_DEPTH: 0"
)


def blob_id(content: bytes, length: int = 40) -> str:
    """Return the id git gives to `content` (a 64 digit one where the repository uses SHA-256)."""
    return object_id("blob", content, length)


def object_id(kind: str, content: bytes, length: int = 40) -> str:
    """Return the id git gives to an object of a kind (blob, commit)."""
    algorithm = "sha256" if length == 64 else "sha1"
    digest = hashlib.new(algorithm, usedforsecurity=False)
    digest.update(b"%s %d\0" % (kind.encode(), len(content)))
    digest.update(content)
    return digest.hexdigest()
