"""A brake that is pulled when a freeze begins, or that somebody pulls in one."""

import asyncio

import pytest

from reconciler.model.holds import HoldKind
from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Scene, scaled, stage
from tests.loop.scaling.test_brakes import RUSH, SPEC, held, off, pulled, shown
from tests.loop.scaling.test_counts_branch import APART
from tests.loop.scaling.test_renamed_branch import frozen
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.world import spec

pytestmark = pytest.mark.long

LATER = [{**RUSH[0], "to": "08:20"}, {**RUSH[1], "from": "08:20"}]
"""The freeze is from 08:15 to 08:45: in it sixteen are wanted."""
TEXT = scaled(2, LATER)


def holds(there: Scene) -> list[HoldKind]:
    """Which holds are told of the workload."""
    known = there.leader.lane.wanted.holds if there.leader else ()
    return sorted(each.kind for each in known if each.key == ARENA)


async def until_o_clock(minutes: float) -> None:
    """Wait until so many minutes past eight."""
    await asyncio.sleep(60.0 * minutes - elapsed())


@pytest.mark.parametrize("in_git", [2, 10])
@pytest.mark.parametrize("other_number", [True, False], ids=["another number", "taken back"])
def test_in_a_freeze_it_stays_as_it_was_when_that_began(*, other_number: bool, in_git: int) -> None:
    """What people change in it waits, that they release a brake, too; no room goes by that."""
    text = scaled(in_git, LATER)
    number = f"  replicas: {in_git}\n"
    braked = off(text).replace(number, "  replicas: 3\n")
    changed = off(text).replace(number, "  replicas: 4\n") if other_number else text

    async def main() -> None:
        async with pulled(braked, frozen(APART), text) as there:
            await until_o_clock(16)
            there.world.commit({FILE: changed})
            await asyncio.sleep(900.0)
            assert (there.wanted(), there.rooms(), there.pods()) == (12, 12, 12)
            hold = held(there)
            assert hold is not None
            assert shown(there) == [(HoldKind.FROZEN, hold.change_hash)]
            await until_o_clock(46)
            # A person wrote the number back, and reviewed bounds let it through: it holds.
            wanted = 12 if other_number else in_git
            await there.until("what the head says", lambda: there.rooms() == wanted, 200.0)
            await asyncio.sleep(300.0)
            assert there.wanted() == wanted

    in_virtual_time(main())


@pytest.mark.parametrize("number", [2, 3], ids=["the same number", "another one"])
def test_who_lifts_a_suspension_in_a_freeze_waits_for_its_end(number: int) -> None:
    braked = off(SPEC) + "  suspend: true\n"
    lifted = off(SPEC).replace("  replicas: 2\n", f"  replicas: {number}\n")

    async def main() -> None:
        async with pulled(braked, frozen(APART)) as there:
            await until_o_clock(16)
            there.world.commit({FILE: lifted})
            await asyncio.sleep(100.0)
            there.world.delete(f"/api/v1/namespaces/arena/pods/{there.world.names('arena')[0]}")
            await asyncio.sleep(300.0)
            assert (there.wanted(), there.pods()) == (12, 11)
            await until_o_clock(45)
            await there.until("it is made again", lambda: there.rooms() == 12, 200.0)

    in_virtual_time(main())


def test_who_switches_a_policy_off_in_a_freeze_and_on_again_wrote_no_number() -> None:
    """The number under our line shows meanwhile: at the end rooms went that nobody asked for."""

    async def main() -> None:
        files = {"gamekeeper.yaml": frozen(APART), FILE: TEXT}
        async with stage(files, {"arena": Bounds(30, 0)}) as there:
            there.start("one")
            await there.until("twelve rooms", lambda: there.rooms() == 12, 400.0)
            await until_o_clock(16)
            there.world.commit({FILE: off(TEXT)})
            await until_o_clock(18)
            there.world.commit({FILE: TEXT})
            await until_o_clock(25)
            while elapsed() < 60.0 * 60:
                await asyncio.sleep(10.0)
                assert (there.wanted(), there.rooms()) == (16, 16), elapsed()

    in_virtual_time(main())


