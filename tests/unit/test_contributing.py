import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()


def test_every_place_that_it_names_is_there() -> None:
    named = re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", TEXT)
    assert len(named) > 10
    for place in named:
        assert (ROOT / place).exists(), place


def test_every_table_that_it_names_stands_in_the_file_beside_it() -> None:
    pairs = re.findall(r"`([A-Z_]{4,})` \(`([\w/.]+)`\)", TEXT)
    assert pairs
    for table, place in pairs:
        assert re.search(rf"^{table}\b", (ROOT / place).read_text(), re.MULTILINE), table


def test_it_is_a_page() -> None:
    assert len(TEXT.split()) < 600
