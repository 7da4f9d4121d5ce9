"""Policies that change their minds beside a person who edits the same files: nothing is lost.

`GAMEKEEPER_CHANGES=50` plays the whole campaign, as `python -m benchmarks changes` does.
"""

import os
from pathlib import Path

import pytest

from tests.e2e import many

pytestmark = pytest.mark.long

CHANGES = int(os.environ.get("GAMEKEEPER_CHANGES", "5"))


def test_no_decision_and_no_line_of_a_person_is_lost_over_real_git(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = many.play(tmp_path, CHANGES)
    with capsys.disabled():
        print(f"\n{figures}")