def test_a_brake_that_somebody_pulls_in_a_freeze_waits_for_its_end() -> None:
    """Rooms that wait for an approval since before are no way around that."""

    async def main() -> None:
        files = {"gamekeeper.yaml": frozen(APART), FILE: spec("arena", 20)}
        async with stage(files, {"arena": Bounds(30, 0)}) as there:
            there.start("one")
            await there.until("twenty", lambda: there.rooms() == 20, 400.0)
            there.world.commit({FILE: spec("arena", 2)})
            await there.until("it is held", lambda: bool(held(there)), 90.0)
            await until_o_clock(16)
            there.world.commit({FILE: spec("arena", 2) + "  suspend: true\n"})
            await asyncio.sleep(100.0)
            assert HoldKind.FROZEN in holds(there)
            assert HoldKind.SUSPENDED not in holds(there)
            there.world.delete(f"/api/v1/namespaces/arena/pods/{there.world.names('arena')[0]}")
            await there.until("it is made again", lambda: there.rooms() == 20, 120.0)
            await until_o_clock(45)
            await there.until("it is", lambda: HoldKind.SUSPENDED in holds(there), 120.0)

    in_virtual_time(main())


def test_a_suspension_that_ends_in_a_freeze_is_nobodys_change() -> None:
    """The hash that was told before goes on to let the rooms go."""
    until = "  suspend: {until: '2027-01-15T08:25:00+00:00'}\n"
    braked = off(TEXT).replace("game:1", "game:2").replace("  replicas: 2\n", "  replicas: 3\n")

    async def main() -> None:
        async with pulled(braked + until, frozen(APART), TEXT) as there:
            hold = held(there)
            assert hold is not None
            await until_o_clock(24)
            assert holds(there) == [HoldKind.OVER_BUDGET, HoldKind.SUSPENDED]
            await until_o_clock(27)
            assert holds(there) == [HoldKind.OVER_BUDGET]
            assert (there.wanted(), there.pods()) == (12, 12)
            there.world.approve(hold.change_hash)
            await there.until("what Git says", lambda: there.wanted() == 3, 200.0)

    in_virtual_time(main())


def test_what_waits_for_an_approval_is_told_while_an_edit_waits_over_it() -> None:
    async def main() -> None:
        async with pulled(off(TEXT) + "  suspend: true\n", frozen(APART), TEXT) as there:
            await until_o_clock(16)
            there.world.commit({FILE: off(TEXT)})
            await asyncio.sleep(100.0)
            assert holds(there) == [HoldKind.FROZEN, HoldKind.OVER_BUDGET, HoldKind.SUSPENDED]
            told = shown(there)
            assert [kind for kind, _ in told] == holds(there)
            edit, rooms = (told_hash for _, told_hash in told if told_hash)
            assert edit != rooms
            there.world.approve(edit)
            await there.until("it is no more suspended", lambda: len(holds(there)) == 1, 200.0)
            assert shown(there) == [(HoldKind.OVER_BUDGET, rooms)]
            there.world.approve(rooms)
            await there.until("what Git says", lambda: there.rooms() == 2, 200.0)
            assert holds(there) == []

    in_virtual_time(main())


def test_a_braked_spec_that_left_git_and_comes_back_in_a_freeze_waits_for_its_end() -> None:
    async def main() -> None:
        async with pulled(off(TEXT), frozen(APART), TEXT) as there:
            await until_o_clock(16)
            there.world.commit({FILE: None})
            await until_o_clock(20)
            # As it acts now, with its brake: but that is not what was accepted.
            there.world.commit({FILE: off(TEXT).replace("  replicas: 2\n", "  replicas: 12\n")})
            await until_o_clock(24)
            hold = held(there)
            assert hold is not None
            assert shown(there) == [(HoldKind.FROZEN, hold.change_hash)]
            assert (there.wanted(), there.rooms()) == (12, 12)
            await until_o_clock(46)
            assert (there.wanted(), there.rooms(), holds(there)) == (12, 12, [])

    in_virtual_time(main())
