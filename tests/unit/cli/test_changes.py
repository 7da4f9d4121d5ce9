import json
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reconciler.cli.annotations import hold_annotations
from reconciler.cli.changes import LONGEST_VALUE, field_line, hold_lines, print_change
from reconciler.core import change
from reconciler.model.changes import Change, FieldChange, Verb, WorkloadChange
from reconciler.model.findings import Finding
from reconciler.model.holds import Hold, HoldKind
from tests.unit.cli.screens import console, text_of
from tests.unit.core.making import a_key, a_reading, a_workload

ARENA, LOBBY = a_workload("arena", 2), a_workload("lobby", 20)
GONE = change.compare(a_reading(ARENA, LOBBY), a_reading(ARENA), "local")
FINDING = Finding("schedulers/x.yaml", 3, 1, "spec.game", "is missing")


def printed(what: Change, output: str, *findings: Finding) -> str:
    screen = console()
    print_change(screen, what, output, findings, "/repository")
    return text_of(screen.out)


def test_nothing_is_said_to_be_nothing() -> None:
    same = change.compare(a_reading(ARENA), a_reading(ARENA), "local")
    assert printed(same, "text") == "Nothing to do.\n"


def test_what_is_held_without_a_change_is_not_called_nothing() -> None:
    broken = a_reading(ARENA, invalid={LOBBY.key: (FINDING,)})
    said = printed(change.compare(a_reading(ARENA, LOBBY), broken, "local"), "text")
    assert "Nothing to do" not in said
    assert "held: Scheduler/lobby" in said


def test_a_refusal_comes_with_the_command_that_lets_it_through() -> None:
    said = printed(GONE, "text")
    assert f"gamekeeper approve {GONE.change_hash}" in said
    assert "no approval is needed" not in said


def test_a_removal_within_the_budget_says_so() -> None:
    less = change.compare(a_reading(LOBBY), a_reading(a_workload("lobby", 19)), "local")
    assert "within the budget" in printed(less, "text")
    assert "approve" not in printed(less, "text")


def test_workloads_of_one_reason_are_held_in_one_line() -> None:
    holds = [Hold(HoldKind.LAST_SPEC, a_key(name), "gone", "abc") for name in ("a", "b", "c")]
    said = list(hold_lines(console(), holds))
    assert said == [
        "held: Scheduler/a, Scheduler/b, Scheduler/c: gone (last-spec)",
        "    none of it acts until: gamekeeper approve abc",
    ]


LONG = "hostname duel\nmap ice\nmaxplayers 16\nmotd be kind to each other\ncheats {}\nport 1\n"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        pytest.param("ice", "bay", 'a: "ice" -> "bay"', id="short values"),
        pytest.param(None, "bay", 'a: (absent) -> "bay"', id="a value that came"),
        pytest.param("x" * 99, "y" * 99, f'a: "{"x" * 56}... -> "{"y" * 56}...', id="long values"),
        pytest.param(
            LONG.format(0),
            LONG.format(1),
            'a: ... each other\\ncheats 0\\nport 1\\n" -> ... each other\\ncheats 1\\nport 1\\n"',
            id="long values that begin alike",
        ),
        pytest.param(
            "x" * 99 + "a" * 99,
            "x" * 99 + "b" * 99,
            f"a: ...{'x' * 20}{'a' * 34}... -> ...{'x' * 20}{'b' * 34}...",
            id="and go on",
        ),
        pytest.param(
            "x" * 60, "x" * 61, f'a: ...{"x" * 20}" -> ...{"x" * 20}x"', id="and one is longer"
        ),
    ],
)
def test_two_values_that_differ_are_not_shown_alike(
    before: object, after: object, said: str
) -> None:
    assert field_line(FieldChange("a", before, after)) == said


@given(st.text(), st.text("ab"), st.text("ab"), st.text())
def test_no_two_values_are_shown_alike(first: str, one: str, other: str, last: str) -> None:
    before, after = (first * 9 + each + last * 9 for each in (one, other))
    assume(before != after)
    told = field_line(FieldChange("a", before, after)).removeprefix("a: ")
    # The values may hold such an arrow, too.
    assert any(
        told[:at] != told[at + 4 :] for at in range(len(told)) if told[at : at + 4] == " -> "
    )
    assert len(told) <= 2 * LONGEST_VALUE + 4


def test_json_says_everything() -> None:
    said = json.loads(printed(GONE, "json", FINDING))
    assert said["changeHash"] == said["holds"][0]["changeHash"] == GONE.change_hash
    assert said["removals"][0]["cause"] == "left-git"
    assert said["findings"][0]["path"] == "spec.game"
    assert said["refused"]


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "100%", "::error::x"])
def test_nothing_of_a_spec_can_pass_for_a_workflow_command(text: str) -> None:
    item = WorkloadChange(
        a_key(), Verb.UPDATE, "x", (FieldChange(f"labels.{text}", text, None),), "a.yaml:1"
    )
    said = printed(replace(GONE, workloads=(item,), holds=()), "github")
    assert said.startswith("::notice ")
    assert said.count("\n") == 1
    (held,) = hold_annotations([Hold(HoldKind.FINDING, None, text)], {})
    assert "\n" not in held
    assert "\r" not in held


@pytest.mark.parametrize(
    ("kind", "change_hash", "said"),
    [
        (HoldKind.OVER_BUDGET, "abc", "held: Scheduler/a: why|none of it acts until"),
        (HoldKind.FROZEN, "abc", "held: Scheduler/a: why|to let it act before then"),
        (HoldKind.SUSPENDED, "", "held: Scheduler/a: why|"),
        (HoldKind.TRAILER, "", "note: Scheduler/a: why|"),
        (HoldKind.UNSIGNED_COUNTS, "", "note: Scheduler/a: why|"),
    ],
)
def test_a_pull_request_is_told_of_a_hold_what_a_person_is(
    kind: HoldKind, change_hash: str, said: str
) -> None:
    hold = Hold(kind, a_key("a"), "why", change_hash)
    head, _, way = said.partition("|")
    told = [f"{head} ({kind})"]
    told += [f"    {way}: gamekeeper approve abc"] if way else []
    assert list(hold_lines(console(), [hold])) == told
    (line,) = hold_annotations([hold], {})
    title, _, reason = head.partition(": Scheduler/a: ")
    level = "notice" if title == "note" else "warning"
    more = f"%0A{way}: gamekeeper approve abc" if way else ""
    assert line == f"::{level} title={title}%3A Scheduler/a::{reason}{more}"
