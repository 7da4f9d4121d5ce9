"""A count stands in another place of Git than before, and nobody wrote one: no room goes."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from reconciler.model.records import IDS_KEPT
from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Scene, scaled, stage
from tests.loop.scaling.test_counts_branch import APART, FROM_EIGHT, counts, rewritten, six
from tests.loop.scaling.test_counts_file import IN_A_FILE
from tests.loop.scaling.test_counts_file import listed as on_the_tracked_branch
from tests.loop.scaling.test_renamed_branch import (
    PACED,
    RENAMED,
    SPEC,
    begun,
    frozen,
    listed,
    never_fewer,
)
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.world import CONFIG

pytestmark = pytest.mark.long

RISING = [
    {"from": "08:05", "to": "08:30", "replicas": 13},
    {"from": "08:30", "to": "20:00", "replicas": 20},
]
OFF = "  autoscaling:\n    enabled: false\n"


def held_by(there: Scene) -> str:
    """The commit of a person that the leader waits for, "" for none."""
    assert there.leader is not None
    scaling = there.leader.lane.store.state(ARENA).scaling
    return scaling.held_by if scaling.held_until else ""


def test_a_branch_that_is_gone_is_nobodys_number_and_is_made_again() -> None:
    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: SPEC}, {"arena": Bounds(30, 0)}) as it:
            await begun(it, 1000.0)
            del it.world.host.branches["counts"]
            await never_fewer(it, 12, 1150.0)
            assert listed(it, "counts") == {"Scheduler/arena": 12}
            told = it.world.host.commits[it.world.host.moves[-1].after].subject
            assert " 2 -> 12 (carry-over): the branch counts is gone, which is nobody's" in told
            await never_fewer(it, 12, 1400.0)
            assert listed(it, "counts") == {"Scheduler/arena": 13}
            assert held_by(it) == ""

    in_virtual_time(main())


@pytest.mark.parametrize("person", [False, True])
def test_a_branch_that_goes_while_nobody_leads_costs_neither_rooms_nor_a_persons_word(
    *, person: bool
) -> None:
    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: SPEC}, {"arena": Bounds(30, 0)}) as it:
            await begun(it, 900.0)
            wanted = 12
            if person:
                wanted, text = 9, rewritten(it, 9)
                it.world.host.commit({"replicas.yaml": text}, branch="counts")
                await it.until("nine", lambda: it.wanted() == 9 == it.rooms(), 120.0)
            await it.services[0].kill()
            del it.world.host.branches["counts"]
            it.world.commit({"NOTES.md": "a person tidied up\n"})
            it.start("two")
            await it.until("another leads", lambda: it.wanted() is not None, 120.0)
            began = elapsed()
            while elapsed() < began + 150.0:
                await asyncio.sleep(1.0)
                assert it.wanted() == wanted
                assert it.rooms() == wanted
            assert listed(it, "counts") == {"Scheduler/arena": wanted}
            assert bool(held_by(it)) is person, "the word holds as long as it did before"

    in_virtual_time(main())


def test_a_branch_that_is_pushed_again_as_it_was_moves_no_count() -> None:
    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: SPEC}, {"arena": Bounds(30, 0)}) as it:
            await begun(it, 1000.0)
            host = it.world.host
            tip = host.branches.pop("counts")
            await asyncio.sleep(40.0)
            assert "counts" not in host.branches
            host.branch("counts", tip)
            await never_fewer(it, 12, 1400.0)
            assert listed(it, "counts") == {"Scheduler/arena": 13}
            assert held_by(it) == ""

    in_virtual_time(main())


def other_branch(there: Scene) -> Callable[[Scene], int | None]:
    """Count on another branch for a while."""
    there.world.commit({"gamekeeper.yaml": RENAMED})
    return lambda there: listed(there, "numbers").get("Scheduler/arena")


def no_branch(there: Scene) -> Callable[[Scene], int | None]:
    """Count on the tracked branch for a while."""
    there.world.commit({"gamekeeper.yaml": CONFIG})
    return lambda there: there.count_in_git()


def own_line(there: Scene) -> int | None:
    """What the branch of counts says."""
    return listed(there, "counts").get("Scheduler/arena")


@pytest.mark.parametrize(
    ("goes", "in_spec"),
    [
        pytest.param(other_branch, True, id="a name taken back"),
        pytest.param(other_branch, False, id="a name taken back, and no number in the spec"),
        pytest.param(no_branch, True, id="out and in again"),
    ],
)
def test_an_old_line_of_ours_does_not_act_when_its_branch_is_named_again(
    goes: Callable[[Scene], Callable[[Scene], int | None]], *, in_spec: bool
) -> None:
    spec = scaled(2, RISING).replace("    scaleDown:", PACED)
    if not in_spec:
        spec = spec.replace("  replicas: 2\n", "", 1)

    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: spec}, {"arena": Bounds(30, 0)}) as it:
            it.start("one")
            await it.until("thirteen", lambda: own_line(it) == 13 and it.rooms() == 13, 850.0)
            there = goes(it)
            await never_fewer(it, 13, 1750.0)
            await it.until("twenty", lambda: there(it) == 20 and it.rooms() == 20, 500.0)
            assert own_line(it) == 13
            it.world.commit({"gamekeeper.yaml": APART})
            await never_fewer(it, 20, elapsed() + 300.0)
            assert own_line(it) == 20
            assert held_by(it) == ""

    in_virtual_time(main())


def test_a_line_that_a_person_wrote_on_the_branch_that_is_named_again_wins() -> None:
    async def main() -> None:
        files = {"gamekeeper.yaml": APART, FILE: scaled(2, RISING)}
        async with stage(files, {"arena": Bounds(30, 0)}) as it:
            it.start("one")
            await it.until("thirteen", lambda: own_line(it) == 13 and it.rooms() == 13, 850.0)
            other_branch(it)
            await asyncio.sleep(120.0)
            text = rewritten(it, 11)
            it.world.host.commit({"replicas.yaml": text}, branch="counts")
            await asyncio.sleep(60.0)
            assert it.wanted() == 13, "nobody reads that branch now"
            it.world.commit({"gamekeeper.yaml": APART})
            await it.until("eleven", lambda: it.wanted() == 11, 60.0)
            await asyncio.sleep(600.0)
            assert it.wanted() == 11, "the policy waits for the human hold"

    in_virtual_time(main())


@pytest.mark.parametrize("alone", [4, 9])
def test_a_policy_that_is_switched_off_and_on_again_is_held_by_no_commit_of_ours(
    alone: int,
) -> None:
    """While it is off the tracked number acts, which is `alone` by a person's word."""
    times = [*FROM_EIGHT, {"from": "08:20", "to": "20:00", "replicas": 10}]
    spec = scaled(4, times).replace("    scaleDown:", PACED)

    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: spec}, {"arena": Bounds(30, 0)}) as it:
            await six(it)
            on = spec.replace("replicas: 4\n", f"replicas: {alone}\n", 1)
            it.world.commit({FILE: on.replace("  autoscaling:\n", OFF)})
            await it.until("the number in Git", lambda: it.rooms() == alone, 90.0)
            await asyncio.sleep(1200.0)
            it.world.commit({FILE: on})
            for _ in range(60):
                await asyncio.sleep(1.0)
                assert alone <= (it.wanted() or 0) <= alone + 2, "the line is an old one"
            await never_fewer(it, alone, elapsed() + 300.0)
            assert counts(it) == {"Scheduler/arena": 10}
            assert it.leader is not None
            kept = it.leader.lane.store.state(ARENA).scaling
            assert kept.held_by not in it.world.host.branches.values()

    in_virtual_time(main())


