"""Counts in a file of their own, over real git: who writes which bytes, and who is heard."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.processes import Fleet, fleet, until
from tests.e2e.test_counts_branch import CONFIG, FLAGS, SPEC, git

pytestmark = pytest.mark.long

IN_A_FILE = CONFIG.replace("quietSeconds: 1", "quietSeconds: 1, to: file")
BARE = SPEC.replace("  replicas: 2\n", "", 1)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Fleet]:
    with fleet(tmp_path) as opened:
        yield opened


def listed(made: Fleet) -> str:
    """The line of the arena."""
    lines = git(made, "show", "main:replicas.yaml").splitlines()
    return next((line.strip() for line in lines if "arena:" in line), "")


def test_the_file_is_made_a_person_who_writes_in_it_is_heard_and_a_revert_takes_back(
    made: Fleet,
) -> None:
    made.commit(gamekeeper=IN_A_FILE, schedulers__arena=BARE)
    made.start_loop("cache", *FLAGS)
    until("five rooms", lambda: len(made.pods("arena")) == 5, 60.0)
    until("five in the file", lambda: listed(made) == "Scheduler/arena: 5", 60.0)
    assert git(made, "diff", "--name-only", "main~1", "main").split() == ["replicas.yaml"]
    assert git(made, "show", "main:schedulers/arena.yaml") == BARE

    made.pull()
    file = made.tree / "replicas.yaml"
    written = file.read_text(encoding="utf-8")
    made.commit(replicas=written.replace("arena: 5", "arena: 3  # for the cup", 1))
    until("three rooms", lambda: len(made.pods("arena")) == 3, 60.0)
    assert listed(made) == "Scheduler/arena: 3  # for the cup", "a person's word holds"

    made.commit(replicas=written)
    until("five rooms", lambda: len(made.pods("arena")) == 5, 60.0)
    assert git(made, "log", "--format=%s", "main").splitlines() == [
        "change",
        "change",
        "Scale arena to 5",
        "change",
    ]
