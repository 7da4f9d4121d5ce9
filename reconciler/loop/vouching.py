"""Ask whose word a head is, before anything of it is read (ADR 23)."""

from collections.abc import Mapping
from dataclasses import dataclass

from reconciler.core import vouching
from reconciler.core.approval import Approval
from reconciler.model.records import RepositoryRecord
from reconciler.model.signatures import SigningRules, Span, Vouched
from reconciler.ports import Repository


@dataclass(frozen=True, slots=True)
class Vouching:
    """What signatures are asked for, and beside what: the accepted commit and what was approved.

    `url` is the tracked repository; `now` is Unix seconds.
    """

    repository: Repository
    rules: SigningRules
    record: RepositoryRecord
    url: str
    given: Mapping[str, Approval]
    now: float

    async def of_head(self, commit: str, branch: str, known: Vouched) -> Vouched:
        """Return whose word the tracked head is; `known` is what was found of it before, if it was.

        What was good is good while it is the same commit since the same accepted one: a key that
        was taken away since counts from the next commit on. Raises the repository's errors.
        """
        since = self._since
        if commit == since:
            return Vouched(self.record.verified, since=since)
        if known.by and known.since == since:
            return known
        return await self._asked(commit, branch, (since,) if since else ())

    async def of_counts(self, tip: str, branch: str, head: str) -> Vouched:
        """Return the same of a branch of counts over the tracked `head`."""
        since, before = self._since, self.record.counts_commit
        if since and tip == before:
            return Vouched(self.record.verified, since=since)
        known = (before, since, head) if since else ()
        return await self._asked(tip, branch, tuple(filter(None, known)))

    @property
    def _since(self) -> str:
        return vouching.accepted_since(self.record, self.url)

    async def _asked(self, tip: str, branch: str, known: tuple[str, ...]) -> Vouched:
        span = Span(tip, known, frozenset(self.record.pushed))
        found = await self.repository.verify(span, self.rules, self.now)
        head = vouching.vouched(found, branch, self.rules, self._since)
        return vouching.let_through(head, self.given, self.now)
