"""Counts on a branch of their own: the tracked one is protected, and people's words still win."""

import asyncio
from contextlib import AbstractAsyncContextManager

import pytest

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.model.errors import Unavailable
from reconciler.model.pushes import Change, Pushed
from tests.loop.safety import Bounds
from tests.loop.scaling.counts import counts_of
from tests.loop.scaling.house import ARENA, FILE, Habits, Scene, scaled, stage
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import CONFIG, spec

pytestmark = pytest.mark.long

FROM_EIGHT = [{"from": "08:05", "to": "20:00", "replicas": 6}]
"""The world begins at 08:00."""
APART = CONFIG.replace("{}", "{writeBack: {branch: counts}}")


def apart(text: str) -> AbstractAsyncContextManager[Scene]:
    """Open a scene whose counts stand on a branch of their own."""
    return stage({"gamekeeper.yaml": APART, FILE: text}, {"arena": Bounds(30, 0)})


def counts(there: Scene) -> dict[str, int]:
    """What `replicas.yaml` says on the branch of counts; nothing where there is none."""
    host = there.world.host
    tip = host.branches.get("counts")
    text = host.commits[tip].files.get("replicas.yaml") if tip else None
    return counts_of(text)


async def six(there: Scene) -> None:
    """Start, and wait until the decision stands in Git."""
    there.world.host.protected["main"] = "changes go through merge requests"
    there.start("one")
    await there.until("six in Git", lambda: counts(there) == {"Scheduler/arena": 6}, 500.0)
    await there.until("six rooms", lambda: there.rooms() == 6, 10.0)


def rewritten(there: Scene, count: int) -> str:
    """The file of counts with another number."""
    host = there.world.host
    text = host.commits[host.branches["counts"]].files["replicas.yaml"].decode()
    return text.replace(f": {counts(there)['Scheduler/arena']}\n", f": {count}\n")


def test_a_decision_lands_beside_a_protected_branch_and_leaves_that_alone() -> None:
    async def main() -> None:
        async with apart(scaled(2, FROM_EIGHT)) as there:
            host = there.world.host
            before = host.branches["main"]
            await six(there)
            await asyncio.sleep(600.0)
            assert (there.rooms(), there.count_in_git()) == (6, 2)
            assert host.branches["main"] == before
            (move,) = host.moves
            assert (move.branch, move.before, move.forced) == ("counts", "", False)
            assert host.commits[move.after].parents == (before,)
            assert there.ledgers[0].troubles == []

    in_virtual_time(main())


def test_a_number_that_a_person_writes_on_the_tracked_branch_wins_holds_and_is_carried_over() -> (
    None
):
    async def main() -> None:
        async with apart(scaled(2, FROM_EIGHT)) as there:
            await six(there)
            there.world.commit({FILE: scaled(4, FROM_EIGHT)})
            await there.until("four rooms", lambda: there.rooms() == 4, 90.0)
            await there.until("four on both", lambda: counts(there)["Scheduler/arena"] == 4, 90.0)
            await asyncio.sleep(600.0)
            assert there.rooms() == 4, "the policy waits for the human hold"
            await there.until("six again", lambda: counts(there)["Scheduler/arena"] == 6, 500.0)

    in_virtual_time(main())


def test_a_number_that_a_person_writes_on_the_branch_of_counts_wins_and_holds() -> None:
    async def main() -> None:
        async with apart(scaled(2, FROM_EIGHT)) as there:
            await six(there)
            there.world.host.commit({"replicas.yaml": rewritten(there, 3)}, branch="counts")
            await there.until("three rooms", lambda: there.rooms() == 3, 90.0)
            await asyncio.sleep(600.0)
            assert (there.rooms(), counts(there)) == (3, {"Scheduler/arena": 3})
            await there.until("six again", lambda: counts(there)["Scheduler/arena"] == 6, 500.0)

    in_virtual_time(main())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("spec: {counts: [\n", id="no YAML"),
        pytest.param("apiVersion: gamekeeper.dev/v1\nkind: Replicas\n"
                     "spec: {counts: {Scheduler/arena: many}}\n", id="no number"),
        pytest.param("", id="nothing at all"),
    ],
)  # fmt: skip
def test_a_file_of_counts_that_cannot_be_read_changes_no_count(text: str) -> None:
    async def main() -> None:
        async with apart(scaled(2, FROM_EIGHT)) as there:
            await six(there)
            good = rewritten(there, 6)
            there.world.host.commit({"replicas.yaml": text}, branch="counts")
            await asyncio.sleep(600.0)
            assert there.rooms() == 6
            there.world.host.commit({"replicas.yaml": good}, branch="counts")
            await asyncio.sleep(120.0)
            assert (there.rooms(), counts(there)) == (6, {"Scheduler/arena": 6})

    in_virtual_time(main())


