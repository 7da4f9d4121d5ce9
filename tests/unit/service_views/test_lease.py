import asyncio
import logging
from dataclasses import dataclass, field

import pytest

from reconciler.model.errors import AlreadyExists, Conflict, PortError, Unavailable
from reconciler.model.refs import Json, ObjectRef
from reconciler.service.lease import DURATION_SECONDS, RENEW_DEADLINE_SECONDS, Lease, NoLease
from tests.unit.service_views.scripted import NoCluster, VirtualClock

REF = ObjectRef("coordination.k8s.io/v1", "Lease", "gamekeeper", "studio")


@dataclass
class OneLease(NoCluster):
    """An API server with room for one lease; `down` is what it answers while it is down.

    What it read is on its way until it has one of the `turns`.
    """

    lease: Json | None = None
    version: int = 0
    down: PortError | None = None
    writes: list[str] = field(default_factory=list)
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1000))
    read: int = 0

    async def get(self, ref: ObjectRef) -> Json | None:
        self._check()
        self.read, lease = self.read + 1, self.lease
        await self.turns.acquire()
        return lease

    async def create(self, body: Json, *, dry_run: bool = False) -> Json:
        self._check()
        if self.lease is not None:
            raise AlreadyExists("there is one")
        return self._store(body)

    async def replace(self, body: Json) -> Json:
        self._check()
        if body["metadata"]["resourceVersion"] != str(self.version):
            raise Conflict("somebody was faster")
        return self._store(body)

    def _check(self) -> None:
        if self.down is not None:
            raise self.down

    def _store(self, body: Json) -> Json:
        self.version += 1
        metadata = {**body["metadata"], "resourceVersion": str(self.version), "uid": "u"}
        self.lease = {**body, "metadata": metadata}
        self.writes.append(body["spec"]["holderIdentity"])
        return self.lease


class Candidate:
    """One process that wants to lead; its rounds are run by the test."""

    def __init__(self, server: OneLease, clock: VirtualClock, identity: str) -> None:
        self.told = 0
        self.lease = Lease(server, REF, identity, clock, changed=self._tell, elapsed=clock.now)
        self.clock = clock

    def _tell(self) -> None:
        self.told += 1

    async def rounds(self, count: int) -> None:
        """Let `count` rounds of two seconds pass."""
        for _ in range(count):
            await self.lease.attempt()
            self.clock.at += 2.0


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def server() -> OneLease:
    return OneLease()


async def test_the_first_to_come_leads(server: OneLease, clock: VirtualClock) -> None:
    first = Candidate(server, clock, "first")
    assert not first.lease.leading
    await first.rounds(1)
    assert first.lease.leading
    assert (first.lease.holder, first.told) == ("first", 1)


async def test_a_leader_that_hears_nothing_stops_before_another_may_begin(
    server: OneLease, clock: VirtualClock
) -> None:
    first = Candidate(server, clock, "first")
    await first.rounds(1)
    server.down = Unavailable("down")
    clock.at += RENEW_DEADLINE_SECONDS
    assert not first.lease.leading
    assert RENEW_DEADLINE_SECONDS < DURATION_SECONDS


async def test_another_takes_over_only_after_the_lease_stood_still_for_its_duration(
    server: OneLease, clock: VirtualClock
) -> None:
    await Candidate(server, clock, "first").rounds(1)
    second = Candidate(server, clock, "second")
    begun = clock.at
    await second.rounds(7)
    assert clock.at - begun < DURATION_SECONDS
    assert not second.lease.leading
    assert second.lease.holder == "first"
    await second.rounds(2)
    assert second.lease.leading
    assert server.lease is not None
    assert server.lease["spec"]["leaseTransitions"] == 1


async def test_a_lease_that_is_renewed_is_never_taken_whatever_its_times_say(
    server: OneLease, clock: VirtualClock
) -> None:
    await Candidate(server, clock, "first").rounds(1)
    assert server.lease is not None
    second = Candidate(server, clock, "second")
    for _ in range(10):
        # Renewed by a machine whose clock is a year behind.
        spec = {**server.lease["spec"], "renewTime": "2025-01-01T00:00:00.000000Z"}
        await server.replace({**server.lease, "spec": spec})
        await second.rounds(3)
        assert not second.lease.leading


async def test_who_was_overtaken_while_it_slept_does_not_lead_when_it_wakes(
    server: OneLease, clock: VirtualClock
) -> None:
    first = Candidate(server, clock, "first")
    await first.rounds(1)
    clock.at += 60
    assert not first.lease.leading
    second = Candidate(server, clock, "second")
    await second.rounds(9)
    assert second.lease.leading
    await first.rounds(2)
    assert not first.lease.leading
    assert first.lease.holder == "second"
    assert server.writes[-1] == "second"


async def overtaken(server: OneLease, clock: VirtualClock) -> Candidate:
    """A process that leads by its own clock, which stood while another took the lease over."""
    first = Candidate(server, clock, "first")
    await first.rounds(1)
    since = clock.at
    second = Candidate(server, clock, "second")
    await second.rounds(9)
    assert second.lease.leading
    clock.at = since
    assert first.lease.leading
    return first


