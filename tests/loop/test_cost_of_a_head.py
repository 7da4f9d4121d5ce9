"""A commit about one of many costs the others a look each: what is asked of them is counted."""

from collections import Counter

import pytest

from reconciler.core import counts_in_git
from reconciler.loop import head
from reconciler.model.arrivals import Arrival
from reconciler.model.intents import HeadCount
from reconciler.model.records import StateRecord
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Workload
from tests.loop.world import World, spec

MANY = 30


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Counter[WorkloadKey]:
    """How often it was asked what a head says of the count of each workload."""
    found: Counter[WorkloadKey] = Counter()
    asked = counts_in_git.head_count

    def counted(arrival: Arrival, workload: Workload, record: StateRecord) -> HeadCount:
        found[workload.key] += 1
        return asked(arrival, workload, record)

    monkeypatch.setattr(counts_in_git, "head_count", counted)
    return found


POLICY = {"min": 1, "max": 9, "policy": {"schedule": [{"replicas": 1}]}}


@pytest.mark.parametrize("restarted", [False, True], ids=["at first", "after a restart"])
@pytest.mark.parametrize(
    ("more", "of_others", "of_it"),
    [
        # The record of the touched one may have been written meanwhile: it is asked again when
        # it is.
        pytest.param({"autoscaling": POLICY}, 1, 2, id="that policies move, of each other once"),
        pytest.param({}, 0, 1, id="that no policy moves, of no other"),
    ],
)
async def test_a_commit_about_one_of_many_asks_little_of_the_others(
    looks: Counter[WorkloadKey], more: Json, of_others: int, of_it: int, restarted: bool
) -> None:
    world = World()
    world.commit({f"schedulers/w{n}.yaml": spec(f"w{n}", 1, **more) for n in range(MANY)})
    process = await world.process()
    await process.view.read()
    if restarted:
        # What is on record was read, and is not what this process made.
        await head.look(process.head, world.time.now())
        process = await world.process()
        await process.view.read()
    before = await head.look(process.head, world.time.now())
    looks.clear()
    world.commit({"schedulers/w7.yaml": spec("w7", 2, **more)})
    wanted = await head.look(process.head, world.time.now())
    touched = WorkloadKey("Scheduler", "w7", "w7")
    assert looks.pop(touched) == of_it
    assert looks == Counter({key: of_others for key in before.effective if key != touched})
    assert wanted.effective[touched].workload.replicas == 2
    assert {key for key, one in wanted.effective.items() if one is not before.effective[key]} == {
        touched
    }
