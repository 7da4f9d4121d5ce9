"""A count that a policy decides acts at once, stands in Git a minute later, and obeys people."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from reconciler.loop.landing import Landed
from reconciler.model.errors import Denied, PortError, Unavailable
from reconciler.model.holds import HoldKind
from reconciler.model.records import IDS_KEPT, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.service.app import App, Parts
from reconciler.service.scaling_voices import ScalingVoices
from tests.loop.safety import Bounds
from tests.loop.scaling.house import (
    ARENA,
    FILE,
    Habits,
    Ledger,
    ScalingService,
    Scene,
    scaled,
    scene,
    stage,
)
from tests.loop.virtual_time import elapsed, in_virtual_time

FROM_EIGHT = [{"from": "08:05", "to": "20:00", "replicas": 6}]
"""The world begins at 08:00."""


@pytest.mark.long
def test_a_count_acts_at_once_and_lands_in_git_after_the_quiet_time() -> None:
    async def main() -> None:
        async with scene(scaled(2, FROM_EIGHT)) as there:
            before = there.text()
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            await there.until("six rooms", lambda: there.rooms() == 6, 340.0)
            assert there.count_in_git() == 2, "the rooms wait for no commit"
            await there.until("six in Git", lambda: there.count_in_git() == 6, 75.0)
            assert there.text() == before.replace("replicas: 2", "replicas: 6", 1)
            assert there.subjects()[0] == "Scale arena to 6"
            await asyncio.sleep(300.0)
            assert there.rooms() == 6
            assert there.subjects() == ["Scale arena to 6", "change", "change"]
            assert [count for _, count in there.ledgers[0].decisions] == [6]

    in_virtual_time(main())


@pytest.mark.long
def test_a_revert_by_a_human_acts_within_one_look_and_holds_the_policy() -> None:
    async def main() -> None:
        async with scene(scaled(2, FROM_EIGHT)) as there:
            before = there.text()
            there.start("one")
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
            there.world.commit({FILE: before})
            await there.until("two rooms", lambda: there.rooms() == 2, 90.0)
            await asyncio.sleep(700.0)
            assert (there.rooms(), there.count_in_git()) == (2, 2)
            await there.until("six rooms", lambda: there.rooms() == 6, 300.0)
            await there.until("six in Git", lambda: there.count_in_git() == 6, 90.0)

    in_virtual_time(main())


@pytest.mark.long
def test_a_host_that_is_down_stops_nothing_and_is_caught_up_with_in_one_commit() -> None:
    async def main() -> None:
        times = [{"from": f"08:{5 * n:02}", "to": "20:00", "replicas": 2 + n} for n in range(1, 9)]
        async with scene(scaled(2, times)) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            there.world.host.down()
            await there.until("ten rooms", lambda: there.rooms() == 10, 3000.0)
            assert there.count_in_git() == 2
            there.world.host.heal()
            await there.until("ten in Git", lambda: there.count_in_git() == 10, 400.0)
            assert there.subjects()[:2] == ["Scale arena to 10", "change"]

    in_virtual_time(main())


def test_the_process_and_its_disk_die_and_another_one_lands_what_was_decided() -> None:
    async def main() -> None:
        async with scene(scaled(2, FROM_EIGHT)) as there:
            first = there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            there.world.host.down()
            await there.until("six rooms", lambda: there.rooms() == 6, 400.0)
            await first.kill()
            there.start("two")
            await asyncio.sleep(120.0)
            assert there.rooms() == 6
            there.world.host.heal()
            await there.until("six in Git", lambda: there.count_in_git() == 6, 400.0)
            assert there.subjects()[0] == "Scale arena to 6"

    in_virtual_time(main())


def test_a_lost_answer_is_no_second_commit() -> None:
    async def main() -> None:
        async with scene(scaled(2, FROM_EIGHT)) as there:
            there.start("one")
            there.world.host.lost_answers = 1
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
            await asyncio.sleep(1000.0)
            assert there.subjects() == ["Scale arena to 6", "change", "change"]
            assert there.rooms() == 6

    in_virtual_time(main())


def test_of_our_commits_the_newest_thousand_are_known() -> None:
    async def main() -> None:
        async with scene(scaled(2, FROM_EIGHT)) as there:
            store = there.start("one").lane.store
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            older = tuple(f"{number:040x}" for number in range(IDS_KEPT))
            await store.change_repository(lambda newest: replace(newest, pushed=older))
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
            assert store.repository.pushed == (*older[1:], there.head())

    in_virtual_time(main())


def test_a_rival_commit_loses_nothing() -> None:
    async def main() -> None:
        async with scene(scaled(2, FROM_EIGHT)) as there:
            there.start("one")
            rival = scaled(2, FROM_EIGHT) + "# a comment of somebody else\n"
            there.world.host.rivals = [{FILE: rival}]
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
            assert there.ledgers[0].races == 1
            assert there.text() == rival.replace("replicas: 2", "replicas: 6", 1)
            assert not any(move.forced for move in there.world.host.moves)

    in_virtual_time(main())


@pytest.mark.long
def test_a_protected_branch_is_told_and_scaling_goes_on() -> None:
    async def main() -> None:
        async with scene(scaled(2, FROM_EIGHT)) as there:
            there.start("one")
            there.world.host.protected["main"] = "changes go through merge requests"
            await there.until("six rooms", lambda: there.rooms() == 6, 500.0)
            await asyncio.sleep(1200.0)
            assert there.rooms() == 6
            assert there.count_in_git() == 2
            troubles = there.ledgers[0].troubles
            assert "merge requests" in str(troubles[0])
            assert 3 <= len(troubles) <= 15, "tried again, and not every second"
            there.world.host.heal()
            await there.until("six in Git", lambda: there.count_in_git() == 6, 400.0)

    in_virtual_time(main())


def test_a_count_that_no_edit_can_write_hurries_no_other_and_is_told_now_and_then() -> None:
    async def main() -> None:
        shared = scaled(2, FROM_EIGHT).replace("replicas: 2\n", "replicas: &n 2\n", 1)
        shared = shared.replace("min: 2\n", "min: *n\n", 1)
        late = [{**FROM_EIGHT[0], "from": "08:18"}]
        lobby = "schedulers/lobby.yaml"
        files = {FILE: shared, lobby: scaled(2, late).replace("arena", "lobby")}
        async with stage(files, dict.fromkeys(("arena", "lobby"), Bounds(30, 0))) as there:
            there.start("one")
            ledger, host = there.ledgers[0], there.world.host
            await there.until("the second one", lambda: len(ledger.moves) == 2, 1140.0)
            await asyncio.sleep(55.0)
            assert host.moves == [], "the quiet time of the one that can be written runs"
            await there.until("its commit", lambda: len(host.moves) == 1, 10.0)
            assert [key.name for key in ledger.commits[-1].intents] == ["lobby"]
            (refusal,) = ledger.commits[-1].refused
            assert "*n" in refusal.reason
            assert 3 <= len(ledger.commits) <= 8, "told again, and not every second"
            fixed = shared.replace("&n 2", "2").replace("*n", "2")
            there.world.commit({FILE: fixed})
            await there.until("six in Git", lambda: there.count_in_git() == 6, 200.0)

    in_virtual_time(main())


def test_a_count_that_the_cluster_does_not_take_on_record_is_tried_again_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> None:
        text = scaled(2, FROM_EIGHT).replace(
            "    scaleDown:", "    scaleUp: {cooldownSeconds: 600}\n    scaleDown:", 1
        )
        async with scene(text) as there:
            store, refused = there.start("one").lane.store, list[WorkloadKey]()
            change_state = store.change_state

            async def failing(
                key: WorkloadKey, change: Callable[[StateRecord], StateRecord]
            ) -> None:
                if not refused and change(store.state(key)).scaling.intent is not None:
                    refused.append(key)
                    raise Unavailable("the API server does not answer")
                await change_state(key, change)

            monkeypatch.setattr(store, "change_state", failing)
            await there.until("six rooms", lambda: there.rooms() == 6, 345.0)
            assert len(refused) == there.ledgers[0].undecided_count == 1

    in_virtual_time(main())


def test_rooms_are_looked_after_while_a_count_cannot_be_put_on_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> None:
        async with scene(scaled(2, FROM_EIGHT)) as there:
            store = there.start("one").lane.store
            change_state = store.change_state

            async def failing(
                key: WorkloadKey, change: Callable[[StateRecord], StateRecord]
            ) -> None:
                if change(store.state(key)).scaling.intent is not None:
                    raise Denied("a webhook takes no record of that size")
                await change_state(key, change)

            monkeypatch.setattr(store, "change_state", failing)
            await asyncio.sleep(400.0)
            assert there.ledgers[0].undecided_count, "six are wanted, and two are on record"
            victim = there.world.names("arena")[0]
            there.world.delete(f"/api/v1/namespaces/arena/pods/{victim}")

            def is_replaced() -> bool:
                return there.rooms() == 2 and victim not in there.world.names("arena")

            await there.until("another room", is_replaced, 120.0)

    in_virtual_time(main())


@pytest.mark.long
@pytest.mark.parametrize("change", ["suspend", "switch off"])
def test_what_people_switch_off_stands_as_git_says(change: str) -> None:
    async def main() -> None:
        text = scaled(2, [{**FROM_EIGHT[0], "replicas": 5}])
        off = {
            "suspend": text + "  suspend: true\n",
            "switch off": text.replace("autoscaling:\n", "autoscaling:\n    enabled: false\n"),
        }[change]
        async with scene(text) as there:
            there.start("one")
            there.world.host.protected["main"] = "no"
            await there.until("five rooms", lambda: there.rooms() == 5, 500.0)
            there.world.host.protected.clear()
            there.world.commit({FILE: off})
            await asyncio.sleep(1200.0)
            assert there.count_in_git() == 2
            assert there.rooms() == (5 if change == "suspend" else 2)

    in_virtual_time(main())


@pytest.mark.long
@pytest.mark.parametrize("then", ["goes on", "is switched off"])
def test_a_suspension_acts_at_once_beside_more_rooms_than_git_knows_of(then: str) -> None:
    """That fewer are wanted then is held, as over budget; that nothing is done is not.

    Nor does the suspension take what was decided out of the budget: who lifts it and switches the
    policy off is refused the rooms as without it.
    """

    async def main() -> None:
        text = scaled(2, [{**FROM_EIGHT[0], "replicas": 12}])
        off = text.replace("autoscaling:\n", "autoscaling:\n    enabled: false\n")
        async with scene(text) as there:
            there.start("one")
            there.world.host.protected["main"] = "no"
            await there.until("twelve rooms", lambda: there.rooms() == 12, 500.0)
            there.world.commit({FILE: text + "  suspend: true\n"})
            assert there.leader is not None
            lane = there.leader.lane
            await there.until("it is told", lambda: bool(lane.wanted.holds_of(ARENA)), 120.0)
            kinds = {hold.kind for hold in lane.wanted.holds_of(ARENA)}
            assert kinds == {HoldKind.SUSPENDED, HoldKind.OVER_BUDGET}
            there.world.host.protected.clear()
            await asyncio.sleep(1200.0)
            assert (there.count_in_git(), there.rooms(), there.wanted()) == (2, 12, 12)
            desired = lane.desired(ARENA)
            assert desired is not None
            assert desired.workload.suspend
            there.world.commit({FILE: text if then == "goes on" else off})
            await asyncio.sleep(1200.0)
            assert there.rooms() == 12, "nobody went meanwhile"
            held = {hold.kind for hold in lane.wanted.holds_of(ARENA)}
            assert held == (set() if then == "goes on" else {HoldKind.OVER_BUDGET})
            desired = lane.desired(ARENA)
            assert desired is not None
            assert not desired.workload.suspend
            assert there.count_in_git() == (12 if then == "goes on" else 2)

    in_virtual_time(main())


class _Deaf(Ledger):
    """Fails at all that it is told of commits."""

    def landed(self, landed: Landed) -> None:
        """Fail, once it is noted."""
        super().landed(landed)
        raise ValueError("a defect of whoever hears")

    def unlanded(self, error: PortError) -> None:
        """Fail, once it is noted."""
        super().unlanded(error)
        raise ValueError("a defect of whoever hears")


class _DeafService(ScalingService):
    def _app(self, parts: Parts) -> App:
        super()._app(parts)
        self.ledger = _Deaf()
        assert parts.committing is not None
        parts.committing = replace(parts.committing, observer=ScalingVoices([self.ledger]))
        return App(parts)


class _DeafScene(Scene):
    def _process(self, name: str) -> ScalingService:
        return _DeafService(self.world, name, self.weather, self.habits)


@pytest.mark.long
def test_who_hears_of_commits_and_fails_ends_no_committing() -> None:
    async def main() -> None:
        times = [*FROM_EIGHT, {"from": "08:12", "to": "20:00", "replicas": 9}]
        async with scene(scaled(2, times), made=_DeafScene) as there:
            there.start("one")
            there.world.host.refusal = Unavailable("the proxy says 502")
            await there.until("six rooms", lambda: there.rooms() == 6, 500.0)
            await there.until("told", lambda: bool(there.ledgers[0].troubles), 200.0)
            there.world.host.heal()
            await there.until("six in Git", lambda: there.count_in_git() == 6, 200.0)
            await there.until("nine in Git", lambda: there.count_in_git() == 9, 500.0)
            assert len(there.ledgers[0].commits) == 2

    in_virtual_time(main())


@pytest.mark.long
@pytest.mark.parametrize("odd", ["du\\el.yaml", f"{'d/' * 2049}duel.yaml"], ids=["odd", "long"])
def test_a_file_that_no_commit_may_name_keeps_no_other_count_out_of_git(odd: str) -> None:
    async def main() -> None:
        duel = scaled(2, FROM_EIGHT).replace("arena", "duel")
        files = {FILE: scaled(2, FROM_EIGHT), f"schedulers/{odd}": duel}
        async with stage(files, dict.fromkeys(("arena", "duel"), Bounds(30, 0))) as there:
            there.start("one")
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
            [ledger] = there.ledgers
            refused = {each.edit.where.name for landed in ledger.commits for each in landed.refused}
            assert (refused, ledger.troubles) == ({"duel"}, [])
            assert there.wanted(WorkloadKey("Scheduler", "duel", "duel")) == 6

    in_virtual_time(main())


@pytest.mark.long
def test_what_came_back_before_its_commit_is_told_by_the_next_one() -> None:
    times = [
        {"from": "08:05", "to": "08:06", "replicas": 5},
        {"from": "08:06", "to": "08:08", "replicas": 2},
        {"from": "08:08", "to": "20:00", "replicas": 4},
    ]

    async def main() -> None:
        async with scene(scaled(2, times), Habits(quiet_seconds=300.0)) as there:
            there.start("one")
            await there.until("five rooms", lambda: there.rooms() == 5, 400.0)
            await there.until("two rooms", lambda: there.rooms() == 2, 200.0)
            await there.until("four act", lambda: there.wanted() == 4, 200.0)
            begun = elapsed()
            await there.until("four in Git", lambda: there.count_in_git() == 4, 400.0)
            assert elapsed() - begun > 290.0, "the quiet time is that of the count that waits"
            assert there.told("arena") == [(2, 5), (5, 2), (2, 4)]

    in_virtual_time(main())
