"""A repository in memory for tests of the loop, held to the real one by the contract suite.

`MemoryHost` is the far side: commits, branches, faults. `MemoryRepository` is a mirror of it and
sees only what it fetched.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from reconciler.adapters.git.signatures import NOT_SIGNED
from reconciler.adapters.git.trailers import COMMITS_LIMIT, approved
from reconciler.adapters.git.urls import check_revision
from reconciler.model.errors import Denied, Misconfigured, PortError, Unavailable
from reconciler.model.trailers import History, SignedCommit, Signer
from reconciler.model.trees import Entry, EntryKind, Head, Merged, Relation, Tree

Files = Mapping[str, str | bytes | None]


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: all its files, and what a head says."""

    identity: str
    parents: tuple[str, ...]
    files: Mapping[str, bytes]
    author: str
    subject: str
    committed_at: float
    signed_by: str = ""
    """The public key that it is signed with, as it stands in an allowed_signers file."""


@dataclass(slots=True)
class MemoryHost:
    """A Git host. `fault` is what every fetch raises; None when it is well."""

    branches: dict[str, str] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)
    fault: PortError | None = None

    def commit(
        self,
        changes: Files,
        subject: str = "change",
        *,
        branch: str = "main",
        now: float = 0.0,
        signed_by: str = "",
    ) -> str:
        """Commit on top of `branch`: text or bytes to write by path, None to remove a path."""
        parent = self.branches.get(branch)
        files = dict(self.commits[parent].files) if parent else {}
        for path, content in changes.items():
            if content is None:
                files.pop(path, None)
            else:
                files[path] = content.encode() if isinstance(content, str) else content
        commit = self._land(branch, (parent,) if parent else (), files, subject, now)
        self.commits[commit] = replace(self.commits[commit], signed_by=signed_by)
        return commit

    def branch(self, name: str, commit: str) -> None:
        """Set a branch to a commit, wherever it was: also a force-push."""
        self.branches[name] = self.commits[commit].identity

    def rewrite(self, files: Files, subject: str = "rewrite", *, branch: str = "main") -> str:
        """Force-push a commit without parents that holds exactly `files`."""
        kept = {
            path: content.encode() if isinstance(content, str) else content
            for path, content in files.items()
            if content is not None
        }
        return self._land(branch, (), kept, subject, 0.0)

    def down(self) -> None:
        """Answer nothing from now on."""
        self.fault = Unavailable("the Git host does not answer")

    def denied(self) -> None:
        """Refuse the credentials from now on."""
        self.fault = Denied("the Git host refuses the credentials")

    def vanish(self) -> None:
        """Say that there is no such repository from now on."""
        self.fault = Misconfigured("there is no such repository")

    def heal(self) -> None:
        """Be well again."""
        self.fault = None

    def ancestors(self, commit: str) -> frozenset[str]:
        """Return a commit and all that it comes from."""
        found: set[str] = set()
        open_ends = [commit]
        while open_ends:
            identity = open_ends.pop()
            if identity not in found:
                found.add(identity)
                open_ends.extend(self.commits[identity].parents)
        return frozenset(found)

    def _land(
        self,
        branch: str,
        parents: tuple[str, ...],
        files: Mapping[str, bytes],
        subject: str,
        now: float,
    ) -> str:
        content = sorted((path, _identity(text)) for path, text in files.items())
        identity = _identity(repr((parents, content, subject, now, len(self.commits))).encode())
        self.commits[identity] = Commit(identity, parents, files, "memory", subject, now)
        self.branches[branch] = identity
        return identity