def test_a_policy_that_is_switched_on_in_a_freeze_waits_and_costs_no_room_at_its_end() -> None:
    """The freeze is from 08:15 to 08:45, and the old line is 6."""
    spec = scaled(4, FROM_EIGHT).replace("    scaleDown:", PACED)
    twelve = spec.replace("replicas: 4\n", "replicas: 12\n", 1)
    config = frozen(APART)

    async def main() -> None:
        async with stage({"gamekeeper.yaml": config, FILE: spec}, {"arena": Bounds(30, 0)}) as it:
            await six(it)
            it.world.commit({FILE: twelve.replace("  autoscaling:\n", OFF)})
            await it.until("the number in Git", lambda: it.rooms() == 12, 90.0)
            await asyncio.sleep(1000.0 - elapsed())
            it.world.commit({FILE: twelve})
            while elapsed() < 2690.0:
                await asyncio.sleep(1.0)
                assert it.wanted() == 12
            await asyncio.sleep(40.0)
            assert (it.wanted() or 0) == 9, "a policy takes three at once"
            assert it.leader is not None
            kept = it.leader.lane.store.state(ARENA).scaling
            assert kept.held_by not in it.world.host.branches.values()

    in_virtual_time(main())


def merged(there: Scene) -> None:
    """A person merges the branch of counts into the tracked one."""
    host = there.world.host
    tip = host.branches["counts"]
    there.world.commit({"NOTES.md": "a person was here\n"})
    before = there.head()
    commit = host.commit({"replicas.yaml": host.commits[tip].files["replicas.yaml"]}, "merge")
    host.commits[commit] = replace(host.commits[commit], parents=(before, tip))