def test_another_process_goes_on_with_the_numbers_of_the_branch() -> None:
    async def main() -> None:
        async with apart(scaled(2, FROM_EIGHT)) as there:
            await six(there)
            await there.services[0].kill()
            there.start("two")
            for _ in range(60):
                await asyncio.sleep(5.0)
                assert there.rooms() == 6
            assert len(there.world.host.moves) == 1

    in_virtual_time(main())


def test_a_branch_of_counts_that_a_person_set_back_is_a_persons_word() -> None:
    async def main() -> None:
        times = [*FROM_EIGHT, {"from": "08:12", "to": "20:00", "replicas": 9}]
        async with apart(scaled(2, times)) as there:
            await six(there)
            first = there.world.host.branches["counts"]
            await there.until("nine in Git", lambda: counts(there)["Scheduler/arena"] == 9, 900.0)
            there.world.host.branch("counts", first)
            await there.until("six rooms", lambda: there.rooms() == 6, 90.0)
            assert not any(move.forced for move in there.world.host.moves)

    in_virtual_time(main())


def test_a_rival_on_the_branch_of_counts_loses_nothing() -> None:
    async def main() -> None:
        times = [*FROM_EIGHT, {"from": "08:12", "to": "20:00", "replicas": 9}]
        async with apart(scaled(2, times)) as there:
            await six(there)
            there.world.host.rivals = [{"NOTES.md": "a person was first\n"}]
            await there.until("nine in Git", lambda: counts(there)["Scheduler/arena"] == 9, 900.0)
            assert there.ledgers[0].races == 1
            host = there.world.host
            assert "NOTES.md" in host.commits[host.branches["counts"]].files

    in_virtual_time(main())


def test_a_number_on_the_tracked_branch_that_an_approval_lets_in_wins_and_holds() -> None:
    async def main() -> None:
        always = [{"replicas": 12}]
        async with apart(scaled(11, always, low=10)) as there:
            there.world.host.protected["main"] = "changes go through merge requests"
            there.start("one")
            await there.until("its count", lambda: counts(there) == {"Scheduler/arena": 12}, 200.0)
            await asyncio.sleep(70.0)
            there.world.commit({FILE: scaled(4, always, low=2)})
            for _ in range(10):
                await asyncio.sleep(40.0)
                assert there.rooms() == 12, "too many at once"
            assert there.leader is not None
            (hold,) = there.leader.lane.wanted.holds
            there.world.approve(hold.change_hash)
            await there.until("four rooms", lambda: there.rooms() == 4, 90.0)
            await there.until("four there", lambda: counts(there) == {"Scheduler/arena": 4}, 90.0)
            await asyncio.sleep(600.0)
            assert there.rooms() == 4, "the policy waits for the human hold"

    in_virtual_time(main())


def test_a_number_on_the_branch_of_counts_that_an_approval_lets_in_holds() -> None:
    async def main() -> None:
        always = [{"replicas": 12}]
        async with apart(scaled(11, always, low=10)) as there:
            there.start("one")
            await there.until("its count", lambda: counts(there) == {"Scheduler/arena": 12}, 200.0)
            await asyncio.sleep(70.0)
            there.world.host.commit({"replicas.yaml": rewritten(there, 4)}, branch="counts")
            await asyncio.sleep(200.0)
            assert there.rooms() == 12, "too many at once"
            assert there.leader is not None
            (hold,) = there.leader.lane.wanted.holds
            there.world.approve(hold.change_hash)
            await there.until("four rooms", lambda: there.rooms() == 4, 90.0)
            await asyncio.sleep(600.0)
            assert (there.rooms(), counts(there)) == (4, {"Scheduler/arena": 4})

    in_virtual_time(main())


