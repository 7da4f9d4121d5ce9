"""Where things stand: every value and every key keeps its line and column."""

from reconciler.core.places import place_of_key, place_of_value
from reconciler.core.yaml_strict import parse_file
from tests.unit.core.reading import document_of

TEXT = """\
# a comment
a:
  - b: 1
    "c d": &x {e: 2}
  - *x
"""


def test_values_and_keys_keep_their_places() -> None:
    places = document_of(TEXT).places

    assert place_of_value(places, ("a",)) == (3, 3)
    assert place_of_key(places, ("a",)) == (2, 1)
    assert place_of_value(places, ("a", 0, "b")) == (3, 8)
    assert place_of_key(places, ("a", 0, "c d")) == (4, 5)
    assert place_of_value(places, ("a", 0, "c d", "e")) == (4, 19)


def test_an_alias_is_placed_where_its_anchor_stands() -> None:
    places = document_of(TEXT).places

    assert place_of_value(places, ("a", 1, "e")) == (4, 19)


def test_a_second_document_counts_lines_of_the_file() -> None:
    documents = parse_file("a.yaml", b"a: 1\n---\nb: 2\n").documents

    assert place_of_key(documents[1].places, ("b",)) == (3, 1)
