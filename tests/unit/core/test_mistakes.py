"""Values in messages, and the word that was meant."""

import pytest

from reconciler.core.mistakes import Mistake, below, likely, shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("a", '"a"', id="text is quoted"),
        pytest.param("a\n::error::\x1b[2J", '"a?::error::?[2J"', id="no control character passes"),
        pytest.param("x" * 100, '"' + "x" * 57 + '..."', id="long text is cut"),
        pytest.param("ftp://me:t0p@h/", '"ftp://***@h/"', id="no password is told"),
        pytest.param(True, "true", id="true as YAML writes it"),
        pytest.param(False, "false", id="false as YAML writes it"),
        pytest.param(None, "null", id="null as YAML writes it"),
        pytest.param(1.5, "1.5", id="a number"),
    ],
)
def test_a_value_is_shown(value: object, text: str) -> None:
    assert shown(value) == text


def test_a_mistake_of_a_part_is_one_of_the_whole() -> None:
    assert below(("spec", "template"), Mistake(("spec",), "x")).path == ("spec", "template", "spec")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        pytest.param("maxSurgee", "maxSurge", id="a typo"),
        pytest.param("zzz", None, id="nothing close"),
        pytest.param("m" * 100_000, None, id="no word at all"),
        pytest.param(7, None, id="a number"),
    ],
)
def test_the_likely_word(word: object, meant: str | None) -> None:
    assert likely(word, ["maxSurge", "maxUnavailable"]) == meant
