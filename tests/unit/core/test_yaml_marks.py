"""Text becomes a tree of marks that says where things stand and what shares them."""

from typing import Any

import pytest
import yaml

from reconciler.core.yaml_marks import NotYaml, documents_of, events_of, signature

LOADERS = [
    pytest.param(yaml.CBaseLoader, id="libyaml"),
    pytest.param(yaml.BaseLoader, id="pure Python"),
]


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize(
    ("text", "number"),
    [
        pytest.param("a: 5 # x\n", "5", id="a comment is no part of it"),
        pytest.param("a: &n 5\n", "5", id="an anchor is no part of it"),
        pytest.param("a: !!int 5\n", "5", id="a tag is no part of it"),
        pytest.param("{é😀: 12}", "12", id="characters are counted, not bytes"),
        pytest.param("# 😀\r\na:\r\n  12\r\n", "12", id="both characters of a line's end count"),
        pytest.param("\u2028a: 7", "7", id="a line separator is one character"),
    ],
)
def test_a_scalar_ends_where_its_mark_says(text: str, number: str, loader: Any) -> None:
    (root,) = documents_of(events_of(text, loader))
    ((_, value),) = root.entries

    assert value.text == number
    assert text[value.end - len(number) : value.end] == number


def test_an_alias_knows_its_anchor_and_the_anchor_its_first_alias() -> None:
    (root,) = documents_of(events_of("a: &n 5\nb: *n\nc: *n\n"))
    (_, a), (_, b), (_, c) = root.entries

    assert b.target is a
    assert c.followed() is a
    assert a.use is b
    assert a.followed() is a


def test_an_anchor_that_is_defined_again_is_another_one() -> None:
    (root,) = documents_of(events_of("a: &n 5\nb: *n\nc: &n 6\n"))
    (_, a), _, (_, c) = root.entries

    assert (a.use is None, c.use is None) == (False, True)


def test_an_anchor_ends_with_its_document() -> None:
    with pytest.raises(NotYaml, match="there is no anchor &n above") as raised:
        list(documents_of(events_of("a: &n 5\n---\nb: *n\n")))

    assert raised.value.index == 15


def test_entries_of_a_name_are_all_of_them_however_they_are_written() -> None:
    (root,) = documents_of(events_of("a: 1\n\"a\": 2\n'a': 3\nb: {a: 4}\n"))

    assert [value.text for _, value in root.entries_of("a")] == ["1", "2", "3"]


def test_only_a_mapping_has_entries_and_only_a_scalar_text() -> None:
    (root,) = documents_of(events_of("[a, {b: c}]"))

    assert (root.is_list, root.is_map, root.text, list(root.entries)) == (True, False, None, [])
    assert [item.text for item in root.parts] == ["a", None]
    assert list(root.parts[0].entries) == []


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("text", ["a: [", "a: b: c", "\ta: 1", "a: \x01"])
def test_what_is_no_yaml_says_so(text: str, loader: Any) -> None:
    with pytest.raises(NotYaml):
        events_of(text, loader)


@pytest.mark.parametrize("loader", LOADERS)
def test_what_nests_deeper_than_specs_may_is_not_read_to_its_end(loader: Any) -> None:
    assert events_of("[" * 64 + "]" * 64, loader)
    with pytest.raises(NotYaml, match="nested more than 64 deep") as raised:
        events_of("a: 1\n---\n" + "[" * 1_000_000, loader)
    assert raised.value.index == 73


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("a: 5", "a: 6", id="another value"),
        pytest.param("a: 5", "a: '5'", id="quotes"),
        pytest.param("a: 5", "a: &n 5", id="an anchor"),
        pytest.param("a: 5", "a: !!int 5", id="a tag"),
        pytest.param("a: {b: 5}", "a:\n  b: 5", id="another form of a mapping"),
        pytest.param("a: &n []", "a: &m []", id="another anchor of a list"),
        pytest.param("a: &n []\nb: &m []\nc: *n", "a: &n []\nb: &m []\nc: *m", id="another alias"),
        pytest.param("a: 5", "---\na: 5", id="a mark of the document"),
        pytest.param("a: 5", "a: 5\n...", id="an end of the document"),
        pytest.param("%YAML 1.1\n---\na: 5", "%YAML 1.2\n---\na: 5", id="another directive"),
    ],
)
def test_what_is_written_otherwise_has_another_signature(one: str, other: str) -> None:
    first, second = (list(map(signature, events_of(text))) for text in (one, other))

    assert first != second
    assert first == list(map(signature, events_of(f"# moved\n{one}")))