def test_a_merge_of_more_commits_of_ours_than_are_known_is_nobodys_number() -> None:
    text = SPEC.replace("  replicas: 2\n", "", 1)

    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: text}, {"arena": Bounds(30, 0)}) as it:
            store = it.start("one").lane.store
            await it.until("twelve", lambda: own_line(it) == 12 == it.rooms(), 1200.0)
            ours = store.repository.pushed
            lost = tuple(f"{number:040x}" for number in range(IDS_KEPT - len(ours) + 2))
            known = (ours[2], *lost, *ours[3:])
            await store.change_repository(lambda newest: replace(newest, pushed=known))
            merged(it)
            await asyncio.sleep(60.0)
            assert (held_by(it), it.wanted()) == ("", 12)

    in_virtual_time(main())


def squashed(there: Scene) -> None:
    """A person merges the branch of counts as one commit of their own."""
    host = there.world.host
    there.world.commit({"NOTES.md": "a person was here\n"})
    text = host.commits[host.branches["counts"]].files["replicas.yaml"].decode()
    there.world.commit({"replicas.yaml": text})


@pytest.mark.parametrize("in_spec", [True, False])
@pytest.mark.parametrize("merged", [merged, squashed])
def test_a_merge_of_the_branch_of_counts_moves_no_count_and_holds_nothing(
    merged: Callable[[Scene], None], *, in_spec: bool
) -> None:
    spec = SPEC if in_spec else SPEC.replace("  replicas: 2\n", "", 1)

    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: spec}, {"arena": Bounds(30, 0)}) as it:
            it.start("one")
            await it.until("nine", lambda: (own_line(it) or 0) >= 9, 900.0)
            merged(it)
            await never_fewer(it, 9, elapsed() + 20.0)
            await it.until("twelve", lambda: own_line(it) == 12 == it.rooms(), 300.0)
            merged(it)
            await never_fewer(it, 12, elapsed() + 30.0)
            assert held_by(it) == ""
            assert it.leader is not None
            assert it.leader.lane.wanted.holds == ()
            await it.until("thirteen", lambda: own_line(it) == 13, 700.0)

    in_virtual_time(main())


def squashed_then_merged(there: Scene) -> None:
    """A person merges the branch of counts both ways before anybody looks."""
    squashed(there)
    merged(there)


def merged_then_squashed(there: Scene) -> None:
    """A person merges the branch of counts as it was, and squashes what came since."""
    host = there.world.host
    tip = host.branches["counts"]
    before = host.commits[tip].parents[0]
    host.branch("counts", before)
    merged(there)
    host.branch("counts", tip)
    squashed(there)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(merged, squashed, id="a merge, and later a squash"),
        pytest.param(squashed, merged, id="a squash, and later a merge"),
        pytest.param(squashed, squashed_then_merged, id="a squash and a merge in one look"),
        pytest.param(squashed, merged_then_squashed, id="a merge and a squash in one look"),
    ],
)
def test_a_merge_and_a_squash_of_the_branch_of_counts_move_no_count_and_hold_nothing(
    first: Callable[[Scene], None], then: Callable[[Scene], None]
) -> None:
    spec = SPEC.replace("  replicas: 2\n", "", 1)

    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: spec}, {"arena": Bounds(30, 0)}) as it:
            it.start("one")
            await it.until("nine", lambda: (own_line(it) or 0) >= 9, 900.0)
            first(it)
            await it.until("twelve", lambda: own_line(it) == 12 == it.rooms(), 300.0)
            then(it)
            await never_fewer(it, 12, elapsed() + 30.0)
            assert held_by(it) == ""
            await it.until("thirteen", lambda: own_line(it) == 13, 700.0)

    in_virtual_time(main())


async def by_hand(there: Scene) -> int:
    """A person writes a number of theirs into the line that a merge brought."""
    squashed(there)
    await asyncio.sleep(60.0)
    assert held_by(there) == ""
    text = there.world.host.commits[there.head()].files["replicas.yaml"].decode()
    there.world.commit({"replicas.yaml": text.replace("arena: 12\n", "arena: 15\n")})
    return 15


async def merge_reverted(there: Scene) -> int:
    """A person takes their last merge of the branch of counts back."""
    before = there.world.host.commits[there.head()].files["replicas.yaml"].decode()
    squashed(there)
    await asyncio.sleep(60.0)
    assert held_by(there) == ""
    there.world.commit({"replicas.yaml": before})
    return on_the_tracked_branch(there)["Scheduler/arena"]


