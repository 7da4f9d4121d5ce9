"""Defects of scaling and of its way into Git, planted one at a time: its checks catch each."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from reconciler.core import intents, scaling_pace
from reconciler.loop import landing, noting
from reconciler.loop.head_lane import HeadLane
from reconciler.model.intents import Intent, Scaling
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Config
from tests.loop.planting import Plant, caught
from tests.loop.scaling import (
    test_broken_config,
    test_flapping,
    test_landing,
    test_renamed_branch,
)
from tests.loop.sweeps import part

pytestmark = pytest.mark.long

Check = Callable[[], None]


def nobody_is_heard(patch: pytest.MonkeyPatch) -> None:
    settle = intents.settle

    def deaf(known: Scaling, head: Any, *rest: Any) -> Any:
        return settle(known, replace(head, human="", foreign=""), *rest)

    patch.setattr(intents, "settle", deaf)


def ours_is_not_on_record(patch: pytest.MonkeyPatch) -> None:
    async def forget(*arguments: Any) -> None:
        return None

    patch.setattr(noting, "note_id", forget)


def broken_is_empty(patch: pytest.MonkeyPatch) -> None:
    waiting = landing.waiting

    def blind(lane: HeadLane) -> Mapping[WorkloadKey, Intent]:
        known = lane.reading
        if known is None or known.config is not None:
            return waiting(lane)
        lane.reading = replace(known, config=Config())
        try:
            return waiting(lane)
        finally:
            lane.reading = known

    patch.setattr(landing, "waiting", blind)


def turns_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(scaling_pace, "turn_left", lambda past, now: 0.0)


def flapping() -> None:
    test_flapping.test_flapping_demand_is_no_flapping_fleet(25.0, False)


PLANTED = [
    pytest.param(
        nobody_is_heard,
        test_landing.test_a_revert_by_a_human_acts_within_one_look_and_holds_the_policy,
        id="a person's word holds nothing",
    ),
    pytest.param(
        ours_is_not_on_record,
        test_renamed_branch.test_a_number_that_a_person_writes_with_the_name_wins_and_holds,
        id="a commit of ours is a person's word",
    ),
    pytest.param(
        broken_is_empty,
        test_broken_config.test_a_count_that_is_decided_meanwhile_lands_once_it_is_mended,
        id="a broken Config is an empty one",
    ),
    pytest.param(turns_at_once, flapping, id="what went up comes down at once"),
]


@pytest.mark.parametrize(("plant", "check"), part(PLANTED, 3))
def test_a_planted_bug_is_caught(
    plant: Plant, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    with caught(plant, monkeypatch):
        check()
