"""A branch that goes back is a person's word once more; whose number that is, is not made up."""

import asyncio

import pytest

from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, scaled, stage
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.world import CONFIG

pytestmark = pytest.mark.long

HOLD_SECONDS = 300.0
TIMES = [
    {"from": "08:00", "to": "08:10", "replicas": 7},
    {"from": "08:10", "to": "08:14", "replicas": 4},
    {"from": "08:14", "to": "20:00", "replicas": 7},
]
"""The world begins at 08:00."""
BACK = "the branch moved to "
BRIEF = CONFIG.replace("{}", f"{{writeBack: {{humanHoldSeconds: {HOLD_SECONDS:.0f}}}}}")


def test_it_holds_anew_though_the_policy_wants_that_very_number() -> None:
    async def main() -> None:
        files = {"gamekeeper.yaml": BRIEF, FILE: scaled(2, TIMES)}
        async with stage(files, {"arena": Bounds(30, 0)}) as there:
            there.start("one")
            await there.until("seven in Git", lambda: there.count_in_git() == 7, 200.0)
            there.world.commit({FILE: scaled(4, TIMES)})
            theirs = there.head()
            await there.until("four", lambda: there.wanted() == 4, 60.0)
            await there.until("seven again", lambda: there.count_in_git() == 7, 450.0)
            await there.until("the policy's four", lambda: there.wanted() == 4, 600.0)
            assert there.count_in_git() == 7
            there.world.host.branch("main", theirs)
            assert there.leader is not None
            store = there.leader.lane.store
            await there.until("it is heard", lambda: not store.state(ARENA).scaling.intent, 90.0)
            heard_at = elapsed()
            assert store.state(ARENA).scaling.held_by == theirs
            assert store.state(ARENA).scaling.held_why.startswith(BACK + theirs[:12])
            await there.until("seven", lambda: there.wanted() == 7, 600.0)
            assert elapsed() - heard_at >= HOLD_SECONDS - 1.0

    in_virtual_time(main())


@pytest.mark.parametrize("beside", [False, True], ids=["back to it", "to one on top of it"])
def test_a_number_of_ours_is_never_told_as_set_by_hand(beside: bool) -> None:
    """A replica of the Git host that lags looks like a force-push: its older number acts."""

    async def main() -> None:
        files = {"gamekeeper.yaml": BRIEF, FILE: scaled(2, TIMES)}
        async with stage(files, {"arena": Bounds(30, 0)}) as there:
            there.start("one")
            await there.until("seven in Git", lambda: there.count_in_git() == 7, 200.0)
            ours = there.head()
            await there.until("four in Git", lambda: there.count_in_git() == 4, 900.0)
            await asyncio.sleep(30.0)
            there.world.host.branch("main", ours)
            head = there.world.commit({"NOTES": "theirs"}) if beside else ours
            await there.until("seven", lambda: there.wanted() == 7, 90.0)
            assert there.leader is not None
            scaling = there.leader.lane.store.state(ARENA).scaling
            assert scaling.held_until, "whoever set it back wants that number"
            assert scaling.held_why.startswith(BACK + head[:12])

    in_virtual_time(main())
