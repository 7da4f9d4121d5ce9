"""Rows of counts come and go one by one, each where its name belongs."""

import pytest

from reconciler.core.replicas_rows import moved, rows_of

HEAD = "apiVersion: gamekeeper.dev/v1\nkind: Replicas\nspec:\n counts:\n"


def test_a_count_is_three_rows() -> None:
    assert rows_of("Fleet/a", 4, "  ", "\r") == ("  # Fleet/a\r", "  Fleet/a: 4\r", "\r")


@pytest.mark.parametrize(
    ("before", "coming", "leaving", "after"),
    [
        pytest.param("  b: 1\n", {"a": 2}, [], "  # a\n  a: 2\n\n  b: 1\n", id="before the first"),
        pytest.param("  b: 1\n", {"c": 2}, [], "  b: 1\n\n  # c\n  c: 2\n\n", id="behind the last"),
        pytest.param(
            "  b: 1\n\n# end\n",
            {"c": 2},
            [],
            "  b: 1\n\n  # c\n  c: 2\n\n# end\n",
            id="above an end",
        ),
        pytest.param("  b: 1", {"c": 2}, [], "  b: 1\n\n  # c\n  c: 2\n", id="no final newline"),
        pytest.param(
            "  # b\n  b: 1\n  # mine\n  d: 1\n",
            {"c": 2},
            [],
            "  # b\n  b: 1\n  # mine\n  # c\n  c: 2\n\n  d: 1\n",
            id="beside a comment of somebody",
        ),
        pytest.param(
            "  a: 1\n  c: 1\n  e: 1\n",
            {"d": 2, "b": 3},
            [],
            "  a: 1\n  # b\n  b: 3\n\n  c: 1\n  # d\n  d: 2\n\n  e: 1\n",
            id="two in their places",
        ),
        pytest.param(
            "  d: 1\n",
            {"b": 2, "a": 3},
            [],
            "  # a\n  a: 3\n\n  # b\n  b: 2\n\n  d: 1\n",
            id="two in one",
        ),
        pytest.param("  # a\n  a: 1\n\n  b: 1\n", {}, ["a"], "  b: 1\n", id="the first goes"),
        pytest.param("  a: 1\n\n  # b\n  b: 1\n", {}, ["b"], "  a: 1\n\n", id="the last goes"),
        pytest.param(
            "  # x\n  a: 1\n  b: 1\n", {}, ["a"], "  # x\n  b: 1\n", id="its comment stays"
        ),
        pytest.param(
            "  a: 1\n\n  c: 1\n",
            {"b": 2},
            ["c"],
            "  a: 1\n\n  # b\n  b: 2\n\n",
            id="one for another",
        ),
        pytest.param("  a: 1 # x\n", {}, [], "  a: 1 # x\n", id="nothing"),
        pytest.param("", {"b": 2}, [], "   # b\n   b: 2\n\n", id="the first ones"),
        pytest.param(
            "# mine\n", {"b": 2}, ["c"], "   # b\n   b: 2\n\n# mine\n", id="above a comment"
        ),
    ],
)
def test_rows_come_and_go(
    before: str, coming: dict[str, int], leaving: list[str], after: str
) -> None:
    assert moved((HEAD + before).encode(), coming, leaving).decode() == HEAD + after


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_last_row_goes_and_the_first_comes_beside_the_comments_of_others(ending: str) -> None:
    none = f"# head\n{HEAD[:-1]} {{}} # by us\n# foot\n".replace("\n", ending)
    one = f"# head\n{HEAD[:-1]} # by us\n   # b\n   b: 2\n\n# foot\n".replace("\n", ending)
    assert moved(none.encode(), {"b": 2}, []).decode() == one
    assert moved(one.encode(), {}, ["b"]).decode() == none


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HEAD + "    {a: 1, c: 1}\n", id="two counts in a row"),
        pytest.param(HEAD + "    a:\n      1\n", id="a count below its name"),
        pytest.param("kind: Replicas\n", id="nobody's document"),
        pytest.param(HEAD.replace("counts:", "counts: &x"), id="an anchor and no counts"),
        pytest.param(HEAD.replace(" counts:\n", " - a\n"), id="a list"),
        pytest.param("a: [", id="no YAML"),
    ],
)
def test_a_text_of_another_form_is_left_alone(text: str) -> None:
    assert moved(text.encode(), {"b": 1}, ["a"]).decode() == text
