"""Approvals by a signed trailer, read off the commits since the last head that was in effect."""

from dataclasses import dataclass, replace

from reconciler.core import trailers
from reconciler.core.trailers import Endorsed
from reconciler.model.records import RepositoryRecord
from reconciler.ports import Repository


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be approved: `change_hash`, by trailers up to `commit`.

    `signers` is the file of who may, "" where no trailer counts.
    """

    signers: str
    commit: str
    change_hash: str


async def read_trailers(
    repository: Repository, asked: Asked, record: RepositoryRecord, now: float
) -> Endorsed:
    """Return what the trailers up to a head approve; where there are none, what to write.

    `now` is Unix seconds. Raises the repository's errors.
    """
    # Where nothing was ever wholly in effect, nobody knows who made what is held.
    if not (asked.signers and asked.commit and record.in_step):
        return Endorsed(record, {})
    span = record.in_step, asked.commit
    history = await repository.history(*span, asked.signers, now, record.pushed)
    endorsed = trailers.judge(history, record, now)
    if endorsed.given or endorsed.doubts:
        return endorsed
    return replace(endorsed, doubts=(trailers.invitation(asked.change_hash),))
