"""Repositories as strangers and accidents make them, in real git, and exactly what comes of each.

GAMEKEEPER_UPDATE_GOLDEN=1 rewrites `expected.txt`; read the difference before committing it.
"""

from pathlib import Path

import pytest
import yaml

from reconciler.adapters.compiler.zygote import Zygote
from tests.corpora.playing import EXPECTED, folders, held_to, told_of_story
from tests.scorecard import score

STORY = "story.yaml"
CASES = folders("repositories")
HUGE = (
    "a-hundred-thousand-files-and-more",
    "fifty-thousand-files-beside",
    "a-blob-of-a-hundred-megabytes-beside",
    "a-spec-of-a-hundred-megabytes",
)
STORIES = [
    pytest.param(case, marks=[pytest.mark.long] if case.name in HUGE else [], id=case.name)
    for case in CASES
]


@pytest.mark.long
@pytest.mark.parametrize("case", STORIES)
async def test_what_comes_of_a_story_stands_beside_it(
    case: Path, zygote: Zygote, tmp_path: Path
) -> None:
    text = (case / STORY).read_text(encoding="utf-8").replace("<host>", str(tmp_path))
    story = yaml.safe_load(text)

    score(16, repositories=1, not_as_expected=1)
    held_to(case / EXPECTED, await told_of_story(story, tmp_path, zygote))
    score(16, not_as_expected=-1)
    assert not (tmp_path / "owned").exists(), "something that came in was run"


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_a_case_holds_nothing_that_is_not_played(case: Path) -> None:
    assert {path.name for path in case.iterdir()} == {STORY, EXPECTED}


def test_there_are_cases_enough() -> None:
    assert len(CASES) >= 60
