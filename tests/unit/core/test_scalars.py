"""What plain words mean: what JSON would read, and text for all the rest."""

import pytest

from reconciler.core.scalars import TooLarge, meaning

WORDS = {
    "true": True, "false": False, "null": None, "": None,
    "0": 0, "10": 10, "-7": -7, "-0": 0, "1.5": 1.5, "-0.25": -0.25, "1e3": 1000.0, "2E-2": 0.02,
    "1.0": 1.0, "9223372036854775807": 9223372036854775807,
}  # fmt: skip
TEXTS = [
    "no", "No", "NO", "yes", "Yes", "on", "off", "y", "n", "True", "TRUE", "False", "Null", "NULL",
    "~", "010", "0o10", "0x1F", "0b1", "00", "1_000", "12:30:45", "1:2", "2024-01-01",
    "2024-01-01T00:00:00Z", ".5", "5.", "+1", "1e", "e3", ".nan", ".NaN", "nan", ".inf", "-.inf",
    "inf", "Infinity", "1.2.3", "1,000", "--1", "-", "=", "25%", "1 2", "٣", "1٣", "0.1.0",
]  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_what_json_knows_is_what_it_says(word: str) -> None:
    assert meaning(word) == WORDS[word]
    assert type(meaning(word)) is type(WORDS[word])


@pytest.mark.parametrize("word", TEXTS)
def test_everything_else_is_text(word: str) -> None:
    assert meaning(word) == word


@pytest.mark.parametrize("word", ["9" * 19, "1" * 5000, "-" + "9" * 40, "1e400", "1." + "0" * 90])
def test_a_number_too_large_for_any_field_is_refused(word: str) -> None:
    with pytest.raises(TooLarge):
        meaning(word)