class MemoryRepository:
    """The port `Repository` over a MemoryHost. Merges are by whole files, not by lines."""

    def __init__(self, host: MemoryHost, branch: str = "main") -> None:
        self._host = host
        self._branch = branch
        self._tip = ""
        self._known: set[str] = set()

    async def fetch(self) -> Head:
        """Follow the tracked branch. Raises the host's fault, Misconfigured without a branch."""
        if self._host.fault is not None:
            raise self._host.fault
        tip = self._host.branches.get(self._branch)
        if tip is None:
            raise Misconfigured(f"there is no branch {self._branch!r}: name one that is")
        self._tip = tip
        self._known |= self._host.ancestors(tip)
        commit = self._host.commits[tip]
        subject = commit.subject.partition("\n")[0]
        return Head(tip, self._branch, commit.author, subject, commit.committed_at)

    async def tree(self, revision: str) -> Tree:
        """Read a commit that was fetched. Raises Misconfigured."""
        commit = self._host.commits[self._resolved(revision)]
        return replace(_tree(commit.files), commit=commit.identity, parents=commit.parents)

    async def resolve(self, revision: str) -> str:
        """Return the commit id of a revision. Raises Misconfigured when there is none."""
        return self._resolved(revision)

    async def relation(self, old: str, new: str) -> Relation:
        """Say how `new` stands to `old`."""
        latest = self._resolved(new)
        if old not in self._known:
            return Relation.UNKNOWN
        if old == latest:
            return Relation.SAME
        ancestors = self._host.ancestors(latest)
        return Relation.FORWARD if old in ancestors else Relation.DIVERGED

    async def history(self, base: str, head: str, signers: str, now: float) -> History:
        """Read the commits of `base..head`, what they approve and who signed them."""
        relation = await self.relation(base, head)
        if relation not in (Relation.SAME, Relation.FORWARD):
            return History(problem=f"commit {base[:12]} is no ancestor of {head[:12]}")
        between = self._host.ancestors(self._resolved(head)) - self._host.ancestors(base)
        newest = sorted(between, key=lambda name: -len(self._host.ancestors(name)))
        if len(newest) > COMMITS_LIMIT:
            return History(problem=f"more than {COMMITS_LIMIT} commits since {base[:12]}")
        allowed = await asyncio.to_thread(_allowed, signers)
        return History(tuple(self._signed(self._host.commits[name], allowed) for name in newest))

    async def merge(self, base: str, head: str) -> Merged:
        """Return the tree of merging `head` into `base`, or the paths that conflict."""
        ours, theirs = self._resolved(base), self._resolved(head)
        shared = self._host.ancestors(ours) & self._host.ancestors(theirs)
        if not shared:
            raise Misconfigured(f"{base} and {head} have no common ancestor")
        youngest = max(shared, key=lambda identity: len(self._host.ancestors(identity)))
        files, conflicts = _merged(*(self._host.commits[c].files for c in (youngest, ours, theirs)))
        if conflicts:
            return Merged(None, conflicts)
        return Merged(replace(_tree(files), parents=(ours, theirs)))

    async def close(self) -> None:
        """Do nothing: there is no process."""

    def _signed(self, commit: Commit, allowed: Mapping[str, Signer]) -> SignedCommit:
        parent = commit.parents[0] if len(commit.parents) == 1 else ""
        same = bool(parent) and self._host.commits[parent].files == commit.files
        problem = "signed with a key that is not allowed" if commit.signed_by else NOT_SIGNED
        signer = allowed.get(commit.signed_by)
        return SignedCommit(
            commit.identity,
            parent,
            not same,
            approved(commit.subject.encode()),
            signer,
            "" if signer else problem,
        )

    def _resolved(self, revision: str) -> str:
        check_revision(revision)
        named = self._tip if revision in ("HEAD", self._branch) else revision
        if named not in self._known:
            raise Misconfigured(f"there is no revision {revision!r}: fetch it first")
        return named


def _allowed(signers: str) -> Mapping[str, Signer]:
    """Read `principals type key` lines of an allowed_signers file, by the key."""
    with open(signers, encoding="utf-8") as stream:
        rows = [line.split() for line in stream if line.strip()]
    return {
        f"{kind} {key}": Signer(tuple(principals.split(",")), key)
        for principals, kind, key, *_ in rows
    }


def _identity(content: bytes) -> str:
    whole = b"blob %d\0%s" % (len(content), content)
    return hashlib.sha1(whole, usedforsecurity=False).hexdigest()


def _tree(files: Mapping[str, bytes]) -> Tree:
    entries = {
        path: Entry(EntryKind.FILE, _identity(content), len(content), content)
        for path, content in files.items()
        if path.endswith((".yaml", ".yml"))
    }
    return Tree("", entries, frozenset(_directories(files)))


def _directories(paths: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _merged(
    base: Mapping[str, bytes], ours: Mapping[str, bytes], theirs: Mapping[str, bytes]
) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    files: dict[str, bytes] = {}
    conflicts: list[str] = []
    for path in sorted({*base, *ours, *theirs}):
        before, left, right = base.get(path), ours.get(path), theirs.get(path)
        if left not in (before, right) and right != before:
            conflicts.append(path)
            continue
        chosen = right if left == before else left
        if chosen is not None:
            files[path] = chosen
    return files, tuple(conflicts)
