"""YAML that strangers write: each file beside a good neighbour, and exactly what comes of it.

GAMEKEEPER_UPDATE_GOLDEN=1 rewrites `expected.txt`; read the difference before committing it.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from reconciler.adapters.compiler.zygote import Zygote
from tests.corpora.playing import EXPECTED, folders, held_to, told_of_file
from tests.corpora.stories import content_of

FILE, MADE = "arena.yaml", "made.yaml"
CASES = folders("yaml")


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    made = Zygote()
    yield made
    made.close()


def _content(case: Path) -> bytes:
    """Return the file of a case: as it stands, or as `made.yaml` says how to make it."""
    file = case / FILE
    if file.exists():
        return file.read_bytes()
    return content_of(yaml.safe_load((case / MADE).read_text(encoding="utf-8")))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
async def test_what_comes_of_a_file_stands_beside_it(case: Path, zygote: Zygote) -> None:
    said = await told_of_file("schedulers/arena.yaml", _content(case), zygote)

    held_to(case / EXPECTED, said)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_a_case_holds_nothing_that_is_not_read(case: Path) -> None:
    names = {path.name for path in case.iterdir()}
    assert names in ({FILE, EXPECTED}, {MADE, EXPECTED})


def test_there_are_cases_enough() -> None:
    assert len(CASES) >= 60
