"""The Repository port over a user's own work tree, repository or plain directory, for the CLI."""

import contextlib
import os
from collections.abc import Awaitable, Collection, Sequence
from typing import TypeVar

from reconciler.adapters.git.failures import Damaged
from reconciler.adapters.git.folders import check_folder
from reconciler.adapters.git.process import GitProcess
from reconciler.adapters.git.reading import Reader
from reconciler.adapters.git.urls import check_branch
from reconciler.model.errors import Misconfigured
from reconciler.model.pushes import Lineage, Logged
from reconciler.model.signatures import SigningRules, Span, Verification
from reconciler.model.trailers import History
from reconciler.model.trees import Head, Merged, Relation, Tree

T = TypeVar("T")
_DEADLINE_SECONDS = 60.0


class LocalCheckout:
    """Specs at or above a path, read in place: nothing is fetched, checked out or written.

    The root is `folder` of the repository at or above `path`; without one the nearest directory
    with a `gamekeeper.yaml` there, else `path` itself. All paths are relative to it.
    """

    def __init__(self, path: str, folder: str = "") -> None:
        """Take the place; nothing is read yet. Raises Misconfigured for what is no folder."""
        self._path = os.path.abspath(path)
        asked = {"path": self._path, "folder": check_folder(folder)}
        self._process = GitProcess("open_checkout", asked)
        self._reader = Reader(self._process, _DEADLINE_SECONDS)

    async def root(self) -> str:
        """Return the directory that paths are relative to. Raises Misconfigured, Denied."""
        return str((await self._process.opened())["root"])

    async def folder(self) -> str:
        """Return where that is from the repository's top, "" at the top. Raises as `root`."""
        return str((await self._process.opened())["path"])

    async def branch(self) -> str:
        """Return the branch that is checked out, "" for none. Raises as `root`."""
        return str((await self._process.opened())["branch"])

    async def fetch(self) -> Head:
        """Describe the commit that is checked out. Raises Misconfigured without a repository."""
        return await self._sound(self._reader.fetch("HEAD", _DEADLINE_SECONDS))

    async def tree(self, revision: str) -> Tree:
        """Read a revision, or with an empty one the working tree as it lies there.

        The working tree is what is tracked or new, without what .gitignore names. Raises
        Misconfigured.
        """
        reading = self._reader.tree(revision) if revision else self._reader.working()
        return await self._sound(reading)

    async def relation(self, old: str, new: str) -> Relation:
        """Say how `new` stands to `old`."""
        return await self._sound(self._reader.relation(old, new))

    async def merge(self, base: str, head: str) -> Merged:
        """Return the tree of merging `head` into `base`, or the paths that conflict."""
        return await self._sound(self._reader.merge(base, head))

    async def history(
        self, base: str, head: str, signers: str, now: float, ours: Collection[str] = ()
    ) -> History:
        """Read the commits of `base..head`, what they approve and who signed them."""
        return await self._sound(self._reader.history(base, head, signers, now, ours))

    async def verify(self, span: Span, rules: SigningRules, now: float) -> Verification:
        """Say which commits of a span no allowed key signed."""
        return await self._sound(self._reader.verify(span, rules, now))

    async def log(
        self, revision: str, paths: Sequence[str] = (), limit: int = 100, before: str = ""
    ) -> Sequence[Logged]:
        """Read the newest commits that touch the paths."""
        return await self._sound(self._reader.log(revision, paths, limit, before))

    async def lineage(self, base: str, head: str, limit: int = 1000) -> Lineage:
        """Name the commits of `base..head`."""
        return await self._sound(self._reader.lineage(base, head, limit))

    async def blob(self, revision: str, path: str) -> bytes | None:
        """Read one file, None where there is none."""
        return await self._sound(self._reader.blob(revision, path))

    async def tip(self, branch: str) -> str:
        """Return where another branch stood at the last fetch, else here; "" for neither."""
        for name in (f"refs/remotes/origin/{check_branch(branch)}", f"refs/heads/{branch}"):
            with contextlib.suppress(Misconfigured):
                return await self.resolve(name)
        return ""

    async def resolve(self, revision: str) -> str:
        """Return the commit id of a revision. Raises Misconfigured when there is none."""
        return await self._sound(self._reader.resolve(revision))

    async def close(self) -> None:
        """End the child process."""
        await self._process.close()

    async def _sound(self, reading: Awaitable[T]) -> T:
        try:
            return await reading
        except Damaged as error:
            raise Misconfigured(
                f"the repository at {self._path} is damaged: {error}. See what git fsck says"
            ) from error
