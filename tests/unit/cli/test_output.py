import json

import pytest
import yaml

from reconciler.cli.output import print_json, print_table, yaml_texts
from tests.unit.cli.screens import console, text_of

# What one YAML reader or another takes for a number, a date, a truth or nothing.
TRAPS = [
    "yes", "No", "on", "OFF", "y", "n", "true", "null", "Null", "~", "", "1e3", "0o17", "017",
    "0x1f", "1_000", "1:30", "2026-11-21", ".5", ".inf", "=", "<<", "- a", "a: b", "a #b", "*a",
    "&a", "!a", "@a", "`a", "%a", "{a", "[a", "ends:", " spaced ", "tab\there", "\x1b[31m", "é",
    "a,b",
]  # fmt: skip


@pytest.mark.parametrize("text", [*TRAPS, "two\nlines\n", "two \n lines", "# no comment\n"])
def test_a_string_stays_a_string(text: str) -> None:
    written = "".join(yaml_texts([{"value": text, text: "key"}]))
    assert yaml.safe_load(written) == {"value": text, text: "key"}


@pytest.mark.parametrize("text", TRAPS)
def test_what_could_be_something_else_is_quoted(text: str) -> None:
    written = "".join(yaml_texts([[text]]))
    assert written.startswith('---\n- "')


@pytest.mark.parametrize(
    "text", ["arena", "busybox:1.37", "gamekeeper.dev/v1", "arena-1", "/bin/sh"]
)
def test_a_plain_word_stays_plain(text: str) -> None:
    assert "".join(yaml_texts([[text]])) == f"---\n- {text}\n"


def test_an_object_that_stands_twice_is_written_twice() -> None:
    shared = {"app": "arena"}
    written = "".join(yaml_texts([{"a": shared, "b": shared}]))
    assert "&" not in written


def test_json_keeps_letters_as_they_are() -> None:
    screen = console()
    print_json(screen, {"name": "é"})
    assert text_of(screen.out) == '{\n  "name": "é"\n}\n'
    assert json.loads(text_of(screen.out)) == {"name": "é"}


def test_a_table_is_as_wide_as_its_widest_cells() -> None:
    screen = console()
    print_table(screen, ["name", "rooms"], [["arena", 12], ["a", ""]])
    assert text_of(screen.out) == "NAME    ROOMS\narena   12\na\n"


def test_a_cell_of_a_table_stays_on_its_line_and_colours_nothing() -> None:
    screen = console(tty=True)
    print_table(screen, ["a", "b"], [["x\x1b[31m\nheld: y", 1]])
    assert text_of(screen.out).splitlines()[1:] == ["x\\u001b[31m\\u000aheld: y   1"]


def test_json_is_the_same_value_whatever_stands_in_it() -> None:
    value = ["\x1b[2J", "\x9b2J", "\u202e", "\x7f", "é", "a\nb"]
    screen = console()
    print_json(screen, value)
    assert json.loads(text_of(screen.out)) == value
    assert not set("\x1b\x9b\u202e\x7f") & set(text_of(screen.out))
