"""A count that stands in another place of Git than before: what acts goes on."""

from dataclasses import replace
from typing import Any

import pytest

from reconciler.model.intents import CARRIED, Passage
from reconciler.model.moves import Moves
from reconciler.model.specs import Config, WriteBack
from tests.unit.core.arriving import take_in
from tests.unit.core.making import a_reading, a_workload, autoscaling
from tests.unit.core.test_counts_in_git import ARENA, DECIDED

A_PERSONS = {ARENA.key: (Passage("c2", 8, (20,)),)}


@pytest.mark.parametrize(
    ("changes", "in_effect"),
    [
        pytest.param({}, 60, id="nobody wrote a number: what acted goes on"),
        pytest.param(
            {"moves": Moves(wrote={})}, 60, id="also where nothing of ours is on the new branch"
        ),
        pytest.param({"accepted_config": Config()}, 60, id="the record tells that one lay over"),
        pytest.param({"moves": Moves(tracked=A_PERSONS)}, 8, id="a person did"),
    ],
)
def test_a_count_that_stands_elsewhere_now_moves_nothing(
    changes: dict[str, Any], in_effect: int
) -> None:
    old, new = (Config(write_back=WriteBack(branch=name)) for name in ("counts", "numbers"))
    workload = a_workload("arena", 8, autoscaling=autoscaling(2, 100))
    known = replace(DECIDED, scaling=replace(DECIDED.scaling, own=8))
    named = {"accepted_config": old, **changes}
    result = take_in(a_reading(workload, config=new), records={ARENA.key: known}, **named)
    record = result.records[ARENA.key]
    assert (record.in_effect, record.scaling.own) == (in_effect, None)
    again = take_in(a_reading(workload, config=new), records={ARENA.key: record}, **named)
    assert again.records.get(ARENA.key, record).in_effect == in_effect, "after a crash, too"


@pytest.mark.parametrize(
    ("line", "moves", "in_effect"),
    [
        pytest.param(8, Moves(stale={ARENA.key: 8}), 60, id="an old line of ours"),
        pytest.param(8, Moves(), 8, id="a line that nobody knows"),
        pytest.param(8, Moves(stale={ARENA.key: 9}), 8, id="another than the old one"),
        pytest.param(8, Moves(apart=A_PERSONS, stale={ARENA.key: 8}), 8, id="a person wrote it"),
        pytest.param(60, Moves(stale={ARENA.key: 60}), 60, id="the number that acts"),
    ],
)
def test_a_line_that_comes_to_lie_over_a_count_acts_where_it_is_news(
    line: int, moves: Moves, in_effect: int
) -> None:
    workload = a_workload("arena", line, autoscaling=autoscaling(2, 100))
    head = a_reading(workload, counts_commit="b1", over={ARENA.key: line}, own={ARENA.key: 20})
    record = take_in(head, records={ARENA.key: DECIDED}, moves=moves).records[ARENA.key]
    assert (record.in_effect, record.scaling.own) == (in_effect, 20)


def test_what_is_carried_over_is_told_as_that_and_not_as_a_persons_number() -> None:
    workload = a_workload("arena", 8, autoscaling=autoscaling(2, 100))
    known = replace(DECIDED, scaling=replace(DECIDED.scaling, own=8))
    counts = Config(write_back=WriteBack(branch="counts"))
    head = a_reading(workload, config=Config())
    result = take_in(head, records={ARENA.key: known}, accepted_config=counts)
    intent = result.records[ARENA.key].scaling.intent
    assert intent is not None
    assert (intent.steps[0].policy, intent.steps[0].before) == (CARRIED, 8)
    assert intent.steps[0].reason == "counts stand on the tracked branch from now on"
    assert intent.is_persons, "no suspension ends it before it stands there"
