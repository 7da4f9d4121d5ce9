"""Right before a room is deleted, what was heard since its plan was made is looked at once more."""

from dataclasses import replace

import pytest

from reconciler.loop.remove_rooms import remove_rooms
from reconciler.loop.steps import Steps
from reconciler.model.changes import Cause
from reconciler.model.plans import Counts, DeleteRoom, Plan
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Ears, Heard, Said
from tests.loop.world import Process, World, spec

KEY = WorkloadKey("Scheduler", "arena", "arena")
EMPTY = Heard(at=1.0, said=Said.READY, confirmed=True)
BUSY = replace(EMPTY, said=Said.OCCUPIED, matches=1)


class Saying:
    """What the rooms said, as a test has it."""

    def __init__(self, ears: Ears) -> None:
        self.ears = ears

    def of(self, key: WorkloadKey) -> Ears:
        return self.ears


async def planned(cause: Cause) -> tuple[World, Process, Plan]:
    """A fleet of one room that reports, and a plan that deletes it."""
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 1, reports="required")})
    process = await world.process()
    for _ in range(3):
        await process.turn()
        world.pass_time(2.0)
    await process.view.read()
    (pod,) = process.view.of(KEY).pods
    wish = process.lane.wanted.effective[KEY].wish
    return (
        world,
        process,
        Plan(KEY, Counts(), removals=(DeleteRoom(pod, cause, "x"),), made_for=wish),
    )


@pytest.mark.parametrize(
    ("heard", "cause", "goes"),
    [
        pytest.param(EMPTY, Cause.SCALE_IN, True, id="that is empty goes"),
        pytest.param(BUSY, Cause.SCALE_IN, False, id="that says it is busy since stays"),
        pytest.param(None, Cause.ROLLOUT, False, id="that is not heard any more stays"),
        pytest.param(BUSY, Cause.DEADLINE, True, id="beyond its deadline goes"),
    ],
)
async def test_a_room(heard: Heard | None, cause: Cause, goes: bool) -> None:
    world, process, plan = await planned(cause)
    uid = plan.removals[0].pod.uid
    process.lane.reports = Saying(Ears({uid: heard} if heard else {}))
    steps = Steps(KEY)
    await remove_rooms(process.lane, plan, steps)
    (outcome,) = steps.outcomes
    assert outcome.done is goes, outcome.error
    assert (not world.names("arena")) is goes
    if not goes:
        assert "may not go any more" in outcome.error
