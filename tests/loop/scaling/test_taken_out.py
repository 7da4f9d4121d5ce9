"""A person writes a number and takes it out of Git again, so that it stands nowhere: it is none."""

import asyncio
from collections.abc import Callable

import pytest

from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Scene, stage
from tests.loop.scaling.test_counts_branch import APART, rewritten
from tests.loop.scaling.test_counts_branch import counts as apart
from tests.loop.scaling.test_counts_file import BARE, IN_A_FILE, listed
from tests.loop.scaling.test_renamed_branch import frozen
from tests.loop.virtual_time import elapsed, in_virtual_time

pytestmark = pytest.mark.long

ENDS_AT = 2700.0
"""The freeze is from 08:15 to 08:45; the world begins at 08:00."""


def in_the_file(there: Scene, count: int) -> None:
    """Write a number into the line that our first commit wrote."""
    host = there.world.host
    text = host.commits[there.head()].files["replicas.yaml"].decode()
    there.world.commit({"replicas.yaml": text.replace("arena: 6", f"arena: {count}")})


def file_taken_out(there: Scene) -> None:
    """Delete the file."""
    there.world.commit({"replicas.yaml": None})


def in_the_spec(there: Scene, count: int) -> None:
    """Move the line into the spec, with another number."""
    text = BARE.replace("spec:\n", f"spec:\n  replicas: {count}\n", 1)
    there.world.commit({FILE: text, "replicas.yaml": None})


def spec_taken_out(there: Scene) -> None:
    """Take the number out of the spec again."""
    there.world.commit({FILE: BARE})


def on_the_branch(there: Scene, count: int) -> None:
    """Write a number on the branch of counts."""
    there.world.host.commit({"replicas.yaml": rewritten(there, count)}, branch="counts")


def branch_file_taken_out(there: Scene) -> None:
    """Delete the file on the branch of counts."""
    there.world.host.commit({"replicas.yaml": None}, branch="counts")


def six(there: Scene) -> bool:
    """Whether six stand in Git and run."""
    lists = {"Scheduler/arena": 6}
    return lists in (listed(there), apart(there)) and there.rooms() == 6


def held(there: Scene) -> tuple[str, float]:
    """Whom the policy waits for, now and from the end of a freeze on."""
    assert there.leader is not None
    scaling = there.leader.lane.store.state(ARENA).scaling
    return scaling.waits_by, scaling.held_until


WAYS = pytest.mark.parametrize(
    ("config", "writes", "takes_out"),
    [
        pytest.param(IN_A_FILE, in_the_file, file_taken_out, id="in the file"),
        pytest.param(APART, on_the_branch, branch_file_taken_out, id="on the branch of counts"),
        pytest.param(IN_A_FILE, in_the_spec, spec_taken_out, id="in the spec"),
    ],
)


@pytest.mark.parametrize("looks", [1, 2], ids=["before anybody looks", "after it was seen"])
@WAYS
def test_a_number_that_is_taken_out_again_in_a_freeze_waits_for_nothing(
    config: str,
    writes: Callable[[Scene, int], None],
    takes_out: Callable[[Scene], None],
    looks: int,
) -> None:
    async def main() -> None:
        files = {"gamekeeper.yaml": frozen(config), FILE: BARE}
        async with stage(files, {"arena": Bounds(30, 0)}) as there:
            there.start("one")
            await there.until("six", lambda: six(there), 600.0)
            await asyncio.sleep(1000.0 - elapsed())
            writes(there, 8)
            if looks == 2:
                await there.until("it waits", lambda: held(there)[0] != "", 60.0)
            takes_out(there)
            await there.until("it was seen", lambda: held(there) == ("", 0.0), 120.0)
            while elapsed() < ENDS_AT + 120.0:
                await asyncio.sleep(5.0)
                assert (there.wanted(), held(there)) == (6, ("", 0.0))

    in_virtual_time(main())


@WAYS
def test_a_number_that_is_taken_out_before_anybody_looks_holds_nothing(
    config: str, writes: Callable[[Scene, int], None], takes_out: Callable[[Scene], None]
) -> None:
    async def main() -> None:
        async with stage({"gamekeeper.yaml": config, FILE: BARE}, {"arena": Bounds(30, 0)}) as it:
            it.start("one")
            await it.until("six", lambda: six(it), 600.0)
            await asyncio.sleep(60.0)
            writes(it, 8)
            takes_out(it)
            for _ in range(60):
                await asyncio.sleep(2.0)
                assert (it.wanted(), held(it)) == (6, ("", 0.0))

    in_virtual_time(main())
