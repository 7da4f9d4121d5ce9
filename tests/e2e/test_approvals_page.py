"""docs/approvals.md does what it says: its lines are taken from the page and typed in order."""

from pathlib import Path

import pytest

from tests.e2e.test_commands_page import lines_of, typed

pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[2] / "docs" / "approvals.md"


def test_the_page_comes_true(tmp_path: Path) -> None:
    said = typed(lines_of(PAGE), tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    refused, _, after = said.rpartition("\ncommit ")
    assert "commit with the line Gamekeeper-Approve: bd7085a350de (trailer)" in refused
    assert "gamekeeper approve bd7085a350de" in refused
    assert "bd7085a350de is approved by bea@studio.example in commit" in after
    assert "held:" not in after
