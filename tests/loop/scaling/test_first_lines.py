"""A person takes the first line of a count out of `replicas.yaml`: a revert, which undoes."""

import asyncio
from collections.abc import Callable

import pytest

from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Scene, scaled, stage
from tests.loop.scaling.test_counts_file import BARE, FROM_EIGHT, IN_A_FILE, in_a_file, listed
from tests.loop.scaling.test_renamed_branch import FREEZE
from tests.loop.virtual_time import elapsed, in_virtual_time

pytestmark = pytest.mark.long

FROZEN = IN_A_FILE.replace("{writeBack: ", "\n  writeBack: ").replace("}}", "}") + FREEZE
"""From 08:15 to 08:45."""


async def six(there: Scene) -> None:
    """Start, and wait until our first line stands in Git."""
    there.start("one")
    await there.until("six in Git", lambda: listed(there) == {"Scheduler/arena": 6}, 500.0)
    await there.until("six rooms", lambda: there.rooms() == 6, 60.0)
    await asyncio.sleep(40.0)  # our commit is taken in


def revert(there: Scene) -> None:
    """Take our commit back: there was no file before it."""
    there.world.commit({"replicas.yaml": None})


def set_back(there: Scene) -> None:
    """Force the branch to where it stood before our commit."""
    host = there.world.host
    host.branch("main", host.commits[there.head()].parents[0])


def revert_and_more(there: Scene) -> None:
    """Push another commit upon the revert before anybody looks."""
    revert(there)
    there.world.commit({"NOTES.md": "and a note\n"})


def edit_and_revert(there: Scene) -> None:
    """Change the number, take that back, and take the line out, in one push."""
    text = file_of(there)
    there.world.commit({"replicas.yaml": text.replace("arena: 6", "arena: 8")})
    there.world.commit({"replicas.yaml": text})
    revert(there)


def file_of(there: Scene) -> str:
    """The file of counts on the tracked branch."""
    return there.world.host.commits[there.head()].files["replicas.yaml"].decode()


def held(there: Scene) -> bool:
    """Whether the policy waits for a person."""
    assert there.leader is not None
    return bool(there.leader.lane.store.state(ARENA).scaling.held_until)


@pytest.mark.parametrize(
    ("takes_back", "fails_over"),
    [
        (revert, False),
        (revert, True),
        (revert_and_more, True),
        (edit_and_revert, False),
        (set_back, False),
    ],
)
def test_a_revert_of_our_first_line_brings_back_what_acted_before_and_holds(
    takes_back: Callable[[Scene], None], *, fails_over: bool
) -> None:
    async def main() -> None:
        async with in_a_file(BARE) as there:
            await six(there)
            if fails_over:
                await there.services[0].kill()
            takes_back(there)
            if fails_over:
                there.start("two")
            await there.until("two rooms", lambda: there.rooms() == 2, 150.0)
            began = elapsed()
            while elapsed() < began + 700.0:
                await asyncio.sleep(5.0)
                assert there.wanted() == 2, "the policy waits for the human hold"
            assert listed(there) == {}
            await there.until("six", lambda: listed(there) == {"Scheduler/arena": 6}, 400.0)
            assert there.rooms() == 6
            revert(there)
            await there.until("two again", lambda: there.rooms() == 2, 90.0)

    in_virtual_time(main())


def test_who_deletes_a_file_that_cannot_be_read_takes_nothing_back() -> None:
    async def main() -> None:
        async with in_a_file(BARE) as there:
            await six(there)
            there.world.commit({"replicas.yaml": file_of(there) + "\t[\n"})
            await asyncio.sleep(60.0)
            revert(there)
            await asyncio.sleep(120.0)
            assert (there.wanted(), there.rooms(), held(there)) == (6, 6, False)

    in_virtual_time(main())


def test_who_deletes_the_line_of_a_later_number_takes_nothing_back() -> None:
    async def main() -> None:
        times = [*FROM_EIGHT, {"from": "08:30", "to": "20:00", "replicas": 9}]
        text = scaled(2, times).replace("  replicas: 2\n", "", 1)
        async with in_a_file(text) as there:
            await six(there)
            await there.until("nine", lambda: listed(there) == {"Scheduler/arena": 9}, 2000.0)
            revert(there)
            await asyncio.sleep(120.0)
            assert (there.wanted(), there.rooms(), held(there)) == (9, 9, False)

    in_virtual_time(main())


def test_a_line_that_moves_into_the_spec_in_one_push_takes_nothing_back() -> None:
    async def main() -> None:
        async with in_a_file(BARE) as there:
            await six(there)
            revert(there)
            there.world.commit({FILE: BARE.replace("spec:\n", "spec:\n  replicas: 6\n", 1)})
            for _ in range(60):
                await asyncio.sleep(2.0)
                assert there.wanted() == 6

    in_virtual_time(main())


def test_a_revert_in_a_freeze_waits_for_its_end() -> None:
    async def main() -> None:
        files = {"gamekeeper.yaml": FROZEN, FILE: BARE}
        async with stage(files, {"arena": Bounds(30, 0)}) as there:
            await six(there)
            await asyncio.sleep(1000.0 - elapsed())
            revert(there)
            there.world.commit({"NOTES.md": "and a note\n"})
            while elapsed() < 2690.0:
                await asyncio.sleep(5.0)
                assert there.wanted() == 6
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            await asyncio.sleep(700.0)
            assert there.wanted() == 2, "the policy waits for the human hold"

    in_virtual_time(main())
