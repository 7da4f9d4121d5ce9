"""The documents that docs/scaling.md shows are valid as they stand there."""

import re
from pathlib import Path

import pytest

from reconciler.core.schema_check import check
from reconciler.core.yaml_strict import parse_file
from tests.unit.core.reading import kit

PAGE = Path(__file__).parents[2] / "docs" / "scaling.md"
SHOWN = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize(("place", "kind"), [(0, "Scheduler"), (1, "Scheduler"), (2, "Config")])
def test_what_the_page_shows_is_valid(place: int, kind: str) -> None:
    (document,) = parse_file("page.yaml", SHOWN[place].encode()).documents
    assert document.value["kind"] == kind
    assert check(kit().kinds[kind], document.value) == []
