"""An edit that changed more than it should is found out, whatever made it."""

import pytest

from reconciler.core.edit_check import says_the_same
from reconciler.core.yaml_marks import documents_of, events_of

TEXT = "a: {b: &n 5, c: *n}\nspec:\n  replicas: &r 5 # five\n  game: x\n"
DONE = TEXT.replace("&r 5", "&r 12")


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param(DONE, True, id="the number alone"),
        pytest.param(
            TEXT.replace("&r 5 #", "&r   12 # not"), True, id="spaces and comments say nothing"
        ),
        pytest.param(TEXT, False, id="not the number"),
        pytest.param(TEXT.replace("&r 5", "&r 13"), False, id="another number"),
        pytest.param(TEXT.replace("&r 5", "12"), False, id="the anchor went"),
        pytest.param(TEXT.replace("&r 5", "&s 12"), False, id="another anchor"),
        pytest.param(TEXT.replace("&r 5", "&r '12'"), False, id="a number in quotes"),
        pytest.param(TEXT.replace("&r 5", "&r !!int 12"), False, id="a tag"),
        pytest.param(TEXT.replace("5", "12"), False, id="a number beside it, too"),
        pytest.param(DONE.replace("*n", "5"), False, id="an alias written out"),
        pytest.param(TEXT.replace("replicas: &r 5", "replicas:12"), False, id="glued to its name"),
        pytest.param(DONE.replace(": x", ": x\n  y: z"), False, id="a line more"),
        pytest.param(DONE.replace("  game: x\n", ""), False, id="a line less"),
        pytest.param(DONE + "---\na: 1\n", False, id="a document more"),
        pytest.param(TEXT.replace("&r 5", "&r [12"), False, id="no YAML any more"),
        pytest.param(DONE.replace("  game", "game"), False, id="moved"),
    ],
)
def test_a_text_says_the_same_with_its_number_changed(after: str, expected: bool) -> None:
    events = events_of(TEXT)
    (root,) = documents_of(events)
    ((_, spec),) = root.entries_of("spec")
    ((_, number),) = spec.entries_of("replicas")

    assert says_the_same(events, after, {number.order: "12"}) is expected
