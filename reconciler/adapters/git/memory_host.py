"""The far side of a repository in memory: commits, branches, and faults to order."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from reconciler.model.errors import Conflict, Denied, Misconfigured, PortError, Unavailable

Files = Mapping[str, str | bytes | None]


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: all its files, and what a head says."""

    identity: str
    parents: tuple[str, ...]
    files: Mapping[str, bytes]
    author: str
    subject: str
    """The whole message."""
    committed_at: float
    email: str = "memory@example.test"
    signed_by: str = ""
    """The public key that it is signed with, as it stands in an allowed_signers file."""


@dataclass(frozen=True, slots=True)
class Move:
    """A push of ours that was taken; `before` is "" where the branch was made."""

    branch: str
    before: str
    after: str
    forced: bool


@dataclass(slots=True)
class MemoryHost:
    """A Git host. `fault` is what every fetch and push raises; None when it is well.

    `refusal` is what every push raises, `protected` the sentence with which a branch takes none.
    Each of `rivals` lands on the branch just before a push of ours: a lost race. After
    `lost_answers` pushes to come nobody hears that they were taken; if it `falls` the host is down
    from then on. `moves` is the reflog.
    """

    branches: dict[str, str] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)
    fault: PortError | None = None
    refusal: PortError | None = None
    protected: dict[str, str] = field(default_factory=dict)
    rivals: list[Files] = field(default_factory=list)
    lost_answers: int = 0
    falls: bool = False
    moves: list[Move] = field(default_factory=list)

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
        self.fault = self.refusal = None
        self.falls = False
        self.protected.clear()

    def take(self, commit: str, branch: str, expected: str) -> None:
        """Take a push: the branch must stand at `expected`, "" for not there.

        Raises Conflict, Denied, Misconfigured, and what was ordered.
        """
        for fault in (self.fault, self.refusal):
            if fault is not None:
                raise fault
        if self.rivals:
            self.commit(self.rivals.pop(0), "rival", branch=branch)
        if branch in self.protected:
            raise Denied(f"the Git host refuses the push to {branch!r}: {self.protected[branch]}")
        before = self.branches.get(branch, "")
        if self.holds(branch, commit):
            return
        if expected and not before:
            raise Misconfigured(f"there is no branch {branch!r}: name one that is, or push it")
        if before != expected:
            raise Conflict(f"branch {branch!r} does not stand at {expected[:12] or 'nothing'}")
        forced = bool(before) and before not in self.ancestors(commit)
        self.moves.append(Move(branch, before, commit, forced))
        self.branches[branch] = commit
        if self.lost_answers:
            self.lost_answers -= 1
            if self.falls:
                self.down()
            raise Unavailable("the connection ended before the Git host had answered")

    def holds(self, branch: str, commit: str) -> bool:
        """Tell whether a commit is on a branch."""
        tip = self.branches.get(branch)
        return tip is not None and commit in self.ancestors(tip)

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
        content = sorted((path, git_id(text)) for path, text in files.items())
        identity = git_id(repr((parents, content, subject, now, len(self.commits))).encode())
        self.commits[identity] = Commit(identity, parents, files, "memory", subject, now)
        self.branches[branch] = identity
        return identity


def git_id(content: bytes) -> str:
    """Return the id that git gives to a blob."""
    whole = b"blob %d\0%s" % (len(content), content)
    return hashlib.sha1(whole, usedforsecurity=False).hexdigest()
