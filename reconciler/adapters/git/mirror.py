"""The Repository port over a bare mirror of one tracked branch."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from reconciler.adapters.git.failures import Damaged
from reconciler.adapters.git.process import OPERATIONS_LIMIT, GitProcess
from reconciler.adapters.git.reading import Reader
from reconciler.adapters.git.source import Source
from reconciler.adapters.git.urls import check_branch, checked
from reconciler.model.errors import PortError, Unavailable
from reconciler.model.trailers import History
from reconciler.model.trees import Head, Merged, Relation, Tree

T = TypeVar("T")
_READ_DEADLINE_SECONDS = 60.0
_TIDY_DEADLINE_SECONDS = 300.0
_TIDY_EVERY_FETCHES = 1000


class Mirror:
    """A repository as it was at the last fetch; keeps the port `Repository`.

    `cache_directory` may be shared by processes: each takes a mirror of its own in it. What is
    found damaged there is thrown away and fetched again.
    """

    def __init__(
        self, source: Source, cache_directory: str, operations_limit: int = OPERATIONS_LIMIT
    ) -> None:
        """Check the settings; nothing is started yet. Raises Misconfigured."""
        checked(source.url, plain_http=source.plain_http)
        check_branch(source.branch)
        self._source = source
        self._process = GitProcess(
            "open_mirror",
            {"source": source.as_dict(), "cache_directory": cache_directory},
            operations_limit,
        )
        self._reader = Reader(self._process, _READ_DEADLINE_SECONDS)
        self._fetches = 0

    @property
    def pid(self) -> int | None:
        """The child's process id, for measuring."""
        return self._process.pid

    async def fetch(self) -> Head:
        """Follow the tracked branch. Raises Unavailable, Denied, Misconfigured."""
        self._fetches += 1
        if self._fetches % _TIDY_EVERY_FETCHES == 0:
            # Housekeeping that fails is done another time.
            with contextlib.suppress(PortError, Damaged):
                await self._process.ask("tidy", _TIDY_DEADLINE_SECONDS)
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

    async def history(self, base: str, head: str, signers: str, now: float) -> History:
        """Read the commits of `base..head`, what they approve and who signed them."""
        return await self._sound(lambda: self._reader.history(base, head, signers, now))

    async def resolve(self, revision: str) -> str:
        """Return the commit id of a revision. Raises Misconfigured when there is none."""
        return await self._sound(lambda: self._reader.resolve(revision))

    async def close(self) -> None:
        """End the child process."""
        await self._process.close()

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
