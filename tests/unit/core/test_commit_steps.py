"""What a message of ours says is read back as it was written; of others little is believed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.commit_steps import believed, is_silent, told_of
from reconciler.loop.commit_text import REASON_CHARACTERS, message_of, powerless
from reconciler.model.history import Told
from reconciler.model.intents import Intent, Step
from reconciler.model.masks import redact
from reconciler.model.printable import escaped
from reconciler.model.refs import WorkloadKey

ARENA, DUEL = WorkloadKey("Scheduler", "arena", "arena"), WorkloadKey("Fleet", "eu", "duel")
COUNTS = st.integers(0, 1_000_000)
STEPS = st.builds(
    Step,
    at=st.integers(1_000, 4_000_000_000_000).map(lambda milliseconds: milliseconds / 1000),
    before=COUNTS,
    after=COUNTS,
    policy=st.from_regex(r"[a-z][A-Za-z0-9-]{0,20}", fullmatch=True),
    reason=st.text(max_size=400),
)
INTENTS = st.builds(Intent, COUNTS, COUNTS, st.lists(STEPS, min_size=1, max_size=6).map(tuple))
UP = Step(1795330800.0, 5, 7, "buffer", "4 busy and 3 spare")
MORE = Step(1795330809.0, 7, 9, "buffer", "6 busy and 3 spare")


def body_of(message: str) -> str:
    return message.partition("\n")[2].strip("\n")


def as_told(step: Step) -> Step:
    reason = powerless(escaped(redact(step.reason)))
    if len(reason) > REASON_CHARACTERS:
        reason = reason[: REASON_CHARACTERS - 1] + "…"
    return Step(float(int(step.at)), step.before, step.after, step.policy, reason)


@pytest.mark.long
@given(INTENTS, INTENTS)
def test_a_message_is_read_back_as_it_was_written(arena: Intent, duel: Intent) -> None:
    body = body_of(message_of({ARENA: arena, DUEL: duel}, "main"))
    for key, intent in ((ARENA, arena), (DUEL, duel)):
        told = tuple(as_told(step) for step in intent.untold)
        assert told_of(body, key) == Told(intent.base, intent.value, told)


@pytest.mark.long
@given(INTENTS)
def test_a_message_of_ours_is_silent_of_all_others(intent: Intent) -> None:
    body = body_of(message_of({ARENA: intent}, "main"))
    assert is_silent(body, DUEL)
    assert not is_silent(body, ARENA)


def test_a_reason_that_holds_a_secret_is_committed_without_it() -> None:
    step = Step(UP.at, 5, 7, "webhook", "see https://bot:s3cret@scaler.test, token=s3cret")
    body = body_of(message_of({ARENA: Intent(5, 7, (step,))}, "main"))
    assert "s3cret" not in body
    assert "see https: //* @ scaler.test" in body.replace("@ ", " @ ").replace("  ", " ")


def test_a_message_that_was_cut_is_silent_of_nobody() -> None:
    steps = tuple(Step(UP.at + n, n, n + 1, "buffer", "r") for n in range(50))
    landed = {WorkloadKey("Scheduler", f"s{n}", f"s{n}"): Intent(0, 50, steps) for n in range(900)}
    body = body_of(message_of(landed, "main"))
    assert not is_silent(body, DUEL)
    assert not is_silent(
        "Scheduler/a/a: 1 -> 2\n(and 7 more lines)\n\nGamekeeper-Instance: main", DUEL
    )
    assert not is_silent(body[:200], WorkloadKey("Scheduler", "s89", "s89"))


@given(st.text(max_size=300))
def test_no_text_is_too_strange_to_be_read(text: str) -> None:
    told_of(text, ARENA)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("Scheduler/arena2: 5 -> 7", id="another workload"),
        pytest.param("Scheduler/arena: 5 -> 7\n\nScheduler/arena: 5 -> 8", id="told twice"),
        pytest.param(" Scheduler/arena: 5 -> 7", id="another form"),
        pytest.param("", id="nothing"),
    ],
)
def test_what_is_none_of_ours_says_nothing(body: str) -> None:
    assert told_of(body, ARENA) is None


def test_a_time_that_there_is_not_ends_the_steps() -> None:
    line = "  2026-02-30T07:00:00Z 5 -> 7 (buffer): r"
    assert told_of(f"Scheduler/arena: 5 -> 7\n{line}", ARENA) == Told(5, 7, ())


@pytest.mark.parametrize(
    ("told", "before", "after", "steps"),
    [
        pytest.param(Told(5, 9, (UP, MORE)), 5, 9, (UP, MORE), id="steps that lead there"),
        pytest.param(Told(5, 9, (UP, MORE)), 5, 8, (), id="the commit holds another number"),
        pytest.param(Told(5, 9, (UP, MORE)), None, 9, (), id="there was no number before"),
        pytest.param(
            Told(5, 8, (UP, MORE)),
            5,
            8,
            (Step(MORE.at, 5, 8, "buffer", MORE.reason),),
            id="a bound moved the last step",
        ),
        pytest.param(Told(5, 9, ()), 5, 9, (), id="no step"),
        pytest.param(None, 5, 9, (), id="no message of ours"),
    ],
)
def test_steps_are_believed_as_far_as_the_numbers_bear_them_out(
    told: Told | None, before: int | None, after: int | None, steps: tuple[Step, ...]
) -> None:
    assert believed(told, before, after) == steps
