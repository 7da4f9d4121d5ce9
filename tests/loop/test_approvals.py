"""An approval counts for what was asked when it was given, and once."""

import asyncio
from dataclasses import replace

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.cli import approve
from reconciler.loop.approvals import approval_body, read_approvals
from reconciler.model.errors import Unavailable
from reconciler.model.holds import HoldKind
from reconciler.model.labels import RECORD
from reconciler.model.records import Notice, OfferEnd
from reconciler.model.refs import WorkloadKey
from reconciler.settings import Settings
from tests.loop.world import Process, World, spec
from tests.unit.cli.screens import console

SECOND = "registry.example/game:2"
LOBBY = WorkloadKey("Scheduler", "lobby", "lobby")
DAY_SECONDS = 86_400.0
KEPT = {"schedulers/arena.yaml": spec("arena", 2)}


async def refused(**files: str | None) -> tuple[World, Process, str]:
    """Return a world in which lobby's scale-in from 12 to 2 is held, and the hash to approve."""
    world = World()
    world.commit({**KEPT, "schedulers/lobby.yaml": spec("lobby", 12)})
    process = await world.process()
    await world.settle(process)
    world.commit({"schedulers/lobby.yaml": spec("lobby", 2), **files})
    await turns(world, process)
    (hold,) = (hold for hold in process.lane.wanted.holds if hold.change_hash)
    return world, process, hold.change_hash


async def turns(world: World, process: Process, number: int = 4) -> None:
    for _ in range(number):
        await process.turn()
        world.pass_time(2.0)


def wanted(process: Process) -> int:
    accepted = process.lane.store.state(LOBBY).accepted
    assert accepted is not None
    return accepted.replicas


def ends(process: Process) -> dict[str, OfferEnd]:
    offers = process.lane.store.repository.offers
    return {offer.change_hash: offer.end for offer in offers}


async def test_an_approval_and_a_commit_that_touches_the_workload_in_one_moment() -> None:
    world, process, change_hash = await refused()
    world.pass_time(10.0)
    world.approve(change_hash)
    world.pass_time(10.0)
    world.commit({"schedulers/lobby.yaml": spec("lobby", 2, SECOND)})
    await turns(world, process)
    assert wanted(process) == 12
    (hold,) = process.lane.wanted.holds
    assert (hold.kind, hold.change_hash) == (HoldKind.OVER_BUDGET, change_hash)
    assert not await read_approvals(process.lane), "it meant another commit, and is used up"
    world.approve(change_hash)
    await turns(world, process, 20)
    assert len(world.pods("lobby")) == 2


@pytest.mark.parametrize(("schema", "lets_through"), [("1", True), (None, True), ("2", False)])
async def test_an_approval_of_a_newer_version_lets_nothing_through_and_stays(
    schema: str | None, lets_through: bool
) -> None:
    """Those of the first days have no number; what a newer one may say besides is not known."""
    world, process, change_hash = await refused()
    body = approval_body("gamekeeper", "main", change_hash, "anna")
    body["data"] |= {"schema": schema} if schema else {}
    if schema is None:
        del body["data"]["schema"]
    world.create("/api/v1/namespaces/gamekeeper/configmaps", body)
    process.head.approvals_changed = True
    await turns(world, process, 20)
    left = [
        each
        for each in world.objects("/api/v1/namespaces/gamekeeper/configmaps")
        if (each["metadata"].get("labels") or {}).get(RECORD) == "approval"
    ]
    assert (wanted(process) == 2, not left) == (lets_through, lets_through)


async def test_an_approval_and_a_commit_about_another_workload_in_one_moment() -> None:
    world, process, change_hash = await refused()
    world.approve(change_hash)
    world.commit({"schedulers/arena.yaml": spec("arena", 3)})
    await turns(world, process)
    assert (len(world.pods("arena")), len(world.pods("lobby"))) == (3, 2)


