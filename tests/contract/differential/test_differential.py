"""The sandbox and a real API server give the same answers to thousands of requests."""

from __future__ import annotations

import json

import pytest

from tests.contract.differential.claims import CLAIMS, LEAST
from tests.contract.differential.lockstep import Lockstep, Tally
from tests.contract.differential.neutral import Neutral
from tests.contract.differential.scenarios import Scenario
from tests.contract.differential.servers import InProcess, Opened, Reply, lonely_api_server
from tests.contract.differential.steps import Step
from tests.contract.differential.unclaimed import CEILING, unclaimed, without
from tests.contract.differential.wrongs import WRONG
from tests.seeds import seed_of_the_program

SEED = 1
LIVES = 48
FRESH_LIVES = 16
STEPS = 80
REQUESTS_LEAST = 3000
SHOWN = 20


def _compared(seed: int, lives: int, capsys: pytest.CaptureFixture[str]) -> Tally:
    with lonely_api_server() as real:
        run = Lockstep(InProcess(), real)
        for life in range(lives):
            run.run(f"{seed}/{life}", Scenario(f"{seed}/{life}").steps(STEPS))
    told = [str(one) for one in run.tally.differences[:SHOWN]]
    with capsys.disabled():
        print(f"\nseed {seed}: {run.tally.report()}", *told, sep="\n\n")
    return run.tally


@pytest.mark.real
def test_the_sandbox_answers_as_the_real_server_does(capsys: pytest.CaptureFixture[str]) -> None:
    tally = _compared(SEED, LIVES, capsys)
    assert not tally.differences, tally.report()
    assert tally.compared.total() >= REQUESTS_LEAST
    thin = {claim: tally.claims[claim] for claim in CLAIMS if tally.claims[claim] < LEAST}
    assert not thin, f"claims with fewer than {LEAST} requests: {thin}"


@pytest.mark.real
def test_a_fresh_seed_finds_no_difference_between_right_requests(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Broken input is without end: what a fresh seed finds there is told, and mended afterwards.
    seed = seed_of_the_program(1_000_000)
    with capsys.disabled():
        again = f"python -m tests.contract.differential --seed {seed} --lives {FRESH_LIVES}"
        print(f"\nagain with: {again}")
    tally = _compared(seed, FRESH_LIVES, capsys)
    assert not [one for one in tally.differences if one.step.claim != WRONG], tally.report()


def test_the_list_of_what_is_not_claimed_only_shrinks() -> None:
    assert len(unclaimed()) == int(CEILING.read_text(encoding="utf-8"))


def test_a_seed_gives_the_same_requests_each_time() -> None:
    first, again = ([*Scenario("7/7").steps(200)] for _ in range(2))
    assert first == again
    assert first != [*Scenario("7/8").steps(200)]


@pytest.mark.long
def test_every_answer_of_two_sandboxes_is_the_same() -> None:
    run = Lockstep(InProcess(), InProcess())
    run.run("3/3", Scenario("3/3").steps(300))
    assert not run.tally.differences, run.tally.report()
    assert run.tally.compared.total() >= 300


class _Odd:
    """Answers everything in one way."""

    def __init__(self, status: int, body: object) -> None:
        self._reply = Reply(status, body, (), "application/json")

    def answer(self, step: Step) -> Reply:
        return self._reply

    def open(self, step: Step) -> Opened:
        return lambda: self._reply


@pytest.mark.parametrize(
    ("status", "body", "place"),
    [
        pytest.param(201, {"data": {"a": "1"}}, "status", id="another status"),
        pytest.param(200, {"data": {"a": "2"}}, "body", id="another value"),
        pytest.param(200, {"data": {"a": "1", "b": None}}, "body", id="null instead of nothing"),
        pytest.param(
            200, {"data": {"a": "1"}, "metadata": {"managedFields": [1]}}, "body", id="an owner"
        ),
    ],
)
def test_a_difference_is_found_and_shown(status: int, body: object, place: str) -> None:
    run = Lockstep(_Odd(200, {"data": {"a": "1"}}), _Odd(status, body))
    run.run("s", [Step("GET", "/api/v1/nodes/n")])
    (difference,) = run.tally.differences
    assert place in difference.parts
    assert "seed s, step 0: GET /api/v1/nodes/n" in str(difference)
    assert "1 x GET nodes" in run.tally.report()


def test_an_identity_keeps_its_name() -> None:
    one, other = f"{1:08x}-0000-0000-0000-{0:012x}", f"{2:08x}-0000-0000-0000-{0:012x}"
    neutral = Neutral()
    told = [
        neutral.reply(Reply(200, {"metadata": {"uid": uid}}, (), "application/json"))["body"]
        for uid in (one, other, one)
    ]
    assert told[0] == told[2] != told[1]
    assert one not in json.dumps(told)


def test_what_is_not_claimed_is_left_out() -> None:
    causes = [{"field": "b"}, {"field": "a"}, {"field": "b"}]
    status = {"kind": "Status", "details": {"causes": causes}, "message": "m\n@@ 1 @@\n+x\n]"}
    assert without(status) == {
        "kind": "Status",
        "details": {"causes": [{"field": "a"}, {"field": "b"}]},
        "message": "m]",
    }
