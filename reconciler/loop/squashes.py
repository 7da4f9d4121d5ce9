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
    repository: Repository, moved: Iterable[Sequence[Passage]], head: tuple[str, str], since: str
) -> frozenset[str]:
    """Return which commits of people only merge the branch of counts.

    `moved` are the passages of the tracked branch, by workload, `head` is its commit and that of
    the branch of counts, which stood at `since` before. Raises the errors of the repository.
    """
    asked = {each.commit for passages in moved for each in passages if human_commit([each])}
    found, files, newer = set[str](), list[str](), 0
    for commit in sorted(asked):
        change = await _change(repository, commit)
        if change is None:
            continue
        if not files:
            apart = await repository.lineage(*head, MOST_LOOKED_AT)
            files = [await _file(repository, each) for each in apart.commits]
            newer = apart.commits.index(since) if since in apart.commits else 0
        if change[1] in files[: newer + 1] and _is_newer(*change, files):
            found.add(commit)
    return frozenset(found)


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


async def _change(repository: Repository, commit: str) -> tuple[str, str] | None:
    """Return the file of counts before a commit and after, None where it changes another one."""
    after = await repository.tree(commit)
    if len(after.parents) != 1:
        return None
    before = await repository.tree(after.parents[0])
    if _others(before.entries) != _others(after.entries):
        return None
    return _blob(before.entries), _blob(after.entries)


def _is_newer(before: str, after: str, files: Sequence[str]) -> bool:
    """Whether `after` is a newer one of `files`, the newest first, and no older one as well."""
    if after not in files:
        return False
    return before in files and after not in files[files.index(before) :]


async def _file(repository: Repository, commit: str) -> str:
    return _blob((await repository.tree(commit)).entries)


def _blob(entries: Mapping[str, Entry]) -> str:
    return entries[REPLICAS_FILE].blob if REPLICAS_FILE in entries else ""


def _others(entries: Mapping[str, Entry]) -> dict[str, str]:
    return {path: each.blob for path, each in entries.items() if path != REPLICAS_FILE}
