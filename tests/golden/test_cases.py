"""Every golden case leads to the plan that stands beside it.

GAMEKEEPER_UPDATE_GOLDEN=1 rewrites `expected.txt`; read the difference before committing it.
"""

import os
from pathlib import Path

import pytest

from tests.golden.cases import CLUSTER, EXPECTED, all_cases, case_of, told

UPDATE = os.environ.get("GAMEKEEPER_UPDATE_GOLDEN") == "1"
FOLDERS = list(all_cases())


@pytest.mark.long
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
async def test_a_case_leads_to_the_plan_that_stands_beside_it(folder: Path) -> None:
    case = case_of(folder)

    plan = await told(case)
    if UPDATE:
        case.expected.write_text(plan, encoding="utf-8")

    assert plan == case.expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_case_holds_nothing_that_is_not_played(folder: Path) -> None:
    case = case_of(folder)
    trees = {"repo", *case.commits}

    assert {path.name for path in folder.iterdir()} <= {*trees, CLUSTER, EXPECTED}
    permits = {"kinds", "copy_from", "values"}
    assert case.cluster.keys() <= {"nodes", "objects", "happens", "seconds", "turns", *permits}
    assert case.commits or case.cluster["happens"]


def test_there_are_cases_enough() -> None:
    assert len(FOLDERS) >= 25
