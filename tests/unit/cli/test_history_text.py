"""A number's past as people and programs read it."""

from dataclasses import replace

import pytest

from reconciler.cli.history_text import Past, as_json, print_past
from reconciler.model.history import CountChange
from reconciler.model.intents import Step
from reconciler.model.pushes import Logged, Person
from reconciler.model.specs import Source
from tests.unit.cli.screens import console, text_of
from tests.unit.core.making import a_key

AT = 1795330800.0
FIRST, SECOND = Step(AT, 5, 7, "buffer", "4 busy"), Step(AT + 9, 7, 9, "buffer", "6 busy")
NEXT = Step(AT + 90, 9, 12, "buffer", "9 busy")
BOT = Person("Gamekeeper", "bot@example.com")
LOGGED = Logged("c" * 40, ("b" * 40,), BOT, BOT, AT + 60, "Scale arena to 9", "", ())
OURS = CountChange(LOGGED, 5, 9, Source("arena.yaml", 7), True, (FIRST, SECOND))
THEIRS = CountChange(replace(LOGGED, subject="five\x1b[31m"), None, 5, None, False)
PAST = Past(a_key(), "c" * 40, 9, "arena.yaml:7", (OURS, THEIRS), False, (NEXT,), 12, "")


def shown(past: Past) -> tuple[list[str], str]:
    screen = console()
    print_past(screen, past, AT + 100)
    return text_of(screen.out).splitlines(), text_of(screen.err)


def test_every_step_has_its_line_the_newest_first() -> None:
    lines, said = shown(PAST)
    assert lines == [
        "Scheduler/arena: 9 in arena.yaml:7 at commit cccccccccccc",
        "12 acts: not in Git yet, since 2026-11-22T07:01:30Z (10 s)",
        "",
        "WHEN                   FROM   TO   BY                             COMMIT           WHY",
        "2026-11-22T07:01:30Z   9      12   Gamekeeper                     not in Git yet   "
        "buffer: 9 busy",
        "2026-11-22T07:00:09Z   7      9    Gamekeeper                     cccccccccccc     "
        "buffer: 6 busy",
        "2026-11-22T07:00:00Z   5      7    Gamekeeper                     cccccccccccc     "
        "buffer: 4 busy",
        "2026-11-22T07:01:00Z   -      5    Gamekeeper <bot@example.com>   cccccccccccc     "
        "five\\u001b[31m",
    ]
    assert said == ""


def test_the_commit_of_the_branch_of_counts_is_told_and_that_a_checkout_may_lag_behind() -> None:
    apart = replace(PAST, counts=("counts", "d" * 40))
    lines, said = shown(apart)
    place = "arena.yaml:7 at commit cccccccccccc"
    assert lines[0] == f"Scheduler/arena: 9 in {place}, with counts at dddddddddddd"
    assert said == "", "a mirror has just fetched"
    _, said = shown(replace(apart, is_fetched=True))
    assert "Branch counts is read as this checkout has it" in said
    assert (as_json(apart)["countsBranch"], as_json(apart)["countsCommit"]) == (
        "counts",
        "d" * 40,
    )
    assert as_json(PAST)["countsCommit"] is None
    assert "as this checkout" not in shown(replace(PAST, is_fetched=True))[1]


MADE = "Requested-by: match-director\nGamekeeper-Instance: main\n"
"""Git gives the body without the first line."""


def told(body: str) -> str:
    """The line of a commit that no record has as ours."""
    logged = replace(LOGGED, subject="Make Fleet arena", body=body)
    lines, _ = shown(replace(PAST, changes=(replace(THEIRS, logged=logged),)))
    return lines[-1]


def test_who_asked_for_a_commit_over_http_stands_beside_what_it_says() -> None:
    line = told(MADE)
    assert line.endswith("   Make Fleet arena (it says: requested by match-director)")
    assert "Gamekeeper <bot@example.com>" in line, "anybody can write that: it is no proof"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("Requested-by: the owner\n", id="a person's trailer"),
        pytest.param("Make it\n\nRequested-by: the owner\n\nIt was time.\n", id="in the text"),
        pytest.param(
            "Make it\n\nRequested-by: the owner\n\nGamekeeper-Instance: main\n", id="not beside it"
        ),
        pytest.param(f"{MADE}\nReverts the above.\n", id="a message that quotes one"),
    ],
)
def test_a_line_that_names_who_asked_anywhere_else_is_a_persons_text(body: str) -> None:
    assert told(body).endswith("   Make Fleet arena")


def test_what_is_not_known_or_not_shown_is_said() -> None:
    unknown = replace(
        PAST, count=None, source="", changes=(), pending=(), acts=None, cut=True, unknown="no key"
    )
    lines, said = shown(unknown)
    assert lines == [
        "Scheduler/arena: - at commit cccccccccccc",
        "No commit of this log changed it.",
    ]
    assert "--limit shows more, of the newest 1000 commits" in said
    assert "is not known: no key." in said
    assert as_json(unknown)["pending"] is None
    apart = replace(PAST, unfetched="counts")
    assert "branch counts, which was not fetched here: git fetch" in shown(apart)[1]
    assert as_json(apart)["unfetched"] == "counts"


def test_of_commits_whose_ids_were_forgotten_it_is_said_that_nobody_knows() -> None:
    older = replace(OURS, ours=None)
    lines, said = shown(replace(PAST, changes=(OURS, older)))
    assert "Gamekeeper <bot@example.com>" in lines[-1]
    assert "newest 1000 commits are on record: of older ones it is not known" in said
    assert as_json(replace(PAST, changes=(older,)))["changes"][0]["ours"] is None


def test_programs_read_the_same() -> None:
    value = as_json(PAST)
    assert (value["count"], value["acts"], value["more"]) == (9, 12, False)
    assert [step["to"] for step in value["pending"]] == [12]
    ours, theirs = value["changes"]
    assert (ours["ours"], ours["source"], len(ours["steps"])) == (True, "arena.yaml:7", 2)
    assert (theirs["from"], theirs["to"], theirs["steps"]) == (None, 5, [])


def test_a_count_that_git_has_is_not_told_as_missing_there() -> None:
    lines, _ = shown(replace(PAST, acts=9, moves_git=False))
    since = "since 2026-11-22T07:01:30Z (10 s)"
    assert lines[1] == f"9 acts, as Git has it; the steps to it are not in Git yet, {since}"


def test_a_count_that_bounds_moved_since_it_was_decided_is_told() -> None:
    lines, _ = shown(replace(PAST, acts=11, is_bounded=True))
    assert lines[1].startswith("11 acts: not in Git yet")
    assert lines[2] == "    12 was decided, and the bounds have changed since"
