"""Read the newest head: the tracked branch, and what a branch of counts lays over it (ADR 17).

Where signatures are asked for, nobody reads what no allowed key has signed (ADR 23).
"""

from dataclasses import dataclass, replace

from reconciler.core import vouching
from reconciler.core.carried_counts import counts_branch
from reconciler.core.spec_files import lay_over
from reconciler.loop.vouching import Vouching
from reconciler.model.readings import Reading
from reconciler.model.signatures import NOBODY_ASKS, Vouched
from reconciler.model.specs import Permissions
from reconciler.model.trees import Head
from reconciler.ports import Compiler, Repository


@dataclass(frozen=True, slots=True)
class Reader:
    """What a head is read with; `tracked` is the name of the branch.

    `vouching` asks for signatures, None where nobody does.
    """

    repository: Repository
    compiler: Compiler
    permissions: Permissions
    tracked: str
    vouching: Vouching | None = None

    async def read(self, known: Reading | None) -> tuple[Head, Reading]:
        """Fetch, and return the head with its reading: `known` itself where nothing changed.

        A branch of counts that is not there lays nothing over the tracked one; one that cannot be
        fetched is an error. Raises the errors of the repository and the compiler.
        """
        head = await self.repository.fetch()
        before = known if known is not None and known.commit == head.commit else None
        vouched = await self._vouched(head.commit, before)
        # A file that a starved machine could not read in time is tried again.
        if vouched.problem or before is None or before.vouched.problem or before.unreadable:
            reading = await self._read(head, vouched)
            return head, before if before is not None and before == reading else reading
        tip = await self._tip(before)
        if tip == before.counts_commit:
            return head, before
        return head, await self._laid_over(before, tip)

    async def _read(self, head: Head, vouched: Vouched) -> Reading:
        if vouched.problem:
            return _unread(head.commit, "", vouched)
        # Whether there is a branch of counts stands in the Config: strangers' text as all of it.
        tree = await self.repository.tree(head.commit)
        read = await self.compiler.read(tree, self.permissions)
        plain = replace(read, vouched=vouched)
        tip = await self._tip(plain)
        return await self._laid_over(plain, tip) if tip else plain

    async def _laid_over(self, reading: Reading, tip: str) -> Reading:
        vouched = reading.vouched
        tree = await self.repository.tree(reading.commit)
        if tip:
            branch = counts_branch(reading.config, self.tracked)
            if self.vouching is not None:
                counts = await self.vouching.of_counts(tip, branch, reading.commit)
                vouched = vouching.both(vouched, counts)
            if vouched.problem:
                return _unread(reading.commit, tip, vouched)
            tree = lay_over(tree, branch, await self.repository.tree(tip))
        laid = await self.compiler.read(tree, self.permissions)
        return replace(laid, counts_commit=tip, vouched=vouched)

    async def _tip(self, reading: Reading) -> str:
        branch = counts_branch(reading.config, self.tracked)
        return await self.repository.tip(branch) if branch else ""

    async def _vouched(self, commit: str, before: Reading | None) -> Vouched:
        if self.vouching is None:
            return NOBODY_ASKS
        known = before.vouched if before is not None else NOBODY_ASKS
        return await self.vouching.of_head(commit, self.tracked, known)


def _unread(commit: str, counts_commit: str, vouched: Vouched) -> Reading:
    return Reading(commit, None, {}, {}, (), (), (), counts_commit=counts_commit, vouched=vouched)
