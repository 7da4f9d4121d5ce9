"""What a run does not compare: identities that differ, and what a slow machine cannot show."""

from types import SimpleNamespace

import pytest

from tests.contract.differential import lockstep
from tests.contract.differential.lockstep import Lockstep
from tests.contract.differential.neutral import Neutral
from tests.contract.differential.servers import Opened, Reply
from tests.contract.differential.steps import Json, Step, Together


class Clock(SimpleNamespace):
    """A clock that only moves when somebody writes."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Slow:
    """Tells what it was told to in every watch; a write takes its time."""

    def __init__(self, told: Json, clock: Clock, seconds: float) -> None:
        self._reply, self._clock, self._seconds = Reply(200, told, (), "x"), clock, seconds

    def answer(self, step: Step) -> Reply:
        self._clock.now += self._seconds
        return Reply(200, {}, (), "x")

    def open(self, step: Step) -> Opened:
        return lambda: self._reply


@pytest.mark.parametrize(
    ("lasts", "write_seconds", "differences"),
    [
        pytest.param(1, 0.3, 1, id="in time: the difference is told"),
        pytest.param(1, 0.5, 0, id="a watch that was over before the last write"),
        pytest.param(4, 0.5, 1, id="a longer watch, in time"),
        pytest.param(4, 1.0, 0, id="a watch whose last bookmark came before the last write"),
    ],
)
def test_a_watch_is_compared_if_all_was_written_while_it_was_open(
    monkeypatch: pytest.MonkeyPatch, lasts: int, write_seconds: float, differences: int
) -> None:
    clock = Clock()
    monkeypatch.setattr(lockstep, "time", clock)
    quiet, loud = ({"told": one} for one in "ab")
    run = Lockstep(Slow(quiet, clock, 0), Slow(loud, clock, write_seconds))
    watch = Step("GET", f"/api/v1/pods?watch=true&timeoutSeconds={lasts}")
    writes = tuple(Step("PATCH", f"/api/v1/nodes/{name}", {}) for name in "ab")
    run.run("s", [Together((watch,), writes)])
    assert len(run.tally.differences) == differences
    assert run.tally.cut_short["watches"] == 1 - differences
    assert ("watches not compared" in run.tally.report()) == (not differences)


@pytest.mark.parametrize(
    ("write_seconds", "compared"),
    [
        pytest.param(0.1, 3, id="both in one second"),
        pytest.param(0.9, 1, id="not in one second"),
    ],
)
def test_a_life_ends_where_the_two_wrote_in_two_seconds(
    monkeypatch: pytest.MonkeyPatch, write_seconds: float, compared: int
) -> None:
    clock = Clock(now=0.3)
    monkeypatch.setattr(lockstep, "time", clock)
    run = Lockstep(Slow({}, clock, 0), Slow({}, clock, write_seconds))
    run.run("s", [Step("PATCH", f"/api/v1/nodes/{name}", {}) for name in "abc"])
    assert run.tally.compared.total() == compared
    assert run.tally.cut_short["lives"] == (compared < 3)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(
            "ResourceVersion in precondition: 1, ResourceVersion in object meta: {}", id="a change"
        ),
        pytest.param(
            "the ResourceVersion in the precondition ({0}) does not match the ResourceVersion in "
            "record ({0}). The object might have been modified",
            id="a deletion",
        ),
    ],
)
def test_revisions_that_messages_tell_are_no_difference(words: str) -> None:
    told = [
        Neutral().reply(Reply(409, {"message": words.format(revision)}, (), "x"))
        for revision in (577, 807)
    ]
    assert told[0] == told[1]
