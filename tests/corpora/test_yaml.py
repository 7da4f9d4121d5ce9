"""YAML that strangers write: each file beside a good neighbour, and exactly what comes of it.

GAMEKEEPER_UPDATE_GOLDEN=1 rewrites `expected.txt`; read the difference before committing it.
"""

from pathlib import Path

import pytest

from reconciler.adapters.compiler.zygote import Zygote
from tests.corpora.bombs import BOMBS
from tests.corpora.playing import EXPECTED, MADE, data_of, folders, held_to, told_of_file
from tests.loop.world import spec
from tests.scorecard import score

FILE = "arena.yaml"
CASES = folders("yaml")


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
async def test_what_comes_of_a_file_stands_beside_it(case: Path, zygote: Zygote) -> None:
    said = await told_of_file("schedulers/arena.yaml", data_of(case, FILE), zygote)

    score(17, files=1, not_as_expected=1)
    held_to(case / EXPECTED, said)
    score(17, not_as_expected=-1)


async def test_in_a_house_where_nobody_plays_a_room_goes_that_is_not_wanted(
    zygote: Zygote,
) -> None:
    fewer = spec("arena", 2, reports="required").encode()
    await told_of_file("schedulers/arena.yaml", fewer, zygote)
    with pytest.raises(AssertionError, match="players were thrown out"):
        await told_of_file("schedulers/arena.yaml", fewer, zygote, full=False)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_a_case_holds_nothing_that_is_not_read(case: Path) -> None:
    names = {path.name for path in case.iterdir()}
    assert names in ({FILE, EXPECTED}, {MADE, EXPECTED})


def test_there_are_cases_enough() -> None:
    assert len(CASES) >= 60
    assert len(BOMBS) >= 10
    assert {case.name for case in CASES} >= BOMBS
