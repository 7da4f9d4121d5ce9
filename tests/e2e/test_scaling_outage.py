"""The Git host is away in a rush, and the leader dies with its disk: half a minute of it."""

from pathlib import Path

import pytest

from benchmarks.write_back import LATE_SECONDS
from tests.e2e import outage
from tests.e2e.surge import AMOUNT

pytestmark = pytest.mark.long

SECONDS = 30.0


def test_rooms_follow_without_git_and_one_commit_catches_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = outage.play(tmp_path, SECONDS)
    with capsys.disabled():
        print(f"\n{done}")
    assert done.late_seconds <= LATE_SECONDS
    assert done.rooms == done.count == outage.STEPS + AMOUNT
    assert (done.commits, done.foreign, done.forced) == (1, (), 0)
    # Each step begins where the one before it ended: none was lost with the disk.
    assert [step[1] for step in done.steps[1:]] == [step[2] for step in done.steps[:-1]]
    assert (done.steps[0][1], done.steps[-1][2]) == (AMOUNT, done.count)
