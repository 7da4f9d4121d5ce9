"""Every golden edit changes the bytes that stand beside it, or is refused with that reason.

GAMEKEEPER_UPDATE_GOLDEN=1 rewrites `refused.txt`, never `after.yaml`: bytes are written by people.
"""

import os
from pathlib import Path

import pytest

from reconciler.core.edits import edit
from tests.golden.edit_cases import AFTER, ASKED, BEFORE, EDITS, REFUSED, edit_case_of, told

UPDATE = os.environ.get("GAMEKEEPER_UPDATE_GOLDEN") == "1"
FOLDERS = sorted(path for path in EDITS.iterdir() if path.is_dir())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_an_edit_changes_the_bytes_that_it_must_and_no_others(folder: Path) -> None:
    case = edit_case_of(folder)

    after, refusals = edit(case.before, case.edits)
    if UPDATE and refusals:
        (folder / REFUSED).write_text(told(refusals), encoding="utf-8")

    assert after == case.after
    assert told(refusals) == edit_case_of(folder).refused


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_an_edit_that_was_made_has_nothing_left_to_change(folder: Path) -> None:
    case = edit_case_of(folder)

    after, refusals = edit(case.after, case.edits)

    assert after == case.after
    assert [one.edit for one in refusals] == [one.edit for one in edit(case.before, case.edits)[1]]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_case_says_what_must_come_of_it_and_nothing_else(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}

    assert {BEFORE, ASKED} < names <= {BEFORE, ASKED, AFTER, REFUSED}


def test_there_are_cases_enough() -> None:
    assert len(FOLDERS) >= 120