async def test_who_was_overtaken_while_its_clock_stood_leads_until_it_looks(
    server: OneLease, clock: VirtualClock
) -> None:
    first = await overtaken(server, clock)
    await first.lease.look()
    assert (first.lease.leading, first.lease.holder, first.told) == (False, "second", 2)


async def bereft(server: OneLease, clock: VirtualClock) -> tuple[Candidate, Candidate]:
    """One that leads and one that waits, whose lease somebody deleted."""
    first, second = Candidate(server, clock, "first"), Candidate(server, clock, "second")
    await first.rounds(1)
    await second.rounds(1)
    server.lease = None
    return first, second


async def test_whose_lease_was_deleted_makes_it_again_and_nobody_takes_it_meanwhile(
    server: OneLease, clock: VirtualClock
) -> None:
    first, second = await bereft(server, clock)
    await second.rounds(4)
    assert server.lease is None
    assert not second.lease.leading
    await first.lease.look()
    await first.rounds(1)
    assert (first.lease.leading, server.writes) == (True, ["first", "first"])


async def test_a_lease_that_was_deleted_is_taken_when_nobody_made_it_again_in_time(
    server: OneLease, clock: VirtualClock
) -> None:
    _, second = await bereft(server, clock)
    await second.rounds(10)
    assert second.lease.leading
    assert server.writes[:2] == ["first", "second"]


async def test_who_finds_the_lease_changed_looks_at_once_by_whom(
    server: OneLease, clock: VirtualClock
) -> None:
    first = await overtaken(server, clock)
    await first.lease.attempt()
    assert (first.lease.leading, first.lease.holder, first.told) == (False, "second", 2)


async def test_of_all_who_ask_at_once_who_leads_one_looks_and_not_before_they_asked(
    server: OneLease, clock: VirtualClock
) -> None:
    # Each look goes the way of the renewals: behind a thousand of them these would come too late.
    first = Candidate(server, clock, "first")
    await first.rounds(1)
    before, server.turns = server.read, asyncio.Semaphore(0)
    early = asyncio.create_task(first.lease.look())
    await asyncio.sleep(0)
    assert server.lease is not None
    server._store({**server.lease, "spec": {"holderIdentity": "second"}})
    late = [asyncio.create_task(first.lease.look()) for _ in range(1000)]
    await asyncio.sleep(0)
    server.turns.release()
    await early
    assert first.lease.leading
    await asyncio.sleep(0)
    assert server.read - before == 2
    late.pop(0).cancel()  # while it looks for all
    server.turns.release()
    await asyncio.gather(*late)
    assert (first.lease.leading, first.lease.holder) == (False, "second")
    assert server.read - before == 3


async def test_a_look_that_fails_or_is_answered_late_changes_nothing(
    server: OneLease, clock: VirtualClock
) -> None:
    first = Candidate(server, clock, "first")
    server.lease = server._store({"metadata": {}, "spec": {"holderIdentity": "", "old": True}})
    await first.rounds(2)
    newest, server.lease = server.lease, {**server.lease, "metadata": {"resourceVersion": "1"}}
    server.lease["spec"] = {"holderIdentity": "zero"}
    await first.lease.look()
    server.lease, server.down = newest, Unavailable("down")
    await first.lease.look()
    assert first.lease.leading
    assert first.lease.holder == "first"


async def test_who_stops_gives_the_lease_back_at_once(
    server: OneLease, clock: VirtualClock
) -> None:
    first = Candidate(server, clock, "first")
    task = asyncio.create_task(first.lease.run())
    for _ in range(10):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert not first.lease.leading
    assert server.lease is not None
    assert server.lease["spec"]["holderIdentity"] == ""
    second = Candidate(server, clock, "second")
    await second.rounds(1)
    assert second.lease.leading


async def test_without_a_lease_everybody_leads() -> None:
    alone = NoLease("me")
    assert alone.leading
    assert alone.holder == "me"


async def test_who_renews_while_we_wait_is_a_rival_and_who_is_silent_is_none(
    clock: VirtualClock,
) -> None:
    server = OneLease()
    first, second = Candidate(server, clock, "a"), Candidate(server, clock, "b")
    await first.rounds(1)
    await second.rounds(1)
    assert second.lease.rival == ""
    await first.rounds(1)
    await second.rounds(1)
    assert second.lease.rival == "a"
    clock.at += DURATION_SECONDS
    await second.rounds(2)
    assert second.lease.leading
    assert second.lease.rival == ""


async def test_who_waits_says_for_whom_once_and_again_when_another_holds_it(
    clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    server = OneLease()
    first, second, third = (Candidate(server, clock, name) for name in "abc")
    await first.rounds(1)
    await second.rounds(2)
    assert [text for text in caplog.messages if "waits" in text] == [
        f"waits for {REF}, held by a",
    ]
    clock.at += DURATION_SECONDS
    await third.rounds(1)
    clock.at += DURATION_SECONDS + 1
    await third.rounds(1)
    assert third.lease.leading
    await second.rounds(2)
    assert [text for text in caplog.messages if "waits" in text] == [
        f"waits for {REF}, held by a",
        f"waits for {REF}, held by a",
        f"waits for {REF}, held by c",
    ]
