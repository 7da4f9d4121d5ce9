"""Flips: what rooms say stands on their pods, before the answer or soon."""

import asyncio

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model import labels
from reconciler.model.errors import Gone
from reconciler.model.refs import Json
from reconciler.model.rooms import GameState, Health, Mark, Report, RoomState, Said
from tests.unit.core.making import a_key
from tests.unit.service_rooms.stage import OCCUPIED, READY, Stage, on_stage, players


def test_a_room_that_turns_busy_is_busy_on_its_pod_before_it_is_answered() -> None:
    async def act(it: Stage) -> None:
        shown = await it.say(OCCUPIED)
        assert it.label() == "busy"
        assert it.note(labels.SAFE_TO_EVICT) == "false"
        assert shown.pod.mark is Mark.BUSY
        assert shown.judged.protected

    on_stage(act)


def test_a_room_that_was_stripped_of_all_annotations_turns_busy_and_is_told_to_leave() -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await asyncio.sleep(1.0)
        await it.patch(annotations=None)
        await it.seen()
        await it.say(OCCUPIED)
        assert it.label() == "busy"
        assert it.note(labels.SAFE_TO_EVICT) == "false"
        await it.patch(annotations=None)
        await it.seen()
        await it.desk.leave(it.desk.find("arena", "arena-0"), True, "a person", own=False)
        assert it.note(labels.LEAVING) == "request"

    on_stage(act)


def test_the_first_word_of_an_empty_room_makes_it_idle_soon() -> None:
    async def act(it: Stage) -> None:
        shown = await it.say(READY)
        assert shown.judged.state is RoomState.READY
        await asyncio.sleep(0.2)
        assert it.label() == "idle"
        assert it.note(labels.SAFE_TO_EVICT) == "true"

    on_stage(act)


def test_a_room_turns_idle_when_it_was_empty_for_five_seconds() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await asyncio.sleep(60.0)
        await it.say(READY)
        await asyncio.sleep(3.0)
        await it.say(READY)
        await asyncio.sleep(1.9)
        assert it.label() == "busy"
        await asyncio.sleep(0.2)
        assert it.label() == "idle"

    on_stage(act)


def test_a_room_that_fills_again_within_five_seconds_stays_busy() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await it.say(READY)
        await asyncio.sleep(4.0)
        await it.say(OCCUPIED)
        await it.say(READY)
        await asyncio.sleep(4.0)
        assert it.label() == "busy"
        assert len(it.patches) == 1
        await asyncio.sleep(1.2)
        assert it.label() == "idle"

    on_stage(act)


def test_another_word_of_an_empty_room_does_not_begin_the_five_seconds_anew() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await it.say(READY)
        await asyncio.sleep(4.0)
        await it.say(Report(periodic=True, health=Health.HEALTHY))
        await asyncio.sleep(1.1)
        assert it.label() == "idle"

    on_stage(act)


def test_a_report_that_says_the_same_writes_nothing_and_wakes_nobody() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await asyncio.sleep(2.0)
        ears = it.desk.book.of(a_key())
        it.woken.clear()
        for _ in range(50):
            await it.say(OCCUPIED)
            await asyncio.sleep(1.0)
        assert it.desk.book.of(a_key()) is ears
        assert it.woken == []
        assert len(it.patches) == 1

    on_stage(act)


def test_a_room_that_was_drained_in_between_is_busy_again() -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await asyncio.sleep(1.0)
        await it.mark(Mark.DRAINING, **{labels.LEAVING: "scale-in", labels.LEAVING_SINCE: "1.000"})
        assert it.live().mark is Mark.IDLE  # the view has not seen it yet
        shown = await it.say(OCCUPIED)
        assert it.label() == "busy"
        assert it.note(labels.LEAVING) == "scale-in"
        assert (shown.judged.state, shown.available) == (RoomState.OCCUPIED, False)

    on_stage(act)