async def test_a_process_that_dies_between_does_not_let_the_later_commit_through() -> None:
    """What the first look judged is on record, and the approval's object is there still."""
    world, process, change_hash = await refused()
    world.pass_time(10.0)
    world.approve(change_hash)
    world.pass_time(10.0)
    world.commit({"schedulers/lobby.yaml": spec("lobby", 2, SECOND)})

    def die(number: int, call: Call) -> None:
        if call.verb == "delete" and "approval" in call.what:
            raise Unavailable("the process was killed here")

    process.transport.before = die
    await turns(world, process, 1)
    assert await read_approvals(process.lane)
    fresh = await world.process()
    await turns(world, fresh)
    assert wanted(fresh) == 12
    assert not await read_approvals(fresh.lane)


async def test_what_is_approved_and_waits_ends_with_a_commit_that_touches_it() -> None:
    """A deletion waits while some file cannot be read; meanwhile the spec is back and gone."""
    broken = {"schedulers/broken.yaml": "kind: [\n"}
    world = World()
    world.commit({**KEPT, "schedulers/lobby.yaml": spec("lobby", 12)})
    process = await world.process()
    await world.settle(process)
    world.commit({"schedulers/lobby.yaml": None, **broken})
    await turns(world, process)
    (offer,) = process.lane.store.repository.offers
    world.approve(offer.change_hash)
    await turns(world, process)
    assert process.lane.store.repository.approved
    world.commit({"schedulers/lobby.yaml": spec("lobby", 12)})
    await turns(world, process)
    assert not process.lane.store.repository.approved
    world.commit({"schedulers/lobby.yaml": None, "schedulers/broken.yaml": None})
    await turns(world, process)
    assert len(world.pods("lobby")) == 12
    assert [hold.kind for hold in process.lane.wanted.holds] == [HoldKind.OVER_BUDGET]


async def test_two_approvals_of_one_hash_let_it_through_once() -> None:
    world, process, change_hash = await refused()
    world.approve(change_hash)
    world.approve(change_hash)
    await turns(world, process)
    assert len(world.pods("lobby")) == 2
    assert not await read_approvals(process.lane)
    assert ends(process) == {change_hash: OfferEnd.DONE}
    world.approve(change_hash)
    world.commit({"schedulers/lobby.yaml": spec("lobby", 12)})
    await world.settle(process)
    assert not await read_approvals(process.lane)
    world.commit({"schedulers/lobby.yaml": spec("lobby", 2)})
    await turns(world, process)
    assert len(world.pods("lobby")) == 12, "the third found nothing that waits, and is no reserve"


async def test_two_processes_use_one_approval_up_together() -> None:
    world, process, change_hash = await refused()
    other = await world.process()
    world.approve(change_hash)
    await asyncio.gather(turns(world, process, 2), turns(world, other, 2), return_exceptions=True)
    await turns(world, other)
    assert len(world.pods("lobby")) == 2
    assert not await read_approvals(other.lane)


async def test_a_hash_that_is_taken_back_is_overtaken_and_waits_when_it_is_asked_again() -> None:
    world, process, change_hash = await refused()
    assert ends(process) == {change_hash: OfferEnd.WAITING}
    world.commit({"schedulers/lobby.yaml": spec("lobby", 12)})
    await turns(world, process)
    assert ends(process) == {change_hash: OfferEnd.OVERTAKEN}
    world.approve(change_hash)
    await turns(world, process)
    assert not await read_approvals(process.lane)
    world.commit({"schedulers/lobby.yaml": spec("lobby", 2)})
    await turns(world, process)
    assert len(world.pods("lobby")) == 12
    assert ends(process) == {change_hash: OfferEnd.WAITING}


