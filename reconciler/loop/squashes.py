"""A branch of counts that a person merged as one commit of their own: no number in it is theirs.

Git does not tell such a commit from any other. What tells is the file: byte for byte it is that of
a newer commit of the branch of counts than the one that stood there before, and nothing else
that is read changed. Who writes a number by hand may write the very same file, where we had that
number once: so it is to be one that stood on that branch at the last judged head, or since.
Whatever is in doubt is a person's word.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from reconciler.core.intents import human_commit
from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.model.intents import Passage
from reconciler.model.refs import WorkloadKey
from reconciler.model.trees import Entry
from reconciler.ports import Repository

MOST_LOOKED_AT = 50
"""So many commits of the branch of counts are looked at: a merge of an older one is a word."""


async def squashes_of(
    repository: Repository, moved: Iterable[Sequence[Passage]], tip: str, since: str
) -> frozenset[str]:
    """Return which commits of people only merge the branch of counts.

    `moved` are the passages of the tracked branch, by workload; the branch of counts is at `tip`,
    and stood at `since` when a head was judged before. Raises the errors of the repository.
    """
    asked = {each.commit for passages in moved for each in passages if human_commit([each])}
    known = dict[str, str]()
    return frozenset(
        {each for each in asked if await _is_squash(repository, each, tip, since, known)}
    )


async def _is_squash(
    repository: Repository, commit: str, tip: str, since: str, known: dict[str, str]
) -> bool:
    """Whether a commit only merges the branch; `known` are files of it that were read."""
    after = await repository.tree(commit)
    if len(after.parents) != 1:
        return False
    before = await repository.tree(after.parents[0])
    if _others(before.entries) != _others(after.entries):
        return False
    # Beside what the commit was made on: a later merge may have brought the branch to the head.
    apart = await _apart(repository, before.commit, tip)
    if commit in apart:
        return False  # the branch itself went through it: then it is who wrote there
    for each in apart:
        if each not in known:
            known[each] = _blob((await repository.tree(each)).entries)
    files = [known[each] for each in apart]
    newer = apart.index(since) if since in apart else 0
    read = _blob(after.entries)
    return read in files[: newer + 1] and _is_newer(_blob(before.entries), read, files)


async def _apart(repository: Repository, base: str, tip: str) -> tuple[str, ...]:
    """Return the commits that the branch of counts itself went through since `base`.

    The oldest is the one from which it went on, since that was merged before or begins it.
    """
    straight = (await repository.lineage(base, tip, MOST_LOOKED_AT)).first_parents
    if len(straight) == MOST_LOOKED_AT:
        return straight
    oldest = (await repository.tree(straight[-1])).parents[:1] if straight else (tip,)
    return (*straight, *oldest)


def without(
    moved: Mapping[WorkloadKey, tuple[Passage, ...]], commits: Collection[str]
) -> tuple[Mapping[WorkloadKey, tuple[Passage, ...]], Mapping[WorkloadKey, int]]:
    """Return the passages without those of `commits`, and the numbers that these brought."""
    brought = {
        key: each.after
        for key, passages in moved.items()
        for each in passages
        if each.commit in commits and each.after is not None
    }
    kept = {
        key: tuple(each for each in passages if each.commit not in commits)
        for key, passages in moved.items()
    }
    return kept, brought


def _is_newer(before: str, after: str, files: Sequence[str]) -> bool:
    """Whether `after` is a newer one of `files`, the newest first, and no older one as well."""
    if after not in files:
        return False
    return before in files and after not in files[files.index(before) :]


def _blob(entries: Mapping[str, Entry]) -> str:
    return entries[REPLICAS_FILE].blob if REPLICAS_FILE in entries else ""


def _others(entries: Mapping[str, Entry]) -> dict[str, str]:
    return {path: each.blob for path, each in entries.items() if path != REPLICAS_FILE}
