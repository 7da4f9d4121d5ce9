"""The Repository port over a bare mirror of one tracked branch."""

import contextlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeVar

from reconciler.adapters.git.failures import Damaged
from reconciler.adapters.git.folders import check_folder
from reconciler.adapters.git.process import OPERATIONS_LIMIT, GitProcess
from reconciler.adapters.git.reading import Reader
from reconciler.adapters.git.source import Source
from reconciler.adapters.git.urls import check_branch, checked
from reconciler.adapters.git.wire import check_change, check_commit, told
from reconciler.model.errors import PortError, Unavailable
from reconciler.model.pushes import Change, Lineage, Logged, Pushed, SigningKey
from reconciler.model.signatures import SigningRules, Span, Verification
from reconciler.model.trailers import History
from reconciler.model.trees import Head, Merged, Relation, Tree

T = TypeVar("T")
_READ_DEADLINE_SECONDS = 60.0
_TIDY_DEADLINE_SECONDS = 300.0
_LOOK_DEADLINE_SECONDS = 15.0
"""How long a host that just did not answer is asked what became of a push."""
_TIDY_EVERY = 1000
"""So many fetches and pushes leave some thousand loose objects."""


class Mirror:
    """A repository as it was at the last fetch; keeps the port `Repository`.

    `cache_directory` may be shared by processes: each takes a mirror of its own in it. What is
    found damaged there is thrown away and fetched again.
    """

    def __init__(
        self,
        source: Source,
        cache_directory: str,
        operations_limit: int = OPERATIONS_LIMIT,
        beside: "Mirror | None" = None,
        may_push: Callable[[], bool] = lambda: True,
    ) -> None:
        """Check the settings; nothing is started yet. Raises Misconfigured.

        What the mirror `beside` this one has fetched need not be fetched again. A push that is
        not begun while `may_push` says so raises Unavailable.
        """
        checked(source.url, plain_http=source.plain_http)
        check_branch(source.branch)
        self._source = source = replace(source, path=check_folder(source.path))
        self._process = GitProcess(
            "open_mirror",
            {"source": source.as_dict(), "cache_directory": cache_directory},
            operations_limit,
        )
        self._reader = Reader(self._process, _READ_DEADLINE_SECONDS)
        self._uses = 0
        self._beside = beside
        self._may_push = may_push
        self._look_seconds = min(source.fetch_deadline_seconds, _LOOK_DEADLINE_SECONDS)

    @property
    def pid(self) -> int | None:
        """The child's process id, for measuring."""
        return self._process.pid

    @property
    def directory(self) -> str:
        """Where the mirror is on disk; "" before it is first used."""
        return str(self._process.told.get("directory", ""))

    async def fetch(self) -> Head:
        """Follow the tracked branch. Raises Unavailable, Denied, Misconfigured."""
        await self._tidy()
        return await self._sound(self._fetch)

    async def tree(self, revision: str) -> Tree:
        """Read a commit of the mirror. Raises Misconfigured when there is none."""
        return await self._sound(lambda: self._reader.tree(revision))

    async def relation(self, old: str, new: str) -> Relation:
        """Say how `new` stands to `old`; a commit that was ever the head is known for long."""
        return await self._sound(lambda: self._reader.relation(old, new))

    async def merge(self, base: str, head: str) -> Merged:
        """Return the tree of merging `head` into `base`, or the paths that conflict."""
        return await self._sound(lambda: self._reader.merge(base, head))

    async def history(
        self, base: str, head: str, signers: str, now: float, ours: Collection[str] = ()
    ) -> History:
        """Read the commits of `base..head`, what they approve and who signed them."""
        return await self._sound(lambda: self._reader.history(base, head, signers, now, ours))

    async def verify(self, span: Span, rules: SigningRules, now: float) -> Verification:
        """Say which commits of a span no allowed key signed."""
        return await self._sound(lambda: self._reader.verify(span, rules, now))

    async def log(
        self, revision: str, paths: Sequence[str] = (), limit: int = 100, before: str = ""
    ) -> Sequence[Logged]:
        """Read the newest commits of a revision that touch the paths."""
        return await self._sound(lambda: self._reader.log(revision, paths, limit, before))

    async def lineage(self, base: str, head: str, limit: int = 1000) -> Lineage:
        """Name the commits of `base..head`."""
        return await self._sound(lambda: self._reader.lineage(base, head, limit))

    async def blob(self, revision: str, path: str) -> bytes | None:
        """Read one file, None where there is none."""
        return await self._sound(lambda: self._reader.blob(revision, path))

    async def tip(self, branch: str) -> str:
        """Fetch another branch and return its commit, "" when there is none."""
        answer = await self._ask("tip", branch=check_branch(branch))
        return str(answer["commit"])

    async def try_key(self, key: SigningKey) -> None:
        """Sign something that is thrown away; the host is not asked.

        Raises Misconfigured where the key signs nothing, Unavailable.
        """
        await self._ask("try_key", key=asdict(key))

    async def holds(self, commit: str) -> bool:
        """Whether a commit is in the mirror, or in the one beside it."""
        beside = self._beside.directory if self._beside else ""
        answer, _ = await self._sound(
            lambda: self._process.ask(
                "holds", _READ_DEADLINE_SECONDS, commit=check_commit(commit), beside=beside
            )
        )
        return bool(answer["holds"])

    async def write(self, change: Change) -> str:
        """Make the commit in the mirror alone, and return its id."""
        asked, contents = told(check_change(change, self._source.branch))
        answer = await self._ask("write", contents, change=asked)
        return str(answer["commit"])

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Write the change, unless `commit` is that, and push it; look when the answer is lost."""
        asked, _ = told(check_change(change, self._source.branch))
        commit = check_commit(commit) if commit else await self.write(change)
        if commit == change.base:
            return Pushed(commit, commit)
        await self._tidy()
        try:
            answer = await self._ask("push", check=self._check, change=asked, commit=commit)
        except Unavailable:
            self._check()  # whoever leads by now looks for it
            head = await self._landed(change.branch, commit)
            if not head:
                raise
            return Pushed(commit, head)
        return Pushed(commit, str(answer["head"]))

    async def resolve(self, revision: str) -> str:
        """Return the commit id of a revision. Raises Misconfigured when there is none."""
        return await self._sound(lambda: self._reader.resolve(revision))

    async def close(self) -> None:
        """End the child process."""
        await self._process.close()

    def _check(self) -> None:
        if not self._may_push():
            raise Unavailable("another process leads now, so nothing is pushed from here")

    async def _tidy(self) -> None:
        """Keep house once in so many uses; what fails is done another time."""
        self._uses += 1
        if self._uses % _TIDY_EVERY == 0:
            with contextlib.suppress(PortError, Damaged):
                await self._process.ask("tidy", _TIDY_DEADLINE_SECONDS)

    async def _landed(self, branch: str, commit: str) -> str:
        """Return where the branch stands when `commit` is on it; "" when not, or not known."""
        try:
            answer, _ = await self._process.ask(
                "landed", self._look_seconds, branch=branch, commit=commit
            )
        except (PortError, Damaged):
            return ""
        return str(answer["head"])

    async def _ask(
        self,
        operation: str,
        attached: bytes = b"",
        check: Callable[[], None] = lambda: None,
        **arguments: Any,
    ) -> Mapping[str, Any]:
        deadline = self._source.fetch_deadline_seconds
        answer, _ = await self._sound(
            lambda: self._process.ask(operation, deadline, attached, check, **arguments)
        )
        return answer

    async def _fetch(self) -> Head:
        return await self._reader.fetch(self._source.branch, self._source.fetch_deadline_seconds)

    async def _sound(self, read: Callable[[], Awaitable[T]]) -> T:
        """Do one operation; on a damaged mirror make it anew, once."""
        try:
            return await read()
        except Damaged:
            await self._process.ask("renew", _READ_DEADLINE_SECONDS)
        try:
            await self._fetch()
            return await read()
        except Damaged as error:
            raise Unavailable(
                f"the mirror is damaged and could not be made anew: {error}. Check the disk of "
                "the cache directory, and the repository itself with git fsck"
            ) from error
