"""What was told of counts that do not come into Git ends with them, commit or none."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from reconciler.model.refs import WorkloadKey
from reconciler.service.app import App
from tests.loop.safety import Bounds
from tests.loop.scaling.house import (
    ARENA,
    FILE,
    QUIET_SECONDS,
    Habits,
    ScalingService,
    Scene,
    scaled,
    scene,
    stage,
)
from tests.loop.scaling.troubles import (
    FOR_FIVE_MINUTES,
    LASTS,
    TWICE,
    anchor,
    down,
    failing,
    is_well,
    news,
    outbox,
    protect,
    refused,
)
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import CONFIG

TWICE_FIVE = [
    {"from": "08:05", "to": "08:07", "replicas": 5},
    {"from": "08:08", "to": "20:00", "replicas": 5},
]
IN_THE_EVENING = [{"from": "19:00", "to": "20:00", "replicas": 5}]
FOUR = [{"from": "08:05", "to": "20:00", "replicas": 4}]
LOBBY = WorkloadKey("Scheduler", "lobby", "lobby")
OFF = CONFIG.replace("spec: {}", "spec: {writeBack: {mode: 'off'}}")


@pytest.mark.long
@pytest.mark.parametrize(
    ("begin", "told"),
    [(down, failing), (protect, failing), (anchor, refused)],
    ids=["a host that is down", "a protected branch", "a number that others share"],
)
def test_a_count_that_went_back_to_the_number_in_git_leaves_no_trouble_behind(
    begin: Callable[[Scene], None], told: Callable[[Scene], bool]
) -> None:
    async def main() -> None:
        async with scene(scaled(2, TWICE)) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            begin(there)
            await there.until("five act", lambda: there.wanted() == 5, 400.0)
            await there.until("it is told", lambda: told(there), 120.0)
            await asyncio.sleep(90.0)
            assert news(there), "it lasts"
            await there.until("two act", lambda: there.wanted() == 2, 200.0)
            await there.until("no trouble", lambda: is_well(there), 5.0)
            there.world.host.heal()
            there.world.commit({FILE: scaled(2, TWICE)})
            await asyncio.sleep(120.0)
            assert (news(there), is_well(there)) == ([], True)
            await there.until("four act", lambda: there.wanted() == 4, 1500.0)
            assert not outbox(there).error, "what waits for its quiet time fails by nothing"
            await there.until("four in Git", lambda: there.count_in_git() == 4, 90.0)

    in_virtual_time(main())


def test_a_count_that_comes_back_and_is_refused_again_is_told_after_its_quiet_time() -> None:
    async def main() -> None:
        async with scene(scaled(2, TWICE_FIVE)) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            anchor(there, TWICE_FIVE)
            await there.until("it is told", lambda: refused(there), 400.0)
            await there.until("two act", lambda: there.wanted() == 2, 120.0)
            await there.until("no trouble", lambda: is_well(there), 5.0)
            await there.until("five act again", lambda: there.wanted() == 5, 120.0)
            await there.until("it is told again", lambda: refused(there), QUIET_SECONDS + 5.0)

    in_virtual_time(main())


def test_what_is_decided_after_a_trouble_ended_waits_for_its_quiet_time_alone() -> None:
    async def main() -> None:
        async with scene(scaled(2, LASTS), Habits(quiet_seconds=10.0)) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            protect(there)
            await there.until("five act", lambda: there.wanted() == 5, 400.0)
            await asyncio.sleep(1800.0)
            (ledger,) = there.ledgers
            tries = len(ledger.troubles)
            await there.until("a try", lambda: len(ledger.troubles) > tries, 305.0)
            # The next one comes in two and a half minutes, or later.
            there.world.commit({FILE: scaled(2, IN_THE_EVENING)})
            await there.until("no trouble", lambda: is_well(there), 65.0)
            there.world.host.heal()
            there.world.commit({FILE: scaled(2, FOUR)})
            await there.until("four act", lambda: there.wanted() == 4, 65.0)
            await there.until("four in Git", lambda: there.count_in_git() == 4, 12.0)

    in_virtual_time(main())


@pytest.mark.parametrize("begin", [protect, anchor])
def test_where_git_is_not_to_be_written_any_more_nothing_fails(
    begin: Callable[[Scene], None],
) -> None:
    async def main() -> None:
        async with scene(scaled(2, LASTS)) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            begin(there)
            await there.until("five act", lambda: there.wanted() == 5, 400.0)
            await there.until("it is told", lambda: failing(there) or refused(there), 120.0)
            there.world.commit({"gamekeeper.yaml": OFF})
            await there.until("no trouble", lambda: is_well(there), 65.0)
            await asyncio.sleep(120.0)
            assert (news(there), there.wanted()) == ([], 5)

    in_virtual_time(main())


@pytest.mark.parametrize(("times", "lasts"), [(LASTS, True), (FOR_FIVE_MINUTES, False)])
def test_beside_a_config_that_nobody_can_read_a_trouble_lasts_while_anything_is_decided(
    times: list[dict[str, Any]], *, lasts: bool
) -> None:
    async def main() -> None:
        async with scene(scaled(2, times)) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            down(there)
            await there.until("it is told", lambda: failing(there), 500.0)
            there.world.host.heal()
            there.world.commit({"gamekeeper.yaml": CONFIG.replace("{}", "{writeBack: 7}")})
            await asyncio.sleep(1200.0)
            assert there.count_in_git() == 2, "nobody knows where it is to stand"
            assert failing(there) is lasts

    in_virtual_time(main())


def test_beside_a_config_that_nobody_can_read_a_record_that_nobody_can_read_ends_no_trouble() -> (
    None
):
    async def main() -> None:
        async with scene(scaled(2, LASTS)) as there:
            one = there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            down(there)
            await there.until("it is told", lambda: failing(there), 500.0)
            there.world.host.heal()
            there.world.commit({"gamekeeper.yaml": CONFIG.replace("{}", "{writeBack: 7}")})
            await asyncio.sleep(65.0)
            damaged = one.lane.store._places.ordinals(ARENA)
            await one.kube.merge_patch(damaged, {"data": {"record": "{"}})
            await one.lane.store.load()
            assert one.lane.store.unreadable(ARENA)
            await asyncio.sleep(120.0)
            assert failing(there), "five are decided still"

    in_virtual_time(main())


def test_what_no_edit_can_write_keeps_no_others_trouble() -> None:
    async def main() -> None:
        for_two = [{"from": "08:07", "to": "08:09", "replicas": 5}]
        files = {
            FILE: scaled(2, LASTS),
            "schedulers/lobby.yaml": scaled(2, for_two).replace("arena", "lobby"),
        }
        bounds = dict.fromkeys(("arena", "lobby"), Bounds(30, 0))
        async with stage(files, bounds, Habits(quiet_seconds=10.0)) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            anchor(there, LASTS)
            await there.until("it is told", lambda: refused(there), 400.0)
            protect(there)
            await there.until("the lobby's fails", lambda: failing(there), 180.0)
            await there.until("two act", lambda: there.wanted(LOBBY) == 2, 180.0)
            await there.until("no trouble", lambda: not failing(there), 5.0)
            assert refused(there), "the arena's waits for a person"
            assert len(there.ledgers[0].commits) == 2, "and was asked for once"

    in_virtual_time(main())


def test_who_leads_no_more_tells_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    may_act, loses = App.may_act, True

    async def main() -> None:
        nonlocal loses
        async with scene(scaled(2, LASTS)) as there:

            def is_off() -> bool:
                reading = there.services[0].head.reading
                config = reading.config if reading else None
                return config is not None and config.write_back.mode == "off"

            # It leads until it has read that Git is not to be written, and not a moment longer.
            monkeypatch.setattr(
                App, "may_act", lambda app: may_act(app) and not (loses and is_off())
            )
            service = there.start("one")
            assert isinstance(service, ScalingService)
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            protect(there)
            await there.until("five act", lambda: there.wanted() == 5, 400.0)
            await asyncio.sleep(600.0)
            assert failing(there)
            told = len(service.ledger.commits)
            there.world.commit({"gamekeeper.yaml": OFF})
            await there.until("it is read", is_off, 65.0)
            await asyncio.sleep(30.0)
            assert len(service.ledger.commits) == told
            loses = False
            await there.until("no trouble", lambda: is_well(there), 5.0)

    in_virtual_time(main())
