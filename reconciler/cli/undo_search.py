"""Which numbers an undo means, and why some cannot go back."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reconciler.cli.failures import Failure
from reconciler.cli.history_text import person_of
from reconciler.cli.log_reading import GitSide, Recorded
from reconciler.cli.room_names import names_of
from reconciler.core.count_text import counts_in
from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.loop.count_history import MOST_COMMITS
from reconciler.model.errors import Misconfigured
from reconciler.model.history import CountChange, CountHistory, WrittenCount
from reconciler.model.pushes import Logged
from reconciler.model.refs import WorkloadKey
from reconciler.model.trees import Relation, is_yaml
from reconciler.model.undo import Undo

LOOKED_AT = 50
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_ALMOST = re.compile(r"(?=.*[0-9])[0-9A-Fa-f]{4,64}|(HEAD|@)([~^@].*)?")
"""What git takes for a commit and we do not: few digits, and names that move."""
_BY_HAND = "Write the number that you want yourself, and commit it"

_Written = dict[str, WrittenCount]
"""The numbers of a workload, by the file in which each stands."""


@dataclass(frozen=True, slots=True)
class _Change:
    """What `commit` did to a number, which it left in `file`."""

    key: WorkloadKey
    commit: str
    file: str
    back: int
    left: int


async def found_undos(side: GitSide, word: str, recorded: Recorded) -> tuple[Undo, ...]:
    """Return what a word means to undo at the newest commit. Raises Failure, PortError."""
    keys = [*side.reading.workloads, *side.reading.invalid]
    named = any(word in names_of(key) for key in keys)
    if not named and _COMMIT.fullmatch(word):
        return await _of_commit(side, word, recorded)
    if not named and _ALMOST.fullmatch(word):
        raise Failure(
            f'"{word}" is no workload at commit {side.commit[:12]}, and no id of a commit',
            "Of an id 7 digits or more are needed, each 0-9 or a-f",
            "gamekeeper history WORKLOAD shows them",
        )
    return (await _of_workload(side, side.workload(word), recorded),)


async def _of_workload(side: GitSide, key: WorkloadKey, recorded: Recorded) -> Undo:
    """Return the undo of the newest change that is ours."""
    if recorded.problem:
        raise Failure(
            f"which commit of {key} is Gamekeeper's is not known",
            recorded.problem,
            "Name the commit: gamekeeper history shows them",
        )
    side.check_counts(key)
    over = key in side.reading.over
    start = side.tip_of(side.counts_branch if over else side.branch)
    histories = await side.histories_of(key, recorded, start, LOOKED_AT)
    mine, newest = _newest_of_ours(key, histories)
    if mine.ours is None:
        raise Failure(
            f"which commit of {key} is Gamekeeper's is not known any more",
            f"Commit {mine.logged.commit[:12]} changed it, and is older than all commits whose ids "
            "are on record",
            "Name the commit: gamekeeper history shows them",
        )
    is_mistaken = newest.after is None and key in side.reading.invalid
    if newest.after != mine.after and not is_mistaken:
        raise _changed_since(key, newest)
    return await _checked(side, _change_of(mine, key, recorded))


def _newest_of_ours(
    key: WorkloadKey, histories: Sequence[CountHistory]
) -> tuple[CountChange, CountChange]:
    """Return the newest change that may be ours, and the newest of all in the same file.

    Raises Failure where none is ours.
    """
    found = [
        (next(each for each in history.changes if each.ours is not False), history.changes[0])
        for history in histories
        if any(each.ours is not False for each in history.changes)
    ]
    if not found:
        raise Failure(
            f"there is nothing to undo: Gamekeeper has not changed {key} "
            f"in {_looked_at(histories)}",
            fix="What is decided and not in Git yet ends with a number of yours, committed",
        )
    return max(found, key=lambda pair: pair[0].logged.at)


def _change_of(change: CountChange, key: WorkloadKey, recorded: Recorded) -> _Change:
    """Return what a commit did to a number. Raises Failure where one of the two is not known."""
    commit, before = change.logged.commit, _before(change, key, recorded)
    if before is None or change.after is None or change.source is None:
        raise Failure(f"commit {commit[:12]} left no number of {key}, or found none", fix=_BY_HAND)
    return _Change(key, commit, change.source.file, before, change.after)


def _before(change: CountChange, key: WorkloadKey, recorded: Recorded) -> int | None:
    """Return the number before a change: the one in Git, or the one that acted and is on record."""
    if change.before is not None:
        return change.before
    return _unlisted(recorded, key, change.after)


def _looked_at(histories: Sequence[CountHistory]) -> str:
    cut = [history for history in histories if history.cut]
    if not cut:
        return "this log"
    if any(len(history.changes) < LOOKED_AT for history in cut):
        return f"the newest {MOST_COMMITS} commits that touch its files"
    return f"the newest {LOOKED_AT} changes of its number"


def _unlisted(recorded: Recorded, key: WorkloadKey, first: int | None) -> int | None:
    """Return what acted before our first line of a count, None where that is not on record."""
    known = recorded.states[key].scaling.unlisted if key in recorded.states else None
    return known[0] if known and known[1] == first else None


async def _of_commit(side: GitSide, commit: str, recorded: Recorded) -> tuple[Undo, ...]:
    """Return the undo of all numbers that a commit changed, or of none of them."""
    logged = await _logged(side, commit)
    if not await _is_on_a_branch(side, logged.commit):
        raise Failure(f"commit {commit} is not on the branch, so there is nothing to undo")
    if len(logged.parents) != 1:
        what = "a merge" if logged.parents else "the first one"
        raise Failure(
            f"commit {logged.commit[:12]} is {what}: it has not one number before",
            fix="Name the commit that changed the number: gamekeeper history shows it",
        )
    changes = await _changes(side, logged, recorded)
    if not changes:
        raise Failure(f"commit {logged.commit[:12]} changed no number of a workload")
    return tuple([await _checked(side, change) for change in changes])


async def _logged(side: GitSide, commit: str) -> Logged:
    try:
        (logged,) = await side.repository.log(commit, limit=1)
    except Misconfigured as error:
        # The mirror has just fetched: what it has not, nobody can fetch by its id.
        raise Failure(
            f"{commit} is the id of no commit of branch {side.branch}, or of more than one",
            "The branch was fetched just now",
            "gamekeeper history WORKLOAD shows the commits that changed its number",
        ) from error
    return logged


async def _changes(side: GitSide, logged: Logged, recorded: Recorded) -> list[_Change]:
    """Return what a commit changed, from which number to which. Raises Failure."""
    before, after = dict[WorkloadKey, _Written](), dict[WorkloadKey, _Written]()
    ours = {*side.reading.workloads, *side.reading.invalid}
    for path in filter(is_yaml, logged.paths):
        theirs = await _of_others(side, path)
        for commit, found in ((logged.parents[0], before), (logged.commit, after)):
            for key, written in (await _counts_at(side, commit, path)).items():
                # Outside of the folder that is read stand workloads of other environments.
                if key not in theirs and (key in ours or not path.startswith("/")):
                    found.setdefault(key, {})[path] = written
    made = [
        change
        for key, there in sorted(after.items())
        for change in _moved(logged.commit, key, before.get(key, {}), there)
    ]
    for key, there in sorted(after.items()):
        if key not in before and REPLICAS_FILE in there:
            made += await _first_line(side, logged, key, recorded, alone=not made)
    return made


def _moved(commit: str, key: WorkloadKey, before: _Written, after: _Written) -> Iterator[_Change]:
    """Yield what a commit did to a workload's number. Raises Failure where it did it to two."""
    was = [each for file, each in before.items() if _count(after, file) != each.count]
    now = [each for file, each in after.items() if _count(before, file) != each.count]
    if not was or not now:
        return
    if len(was) > 1 or len(now) > 1:
        places = " and ".join(str(each.source) for each in max(now, was, key=len))
        raise Failure(
            f"commit {commit[:12]} changed two numbers of {key}: {places}",
            fix=f"{_BY_HAND}; git revert {commit[:12]} takes back all that the commit did",
        )
    if was[0].count != now[0].count:
        yield _Change(key, commit, now[0].source.file, was[0].count, now[0].count)


