"""As many different defects are planted as the scorecard asks for."""

from tests.loop import test_planted_bugs
from tests.loop.rooms import test_planted_room_bugs, test_ports
from tests.loop.scaling import test_planted_count_bugs
from tests.scorecard import ASKED

CORPORA = (test_planted_bugs, test_planted_room_bugs, test_ports, test_planted_count_bugs)


def test_at_least_thirty_different_bugs_are_planted() -> None:
    # One that several checks catch is one bug.
    planted = {bug.values[0] for corpus in CORPORA for bug in corpus.PLANTED}
    asked = ASKED[7]["planted_bugs"]

    assert asked >= 30
    assert len(planted) >= asked
