"""A person's number that no new commit tells of: it acts, and the policy waits, all the same."""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

import pytest

from reconciler.adapters.git.memory import MemoryRepository
from reconciler.adapters.git.memory_host import Commit
from reconciler.loop import passages
from reconciler.model.pushes import Change, Pushed
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Permissions
from reconciler.model.trees import Tree
from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Habits, Scene, scaled, stage
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import World

pytestmark = pytest.mark.long

FROM_EIGHT = [{"from": "08:05", "to": "20:00", "replicas": 6}]
"""The world begins at 08:00."""
HOLD_SECONDS, LOOK_SECONDS = 200.0, 90.0
CONFIG = f"""
apiVersion: gamekeeper.dev/v1
kind: Config
spec: {{writeBack: {{humanHoldSeconds: {HOLD_SECONDS:.0f}}}}}
"""


def held_scene(text: str) -> AbstractAsyncContextManager[Scene]:
    """Open a scene in which a person's number holds for a while."""
    return stage({"gamekeeper.yaml": CONFIG, FILE: text}, {"arena": Bounds(30, 0)})


def numbered(there: Scene, count: int) -> str:
    """The spec in Git with another number."""
    return there.text().replace(f"replicas: {there.count_in_git()}\n", f"replicas: {count}\n", 1)


async def six(there: Scene) -> None:
    """Start, and wait until the decision stands in Git and was taken in."""
    there.start("one")
    await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
    await asyncio.sleep(70.0)


async def holds(there: Scene, count: int) -> None:
    """A number acts at the next look, and for as long as the hold lasts."""
    await there.until(f"{count} rooms", lambda: there.rooms() == count, LOOK_SECONDS)
    for _ in range(10):
        await asyncio.sleep((HOLD_SECONDS - LOOK_SECONDS) / 10)
        assert (there.rooms(), there.count_in_git()) == (count, count)


def test_a_branch_that_is_set_back_to_the_newest_word_of_a_person_says_it_again() -> None:
    async def main() -> None:
        async with held_scene(scaled(2, FROM_EIGHT)) as there:
            await six(there)
            word = there.world.commit({FILE: numbered(there, 4)})
            await there.until("four rooms", lambda: there.rooms() == 4, LOOK_SECONDS)
            await there.until("six in Git again", lambda: there.count_in_git() == 6, 500.0)
            await asyncio.sleep(70.0)
            there.world.host.branch("main", word)
            await holds(there, 4)
            await there.until("six once more", lambda: there.count_in_git() == 6, 500.0)

    in_virtual_time(main())


def test_a_merge_that_is_settled_by_the_number_of_before_is_a_persons_word() -> None:
    async def main() -> None:
        async with held_scene(scaled(2, FROM_EIGHT)) as there:
            host = there.world.host
            old = there.head()
            await six(there)
            files = host.commits[old].files
            merge = Commit("f" * 40, (there.head(), old), files, "ada", "Merge branch 'old'", 0.0)
            host.commits[merge.identity] = merge
            host.branch("main", merge.identity)
            await holds(there, 2)

    in_virtual_time(main())


def test_a_number_that_a_merge_takes_back_before_anybody_looked_is_a_persons_word() -> None:
    """Two pushes between two looks: the number of a person, and a merge back to ours."""
    times = [*FROM_EIGHT[:1], {"from": "08:08", "to": "20:00", "replicas": 9}]
    times[0] = {**times[0], "to": "08:08"}

    async def main() -> None:
        async with held_scene(scaled(2, times)) as there:
            host = there.world.host
            await six(there)
            ours = there.head()
            host.commit({FILE: numbered(there, 15)})
            merge = Commit("e" * 40, (there.head(), ours), host.commits[ours].files, "ada", "M", 0)
            host.commits[merge.identity] = merge
            host.branch("main", merge.identity)
            await asyncio.sleep(LOOK_SECONDS)
            assert there.leader is not None
            assert there.leader.lane.store.state(ARENA).scaling.held_by
            await asyncio.sleep(HOLD_SECONDS / 2)
            assert (there.rooms(), there.count_in_git()) == (6, 6)
            await there.until("nine in Git", lambda: there.count_in_git() == 9, 500.0)

    in_virtual_time(main())


