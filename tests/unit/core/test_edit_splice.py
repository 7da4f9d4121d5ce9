"""The number that an edit means is found, or it is said why it is not one number alone.

Most of what can be wrong with a number stands in `tests/golden/edits`.
"""

import pytest

from reconciler.core.edit_pages import Book, Inexact
from reconciler.core.edit_splice import REPLICAS, is_about, is_decimal, number_at
from reconciler.core.places import Path
from reconciler.model.refs import WorkloadKey

OURS = "apiVersion: gamekeeper.dev/v1\n"
NAMED = "kind: Scheduler\nmetadata: {name: arena}\n"
FLEET = "kind: Fleet\nmetadata: {name: arena}\n"
ARENA = WorkloadKey("Scheduler", "arena", "arena")


@pytest.mark.parametrize(
    ("text", "where", "expected"),
    [
        pytest.param(OURS + NAMED, ARENA, True, id="its kind and name"),
        pytest.param(NAMED, ARENA, False, id="no apiVersion"),
        pytest.param("apiVersion: v1\n" + NAMED, ARENA, False, id="somebody else's kind"),
        pytest.param(OURS + FLEET, ARENA, False, id="another kind"),
        pytest.param(OURS + NAMED, WorkloadKey("Scheduler", "x", "arena"), False, id="a namespace"),
        pytest.param(
            OURS + FLEET, WorkloadKey("Fleet", "arena", "arena"), True, id="a fleet's own namespace"
        ),
        pytest.param(
            OURS + FLEET + "spec: {namespace: eu}",
            WorkloadKey("Fleet", "eu", "arena"),
            True,
            id="a fleet's namespace in its spec",
        ),
        pytest.param(
            OURS + FLEET + "spec: {namespace: eu}",
            WorkloadKey("Fleet", "arena", "arena"),
            False,
            id="a fleet that went elsewhere",
        ),
        pytest.param(
            OURS + FLEET + "spec: {namespace: }",
            WorkloadKey("Fleet", "arena", "arena"),
            True,
            id="a namespace that is null",
        ),
        pytest.param(
            OURS + FLEET + "spec: {namespace: null}",
            WorkloadKey("Fleet", "arena", "arena"),
            True,
            id="a namespace that is the word null",
        ),
        pytest.param(
            OURS + "x: &m {name: arena}\nkind: Scheduler\nmetadata: *m", ARENA, True, id="an alias"
        ),
        pytest.param(OURS + NAMED + "kind: Fleet", ARENA, True, id="one of two kinds"),
        pytest.param(OURS + "kind: Replicas", REPLICAS, True, id="the file of counts has no name"),
        pytest.param("- a", ARENA, False, id="a list"),
        pytest.param("a", ARENA, False, id="a text"),
    ],
)
def test_a_document_is_about_a_workload(text: str, where: WorkloadKey, expected: bool) -> None:
    (page,) = Book(text).pages
    (root,) = page.documents()

    assert is_about(root, where) is expected


@pytest.mark.parametrize(
    ("text", "path", "line", "reason"),
    [
        pytest.param("a: [1, 2]", ("a", 2), 1, "is not written", id="an item too far"),
        pytest.param("a: [1, 2]", ("a", -1), 1, "is not written", id="an item before the first"),
        pytest.param("a: {b: 1}", ("a", 0), 1, "is not written", id="an item of a mapping"),
        pytest.param("a: [1]", ("a", "b"), 1, "is not written", id="a name in a list"),
        pytest.param("a: 1", ("a", "b"), 1, "is not written", id="a name in a number"),
        pytest.param("a: 1", (), 1, "is a mapping", id="the document itself"),
        pytest.param("a:\n  '<<': 1", ("a", "b"), 2, "is not written", id="a quoted merge key"),
        pytest.param("a:\n  <<: 1", ("a", "b"), 2, "a merge key", id="a merge key"),
        pytest.param("a: 1\nb: {c: 1,\n c: 1}", ("b", "c"), 3, "lines 2 and 3", id="two names"),
    ],
)
def test_what_is_not_one_number_is_refused(text: str, path: Path, line: int, reason: str) -> None:
    (page,) = Book(text).pages
    (root,) = page.documents()

    with pytest.raises(Inexact, match=reason) as raised:
        number_at(root, path, page)

    assert raised.value.line == line


def test_a_number_is_found() -> None:
    (page,) = Book("a: {b: [x, -5]}\n").pages
    (root,) = page.documents()

    assert number_at(root, ("a", "b", 1), page).text == "-5"


@pytest.mark.parametrize(
    ("word", "expected"),
    [("0", True), ("-7", True), ("07", False), ("1.0", False), ("", False), ("9" * 30, False)],
)
def test_a_decimal_is_what_the_reader_takes_for_a_whole_number(word: str, expected: bool) -> None:
    assert is_decimal(word) is expected
