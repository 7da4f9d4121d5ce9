"""Once a trouble with commits has ended nothing of it is told, nor counted for the next one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from reconciler.core import intents
from reconciler.model.errors import Denied, PortError, RecordChanged
from reconciler.model.intents import Intent, Scaling
from reconciler.service.committer import MOST_RACES, MOST_TAKEN
from tests.loop.scaling.house import ARENA, Habits, Scene, scaled, scene
from tests.loop.scaling.test_untrue_hosts import Forgetful
from tests.loop.scaling.troubles import FOR_FIVE_MINUTES, LASTS, TWICE, failing, is_well, lock
from tests.loop.virtual_time import in_virtual_time

SOON = Habits(quiet_seconds=10.0)


@pytest.mark.parametrize(
    "error", [Denied("a webhook takes no record"), RecordChanged("another wrote it")], ids=str
)
def test_a_record_that_takes_no_withdrawal_is_no_trouble_with_the_host(
    monkeypatch: pytest.MonkeyPatch, error: PortError
) -> None:
    not_pushed, fails = intents.not_pushed, True

    def withdrawn(scaling: Scaling, landed: Intent) -> Scaling:
        if fails:
            raise error
        return not_pushed(scaling, landed)

    async def main() -> None:
        nonlocal fails
        monkeypatch.setattr(intents, "not_pushed", withdrawn)
        async with scene(scaled(2, TWICE), SOON) as there:
            one = there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            lock(there)
            await there.until("it is told", lambda: failing(there), 400.0)
            (ledger,) = there.ledgers
            await there.until("two act", lambda: there.wanted() == 2, 300.0)
            await there.until("no trouble", lambda: is_well(there), 5.0)
            told = len(ledger.troubles), len(ledger.commits)
            await asyncio.sleep(600.0)
            assert (len(ledger.troubles), len(ledger.commits)) == told, "it ended once"
            assert 5 <= len(ledger.unrecorded_errors) <= 15, "told, and not every second"
            there.world.host.heal()
            await there.until("four act", lambda: there.wanted() == 4, 900.0)
            await there.until("four in Git", lambda: there.count_in_git() == 4, 12.0)
            fails = False
            await asyncio.sleep(360.0)
            assert one.lane.store.state(ARENA).scaling.landings == ()

    in_virtual_time(main())


def test_races_are_counted_anew_after_a_trouble_with_them_ended() -> None:
    async def main() -> None:
        async with scene(scaled(2, TWICE), SOON) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            lock(there)
            await there.until("it is told", lambda: failing(there), 400.0)
            await there.until("two act", lambda: there.wanted() == 2, 300.0)
            await there.until("no trouble", lambda: is_well(there), 5.0)
            races = there.ledgers[0].races
            await there.until("it is told again", lambda: failing(there), 1500.0)
            assert there.ledgers[0].races == races + MOST_RACES

    in_virtual_time(main())


def test_what_a_host_said_it_took_is_counted_anew_after_that_trouble_ended() -> None:
    async def main() -> None:
        async with scene(scaled(2, TWICE), SOON) as there:
            old = there.world.host
            there.world.host = Forgetful(old.branches, old.commits)
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            await there.until("it is told", lambda: failing(there), 400.0)
            (ledger,) = there.ledgers
            await there.until("two act", lambda: there.wanted() == 2, 300.0)
            await there.until("no trouble", lambda: is_well(there), 5.0)
            assert [bool(each.commit) for each in ledger.commits] == [True] * MOST_TAKEN + [False]
            await there.until("it is told again", lambda: failing(there), 1500.0)
            assert sum(bool(each.commit) for each in ledger.commits) == 2 * MOST_TAKEN

    in_virtual_time(main())


def test_a_commit_that_nobody_saw_is_not_told_by_a_head_after_that_trouble_ended() -> None:
    async def main() -> None:
        async with scene(scaled(2, FOR_FIVE_MINUTES), SOON) as there:
            old = there.world.host
            there.world.host = Forgetful(old.branches, old.commits)
            one = there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            await there.until("it is told", lambda: failing(there), 400.0)
            await there.until("two act", lambda: there.wanted() == 2, 300.0)
            await there.until("no trouble", lambda: is_well(there), 5.0)
            (ledger,) = there.ledgers
            told = len(ledger.commits)
            there.world.commit({"README.md": "A fleet"})
            await there.until("judged", lambda: one.lane.wanted.commit == there.head(), 65.0)
            await asyncio.sleep(30.0)
            assert len(ledger.commits) == told

    in_virtual_time(main())


class _Recalling(Forgetful):
    """Moves to the last commit that it took when it is told to, and tells nobody of it before."""

    last = ""

    def take(self, commit: str, branch: str, expected: str) -> None:
        """Say yes, and remember it."""
        super().take(commit, branch, expected)
        self.last = commit


@asynccontextmanager
async def _doubting() -> AsyncIterator[tuple[Scene, _Recalling]]:
    """Let a host take commits and move nothing until that is told as a trouble."""
    async with scene(scaled(2, LASTS), SOON) as there:
        old = there.world.host
        there.world.host = host = _Recalling(old.branches, old.commits)
        there.start("one")
        await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
        await there.until("it is told", lambda: failing(there), 400.0)
        assert len(there.ledgers[0].commits) == MOST_TAKEN
        yield there, host


def test_a_head_of_a_person_does_not_tell_that_the_last_of_too_many_is_there() -> None:
    async def main() -> None:
        async with _doubting() as (there, host):
            one, doubted = there.services[0], host.last
            there.world.commit({"README.md": "A fleet"})
            one.app.head_service.wake()
            await there.until("judged", lambda: one.lane.wanted.commit == there.head(), 65.0)
            await asyncio.sleep(30.0)
            assert doubted not in [each.commit for each in there.ledgers[0].commits]

    in_virtual_time(main())


def test_the_last_of_too_many_is_told_where_it_shows_while_the_next_try_is_waited_for() -> None:
    async def main() -> None:
        async with _doubting() as (there, host):
            one, (ledger,) = there.services[0], there.ledgers
            host.down()
            await there.until("rests long", lambda: len(ledger.troubles) == 9, 300.0)
            host.heal()
            host.branch("main", host.last)
            one.app.head_service.wake()
            await there.until("no trouble", lambda: is_well(there), 5.0)
            assert len(ledger.commits) == MOST_TAKEN + 1, "once"
            assert ledger.commits[-1].commit == there.head()
            assert there.leader is not None
            assert there.leader.notes.outbox.pushes == MOST_TAKEN + 1
            assert one.lane.store.state(ARENA).scaling.intent is None

    in_virtual_time(main())
