"""Approvals by a signed trailer, read off the commits since the last head that was in effect."""

from reconciler.core import trailers
from reconciler.core.trailers import Endorsed
from reconciler.model.records import RepositoryRecord
from reconciler.ports import Repository


async def read_trailers(
    repository: Repository, signers: str, record: RepositoryRecord, commit: str, now: float
) -> Endorsed:
    """Return what the trailers up to `commit` approve; nothing without `signers`, a file.

    `now` is Unix seconds. Raises the repository's errors.
    """
    # Where nothing was ever wholly in effect, nobody knows who made what is held.
    if not (signers and record.in_step and commit):
        return Endorsed(record, {})
    history = await repository.history(record.in_step, commit, signers, now)
    return trailers.judge(history, record, now)
