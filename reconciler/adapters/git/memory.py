"""A repository in memory for tests of the loop, held to the real one by the contract suite.

`MemoryHost` is the far side: commits, branches, faults. `MemoryRepository` is a mirror of it and
sees only what it fetched.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from reconciler.adapters.git.folders import check_folder, from_folder, from_top
from reconciler.adapters.git.memory_host import Commit, Files, MemoryHost, git_id
from reconciler.adapters.git.memory_signing import allowed_by, verified
from reconciler.adapters.git.signatures import NOT_ALLOWED, NOT_SIGNED
from reconciler.adapters.git.trailers import COMMITS_LIMIT, approved
from reconciler.adapters.git.urls import check_branch, check_revision
from reconciler.adapters.git.wire import check_change, check_commit, check_path, expected, told
from reconciler.model.errors import Conflict, Misconfigured, Unavailable
from reconciler.model.pushes import Change, Lineage, Logged, Person, Pushed
from reconciler.model.signatures import SigningRules, Span, Verification
from reconciler.model.trailers import History, SignedCommit, Signer
from reconciler.model.trees import Entry, EntryKind, Folder, Head, Merged, Relation, Tree, is_read

__all__ = ["Commit", "Files", "MemoryHost", "MemoryRepository"]


class MemoryRepository:
    """The port `Repository` over a MemoryHost. Merges are by whole files, not by lines.

    Paths are from `path`, a folder of it. Nothing is pushed but while `may_push` says so.
    """

    def __init__(self, host: MemoryHost, branch: str = "main", path: str = "") -> None:
        self._host = host
        self._branch = branch
        self._folder = check_folder(path)
        self._tip = ""
        self._known: set[str] = set()
        self.may_push: Callable[[], bool] = lambda: True

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
        tree = _tree(commit.files, self._folder)
        return replace(tree, commit=commit.identity, parents=commit.parents)

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

    async def history(
        self, base: str, head: str, signers: str, now: float, ours: Collection[str] = ()
    ) -> History:
        """Read the commits of `base..head`, what they approve and who signed them."""
        if await self.relation(base, head) not in (Relation.SAME, Relation.FORWARD):
            return History(problem=f"commit {base[:12]} is no ancestor of {head[:12]}")
        newest = self._newest(self._resolved(head), self._host.ancestors(base))
        if len({*newest}.difference(ours)) > COMMITS_LIMIT:
            return History(problem=f"more than {COMMITS_LIMIT} commits since {base[:12]}")
        allowed = await asyncio.to_thread(allowed_by, signers)
        commits = (self._host.commits[name] for name in newest)
        return History(tuple(self._signed(each, allowed, ours) for each in commits))

    async def verify(self, span: Span, rules: SigningRules, now: float) -> Verification:
        """Say which commits of a span no allowed key signed; keys of SSH alone."""
        self._resolved(span.tip)
        return verified(self._host, span, rules, self._newest)

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
        return Merged(replace(_tree(files, self._folder), parents=(ours, theirs)))

    async def log(
        self, revision: str, paths: Sequence[str] = (), limit: int = 100, before: str = ""
    ) -> Sequence[Logged]:
        """Read the newest commits of a revision that touch the paths."""
        wanted = [check_path(path).rstrip("/") for path in paths]
        every = [self._logged(name) for name in self._newest(self._resolved(revision), frozenset())]
        found = [entry for entry in every if not wanted or _touches(entry.paths, wanted)]
        if before:
            names = [entry.commit for entry in found]
            if before not in names:
                raise Misconfigured(f"commit {before[:12]} is not in this log: begin at its head")
            found = found[names.index(before) + 1 :]
        return tuple(found[: max(1, limit)])

    async def lineage(self, base: str, head: str, limit: int = 1000) -> Lineage:
        """Name the commits of `base..head`."""
        known = self._host.ancestors(self._resolved(base))
        every = self._newest(self._resolved(head), known)
        straight, at = [], self._resolved(head)
        while at and at not in known:
            straight.append(at)
            at = next(iter(self._host.commits[at].parents), "")
        return Lineage(tuple(every[:limit]), tuple(straight[:limit]), len(every) > limit)

    async def blob(self, revision: str, path: str) -> bytes | None:
        """Read one file, None where there is none."""
        place = from_top(self._folder, check_path(path))
        return self._host.commits[self._resolved(revision)].files.get(place)

    async def tip(self, branch: str) -> str:
        """Fetch another branch and return its commit, "" when there is none."""
        if self._host.fault is not None:
            raise self._host.fault
        found = self._host.branches.get(check_branch(branch), "")
        self._known |= self._host.ancestors(found) if found else frozenset()
        return found

    async def holds(self, commit: str) -> bool:
        """Whether a commit is here."""
        return check_commit(commit) in self._known

    async def write(self, change: Change) -> str:
        """Make the commit here alone, and return its id."""
        check_change(change, self._branch)
        if change.base not in self._known:
            raise Conflict(f"commit {change.base[:12]} is not in the mirror: fetch, decide again")
        before = self._host.commits[change.base].files
        changes = {from_top(self._folder, path): text for path, text in change.files.items()}
        files = _changed(before, changes)
        if files == before:
            return change.base
        identity = git_id(repr((told(change), sorted(files.items()))).encode())
        self._host.commits[identity] = Commit(
            identity,
            (change.base,),
            files,
            change.author.name,
            change.message,
            float(change.at),
            change.author.email,
        )
        self._known.add(identity)
        return identity

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Write the change, unless `commit` is that, and push it; look when the answer is lost."""
        asked, _ = told(check_change(change, self._branch))
        commit = check_commit(commit) if commit else await self.write(change)
        if commit == change.base:
            return Pushed(commit, commit)
        if commit not in self._known:
            raise Conflict(f"commit {commit[:12]} is not in the mirror: fetch, decide again")
        if self._host.commits[commit].parents != (change.base,):
            raise Misconfigured(f"commit {commit[:12]} was not made from {change.base[:12]}")
        if not self.may_push():
            raise Unavailable("another process leads now, so nothing is pushed from here")
        try:
            self._host.take(commit, change.branch, expected(asked))
        except Unavailable:
            if self._host.fault is not None or not self._host.holds(change.branch, commit):
                raise
        return Pushed(commit, self._host.branches[change.branch])

    async def close(self) -> None:
        """Do nothing: there is no process."""

    def _newest(self, head: str, known: frozenset[str]) -> list[str]:
        """Return what leads to `head`, without what is known, the newest first."""
        wanted = self._host.ancestors(head) - known
        left, ends, order = set(wanted), [head], list[str]()
        while ends:
            name = ends.pop()
            if name not in left:
                continue
            above = [parent for parent in self._host.commits[name].parents if parent in left]
            if above:
                ends += [name, *above]
            else:
                left.discard(name)
                order.append(name)
        return order[::-1]

    def _logged(self, identity: str) -> Logged:
        commit = self._host.commits[identity]
        before = self._host.commits[commit.parents[0]].files if commit.parents else {}
        paths = sorted({*before, *commit.files})
        changed = [path for path in paths if before.get(path) != commit.files.get(path)]
        subject, _, body = commit.subject.partition("\n")
        person = Person(commit.author, commit.email)
        return Logged(
            identity,
            commit.parents,
            person,
            person,
            commit.committed_at,
            subject,
            body.strip("\n"),
            tuple(from_folder(self._folder, path) for path in changed),
        )

    def _signed(
        self, commit: Commit, allowed: Mapping[str, Signer], ours: Collection[str]
    ) -> SignedCommit:
        parent = commit.parents[0] if len(commit.parents) == 1 else ""
        if commit.identity in ours:
            return SignedCommit(commit.identity, parent, changes=True, problem="not checked")
        same = bool(parent) and self._host.commits[parent].files == commit.files
        signer = allowed.get(commit.signed_by)
        problem = "" if signer else NOT_ALLOWED if commit.signed_by else NOT_SIGNED
        approves = approved(commit.subject.encode())
        return SignedCommit(commit.identity, parent, not same, approves, signer, problem)

    def _resolved(self, revision: str) -> str:
        check_revision(revision)
        named = self._tip if revision in ("HEAD", self._branch) else revision
        if named not in self._known:
            raise Misconfigured(f"there is no revision {revision!r}: fetch it first")
        return named