async def test_a_hash_that_ci_shows_may_be_approved_before_the_merge() -> None:
    _, _, change_hash = await refused()
    fresh = World()
    fresh.commit({**KEPT, "schedulers/lobby.yaml": spec("lobby", 12)})
    process = await fresh.process()
    await fresh.settle(process)
    fresh.approve(change_hash)
    await turns(fresh, process)
    assert len(await read_approvals(process.lane)) == 1
    fresh.commit({"schedulers/lobby.yaml": spec("lobby", 2)})
    await turns(fresh, process)
    assert len(fresh.pods("lobby")) == 2


async def test_an_approval_given_while_the_clock_was_a_day_ahead_lets_nothing_through() -> None:
    world, process, change_hash = await refused()
    world.time.at += DAY_SECONDS
    world.approve(change_hash)
    world.time.at -= DAY_SECONDS
    await turns(world, process)
    assert wanted(process) == 12
    assert not await read_approvals(process.lane), "it does not wait for a day that comes"
    world.approve(change_hash)
    await turns(world, process, 20)
    assert (wanted(process), len(world.pods("lobby"))) == (2, 2)


async def test_an_approval_counts_where_the_clock_of_the_loop_is_off_for_good(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world, process, change_hash = await refused()
    process.lane.server_now = lambda: world.time.now() + DAY_SECONDS

    def approve(age_seconds: float) -> None:
        world.time.at += DAY_SECONDS - age_seconds
        world.approve(change_hash)
        world.time.at -= DAY_SECONDS - age_seconds

    approve(age_seconds=3700.0)
    await turns(world, process)
    assert wanted(process) == 12, "it was given more than an hour ago"
    assert "1440 minutes behind the API server's" in caplog.text
    approve(age_seconds=5.0)
    await turns(world, process, 20)
    assert (wanted(process), len(world.pods("lobby"))) == (2, 2)
    (approved,) = [each.until for each in process.lane.store.repository.approved] or [0.0]
    assert approved <= world.time.now() + 3600.0


async def test_approve_shows_all_that_a_hash_lets_through() -> None:
    """It stands for all of a commit: in a freeze for new specs, and for deletions beside."""
    _, process, change_hash = await refused()
    store = process.lane.store
    new = Notice(HoldKind.FROZEN, "Scheduler/new", "frozen until Monday", change_hash)
    await store.change_repository(lambda newest: replace(newest, notices=(new,)))
    settings, screen = Settings(instance="main"), console()
    offer = await approve._offer(process.cluster, settings, change_hash, screen)
    assert offer is not None
    assert offer.lines == ("local Scheduler lobby/lobby scale-in to=2",)


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "with a commit on top"])
@pytest.mark.parametrize("anew", [False, True], ids=["as it ran", "by one with an empty mirror"])
async def test_a_scale_in_to_which_the_branch_went_back_is_nobodys_hand_once_it_is_approved(
    anew: bool, beside: bool
) -> None:
    """It looks so where a replica of the Git host lags: the number may be one of ours."""
    world, few = World(), spec("lobby", 2, autoscaling=_policy(2, 3))
    back = world.commit({**KEPT, "schedulers/lobby.yaml": few})
    world.commit({"schedulers/lobby.yaml": spec("lobby", 12, autoscaling=_policy(10, 20))})
    process = await world.process()
    await world.settle(process)
    world.host.branch("main", back)
    process = await world.process() if anew else process
    await turns(world, process)
    if beside:
        world.commit({"NOTES": "theirs"})
        await turns(world, process)
    (hold,) = (hold for hold in process.lane.wanted.holds if hold.change_hash)
    assert (hold.kind, wanted(process)) == (HoldKind.OVER_BUDGET, 12)
    world.approve(hold.change_hash)
    await turns(world, process)
    scaling = process.lane.store.state(LOBBY).scaling
    assert (wanted(process), scaling.held_by) == (2, back)
    assert scaling.held_why.startswith(f"the branch moved to {back[:12]}, and not forward")


def _policy(low: int, high: int) -> dict[str, object]:
    return {"min": low, "max": high, "policy": {"schedule": [{"replicas": low}]}}
