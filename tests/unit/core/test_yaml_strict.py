"""Strict YAML: hostile files are refused at once, sound ones are read as JSON would be."""

import time
from typing import Any

import pytest
import yaml

from reconciler.core.yaml_strict import MOST_BYTES, parse_file
from tests.unit.core.hostile_texts import hostile_texts

LOADERS = [
    pytest.param(yaml.CBaseLoader, id="libyaml"),
    pytest.param(yaml.BaseLoader, id="pure Python"),
]


HOSTILE = [pytest.param(*case, id=what) for what, case in hostile_texts().items()]


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize(("text", "rule"), HOSTILE)
def test_a_hostile_file_is_refused_and_runs_not_away(text: str, rule: str, loader: Any) -> None:
    started = time.process_time()
    parsed = parse_file("a.yaml", text.encode(), loader)
    seconds = time.process_time() - started

    assert parsed.unreadable is not None
    assert parsed.unreadable.rule == rule
    # A guard against a runaway, no measurement: `benchmarks/hostile.py` measures. Pure Python,
    # which is ten times slower, has more time.
    assert seconds < (5.0 if loader is yaml.CBaseLoader else 20.0)


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        pytest.param(b"a: \xff\xfe", "encoding", id="bytes that are no UTF-8"),
        pytest.param("a: b".encode("utf-16"), "encoding", id="UTF-16"),
        pytest.param(b"#" * (MOST_BYTES + 1), "size", id="a byte too many"),
        pytest.param(rb'a: "\ud800"', None, id="half a character"),
    ],
)
@pytest.mark.parametrize("loader", LOADERS)
def test_bytes_that_are_no_text_are_refused(data: bytes, rule: str | None, loader: Any) -> None:
    parsed = parse_file("a.yaml", data, loader)

    assert parsed.unreadable is not None
    assert rule is None or parsed.unreadable.rule == rule


def test_a_wrong_byte_is_found_on_its_line() -> None:
    found = parse_file("a.yaml", b"a: 1\nb: \xff").unreadable

    assert found is not None
    assert (found.line, found.column) == (2, 4)


@pytest.mark.parametrize("loader", LOADERS)
def test_a_byte_order_mark_is_no_part_of_the_text(loader: Any) -> None:
    (document,) = parse_file("a.yaml", "\ufeffa: 1\r\n".encode(), loader).documents

    assert document.value == {"a": 1}


@pytest.mark.parametrize("loader", LOADERS)
def test_every_document_of_a_file_is_read(loader: Any) -> None:
    parsed = parse_file("a.yaml", b"# first\na: 1\n---\nb: [x, {c: null}]\n---\n", loader)

    assert parsed.unreadable is None
    assert [one.value for one in parsed.documents] == [{"a": 1}, {"b": ["x", {"c": None}]}, None]


def test_documents_before_a_broken_one_are_kept() -> None:
    parsed = parse_file("a.yaml", b"a: 1\n---\nb: [\n")

    assert [one.value for one in parsed.documents] == [{"a": 1}]
    assert parsed.unreadable is not None


@pytest.mark.parametrize("loader", LOADERS)
def test_a_duplicate_key_is_found_at_both_places(loader: Any) -> None:
    text = b"spec:\n  replicas: 10\n  other: 1\n  replicas: 0\n"
    (document,) = parse_file("a.yaml", text, loader).documents

    assert [(one.line, one.column, one.rule) for one in document.findings] == [
        (2, 3, "duplicate-key"),
        (4, 3, "duplicate-key"),
    ]
    assert not document.identity_in_doubt


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("kind: A\nkind: B\n", id="two kinds"),
        pytest.param("metadata: {name: a, name: b}\n", id="two names"),
        pytest.param("metadata: {name: a}\nmetadata: {name: b}\n", id="two metadata"),
        pytest.param("!x\nkind: A\n", id="a tag on the whole document"),
        pytest.param("metadata: {name: !!str a}\n", id="a tag on the name"),
    ],
)
def test_the_identity_is_in_doubt_after(text: str) -> None:
    (document,) = parse_file("a.yaml", text.encode()).documents

    assert document.identity_in_doubt


def test_keys_are_text() -> None:
    (document,) = parse_file("a.yaml", b"spec: {1: a, true: b}\n").documents

    assert [one.rule for one in document.findings] == ["key", "key"]


def test_aliases_within_the_bounds_are_read() -> None:
    (document,) = parse_file("a.yaml", b"a: &x {b: [1]}\nc: [*x, *x]\n").documents

    assert document.value == {"a": {"b": [1]}, "c": [{"b": [1]}, {"b": [1]}]}


def test_depth_up_to_the_bound_is_read() -> None:
    parsed = parse_file("a.yaml", b"[" * 64 + b"]" * 64)

    assert parsed.unreadable is None
