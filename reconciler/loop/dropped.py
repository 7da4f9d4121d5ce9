"""Which decided counts a head took back, and whose commit that was: for people to read."""

from contextlib import suppress
from dataclasses import replace

from reconciler.core import counts_in_git
from reconciler.loop.keep_records import Verdict
from reconciler.model.errors import PortError
from reconciler.model.intents import Dropped
from reconciler.model.records import NO_RECORD
from reconciler.ports import Repository


async def read_dropped(repository: Repository, verdict: Verdict) -> tuple[Dropped, ...]:
    """Return what a verdict dropped; an author that cannot be read is left out."""
    found = []
    for key, after in sorted(verdict.result.records.items(), key=lambda item: item[0]):
        before = verdict.records.get(key, NO_RECORD)
        workload = verdict.arrival.reading.workloads.get(key)
        if workload is None or after.held or before.scaling.intent is None or after.scaling.intent:
            continue
        dropped = counts_in_git.dropped(verdict.arrival, workload, before)
        if dropped is not None:
            found.append(await _with_author(repository, dropped))
    return tuple(found)


async def _with_author(repository: Repository, dropped: Dropped) -> Dropped:
    if dropped.commit:
        with suppress(PortError):
            for logged in await repository.log(dropped.commit, limit=1):
                author = logged.author
                return replace(dropped, by=f"{author.name} <{author.email}>")
    return dropped
