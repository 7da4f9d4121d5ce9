"""A commit about one of many costs the others a look each: what is asked of them is counted."""

from collections import Counter

import pytest

from reconciler.core import counts_in_git
from reconciler.loop import head
from reconciler.model.arrivals import Arrival
from reconciler.model.intents import HeadCount
from reconciler.model.records import StateRecord
from reconciler.model.refs import WorkloadKey
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


async def test_a_commit_about_one_of_many_asks_of_each_other_once(
    looks: Counter[WorkloadKey],
) -> None:
    world = World()
    world.commit({f"schedulers/w{n}.yaml": spec(f"w{n}", 1) for n in range(MANY)})
    process = await world.process()
    await process.view.read()
    before = await head.look(process.head, world.time.now())
    looks.clear()
    world.commit({"schedulers/w7.yaml": spec("w7", 2)})
    wanted = await head.look(process.head, world.time.now())
    touched = WorkloadKey("Scheduler", "w7", "w7")
    # Its record may have been written meanwhile: it is asked again when it is.
    assert looks.pop(touched) == 2
    assert looks == {key: 1 for key in before.effective if key != touched}
    assert wanted.effective[touched].workload.replicas == 2
    assert {key for key, one in wanted.effective.items() if one is not before.effective[key]} == {
        touched
    }