def _count(written: _Written, file: str) -> int | None:
    return written[file].count if file in written else None


async def _first_line(
    side: GitSide, logged: Logged, key: WorkloadKey, recorded: Recorded, *, alone: bool
) -> list[_Change]:
    """Return what a commit did to a number that had no line in `replicas.yaml` before.

    What was before stands in the spec, or acted and is on record. Where nobody knows, it is no
    number that the commit changed, unless it changed nothing else (`alone`).
    """
    if key not in side.reading.workloads and key not in side.reading.invalid:
        raise _gone(side, key)
    histories = await side.histories_of(key, recorded, logged.commit, 1)
    changes = (each for history in histories for each in history.changes)
    first = [each for each in changes if each.logged.commit == logged.commit]
    known = [each for each in first if _before(each, key, recorded) is not None]
    # What was before is told by one file of several that have its name: others may be newer.
    return [_change_of(each, key, recorded) for each in (known or first if alone else known)[:1]]


async def _of_others(side: GitSide, path: str) -> frozenset[WorkloadKey]:
    """Return the workloads of which a file has a number, and that have theirs in another one.

    Two fleets in one repository may have workloads of one name.
    """
    there = await _counts_at(side, side.commit, path)
    known = there.keys() & {*side.reading.workloads, *side.reading.invalid}
    return frozenset(key for key in known if path not in side.files_of(key))


