"""Counts in a file of their own: where one stands nowhere yet, and lines that nobody needs."""

import asyncio
from contextlib import AbstractAsyncContextManager

import pytest

from tests.loop.safety import Bounds
from tests.loop.scaling.counts import count_of, counts_of
from tests.loop.scaling.house import FILE, Scene, scaled, stage
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import CONFIG, spec

pytestmark = pytest.mark.long

FROM_EIGHT = [{"from": "08:05", "to": "20:00", "replicas": 6}]
"""The world begins at 08:00."""
IN_A_FILE = CONFIG.replace("{}", "{writeBack: {to: file}}")
BARE = scaled(2, FROM_EIGHT).replace("  replicas: 2\n", "", 1)


def in_a_file(text: str) -> AbstractAsyncContextManager[Scene]:
    """Open a scene whose counts go into a file."""
    files = {"gamekeeper.yaml": IN_A_FILE, FILE: text}
    return stage(files, {"arena": Bounds(30, 0), "lobby": Bounds(30, 0)})


def listed(there: Scene) -> dict[str, int]:
    """What `replicas.yaml` says; nothing where there is none."""
    host = there.world.host
    text = host.commits[host.branches["main"]].files.get("replicas.yaml")
    return counts_of(text)


def test_a_count_that_stands_nowhere_begins_at_min_and_is_written_with_the_first_decision() -> None:
    async def main() -> None:
        async with in_a_file(BARE) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            await there.until("six in Git", lambda: listed(there) == {"Scheduler/arena": 6}, 500.0)
            assert there.text() == BARE
            await asyncio.sleep(300.0)
            assert (there.rooms(), len(there.world.host.moves)) == (6, 1)

    in_virtual_time(main())


def test_a_count_that_a_person_takes_out_of_the_spec_goes_on_as_it_was() -> None:
    async def main() -> None:
        times = [*FROM_EIGHT, {"from": "08:30", "to": "20:00", "replicas": 9}]
        text = scaled(2, times)
        async with in_a_file(text) as there:
            there.start("one")
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
            assert listed(there) == {}, "a number is changed where it stands"
            there.world.commit({FILE: text.replace("  replicas: 2\n", "", 1)})
            for _ in range(100):
                await asyncio.sleep(5.0)
                assert there.rooms() == 6
            await there.until(
                "nine in Git", lambda: listed(there) == {"Scheduler/arena": 9}, 1500.0
            )
            assert [count for _, count in there.ledgers[0].decisions] == [6, 9]
            there.world.commit({FILE: text.replace("  replicas: 2\n", "  replicas: 3\n", 1)})
            await asyncio.sleep(120.0)
            assert there.rooms() == 9, "it stands twice: nobody knows which is meant"

    in_virtual_time(main())


def test_the_line_of_a_workload_that_left_git_goes_once_its_rooms_are_gone() -> None:
    async def main() -> None:
        lobby = spec("lobby", 1).replace("  replicas: 1\n", "", 1)
        times = [*FROM_EIGHT, {"from": "08:20", "to": "20:00", "replicas": 9}]
        lines = "apiVersion: gamekeeper.dev/v1\nkind: Replicas\nspec:\n  counts:\n"
        lines += "    Scheduler/arena: 2\n    Scheduler/lobby: 1\n"
        async with in_a_file(scaled(2, times).replace("  replicas: 2\n", "", 1)) as there:
            there.world.commit({"replicas.yaml": lines, "schedulers/lobby.yaml": lobby})
            there.start("one")
            await there.until("six", lambda: listed(there)["Scheduler/arena"] == 6, 500.0)
            assert listed(there)["Scheduler/lobby"] == 1
            there.world.commit({"schedulers/lobby.yaml": None})
            await there.until("nine", lambda: listed(there)["Scheduler/arena"] == 9, 1500.0)
            assert list(listed(there)) == ["Scheduler/arena"]
            host = there.world.host
            message = host.commits[host.branches["main"]].subject
            assert "\nScheduler/lobby: taken out of replicas.yaml\n" in message

    in_virtual_time(main())


def test_a_directory_in_place_of_the_file_keeps_no_other_count_out_of_git() -> None:
    async def main() -> None:
        async with in_a_file(BARE) as there:
            lobby = scaled(2, FROM_EIGHT).replace("arena", "lobby")
            there.world.commit({"replicas.yaml/read.me": "", "schedulers/lobby.yaml": lobby})
            there.start("one")

            def of_lobby() -> int:
                host = there.world.host
                return count_of(host.commits[there.head()].files["schedulers/lobby.yaml"])

            await there.until("six in Git", lambda: of_lobby() == 6, 500.0)
            assert there.ledgers[0].troubles == []

    in_virtual_time(main())
