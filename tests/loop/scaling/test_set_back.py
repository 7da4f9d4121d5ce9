"""A branch that a person sets back to a commit of theirs is their word once more."""

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
            await there.until("seven", lambda: there.wanted() == 7, 600.0)
            assert elapsed() - heard_at >= HOLD_SECONDS - 1.0

    in_virtual_time(main())
