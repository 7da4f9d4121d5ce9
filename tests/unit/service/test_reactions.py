"""How soon a count follows what woke its workload, stage by stage."""

import asyncio

import pytest

from reconciler.model.refs import WorkloadKey
from reconciler.service.reactions import Reactions, Stage
from tests.loop.virtual_time import in_virtual_time
from tests.unit.core.making import a_key

KEY, OTHER = a_key("arena"), a_key("duel")


def test_each_stage_counts_from_the_wake() -> None:
    found: list[tuple[Stage, float]] = []

    async def main() -> None:
        loop, reactions = asyncio.get_running_loop(), Reactions(lambda *each: found.append(each))
        woken_at = loop.time()
        await asyncio.sleep(0.02)
        reactions.decided(KEY, woken_at)
        assert reactions.planned(KEY) is None, "its count does not act yet"
        await asyncio.sleep(0.03)
        reactions.recorded(KEY)
        since = reactions.planned(KEY)
        assert reactions.planned(KEY) is None, "once"
        reactions.requested(since, loop.time() + 0.05)

    in_virtual_time(main())
    assert [stage for stage, _ in found] == ["decided", "recorded", "requested"]
    assert [seconds for _, seconds in found] == pytest.approx([0.02, 0.05, 0.1])


def test_what_sends_nothing_and_what_came_of_no_decision_counts_nothing() -> None:
    found: list[tuple[Stage, float]] = []
    reactions = Reactions(lambda *each: found.append(each))
    reactions.requested(1.0, None)
    reactions.requested(reactions.planned(KEY), 2.0)
    assert found == []


@pytest.mark.parametrize("whose", [None, KEY], ids=["all", "one"])
def test_what_was_decided_before_somebody_else_led_is_forgotten(whose: WorkloadKey | None) -> None:
    found: list[tuple[Stage, float]] = []

    async def main() -> None:
        reactions = Reactions(lambda *each: found.append(each))
        for key in (KEY, OTHER):
            reactions.decided(key, 0.0)
            reactions.recorded(key)
        reactions.decided(KEY, 0.0)
        reactions.forget(whose)
        reactions.recorded(KEY)
        assert (reactions.planned(KEY), reactions.planned(OTHER) is None) == (None, whose is None)

    in_virtual_time(main())
    assert len(found) == 5
