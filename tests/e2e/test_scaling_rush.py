"""Ninety decisions at once, over https with a password, beside a person who pushes."""

from pathlib import Path

import pytest

from tests.e2e import rush

pytestmark = pytest.mark.long

MOST_COMMITS = 3
MOST_SECONDS = 15.0
"""Beside other tests on two processors; the figure, 5 s, is judged by `python -m benchmarks`."""


def test_ninety_decisions_at_once_are_in_git_in_three_commits_and_nobody_loses_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = rush.play(tmp_path, quiet_seconds=5, pause_seconds=4.0)
    with capsys.disabled():
        print(f"\n{done}")
    assert done.commits <= MOST_COMMITS
    assert done.seconds <= MOST_SECONDS
    assert (done.lost, done.foreign, done.forced) == ((), (), 0)
    assert done.people, "nobody pushed beside it: nothing is tested"