async def _counts_at(side: GitSide, commit: str, path: str) -> Mapping[WorkloadKey, WrittenCount]:
    return counts_in(path, await side.repository.blob(commit, path) or b"")


async def _is_on_a_branch(side: GitSide, commit: str) -> bool:
    for tip in filter(None, side.reading.head):
        relation = await side.repository.relation(commit, tip)
        if relation in (Relation.SAME, Relation.FORWARD):
            return True
    return False


async def _checked(side: GitSide, change: _Change) -> Undo:
    """Return the undo. Raises Failure where the number is gone, or is another by now."""
    branch, file, now, where = await _standing(side, change)
    key, commit = change.key, change.commit[:12]
    if now != change.left:
        raise Failure(
            f"{key} was changed since: commit {commit} left {change.left}, and {where} says {now}",
            fix=_BY_HAND,
        )
    return Undo(key, change.commit, branch, file, change.left, change.back)


async def _standing(side: GitSide, change: _Change) -> tuple[str, str, int, str]:
    """Return branch, file, number and line that a workload has now. Raises Failure.

    Of a spec with a mistake it is the one that stands where the commit left it.
    """
    key, workload = change.key, side.reading.workloads.get(change.key)
    if workload is not None:
        return *side.place_of(key), workload.replicas, str(workload.replicas_source)
    findings = side.reading.invalid.get(key)
    if findings is None:
        raise _gone(side, key)
    is_over = change.file == REPLICAS_FILE and side.counts_branch
    branch = side.counts_branch if is_over else side.branch
    data = await side.repository.blob(side.tip_of(branch), change.file) or b""
    written = counts_in(change.file, data).get(key)
    if written is None:
        first = findings[0]
        raise Failure(
            f"{key} has a mistake, and {change.file} no number of it, at commit {side.commit[:12]}",
            f"{first.file}:{first.line}: {first.message}",
            "Mend that first",
        )
    return branch, change.file, written.count, str(written.source)


def _gone(side: GitSide, key: WorkloadKey) -> Failure:
    return Failure(
        f"{key} is gone at commit {side.commit[:12]}, and a commit goes back whole or not",
        fix=_BY_HAND,
    )


def _changed_since(key: WorkloadKey, newest: CountChange) -> Failure:
    logged, after = newest.logged, "none" if newest.after is None else newest.after
    return Failure(
        f"{key} was changed since Gamekeeper did: to {after}, by {person_of(newest)} in commit "
        f"{logged.commit[:12]} ({logged.subject})",
        fix=f"To take that back: gamekeeper undo {logged.commit[:12]}",
    )
