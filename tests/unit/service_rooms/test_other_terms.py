"""What rooms said, once another process leads, or another one plays in the room."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry

from reconciler.core.hearing import is_doubtful
from reconciler.model import labels
from reconciler.model.errors import Unavailable
from reconciler.model.refs import Json
from reconciler.model.rooms import Health, Mark, Report, RoomState
from reconciler.sandbox.behaviour import CRASH
from reconciler.service.room_metrics import RoomMetrics
from tests.loop.virtual_time import elapsed
from tests.unit.core.making import REPORTS, a_key
from tests.unit.service_rooms.stage import OCCUPIED, READY, Stage, on_stage, players


def test_another_leader_believes_no_old_word_of_a_room_that_speaks_both_ways() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(0))
        await asyncio.sleep(12.0)
        await it.say(READY)
        await it.say(players(5))
        await asyncio.sleep(12.0)
        it.desk.forget()
        it.listen()
        await it.say(READY)
        await asyncio.sleep(20.0)
        assert it.label() == "busy"
        assert it.desk.find("arena", "arena-0").judged.protected

    on_stage(act)


def test_who_leads_and_hears_nobody_waits_on_for_rooms_that_report_on_change(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await it.say(players(0), "arena-1")
        await asyncio.sleep(12.0)
        it.desk.forget()
        it.listen()
        for _ in range(2):
            await asyncio.sleep(3 * it.workload.timeouts.ping_seconds)
            assert it.desk.book.of(a_key()).since_on("node") > elapsed() - 2.0, "no time ends it"
            told = [each for each in caplog.records if "the first word of any" in each.message]
            assert len(told) == 1, "that is told once"
        assert not it.desk.book.suspicion, "one room that is silent may hang"
        await it.say(READY)
        heard_at = elapsed()
        await asyncio.sleep(it.workload.timeouts.ping_seconds)
        assert it.desk.book.of(a_key()).since_on("node") <= heard_at

    on_stage(act, 2)


def test_another_leader_believes_no_word_of_health_over_the_pings_of_a_match() -> None:
    async def act(it: Stage) -> None:
        await it.say(Report(periodic=False, health=Health.HEALTHY))
        for _ in range(3):
            await it.say(OCCUPIED)
            await asyncio.sleep(10.0)
        it.desk.forget()
        it.listen()
        await asyncio.sleep(20.0)
        assert it.label() == "busy"
        assert it.desk.find("arena", "arena-0").judged.protected

    on_stage(act)


async def drained(it: Stage, notes: dict[str, str]) -> None:
    """Mark a room draining that nobody has heard; `notes` are more annotations."""
    since = f"{it.clock.now():.3f}"
    left = {labels.LEAVING: "scale-in", labels.LEAVING_SINCE: since}
    await it.mark(Mark.DRAINING, **{labels.REVISION: REPORTS, **left, **notes})
    await it.seen()


@pytest.mark.parametrize("asked", [False, True], ids=["", "somebody asks it to leave"])
@pytest.mark.parametrize("anew", [False, True], ids=["this leader", "the next leader"])
@pytest.mark.parametrize(
    "ends_before", [False, True], ids=["its first container", "one that began anew"]
)
def test_a_room_that_was_drained_before_it_could_speak_is_not_empty_for_its_silence(
    ends_before: bool, anew: bool, asked: bool
) -> None:
    async def act(it: Stage) -> None:
        if ends_before:
            await crashes(it)
        await drained(it, {})
        if anew:
            it.desk.forget()
        it.listen()
        await asyncio.sleep(30.0)
        if asked:
            room = it.desk.find("arena", "arena-0")
            await it.desk.leave(room, leaves=True, by="anna", own=False)
        await asyncio.sleep(2 * it.workload.timeouts.ping_seconds)
        room = it.desk.find("arena", "arena-0")
        assert room.judged.protected, "nobody ever heard it"
        verdict = it.desk.fence(room)
        assert verdict is not None
        assert not verdict.may

    on_stage(act)


@pytest.mark.parametrize("mark", [Mark.NONE, Mark.DRAINING])
@pytest.mark.parametrize("text", ['{"players":-1}', "x", '{"players":0,"said":"Newer"}'])
def test_what_cannot_be_read_on_a_pod_is_no_word_of_its_room(text: str, mark: Mark) -> None:
    async def act(it: Stage) -> None:
        await drained(it, {labels.REPORT: text})
        await it.mark(mark)
        await it.seen()
        it.desk.forget()
        it.listen()
        await asyncio.sleep(3 * it.workload.timeouts.ping_seconds)
        assert it.desk.find("arena", "arena-0").judged.protected, "nobody ever heard it"

    on_stage(act)


def test_rooms_that_nobody_ever_heard_and_that_are_asked_to_leave_make_nobody_deaf() -> None:
    """Their silence tells nothing: one beside them that hangs is given up."""

    async def act(it: Stage) -> None:
        for number in range(8):
            await it.patch(f"arena-{number}", annotations={labels.REVISION: REPORTS})
            await it.seen(f"arena-{number}")
        for number in range(3):
            room = it.desk.find("arena", f"arena-{number}")
            await it.desk.leave(room, leaves=True, by="anna", own=False)
        for turn in range(60):
            for number in range(3 if turn <= 5 else 4, 8):
                await it.say(READY, f"arena-{number}")
            await asyncio.sleep(10.0)
        assert not it.desk.book.suspicion.everywhere
        assert it.desk.find("arena", "arena-3").judged.state is RoomState.ERROR

    on_stage(act, 8)


def test_a_room_that_was_heard_before_it_was_drained_is_given_up_when_it_is_silent() -> None:
    async def act(it: Stage) -> None:
        await drained(it, {labels.WAS_HEARD: "true"})
        it.desk.forget()
        it.listen()
        await asyncio.sleep(2 * it.workload.timeouts.ping_seconds)
        assert it.desk.find("arena", "arena-0").judged.state is RoomState.ERROR

    on_stage(act)


def game(it: Stage) -> Json:
    """How its container is."""
    status: Json = it.pod()["status"]["containerStatuses"][0]
    return status


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if holds():
            return
        await asyncio.sleep(0.1)
    raise AssertionError("it never was so")


async def restarts(it: Stage) -> None:
    """Let the container of a room end and begin anew, seen or not."""
    before = game(it)["restartCount"]
    await it.patch(annotations={CRASH: "0.1"})
    await until(lambda: game(it)["restartCount"] > before)
    await it.patch(annotations={CRASH: None})
    await until(lambda: "running" in game(it)["state"])


async def crashes(it: Stage) -> None:
    """Let the container of a room end and begin anew, and see it."""
    await restarts(it)
    await it.seen()
    it.desk.book.of(a_key())


def test_players_are_gone_with_the_process_that_told_of_them() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(3))
        await asyncio.sleep(60.0)
        await crashes(it)
        await it.say(Report(periodic=False, health=Health.HEALTHY))
        assert it.label() == "busy"
        await asyncio.sleep(12.0)
        assert it.label() == "idle"
        assert it.note(labels.REPORT) == '{"players":0,"health":"Healthy","runs":[1]}'
        await it.say(players(2))
        await asyncio.sleep(20.0)
        assert it.label() == "busy"

    on_stage(act)


def test_players_who_are_told_of_while_the_pod_tells_of_a_crash_are_protected() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await it.patch(annotations={CRASH: "0.1"})
        await until(lambda: "waiting" in game(it)["state"])
        await it.seen()
        room = it.desk.find("arena", "arena-0")
        assert (room.judged.state, room.judged.protected) == (RoomState.ERROR, "")
        await it.say(OCCUPIED)
        assert it.desk.find("arena", "arena-0").judged.protected

    on_stage(act)


def test_players_who_are_there_before_the_pod_tells_of_the_restart_stay() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(3))
        await asyncio.sleep(60.0)
        restart = asyncio.create_task(crashes(it))
        await until(lambda: game(it)["restartCount"] > 0)
        await it.say(players(3))
        await restart
        await asyncio.sleep(60.0)
        assert it.label() == "busy"
        assert it.note(labels.REPORT).startswith('{"players":3,')

    on_stage(act)


def test_another_leader_finds_nobody_where_all_containers_began_anew_meanwhile() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(3))
        await asyncio.sleep(130.0)
        it.leads = False
        it.desk.forget()
        await crashes(it)
        it.leads = True
        it.listen()
        await asyncio.sleep(8.0)
        assert it.label() == "idle"

    on_stage(act)


def test_a_room_that_began_anew_right_after_a_count_and_is_being_created_is_empty() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(3))
        await crashes(it)
        await asyncio.sleep(30.0)
        assert it.label() == "busy", "it may be the new process's word"
        await it.say(Report(periodic=False, health=Health.HEALTHY))
        await asyncio.sleep(30.0)
        assert it.label() == "busy", "so may that be"
        await it.say(Report(periodic=False, health=Health.CREATING))
        await asyncio.sleep(12.0)
        assert it.label() == "idle"

    on_stage(act)


def test_players_of_a_new_process_that_says_what_the_old_one_said_are_its_own() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(2))
        await it.say(players(1))
        await crashes(it)
        await it.say(players(1))
        heard = it.desk.book.of(a_key()).rooms[it.live().uid]
        assert not is_doubtful(heard, it.live())

    on_stage(act)


def test_a_game_that_says_two_things_by_turns_is_not_written_each_time() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(3))
        await asyncio.sleep(12.0)
        before = it.pod()["metadata"]["resourceVersion"]
        writes = 0
        for _ in range(30):
            await asyncio.sleep(5.0)
            await it.say(Report(periodic=False, health=Health.HEALTHY))
            await asyncio.sleep(5.0)
            await it.say(players(3))
            now = it.pod()["metadata"]["resourceVersion"]
            writes += now != before
            before = now
        assert writes <= 6

    on_stage(act)


def test_a_game_that_repeats_its_count_is_written_once_a_minute() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(3))
        await it.say(players(3))
        await asyncio.sleep(12.0)
        before = len(it.patches)
        for _ in range(60):
            await asyncio.sleep(5.0)
            await it.say(players(3))
        assert 4 <= len(it.patches) - before <= 5

    on_stage(act)


@pytest.mark.parametrize("said", [players(0), Report(periodic=False, health=Health.HEALTHY)])
def test_a_game_that_repeats_that_nobody_plays_is_not_written(said: Report) -> None:
    async def act(it: Stage) -> None:
        await it.say(players(0))
        await asyncio.sleep(12.0)
        await it.say(said)
        await asyncio.sleep(12.0)
        before = len(it.patches)
        for _ in range(60):
            await asyncio.sleep(5.0)
            await it.say(said)
            await it.say(players(0))
        assert len(it.patches) == before

    on_stage(act)


def test_pings_that_tell_of_players_are_not_written() -> None:
    """The next leader hears them again within seconds, whatever the room says beside them."""

    async def act(it: Stage) -> None:
        ping = replace(OCCUPIED, players=3)
        await it.say(Report(periodic=False, health=Health.HEALTHY))
        await it.say(ping)
        await asyncio.sleep(12.0)
        before = len(it.patches)
        for _ in range(60):
            await asyncio.sleep(10.0)
            await it.say(ping)
        assert len(it.patches) == before

    on_stage(act)


@pytest.mark.parametrize("health", [Health.FAILED, Health.CREATING])
@pytest.mark.parametrize("seen", [False, True])
def test_how_a_new_process_says_it_is_counts_before_and_after_its_pod_tells_of_the_restart(
    health: Health, seen: bool
) -> None:
    async def act(it: Stage) -> None:
        await it.say(Report(periodic=False, players=0, health=Health.HEALTHY))
        await asyncio.sleep(60.0)
        it.flows.clear()
        restart = asyncio.create_task(crashes(it))
        await until(lambda: game(it)["restartCount"] > 0)
        await until(lambda: "running" in game(it)["state"])
        if seen:
            it.flows.set()
            await it.seen()
        await it.say(Report(periodic=False, health=health))
        it.flows.set()
        await restart
        heard = it.desk.book.of(a_key()).rooms[it.live().uid]
        assert (heard.health, heard.runs) == (health, (1,))

    on_stage(act)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("count", [1, 3, 5])
def test_players_told_of_before_the_pod_tells_of_the_restart_outlive_the_leader(
    count: int, times: int
) -> None:
    """The kubelet is late, the game is quick, and whoever heard it dies at once."""

    async def act(it: Stage) -> None:
        for _ in range(times):
            await it.say(players(3))
        await asyncio.sleep(200.0)
        it.flows.clear()
        restart = asyncio.create_task(crashes(it))
        await until(lambda: game(it)["restartCount"] > 0)
        await until(lambda: "running" in game(it)["state"])
        await it.say(players(count))
        it.desk.forget()
        it.flows.set()
        await restart
        it.listen()
        await asyncio.sleep(30.0)
        assert it.label() == "busy"

    on_stage(act)


def test_another_leader_does_not_take_a_kept_room_for_busy_by_its_old_report() -> None:
    async def act(it: Stage) -> None:
        await it.mark(Mark.FAILED, **{labels.LEAVING: "failed", labels.REPORT: '{"players":3}'})
        await it.seen()
        it.desk.forget()
        it.listen()
        await asyncio.sleep(20.0)
        assert it.label() == "failed"

    on_stage(act)


def test_a_process_that_starts_anew_knows_what_such_a_game_said_last() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(3))
        it.desk.forget()
        await asyncio.sleep(2.5)
        heard = it.desk.book.of(a_key()).rooms[it.live().uid]
        assert (heard.players, heard.periodic, heard.silent) == (3, False, False)

    on_stage(act)


def test_a_room_that_emptied_right_before_a_restart_turns_idle_after_it() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(3))
        await it.say(players(0))
        it.desk.forget()
        it.listen()
        await asyncio.sleep(10.0)
        assert it.label() == "idle"

    on_stage(act)


def test_who_leads_no_more_shows_the_age_of_no_report() -> None:
    """It hears nobody, and an alarm on its page would never end."""

    async def act(it: Stage) -> None:
        registry = CollectorRegistry()
        desk = it.new_desk(RoomMetrics(registry))

        def age() -> float | None:
            return registry.get_sample_value("gamekeeper_room_report_age_seconds")

        task = asyncio.create_task(desk.run())
        await desk.report(desk.find("arena", "arena-0"), READY)
        await asyncio.sleep(100.0)
        assert (age() or 0.0) > 80.0
        it.leads = False
        desk.forget()
        await asyncio.sleep(100.0)
        assert age() == 0.0
        task.cancel()

    on_stage(act)


def test_who_leads_no_more_gives_up_its_flips() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await it.say(READY)
        it.leads = False
        it.desk.forget()
        await asyncio.sleep(10.0)
        assert it.label() == "busy"
        assert len(it.patches) == 1
        with pytest.raises(Unavailable, match="does not lead"):
            await it.say(OCCUPIED)

    on_stage(act)


def test_a_busy_report_that_outlives_the_term_is_not_answered_as_if_it_stood() -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await asyncio.sleep(1.0)

        async def depose() -> None:
            it.transport.pause = nothing
            it.desk.forget()
            await it.mark(Mark.DRAINING)

        async def nothing() -> None:
            return None

        it.transport.pause = depose
        with pytest.raises(Unavailable, match="who leads has changed"):
            await it.say(OCCUPIED)
        assert it.label() == "draining"

    on_stage(act)


def test_a_new_leader_that_sees_late_looks_up_a_busy_room_before_it_answers() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await asyncio.sleep(1.0)
        it.desk = it.new_desk()
        await it.mark(Mark.IDLE)
        assert it.live().mark is Mark.BUSY, "the watch has not shown it yet"
        await it.say(OCCUPIED)
        assert it.label() == "busy"
        reads = [call for call in it.transport.calls if call.verb == "get"]
        await it.say(OCCUPIED)
        after = [call for call in it.transport.calls if call.verb == "get"]
        assert after == reads, "once is enough"

    on_stage(act)
