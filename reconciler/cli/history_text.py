"""A number's past for people and for programs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reconciler.cli.ages import age
from reconciler.cli.console import Console
from reconciler.cli.output import print_table
from reconciler.loop.count_history import MOST_COMMITS
from reconciler.model.history import CountChange
from reconciler.model.intents import Step
from reconciler.model.pushes import Logged, Person
from reconciler.model.records import IDS_KEPT
from reconciler.model.refs import WorkloadKey
from reconciler.service.lookout import written

HEADS = ("when", "from", "to", "by", "commit", "why")
US = "Gamekeeper"
NOT_YET = "not in Git yet"
NONE = "-"
_ASKED = re.compile(r"(?:\A|\n\n)Requested-by: (.+)\nGamekeeper-Instance: .+\n*\Z")
"""The last block of a message of `/create` and `/delete`, which holds nothing else."""
NOTHING_HERE = "No commit that is here is known to have changed it."


@dataclass(frozen=True, slots=True)
class Past:
    """What became of a number up to `commit`, where it is `count` (None: it cannot be told).

    `pending` is what was decided since, the oldest first, and `acts` the count that acts now,
    None where no record tells; `unknown` says why neither is known. `unfetched` is the branch of
    counts that this checkout has not, `counts` its name and commit where it was read, "" where
    there is none; `is_fetched` says that its host may have a newer one. `is_bounded` says that
    later bounds made it `acts`, and `moves_git` that it is another number than Git's. `ends_at` is
    the commit with which a shallow clone ends, "" where all of the log is there.
    """

    key: WorkloadKey
    commit: str
    count: int | None
    source: str
    changes: tuple[CountChange, ...]
    cut: bool
    pending: tuple[Step, ...]
    acts: int | None
    unknown: str
    unfetched: str = ""
    counts: tuple[str, str] = "", ""
    is_fetched: bool = False
    is_bounded: bool = False
    moves_git: bool = True
    ends_at: str = ""


def print_past(console: Console, past: Past, now: float) -> None:
    """Print the number, and a line for each step that led to it; `now` is Unix seconds."""
    stands = NONE if past.count is None else past.count
    place = f" in {past.source}" if past.source else ""
    branch, counts = past.counts
    apart = f", with {branch} at {counts[:12]}" if branch else ""
    console.print(f"{past.key}: {stands}{place} at commit {past.commit[:12]}{apart}")
    if past.pending:
        since = past.pending[0].at
        ago = age(now - since)
        what = ":" if past.moves_git else ", as Git has it; the steps to it are"
        console.print(f"{past.acts} acts{what} {NOT_YET}, since {written(since)} ({ago})")
        if past.is_bounded:
            last = past.pending[-1].after
            console.print(f"    {last} was decided, and the bounds have changed since")
    rows = [*_pending_rows(past), *(row for each in past.changes for row in _rows(each))]
    if rows:
        console.print()
        print_table(console, HEADS, rows)
    else:
        console.print(NOTHING_HERE if past.ends_at else "No commit of this log changed it.")
    for note in _notes(past):
        console.note(note)


def as_json(past: Past) -> dict[str, Any]:
    """Return the past as a JSON object: what `history --output json` promises."""
    key = past.key
    return {
        "kind": key.kind,
        "namespace": key.namespace,
        "name": key.name,
        "commit": past.commit,
        "count": past.count,
        "acts": past.acts,
        "source": past.source or None,
        "pending": None if past.unknown else [step_json(step) for step in past.pending],
        "changes": [_change_json(each) for each in past.changes],
        "more": past.cut,
        "shallow": bool(past.ends_at),
        "unknown": past.unknown or None,
        "unfetched": past.unfetched or None,
        "countsBranch": past.counts[0] or None,
        "countsCommit": past.counts[1] or None,
    }


def _notes(past: Past) -> Iterator[str]:
    """Yield what the past leaves out, and what would tell it."""
    if past.ends_at:
        yield (
            f"This is a shallow clone, which ends with commit {past.ends_at[:12]}: what that one "
            "changed, and what was before it, is not known here. git fetch --unshallow brings it."
        )
    elif past.cut:
        yield (
            "Older changes are not shown: --limit shows more, of the newest "
            f"{MOST_COMMITS} commits that touch its files."
        )
    if past.unfetched:
        missing = past.unfetched
        yield (
            f"Counts may stand on branch {missing}, which was not fetched here: git fetch origin "
            f"{missing}:refs/remotes/origin/{missing}, or name --repo."
        )
    if past.counts[0] and past.is_fetched:
        yield (
            f"Branch {past.counts[0]} is read as this checkout has it: what was pushed to it "
            "since, by an undo as well, comes with git fetch."
        )
    if not past.unknown and any(each.ours is None for each in past.changes):
        yield (
            f"The ids of Gamekeeper's newest {IDS_KEPT} commits are on record: of older ones it is "
            "not known which are its own."
        )
    if past.unknown:
        yield (
            "Which commits are Gamekeeper's, and what is decided and not in Git yet, is not known: "
            f"{past.unknown}."
        )


def person_of(change: CountChange) -> str:
    """Say who made a commit. Anybody can write any name, so a name never stands without address."""
    return US if change.ours else _person(change.logged.author)


def step_json(step: Step) -> dict[str, Any]:
    """Return a step as a JSON object."""
    return {
        "at": step.at,
        "from": step.before,
        "to": step.after,
        "policy": step.policy,
        "reason": step.reason,
    }


def _person(person: Person) -> str:
    return f"{person.name} <{person.email}>"


def _pending_rows(past: Past) -> Iterator[tuple[object, ...]]:
    for step in reversed(past.pending):
        yield *_step_cells(step), US, NOT_YET, _why(step)


def _rows(change: CountChange) -> Iterator[tuple[object, ...]]:
    who, commit = person_of(change), change.logged.commit[:12]
    if change.steps:
        for step in reversed(change.steps):
            yield *_step_cells(step), who, commit, _why(step)
        return
    numbers = (NONE if each is None else each for each in (change.before, change.after))
    yield written(change.logged.at), *numbers, who, commit, _said(change.logged)


def _said(logged: Logged) -> str:
    """Return what a commit says of itself, and for whom: of `/create` its author is the process.

    No record has the ids of those, since they are judged as a person's. So anybody can write such
    a message, and it is told as the commit's own words, beside the address of its author.
    """
    asked = _ASKED.search(logged.body)
    return f"{logged.subject} (it says: requested by {asked[1]})" if asked else logged.subject


def _step_cells(step: Step) -> tuple[object, ...]:
    return written(step.at), step.before, step.after


def _why(step: Step) -> str:
    return f"{step.policy}: {step.reason}"


def _change_json(change: CountChange) -> dict[str, Any]:
    logged = change.logged
    return {
        "commit": logged.commit,
        "at": logged.at,
        "from": change.before,
        "to": change.after,
        "ours": change.ours,
        "author": {"name": logged.author.name, "email": logged.author.email},
        "subject": logged.subject,
        "source": str(change.source) if change.source else None,
        "steps": [step_json(step) for step in change.steps],
    }
