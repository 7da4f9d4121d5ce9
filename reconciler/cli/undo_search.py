"""Which numbers an undo means, and why some cannot go back."""

import re
from collections.abc import Mapping

from reconciler.cli.failures import Failure
from reconciler.cli.history_text import person_of
from reconciler.cli.log_reading import GitSide, Recorded
from reconciler.cli.room_names import names_of
from reconciler.core.count_text import counts_in
from reconciler.loop.count_history import MOST_COMMITS
from reconciler.model.errors import Misconfigured
from reconciler.model.history import CountChange, CountHistory
from reconciler.model.pushes import Logged
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Workload
from reconciler.model.trees import Relation, is_yaml
from reconciler.model.undo import Undo

LOOKED_AT = 50
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_BY_HAND = "Write the number that you want yourself, and commit it"


async def found_undos(side: GitSide, word: str, recorded: Recorded) -> tuple[Undo, ...]:
    """Return what a word means to undo at the newest commit. Raises Failure, PortError."""
    keys = [*side.reading.workloads, *side.reading.invalid]
    named = any(word in names_of(key) for key in keys)
    if not named and _COMMIT.fullmatch(word):
        return await _of_commit(side, word)
    return (await _of_workload(side, side.workload(word), recorded),)


async def _of_workload(side: GitSide, key: WorkloadKey, recorded: Recorded) -> Undo:
    """Return the undo of the newest change that is ours."""
    workload = _sound(side, key)
    if recorded.problem:
        raise Failure(
            f"which commit of {key} is Gamekeeper's is not known",
            recorded.problem,
            "Name the commit: gamekeeper history shows them",
        )
    start = side.tip_of(side.place_of(key)[0])
    history = await side.log_of(key, recorded).read(start, LOOKED_AT)
    mine = next((each for each in history.changes if each.ours is not False), None)
    if mine is None:
        raise Failure(
            f"there is nothing to undo: Gamekeeper has not changed {key} in {_looked_at(history)}",
            fix="What is decided and not in Git yet ends with a number of yours, committed",
        )
    if mine.ours is None:
        raise Failure(
            f"which commit of {key} is Gamekeeper's is not known any more",
            f"Commit {mine.logged.commit[:12]} changed it, and is older than all commits whose ids "
            "are on record",
            "Name the commit: gamekeeper history shows them",
        )
    newest = history.changes[0]
    if newest is not mine:
        raise _changed_since(key, newest)
    before = _unlisted(recorded, key, mine.after) if mine.before is None else mine.before
    if before is None or mine.after is None:
        raise Failure(f"commit {mine.logged.commit[:12]} left no number of {key}", fix=_BY_HAND)
    return _checked(side, workload, mine.logged.commit, (before, mine.after))


def _looked_at(history: CountHistory) -> str:
    if not history.cut:
        return "this log"
    if len(history.changes) < LOOKED_AT:
        return f"the newest {MOST_COMMITS} commits that touch its files"
    return f"the newest {LOOKED_AT} changes of its number"


def _unlisted(recorded: Recorded, key: WorkloadKey, first: int | None) -> int | None:
    """Return what acted before our first line of a count, None where that is not on record."""
    known = recorded.states[key].scaling.unlisted if key in recorded.states else None
    return known[0] if known and known[1] == first else None


async def _of_commit(side: GitSide, commit: str) -> tuple[Undo, ...]:
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
    undos = []
    for key, (before, after) in (await _numbers(side, logged)).items():
        undos.append(_checked(side, _sound(side, key), logged.commit, (before, after)))
    if not undos:
        raise Failure(f"commit {logged.commit[:12]} changed no number of a workload")
    return tuple(undos)


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


async def _numbers(side: GitSide, logged: Logged) -> Mapping[WorkloadKey, tuple[int, int]]:
    """Return what a commit changed, from which number to which."""
    before, after = dict[WorkloadKey, int](), dict[WorkloadKey, int]()
    ours = {*side.reading.workloads, *side.reading.invalid}
    for path in filter(is_yaml, logged.paths):
        theirs = await _of_others(side, path)
        for commit, found in ((logged.parents[0], before), (logged.commit, after)):
            for key, count in (await _counts_at(side, commit, path)).items():
                # Outside of the folder that is read stand workloads of other environments.
                if key not in theirs and (key in ours or not path.startswith("/")):
                    found[key] = count
    same = sorted(before.keys() & after.keys())
    return {key: (before[key], after[key]) for key in same if before[key] != after[key]}


async def _of_others(side: GitSide, path: str) -> frozenset[WorkloadKey]:
    """Return the workloads of which a file has a number, and that have theirs in another one.

    Two fleets in one repository may have workloads of one name.
    """
    there = await _counts_at(side, side.commit, path)
    known = there.keys() & {*side.reading.workloads, *side.reading.invalid}
    return frozenset(key for key in known if path not in side.files_of(key))


async def _counts_at(side: GitSide, commit: str, path: str) -> Mapping[WorkloadKey, int]:
    data = await side.repository.blob(commit, path) or b""
    return {key: written.count for key, written in counts_in(path, data).items()}


async def _is_on_a_branch(side: GitSide, commit: str) -> bool:
    for tip in filter(None, side.reading.head):
        relation = await side.repository.relation(commit, tip)
        if relation in (Relation.SAME, Relation.FORWARD):
            return True
    return False


def _sound(side: GitSide, key: WorkloadKey) -> Workload:
    workload = side.reading.workloads.get(key)
    if workload is None:
        findings = side.reading.invalid.get(key)
        why = f"{findings[0].file}:{findings[0].line}: {findings[0].message}" if findings else ""
        where = f"at commit {side.commit[:12]}"
        raise Failure(f"{key} has a mistake or is gone {where}", why, "Mend that first")
    return workload


def _checked(side: GitSide, workload: Workload, commit: str, numbers: tuple[int, int]) -> Undo:
    """Return the undo. Raises Failure where the number is another by now, or may not go back."""
    back, left = numbers
    if workload.replicas != left:
        raise Failure(
            f"{workload.key} was changed since: commit {commit[:12]} left {left}, and "
            f"{workload.replicas_source} says {workload.replicas}",
            fix=_BY_HAND,
        )
    autoscaling = workload.autoscaling
    if autoscaling and autoscaling.enabled and autoscaling.bounds.clamp(back) != back:
        bounds = autoscaling.bounds
        raise Failure(
            f"{workload.key} cannot go back to {back}: its bounds are {bounds.minimum} to "
            f"{bounds.maximum} by now",
            fix="Change the bounds with it, in a commit of your own",
        )
    branch, file = side.place_of(workload.key)
    return Undo(workload.key, commit, branch, file, left, back)


def _changed_since(key: WorkloadKey, newest: CountChange) -> Failure:
    logged, after = newest.logged, "none" if newest.after is None else newest.after
    return Failure(
        f"{key} was changed since Gamekeeper did: to {after}, by {person_of(newest)} in commit "
        f"{logged.commit[:12]} ({logged.subject})",
        fix=f"To take that back: gamekeeper undo {logged.commit[:12]}",
    )
