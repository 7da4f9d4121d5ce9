"""How soon decisions stand in Git: many at once beside a person, and an hour that Git was away."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.results import Figure, Section, at_most, median_and_all
from tests.e2e import many, outage, rush
from tests.e2e.processes import until

ROUNDS = 5
QUIET_SECONDS = 10
PERSON_SECONDS, CROWD_SECONDS = 2.0, 0.3
"""How long who pushes rests between two pushes, on the average: a person in haste, and a crowd."""
MOST_SECONDS, MOST_COMMITS = 5.0, 3
CHANGES = 50
AWAY_SECONDS = 300.0
LATE_SECONDS = 60.0
"""A lease's time, an election, and the start of rooms."""
ENDING_SECONDS = 10.0


def measure() -> Section:
    """Measure how soon ninety decisions at once are in Git."""
    rounds = [_round(PERSON_SECONDS) for _ in range(ROUNDS)]
    crowds = [_round(CROWD_SECONDS) for _ in range(ROUNDS)]
    seconds, crowded = ([each.seconds for each in played] for played in (rounds, crowds))
    lost = sum(len(each.lost) + len(each.foreign) + each.forced for each in rounds + crowds)
    people, crowd = (sum(each.people for each in played) for played in (rounds, crowds))
    figures = [
        at_most("quiet time over → all 90 in Git, longest", max(seconds), MOST_SECONDS, "s"),
        Figure("the same, each round", median_and_all(seconds, "s")),
        Figure("the same beside a crowd that pushes all the time", median_and_all(crowded, "s")),
        at_most(
            "commits of ours, most", max(x.commits for x in rounds + crowds), MOST_COMMITS, "", 0
        ),
        at_most("decisions or lines lost, bytes of others, forced pushes", lost, 0, "", 0),
        Figure("peer: Argo CD Image Updater, 90 applications", "7 minutes"),
    ]
    notes = [
        f"{ROUNDS} rounds each: one process, a sandbox, git over https with a password."
        f" `quietSeconds: {QUIET_SECONDS}`; meanwhile a person pushes lines into the same files and"
        f" rests {PERSON_SECONDS:g} s on the average: {people} commits in all. The crowd rests"
        f" {CROWD_SECONDS:g} s, about two commits a second: {crowd} in all. Ours loses the race"
        " against each that comes between its look at the branch and its push.",
    ]
    return Section("write-back", "ninety decisions at once", figures, notes)


def _round(pause_seconds: float) -> rush.Rush:
    with _folder() as folder:
        return rush.play(folder, QUIET_SECONDS, pause_seconds)


def measure_changes() -> Section:
    """Play the whole campaign: every policy changes its mind fifty times."""
    with _folder() as folder:
        played = many.play(folder, CHANGES)  # raises where anything is lost
    figures = [
        Figure("played", played),
        at_most("decisions or lines lost, bytes of others, forced pushes", 0, 0, "", 0),
    ]
    notes = [
        f"{len(many.NAMES)} policies x {CHANGES} changes, git over https, `quietSeconds: 1`, while"
        " a person edits the same files. Every step is looked for in the messages, every byte of"
        " every commit is compared, and the server's reflog is read.",
    ]
    return Section("changes", "32 policies that change their minds", figures, notes)


def measure_outage() -> Section:
    """Measure a rush without Git in which the leader dies with its disk."""
    with _folder() as folder:
        done = outage.play(folder, AWAY_SECONDS)
    figures = [
        at_most("fewer rooms than wanted, in all", done.late_seconds, LATE_SECONDS, "s", 0),
        at_most("commits when the host is back", done.commits, 1, "", 0),
        at_most("rooms that Git then lacks", abs(done.rooms - done.count), 0, "", 0),
        at_most("bytes of others, forced pushes", len(done.foreign) + done.forced, 0, "", 0),
        Figure("host back → all in Git", f"{done.caught_up_seconds:.0f} s"),
    ]
    notes = [
        f"{done.seconds:.0f} s without a Git host, {outage.STEPS} rooms fill one after the other;"
        " half-way the leader is killed and its disk wiped, and a replica that never saw the"
        " repository leads.",
    ]
    return Section("outage", "a rush without Git", figures, notes)


@contextmanager
def _folder() -> Iterator[Path]:
    """Give a place, and remove it: the git of a process that was killed may write a moment more."""
    folder = Path(tempfile.mkdtemp(prefix="gamekeeper-bench-"))
    try:
        yield folder
    finally:
        until("nobody writes there", lambda: _is_removed(folder), ENDING_SECONDS)


def _is_removed(folder: Path) -> bool:
    if folder.exists():
        shutil.rmtree(folder)
    return True
