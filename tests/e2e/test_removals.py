"""The judge of the tests of real rooms can convict: by the order of a report and a removal."""

from dataclasses import dataclass

import pytest

from tests.e2e.real_removals import Removal, thrown_out
from tests.e2e.real_voices import Span

pytestmark = pytest.mark.long


@dataclass
class Spoke:
    """What a room said, without the room."""

    spans: list[Span]


@pytest.mark.parametrize(
    ("received", "guilty"), [(9.9, False), (10.0, True), (15.0, True), (20.0, False)]
)
def test_a_removal_that_is_asked_for_between_the_answer_to_a_match_and_its_end_is_one_too_many(
    received: float, guilty: bool
) -> None:
    removal = Removal("arena/arena-1", True, "somebody", received, received + 5.0)
    spoke = Spoke([Span(10.0, "occupied", 20.0)])
    found = thrown_out({removal.room: removal}, {removal.room: spoke})
    assert found == (["arena/arena-1: evicted by somebody"] if guilty else [])


def test_a_match_that_goes_on_holds_its_room_and_the_next_match_does_too() -> None:
    removal = Removal("arena/arena-1", False, "gamekeeper", 30.0, 30.1)
    ended = Span(10.0, "occupied", 20.0)
    for last, guilty in ((Span(25.0, "occupied"), True), (Span(31.0, "occupied"), False)):
        found = thrown_out({removal.room: removal}, {removal.room: Spoke([ended, last])})
        assert bool(found) is guilty