def _touches(paths: Sequence[str], wanted: Sequence[str]) -> bool:
    return any(path == name or path.startswith(f"{name}/") for path in paths for name in wanted)


def _changed(
    before: Mapping[str, bytes], changes: Mapping[str, bytes | None]
) -> Mapping[str, bytes]:
    folders = _directories([*before, *changes])
    files = dict(before)
    for path, content in changes.items():
        if path in folders or not {*before, *changes}.isdisjoint(_directories([path])):
            raise Misconfigured(f"{path!r} cannot be written: a file or a directory is in the way")
        if content is None:
            files.pop(path, None)
        else:
            files[path] = content
    return files


def _tree(files: Mapping[str, bytes], folder: str) -> Tree:
    if folder and folder not in _directories(files):
        blocked = not {folder, *_directories([folder])}.isdisjoint(files)
        return Tree("", {}, path=folder, folder=Folder.FILE if blocked else Folder.ABSENT)
    there = {from_folder(folder, path): content for path, content in files.items()}
    inside = {path: content for path, content in there.items() if not path.startswith("/")}
    entries = {
        path: Entry(EntryKind.FILE, git_id(content), len(content), content)
        for path, content in inside.items()
        if is_read(path)
    }
    return Tree("", entries, frozenset(_directories(inside)), path=folder)


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
