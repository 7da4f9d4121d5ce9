"""Right before a room is deleted, what was heard since its plan was made is looked at once more."""

from dataclasses import replace

import pytest

from reconciler.loop.remove_rooms import remove_rooms
from reconciler.loop.settle import settle
from reconciler.loop.steps import Steps
from reconciler.model.changes import Cause
from reconciler.model.live import Seen
from reconciler.model.plans import Counts, DeleteRoom, MarkRoom, Plan
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Ears, GameState, Heard, Mark, Said, Why
from reconciler.model.specs import Departure
from reconciler.sandbox.faults import Fault
from tests.loop.world import Process, World, spec

KEY = WorkloadKey("Scheduler", "arena", "arena")
QUIET_SECONDS = Departure().quiet_seconds
TOLD_AT = 1.0
EMPTY = Heard(at=1.0, said=Said.READY, confirmed_at=TOLD_AT + QUIET_SECONDS)
BUSY = replace(EMPTY, said=Said.OCCUPIED, matches=1)
COUNTED = Heard(at=1.0, periodic=False)


class Saying:
    """What the rooms said, as a test has it."""

    def __init__(self, ears: Ears) -> None:
        self.ears = ears

    def of(self, key: WorkloadKey) -> Ears:
        raise AssertionError("a look at one room costs no look at all of them")

    def of_room(self, key: WorkloadKey, uid: str) -> Ears:
        return self.ears


async def planned(cause: Cause) -> tuple[World, Process, Plan]:
    """A fleet of one room that reports, and a plan that deletes it: it was told to leave."""
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 1, reports="required")})
    process = await world.process()
    for _ in range(3):
        await process.turn()
        world.pass_time(2.0)
    await process.view.read()
    (pod,) = process.view.of(KEY).pods
    world.pass_time(TOLD_AT + QUIET_SECONDS)
    pod = replace(pod, mark=Mark.DRAINING, seen=Seen(draining=TOLD_AT))
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
        pytest.param(COUNTED, Cause.SCALE_IN, True, id="whose last count is 0 goes"),
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
    assert outcome.done, "a room that spoke in time is no failure: the fence did its work"
    assert (not world.names("arena")) is goes
    assert outcome.verb == ("delete" if goes else "left")
    if not goes:
        assert "may not go any more" in outcome.reason


async def test_a_room_that_speaks_while_its_delete_waits_for_its_turn_stays() -> None:
    world, process, plan = await planned(Cause.SCALE_IN)
    uid = plan.removals[0].pod.uid
    saying = process.lane.reports = Saying(Ears({uid: EMPTY}))

    async def wait() -> None:
        saying.ears = Ears({uid: BUSY})

    process.transport.pause = wait
    steps = Steps(KEY)
    assert await remove_rooms(process.lane, plan, steps) == []
    assert [outcome.verb for outcome in steps.outcomes] == ["left"]
    assert world.names("arena")


async def test_a_room_that_says_since_that_a_match_begins_stays() -> None:
    world, process, plan = await planned(Cause.SCALE_IN)
    now, (removal,) = process.view.elapsed(), plan.removals
    told = replace(removal.pod, seen=Seen(draining=now - 2 * QUIET_SECONDS))
    plan = replace(plan, removals=(replace(removal, pod=told),))
    begins = replace(COUNTED, game_state=GameState.ASSIGNED, untold_since=now)
    process.lane.reports = Saying(Ears({told.uid: begins}))
    assert await remove_rooms(process.lane, plan, Steps(KEY)) == []
    assert world.names("arena")


async def test_a_room_that_changed_since_is_left_and_blames_nobody() -> None:
    world, process, plan = await planned(Cause.HEALING)
    (removal,) = plan.removals
    stale = replace(removal, pod=replace(removal.pod, resource_version="1"), blames_revision=True)
    process.lane.reports = Saying(Ears({removal.pod.uid: EMPTY}))
    settled = await settle(process.lane, replace(plan, removals=(stale,)), 1.0)
    assert [outcome.verb for outcome in settled.outcomes] == ["left"]
    assert not process.lane.failures
    assert world.names("arena")


async def test_a_delete_that_is_refused_blames_nobody_and_one_that_is_done_does() -> None:
    world, process, plan = await planned(Cause.HEALING)
    removal = replace(plan.removals[0], blames_revision=True)
    plan = replace(plan, removals=(removal,))
    process.lane.reports = Saying(Ears({removal.pod.uid: EMPTY}))
    world.sandbox.faults.plant(Fault(verbs=("delete",), kind="Pod", status=403))
    await settle(process.lane, plan, 1.0)
    assert not process.lane.failures
    await settle(process.lane, plan, 2.0)
    assert process.lane.failures[KEY].count == 1
    assert not world.names("arena")


async def test_a_room_that_is_blamed_for_its_word_is_not_blamed_for_its_end_again() -> None:
    world, process, plan = await planned(Cause.HEALING)
    removal = replace(plan.removals[0], blames_revision=True)
    process.lane.reports = Saying(Ears({removal.pod.uid: EMPTY}))
    (there,) = process.view.of(KEY).pods
    mark = MarkRoom(there, Mark.DRAINING, Why.FAILED, "x", blames_revision=True)
    await settle(process.lane, replace(plan, removals=(), marks=(mark,)), 1.0)
    await process.view.read()
    (pod,) = process.view.of(KEY).pods
    world.pass_time(2 * QUIET_SECONDS)
    empty = replace(EMPTY, confirmed_at=process.view.elapsed())
    process.lane.reports = Saying(Ears({pod.uid: empty}))
    await settle(process.lane, replace(plan, removals=(replace(removal, pod=pod),)), 2.0)
    assert process.lane.failures[KEY].count == 1
    world.pass_time(60.0)
    await process.view.read()
    await settle(process.lane, replace(plan, removals=()), 3.0)
    assert not process.lane.blamed[KEY], "who is gone is forgotten"