class Lost(MemoryRepository):
    """The answer to the first push is lost, and the push comes to the host `late` seconds later."""

    def __init__(self, host: MemoryHost, late: float) -> None:
        super().__init__(host)
        self._late = late

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Push, sooner or later."""
        late, self._late = self._late, 0.0
        if not late:
            return await super().push(change, commit)
        branches, branch = self._host.branches, change.branch
        asyncio.get_running_loop().call_later(late, branches.setdefault, branch, commit)
        raise Unavailable("the connection ended before the Git host had answered")


def test_a_branch_of_counts_that_is_made_late_is_ours_though_a_person_pushed_meanwhile() -> None:
    habits = Habits(repository=lambda world, name: Lost(world.host, 40.0))

    async def main() -> None:
        files = {"gamekeeper.yaml": APART, FILE: scaled(2, FROM_EIGHT)}
        async with stage(files, {"arena": Bounds(30, 0)}, habits) as there:
            one = there.start("one")
            await there.until("asked", lambda: bool(there.ledgers[0].troubles), 500.0)
            host = there.world.host
            there.world.commit({"NOTES.md": "a person was here\n"})
            host.refusal = Unavailable("the proxy says 502")
            await there.until("it comes late", lambda: "counts" in host.branches, 60.0)
            host.heal()
            assert host.branches["counts"] in one.lane.store.repository.pushed
            await asyncio.sleep(120.0)
            assert one.lane.store.state(ARENA).scaling.held_until == 0.0
            assert (there.rooms(), counts(there)) == (6, {"Scheduler/arena": 6})

    in_virtual_time(main())


def test_of_the_branch_of_counts_nothing_is_read_but_its_counts() -> None:
    """Who may push to it moves numbers and nothing else (ADR 17)."""
    planted: dict[str, str | None] = {
        FILE: scaled(9, [{"replicas": 12}]).replace("game:1", "game:2"),
        "schedulers/other.yaml": spec("other", 3),
        "gamekeeper.yaml": APART.replace(
            "writeBack: {", "paths: [elsewhere], writeBack: {quietSeconds: 1, "
        ),
        "templates/serviceaccount.yaml.j2": "apiVersion: v1\nkind: Secret\n",
        "elsewhere/replicas.yaml": "apiVersion: gamekeeper.dev/v1\nkind: Replicas\n"
        "spec: {counts: {Scheduler/arena: 15}}\n",
        "README.md": "Scheduler/arena: 15\n",
    }
    later = [*FROM_EIGHT, {"from": "08:30", "to": "20:00", "replicas": 7}]

    def images(there: Scene) -> set[str]:
        pods = there.world.pods("arena")
        return {each["image"] for pod in pods for each in pod["spec"]["containers"]}

    async def main() -> None:
        async with apart(scaled(2, later)) as there:
            await six(there)
            host, namespaces = there.world.host, there.world.namespaces()
            rooms, service = set(there.world.names("arena")), there.leader
            assert service is not None
            accepted = service.lane.store.repository.config_json
            host.commit(planted, branch="counts")
            await service.app.look_soon()
            await asyncio.sleep(600.0)
            assert set(there.world.names("arena")) == rooms, "none was replaced, added or taken"
            assert images(there) == {"registry.example/game:1"}
            assert there.world.namespaces() == namespaces
            assert service.lane.store.repository.config_json == accepted
            # Our next commit stands on theirs, changes its own number and reads nothing else.
            await there.until("seven", lambda: counts(there) == {"Scheduler/arena": 7}, 1500.0)
            assert there.rooms() == 7
            files = host.commits[host.branches["counts"]].files
            assert {path: files[path].decode() for path in planted} == planted
            assert there.ledgers[0].troubles == []

    in_virtual_time(main())
