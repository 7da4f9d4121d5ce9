"""Read the newest head: the tracked branch, and what a branch of counts lays over it (ADR 17)."""

from dataclasses import dataclass, replace

from reconciler.core.counts_in_git import counts_branch
from reconciler.core.spec_files import lay_over
from reconciler.model.readings import Reading
from reconciler.model.specs import Permissions
from reconciler.model.trees import Head
from reconciler.ports import Compiler, Repository


@dataclass(frozen=True, slots=True)
class Reader:
    """What a head is read with; `tracked` is the name of the branch."""

    repository: Repository
    compiler: Compiler
    permissions: Permissions
    tracked: str

    async def read(self, known: Reading | None) -> tuple[Head, Reading]:
        """Fetch, and return the head with its reading: `known` itself where nothing changed.

        A branch of counts that is not there lays nothing over the tracked one; one that cannot be
        fetched is an error. Raises the errors of the repository and the compiler.
        """
        head = await self.repository.fetch()
        # A file that a starved machine could not read in time is tried again.
        if known is None or known.commit != head.commit or known.unreadable:
            return head, await self._read(head)
        tip = await self._tip(known)
        if tip == known.counts_commit:
            return head, known
        return head, await self._laid_over(known, tip)

    async def _read(self, head: Head) -> Reading:
        # Whether there is a branch of counts stands in the Config: strangers' text as all of it.
        tree = await self.repository.tree(head.commit)
        plain = await self.compiler.read(tree, self.permissions)
        tip = await self._tip(plain)
        return await self._laid_over(plain, tip) if tip else plain

    async def _laid_over(self, reading: Reading, tip: str) -> Reading:
        tree = await self.repository.tree(reading.commit)
        if tip:
            branch = counts_branch(reading.config, self.tracked)
            tree = lay_over(tree, branch, await self.repository.tree(tip))
        laid = await self.compiler.read(tree, self.permissions)
        return replace(laid, counts_commit=tip)

    async def _tip(self, reading: Reading) -> str:
        branch = counts_branch(reading.config, self.tracked)
        return await self.repository.tip(branch) if branch else ""
