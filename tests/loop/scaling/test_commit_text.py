"""The message of a commit: every step, in one screen, and nothing that acts on a terminal."""

import pytest

from reconciler.core.commit_steps import is_silent, told_of
from reconciler.loop.commit_text import MOST_LINES, message_of
from reconciler.model.intents import Intent, Step
from reconciler.model.pushes import MESSAGE_LIMIT_BYTES
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


def test_a_secret_in_a_reason_is_masked_for_git_keeps_it_for_ever() -> None:
    reason = "asked with token=hunter2hunter2 and refused"
    text = message_of({ARENA: Intent(5, 7, (Step(AT, 5, 7, "webhook", reason),))}, "main")
    assert "hunter2" not in text
    assert "(webhook): asked with token=*" in text
    assert " and refused" in text


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


def many(workloads: int, steps: int, reason: str = "r") -> dict[WorkloadKey, Intent]:
    told = tuple(Step(AT + n, n, n + 1, "buffer", reason) for n in range(steps))
    keys = [WorkloadKey("Scheduler", f"s{n}", f"s{n}") for n in range(workloads)]
    return {key: Intent(0, steps, told) for key in keys}


@pytest.mark.parametrize("reason", ["r", "\u20ac" * 300], ids=["short reasons", "long ones"])
def test_a_huge_message_names_each_workload_and_how_many_steps_it_does_not_list(
    reason: str,
) -> None:
    landed = many(90, 50, reason)
    text = message_of(landed, "main")
    lines = text.splitlines()
    assert lines[0] == "Scale 90 workloads"
    assert len(lines) <= MOST_LINES + 3
    assert len(text.encode()) <= MESSAGE_LIMIT_BYTES
    for key in landed:
        told = told_of(text, key)
        assert told is not None
        left_out = 50 - len(told.steps)
        are = "step is" if left_out == 1 else "steps are"
        note = [f"  ({left_out} earlier {are} not listed)"] if left_out else []
        head = lines.index(f"{key}: 0 -> 50")
        assert lines[head + 1 : head + 1 + len(note)] == note
        assert told.steps[-1].after == 50, "the newest are"
    assert "  (49 earlier steps are not listed)" in lines


def test_what_no_message_has_room_for_is_counted_and_named_at_its_end() -> None:
    text = message_of(many(1000, 2), "main")
    *lines, said, _, _ = text.splitlines()
    assert len(lines) <= MOST_LINES + 2
    assert "  (1 earlier step is not listed)" in lines
    assert said.startswith("(and 1000 more steps of 500 workloads: Scheduler/")
    assert not is_silent(text, WorkloadKey("Scheduler", "s9", "s9"))


def test_lines_that_are_taken_out_leave_room_for_steps() -> None:
    gone = [WorkloadKey("Scheduler", f"g{n}", f"g{n}") for n in range(3000)]
    text = message_of(many(3, 2), "main", gone=gone)
    assert "(and 2500 more lines)" in text
    assert text.count("(buffer)") == 6


def test_the_first_line_follows_its_template() -> None:
    text = message_of(
        {ARENA: Intent(5, 7, (UP,))}, "eu", "[skip ci] $summary ($count, ${instance})"
    )
    assert text.splitlines()[0] == "[skip ci] Scale arena to 7 (1, eu)"