class Overtaken(MemoryRepository):
    """A person's commit comes right after our first one: `merged` with it, or forced over it."""

    merged = True

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Push, and let the person push."""
        pushed = await super().push(change, commit)
        host, base = self._host, change.base
        theirs = "f" * 40
        if theirs not in host.commits:
            parents = (pushed.commit, base) if self.merged else (base,)
            host.commits[theirs] = Commit(
                theirs, parents, host.commits[base].files, "ada", "A", 0.0
            )
            host.branch("main", theirs)
        return pushed


class Forced(Overtaken):
    """A person forces a commit about something else over ours."""

    merged = False


def overtaken_scene(opened: type[Overtaken]) -> AbstractAsyncContextManager[Scene]:
    """Open a scene in which our first commit is never looked at alone."""
    habits = Habits(repository=lambda world, _: opened(world.host))
    files = {"gamekeeper.yaml": CONFIG, FILE: scaled(2, FROM_EIGHT)}
    return stage(files, {"arena": Bounds(30, 0)}, habits)


def test_a_merge_on_top_of_a_commit_of_ours_that_nobody_judged_is_a_persons_word() -> None:
    async def main() -> None:
        async with overtaken_scene(Overtaken) as there:
            there.start("one")
            await there.until("a merge", lambda: there.head() == "f" * 40, 500.0)
            await holds(there, 2)
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)

    in_virtual_time(main())


def test_a_step_of_a_commit_that_was_forced_off_the_branch_is_told_by_the_next_one() -> None:
    async def main() -> None:
        async with overtaken_scene(Forced) as there:
            there.start("one")
            await there.until("a commit over ours", lambda: there.head() == "f" * 40, 500.0)
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
            assert there.told("arena") == [(2, 6)]

    in_virtual_time(main())


def test_a_number_that_an_approval_lets_in_holds_from_then_on() -> None:
    async def main() -> None:
        always = [{"replicas": 12}]
        async with held_scene(scaled(12, always, low=10)) as there:
            there.start("one")
            await there.until("twelve rooms", lambda: there.rooms() == 12, 120.0)
            there.world.commit({FILE: scaled(4, always, low=2)})
            await asyncio.sleep(LOOK_SECONDS)
            assert there.rooms() == 12, "too many at once"
            assert there.leader is not None
            (hold,) = there.leader.lane.wanted.holds
            there.world.approve(hold.change_hash)
            await holds(there, 4)

    in_virtual_time(main())


def test_a_number_that_comes_with_a_mistake_holds_from_when_that_is_mended() -> None:
    async def main() -> None:
        async with held_scene(scaled(2, FROM_EIGHT)) as there:
            await six(there)
            wrong = numbered(there, 9).replace("  game:", "  gaem:", 1)
            there.world.commit({FILE: wrong})
            await asyncio.sleep(LOOK_SECONDS)
            assert there.rooms() == 6
            there.world.commit({FILE: wrong.replace("  gaem:", "  game:", 1)})
            await holds(there, 9)

    in_virtual_time(main())


def test_a_commit_about_something_else_on_top_of_ours_holds_nothing() -> None:
    async def main() -> None:
        times = [*FROM_EIGHT, {"from": "08:10", "to": "20:00", "replicas": 8}]
        async with held_scene(scaled(2, times)) as there:
            there.start("one")
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
            there.world.commit({FILE: there.text() + "# a comment\n"})
            await there.until("eight rooms", lambda: there.rooms() == 8, 330.0)
            assert there.ledgers[0].pauses == []

    in_virtual_time(main())


class Crowded(Overtaken):
    """People push five commits right after our first one; the last of them may say a number."""

    number: int | None = None

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Push, and let the people push."""
        pushed = await MemoryRepository.push(self, change, commit)
        host = self._host
        if not any(each.subject == "People" for each in host.commits.values()):
            text = host.commits[pushed.commit].files[FILE].decode()
            for line in range(5):
                text += f"# comment {line}\n"
                if line == 4 and self.number is not None:
                    text = text.replace("replicas: 6\n", f"replicas: {self.number}\n", 1)
                host.commit({FILE: text}, "People")
        return pushed


class Numbered(Crowded):
    """The last of them says a number."""

    number = 9


@pytest.mark.parametrize("opened", [Crowded, Numbered])
def test_many_commits_on_top_of_ours_are_a_persons_word_only_where_they_say_one(
    monkeypatch: pytest.MonkeyPatch, opened: type[Crowded]
) -> None:
    monkeypatch.setattr(passages, "MOST_COMMITS", 3)

    async def main() -> None:
        async with overtaken_scene(opened) as there:
            there.start("one")
            await there.until("people pushed", lambda: "comment 4" in there.text(), 500.0)
            if opened.number is not None:
                await holds(there, opened.number)
                return
            await asyncio.sleep(LOOK_SECONDS)
            assert there.ledgers[0].pauses == []
            assert (there.rooms(), there.count_in_git()) == (6, 6)

    in_virtual_time(main())


async def test_a_large_repository_is_not_read_once_for_each_commit_of_a_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passages, "MOST_SPECS", 6)
    world = World()
    files = {f"schedulers/{name}.yaml": scaled(2, FROM_EIGHT).replace("arena", name)
             for name in ("one", "two", "three")}  # fmt: skip
    world.commit({"gamekeeper.yaml": CONFIG, **files})
    process = await world.process()
    await world.settle(process)
    compiler, reads = process.head.compiler, list[str]()
    read = compiler.read

    async def counted(tree: Tree, permissions: Permissions) -> Reading:
        reads.append(tree.commit)
        return await read(tree, permissions)

    monkeypatch.setattr(compiler, "read", counted)
    for count in range(3, 13):
        world.commit({"schedulers/two.yaml": files["schedulers/two.yaml"].replace(
            "replicas: 2", f"replicas: {count}", 1)})  # fmt: skip
    await process.turn()
    record = process.lane.store.state(WorkloadKey("Scheduler", "two", "two"))
    assert record.accepted is not None
    assert (record.accepted.replicas, record.scaling.held_by) == (12, reads[-1])
    assert len(reads) == 1


async def test_a_commit_of_whoever_led_before_is_no_persons_word_though_its_id_comes_late() -> None:
    """It lost the lease in the middle of a push: the next one had read the records before."""
    world = World()
    world.commit({"gamekeeper.yaml": CONFIG, FILE: scaled(2, FROM_EIGHT)})
    former = await world.process()
    await world.settle(former)
    later = await world.process()
    store = former.lane.store
    ours = world.commit({FILE: scaled(5, FROM_EIGHT)})
    pushed = (*store.repository.pushed, ours)
    await store.change_repository(lambda newest: replace(newest, pushed=pushed))
    for _ in range(3):
        await later.turn()
    record = later.lane.store.state(ARENA)
    assert record.accepted is not None
    assert (record.accepted.replicas, record.scaling.held_by) == (5, "")