async def merge_with_more(there: Scene) -> int:
    """A person writes the line of the branch of counts beside a change of another file."""
    host = there.world.host
    text = host.commits[host.branches["counts"]].files["replicas.yaml"].decode()
    there.world.commit({"replicas.yaml": text, "gamekeeper.yaml": APART + "# twelve it is\n"})
    return 12


async def as_it_was(there: Scene) -> int:
    """A person writes by hand what the branch of counts had before its newest number."""
    branches, commits = there.world.host.branches, there.world.host.commits
    text = commits[branches["counts"]].files["replicas.yaml"].decode()
    await there.until("thirteen", lambda: own_line(there) == 13 == there.rooms(), 900.0)
    await asyncio.sleep(60.0)
    there.world.commit({"replicas.yaml": text})
    return 12


@pytest.mark.parametrize("says", [by_hand, merge_reverted, merge_with_more, as_it_was])
def test_a_number_that_a_person_writes_over_a_merged_one_is_their_word(
    says: Callable[[Scene], Coroutine[Any, Any, int]],
) -> None:
    spec = SPEC.replace("  replicas: 2\n", "", 1)

    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: spec}, {"arena": Bounds(30, 0)}) as it:
            it.start("one")
            await it.until("nine", lambda: (own_line(it) or 0) >= 9, 900.0)
            squashed(it)
            await it.until("twelve", lambda: own_line(it) == 12 == it.rooms(), 300.0)
            wanted = await says(it)
            await it.until("it acts and holds", lambda: held_by(it) == it.head(), 60.0)
            assert it.wanted() == wanted

    in_virtual_time(main())


def test_a_branch_that_is_merged_and_deleted_moves_no_count() -> None:
    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: SPEC}, {"arena": Bounds(30, 0)}) as it:
            await begun(it, 1000.0)
            merged(it)
            await asyncio.sleep(40.0)
            del it.world.host.branches["counts"]
            await never_fewer(it, 12, 1400.0)
            assert listed(it, "counts") == {"Scheduler/arena": 13}
            assert held_by(it) == ""

    in_virtual_time(main())


def test_a_branch_that_goes_while_the_host_is_down_and_another_begins_to_lead() -> None:
    """A decision is on its way all the time."""

    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: SPEC}, {"arena": Bounds(30, 0)}) as it:
            await begun(it, 1205.0)
            it.world.host.down()
            await asyncio.sleep(90.0)
            await it.services[0].kill()
            it.start("two")
            await it.until("another leads", lambda: it.wanted() is not None, 120.0)
            del it.world.host.branches["counts"]
            it.world.host.heal()
            await never_fewer(it, 12, elapsed() + 300.0)
            assert listed(it, "counts") == {"Scheduler/arena": 13}
            assert held_by(it) == ""

    in_virtual_time(main())


def prepared(there: Scene) -> str:
    """A person begins a branch of counts, which nobody reads yet; return its Config."""
    there.world.host.branch("counts", there.head())
    return IN_A_FILE.replace("{to: file}", "{to: file, branch: counts}")


def merged_and_taken_out(there: Scene) -> str:
    """A person merges the branch of counts and counts on the tracked one; return its Config."""
    merged(there)
    there.world.commit({"gamekeeper.yaml": IN_A_FILE})
    return APART


@pytest.mark.parametrize(
    ("config", "begins"),
    [
        pytest.param(IN_A_FILE, prepared, id="begun long before"),
        pytest.param(APART, merged_and_taken_out, id="merged, out and in again"),
    ],
)
def test_what_stood_where_the_branch_of_counts_begins_is_nobodys_number(
    config: str, begins: Callable[[Scene], str]
) -> None:
    spec = scaled(2, RISING).replace("    scaleDown:", PACED).replace("  replicas: 2\n", "", 1)

    async def main() -> None:
        async with stage({"gamekeeper.yaml": config, FILE: spec}, {"arena": Bounds(30, 0)}) as it:
            it.start("one")
            await it.until("thirteen rooms", lambda: it.rooms() == 13, 850.0)
            await asyncio.sleep(1300.0 - elapsed())
            put_in = begins(it)
            lists = {"Scheduler/arena": 20}
            await it.until("twenty", lambda: on_the_tracked_branch(it) == lists, 2500.0)
            await it.until("twenty rooms", lambda: it.rooms() == 20, 100.0)
            assert own_line(it) == 13
            it.world.commit({"gamekeeper.yaml": put_in})
            await never_fewer(it, 20, elapsed() + 300.0)
            assert own_line(it) == 20
            assert held_by(it) == ""

    in_virtual_time(main())
