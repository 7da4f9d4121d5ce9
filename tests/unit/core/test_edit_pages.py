"""A file falls into pages of whole documents, and only those that matter are parsed."""

import pytest

from reconciler.core.edit_pages import Book, Inexact
from reconciler.model.refs import WorkloadKey

ARENA = WorkloadKey("Scheduler", "arena", "arena")


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        pytest.param("", [""], id="nothing"),
        pytest.param("a\n", ["a\n"], id="one document"),
        pytest.param("---\na\n", ["---\na\n"], id="one document with its mark"),
        pytest.param("a\n---\nb\n", ["a\n", "---\nb\n"], id="two documents"),
        pytest.param("a\r\n---\r\nb", ["a\r\n", "---\r\nb"], id="two with Windows line ends"),
        pytest.param("a\n--- {b: 1}\n", ["a\n", "--- {b: 1}\n"], id="content beside the mark"),
        pytest.param("a\n---", ["a\n", "---"], id="a mark at the end"),
        pytest.param("a\n----\n", ["a\n----\n"], id="four dashes"),
        pytest.param("a: |\n  ---\n", ["a: |\n  ---\n"], id="an indented mark"),
        pytest.param(
            "a\n...\n%YAML 1.1\n# c\n\n%TAG ! !x\n---\nb",
            ["a\n...\n", "%YAML 1.1\n# c\n\n%TAG ! !x\n---\nb"],
            id="directives belong to the document after them",
        ),
        pytest.param("a\n%b\nc\n", ["a\n%b\nc\n"], id="a per cent sign that is no directive"),
    ],
)
def test_a_page_begins_where_a_document_does(text: str, pages: list[str]) -> None:
    book = Book(text)

    assert [page.text for page in book.pages] == pages


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("%\n" * 200_000, id="directives without a document"),
        pytest.param("%a\n" + "# x\r\n" * 100_000, id="comments after a directive"),
        pytest.param(("%a\n" + "\r\n" * 50) * 10_000, id="directives and empty lines in turn"),
        pytest.param("---\n" * 100_000, id="nothing but marks"),
    ],
)
def test_a_hostile_text_falls_into_pages_too(text: str) -> None:
    assert "".join(page.text for page in Book(text).pages) == text


def test_a_page_knows_its_lines() -> None:
    _, second = Book("a\nb\n---\nc\nd\n").pages

    assert (second.first_line, second.line_of(0), second.line_of(6)) == (3, 3, 5)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        pytest.param("name: arena\n---\nname: lobby\n", [0], id="where the name stands"),
        pytest.param("a\n---\nx: arenas\n---\nb", [1], id="where it stands within a word"),
        pytest.param('a\n---\nname: "\\x61rena"\n', [1], id="where an escape may hide it"),
        pytest.param("name: lobby\n", [], id="nowhere"),
    ],
)
def test_pages_are_chosen_by_the_words_in_them(text: str, numbers: list[int]) -> None:
    book = Book(text)

    assert list(book.pages_about(ARENA)) == [book.pages[number] for number in numbers]


def test_a_broken_page_names_its_line_in_the_file() -> None:
    _, page = Book("a: 1\n---\nb: 1\nc: [\n").pages

    with pytest.raises(Inexact, match="the document is not YAML: ") as raised:
        page.documents()

    assert raised.value.line == 4
