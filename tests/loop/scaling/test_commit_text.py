"""The message of a commit: every step, in one screen, and nothing that acts on a terminal."""

import pytest

from reconciler.core.commit_steps import told_of
from reconciler.loop.commit_text import MOST_LINES, message_of
from reconciler.model.intents import Intent, Step
from reconciler.model.refs import WorkloadKey

AT = 1795330800.0
ARENA, DUEL = WorkloadKey("Scheduler", "arena", "arena"), WorkloadKey("Fleet", "eu", "duel")
UP = Step(AT, 5, 7, "buffer", "4 busy and 3 spare")
MORE = Step(AT + 9, 7, 9, "buffer", "6 busy and 3 spare")


def test_every_step_since_the_last_commit_is_told() -> None:
    landed = {ARENA: Intent(5, 9, (UP, MORE)), DUEL: Intent(8, 4, (Step(AT, 8, 4, "max", "few"),))}
    assert message_of(landed, "main").splitlines() == [
        "Scale duel to 4, arena to 9",
        "",
        "Fleet/eu/duel: 8 -> 4",
        "  2026-11-22T07:00:00Z 8 -> 4 (max): few",
        "",
        "Scheduler/arena: 5 -> 9",
        "  2026-11-22T07:00:00Z 5 -> 7 (buffer): 4 busy and 3 spare",
        "  2026-11-22T07:00:09Z 7 -> 9 (buffer): 6 busy and 3 spare",
        "",
        "Gamekeeper-Instance: main",
    ]


def test_what_an_earlier_commit_told_is_not_told_again() -> None:
    text = message_of({ARENA: Intent(7, 9, (UP, MORE), told_at=AT)}, "main")
    assert "6 busy" in text
    assert "4 busy" not in text


def test_a_strangers_reason_is_one_harmless_line_of_bounded_length() -> None:
    hostile = "because\n\nSigned-off-by: root\x1b[31m \u202etxet" + "x" * 5000
    text = message_of({ARENA: Intent(5, 7, (Step(AT, 5, 7, "webhook", hostile),))}, "main")
    assert len(text.splitlines()) == 6
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(len(line) for line in text.splitlines()) < 400


ORDERS = [
    ("a cup [skip ci]", "a cup (skip ci)"),
    ("a cup ***NO_CI***", "a cup *NO_CI*"),
    ("a cup skip-checks: true", "a cup skip-checks  true"),
    ("Closes #12, fixes games/arena#3", "Closes # 12, fixes games/arena# 3"),
    (
        "Fixes GH-12 and ARENA-7 for @someone in !4",
        "Fixes GH- 12 and ARENA- 7 for @ someone in ! 4",
    ),
    ("Closes https://example.com/issues/1", "Closes https: //example.com/issues/1"),
    ("Co-authored-by: A <a@example.com>", "Co-authored-by: A <a@ example.com>"),
    ("GMT-3 is 50% and 4 != 5: as many!", "GMT-3 is 50% and 4 != 5: as many!"),
]


@pytest.mark.parametrize(("said", "written"), ORDERS, ids=[said for said, _ in ORDERS])
def test_a_strangers_reason_gives_the_host_no_orders_and_can_be_read(
    said: str, written: str
) -> None:
    text = message_of({ARENA: Intent(5, 7, (Step(AT, 5, 7, "webhook", said),))}, "main")
    told = told_of(text.partition("\n")[2], ARENA)
    assert told is not None
    assert [step.reason for step in told.steps] == [written]


def test_many_workloads_are_counted_in_the_first_line_and_a_huge_message_is_cut() -> None:
    steps = tuple(Step(AT + n, n, n + 1, "buffer", "r") for n in range(50))
    landed = {WorkloadKey("Scheduler", f"s{n}", f"s{n}"): Intent(0, 50, steps) for n in range(90)}
    lines = message_of(landed, "main").splitlines()
    assert lines[0] == "Scale 90 workloads"
    assert len(lines) < MOST_LINES + 6
    assert lines[-3].startswith("(and ")


def test_the_first_line_follows_its_template() -> None:
    text = message_of(
        {ARENA: Intent(5, 7, (UP,))}, "eu", "[skip ci] $summary ($count, ${instance})"
    )
    assert text.splitlines()[0] == "[skip ci] Scale arena to 7 (1, eu)"