def test_a_leaving_room_drains_when_its_match_is_over() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await it.mark(Mark.BUSY, **{labels.LEAVING: "rollout", labels.LEAVING_SINCE: "1.000"})
        await it.seen()
        await it.say(READY)
        await asyncio.sleep(5.2)
        assert it.label() == "draining"
        assert abs(float(it.note(labels.LEAVING_SINCE)) - it.clock.now()) < 1.0

    on_stage(act)


def test_a_room_that_is_kept_as_failed_and_has_players_after_all_is_protected() -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await it.mark(Mark.FAILED, **{labels.LEAVING: "failed"})
        await it.seen()
        shown = await it.say(OCCUPIED)
        assert (it.label(), it.note(labels.LEAVING)) == ("busy", "failed")
        assert it.note(labels.SAFE_TO_EVICT) == "false"
        assert shown.judged.state is RoomState.OCCUPIED
        await it.say(READY)
        await asyncio.sleep(6.0)
        assert it.label() == "draining", "it leaves when it is empty"

    on_stage(act)


def test_a_room_whose_pod_was_deleted_in_between_is_gone() -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await asyncio.sleep(1.0)
        room = it.desk.find("arena", "arena-0")

        def vanish(call: Call) -> None:
            it.transport.refuse = lambda call: None
            it.world.delete("/api/v1/namespaces/arena/pods/arena-0?gracePeriodSeconds=0")

        it.transport.refuse = vanish
        with pytest.raises(Gone, match="arena-0 is no more"):
            await it.desk.report(room, OCCUPIED)

    on_stage(act)


def test_a_room_that_a_lagging_server_does_not_know_is_marked_all_the_same() -> None:
    """What was to be written failed, and who was asked how it stands answered of before it was."""

    async def act(it: Stage) -> None:
        answers, asked, sent = {"patch": 503, "get": 404}, [], it.transport.send

        async def send(call: Call) -> tuple[int, Json]:
            status = answers.pop(call.verb, None) if call.kind == "Pod" else None
            if status is None:
                return await sent(call)
            asked.append(call.verb)
            return status, {"kind": "Status", "reason": "NotFound", "details": {"name": "arena-0"}}

        setattr(it.transport, sent.__name__, send)
        await it.say(READY)
        await asyncio.sleep(30.0)
        assert asked == ["patch", "get"]
        assert it.label() == "idle"

    on_stage(act)


def test_an_allocated_room_turns_busy_by_a_busy_report_alone() -> None:
    async def act(it: Stage) -> None:
        await it.mark(Mark.ALLOCATED)
        await it.seen()
        await it.say(READY)
        await asyncio.sleep(10.0)
        assert it.label() == "allocated"
        await it.say(OCCUPIED)
        assert it.label() == "busy"

    on_stage(act)


def test_a_game_that_says_in_its_match_that_it_ends_after_it_stays_busy() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        for new_term in (False, True):
            if new_term:
                it.desk.forget()
            for _ in range(50):
                await it.say(Report(periodic=True, said=Said.TERMINATING))
                await asyncio.sleep(3.0)
            assert it.label() == "busy"
            assert it.note(labels.SAFE_TO_EVICT) == "false"
            assert it.desk.find("arena", "arena-0").judged.protected

    on_stage(act)


def test_the_last_count_of_a_game_that_reports_on_change_stands_with_the_flip() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(3))
        assert it.label() == "busy"
        assert '"players":3' in it.note(labels.REPORT)
        assert len(it.patches) == 1
        await it.say(players(0))
        assert '"players":0' in it.note(labels.REPORT)
        assert it.label() == "busy"
        await asyncio.sleep(5.2)
        assert it.label() == "idle"

    on_stage(act)


def test_other_changes_of_such_a_game_stand_within_ten_seconds_in_one_write() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(3))
        await it.say(players(4))
        await it.say(Report(periodic=False, health=Health.HEALTHY))
        await asyncio.sleep(4.0)
        await it.say(Report(periodic=False, game_state=GameState.RUNNING))
        await asyncio.sleep(6.1)
        note = it.note(labels.REPORT)
        assert '"players":4' in note
        assert '"health":"Healthy"' in note
        assert '"state":"Running"' in note
        assert len(note) <= 200
        assert len(it.patches) == 2

    on_stage(act)
