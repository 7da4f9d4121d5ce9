"""The desk: finding rooms, asking them to leave, and being closed."""

import asyncio
from dataclasses import replace

import pytest

from reconciler.adapters.http.refusals import refused
from reconciler.core.compile import canonical
from reconciler.core.fence import Verdict
from reconciler.loop.record_places import Kept
from reconciler.model import labels
from reconciler.model.errors import Gone, NotFound, PortError, Unavailable, Unseen
from reconciler.model.live import LiveNode
from reconciler.model.records import Accepted, Ordinals, StateRecord
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.rooms import Mark, Report, RoomState, Why
from reconciler.model.wanted import Wanted
from reconciler.service.rooms.showing import address_of
from reconciler.service.views import ClusterView
from tests.loop.virtual_time import in_virtual_time
from tests.unit.core.making import a_key
from tests.unit.service_rooms.stage import OCCUPIED, READY, Coded, players, stage

MARKS = {labels.INSTANCE: "main", labels.WORKLOAD: "arena", labels.KIND: "Scheduler"}
ARENA = {
    "kind": "Scheduler",
    "metadata": {"name": "arena"},
    "spec": {"replicas": 3, "reports": "required", "template": {"spec": {"containers": []}}},
}


@pytest.mark.parametrize(
    ("workload", "room", "error", "text"),
    [
        pytest.param("arena", "arena-1", Gone, "is no more", id="a name that was given"),
        pytest.param(
            "arena", "arena-" + "9" * 8000, NotFound, "no such room", id="a number of no room"
        ),
        pytest.param("arena", "arena-3", Unavailable, "being made", id="a name that is in hand"),
        pytest.param("arena", "arena-4", NotFound, "no room arena-4", id="a name to come"),
        pytest.param("arena", "lobby", NotFound, "no such room", id="no name of a room"),
        pytest.param(
            "arena", "arena-01", NotFound, "no such room", id="another way to write a number"
        ),
        pytest.param("duel", "arena-0", NotFound, "no such room", id="another workload's room"),
    ],
)
def test_what_is_not_there_is_gone_or_never_was(
    workload: str, room: str, error: type[PortError], text: str
) -> None:
    async def main() -> None:
        async with stage() as it:
            it.lane.store._ordinals[a_key()] = Kept(Ordinals(4, frozenset({3})))
            with pytest.raises(error, match=text):
                it.desk.find(workload, room)
            if workload == "arena":
                with pytest.raises(error, match=text):
                    it.desk.find_in("arena", room)

    in_virtual_time(main())


def test_a_room_is_found_by_workload_and_by_namespace() -> None:
    async def main() -> None:
        async with stage() as it:
            assert it.desk.find("arena", "arena-0") is it.desk.find_in("arena", "arena-0")

    in_virtual_time(main())


def test_a_room_of_a_shared_namespace_is_found_by_its_workload() -> None:
    async def main() -> None:
        async with stage() as it:
            key = WorkloadKey("Fleet", "arena", "duel")
            it.lane.wanted = Wanted(effective={key: it.lane.wanted.effective[a_key()]})
            await it.others().create(duel())
            await asyncio.sleep(0.5)
            assert it.desk.find("duel", "duel-0").key == key

    in_virtual_time(main())


def duel() -> dict[str, object]:
    marks = {labels.INSTANCE: "main", labels.WORKLOAD: "duel", labels.KIND: "Fleet"}
    metadata = {"name": "duel-0", "namespace": "arena", "labels": marks}
    spec = {"containers": [{"name": "game", "image": "game:1"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def test_while_pods_are_read_anew_nobody_is_called_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with stage() as it:
            monkeypatch.setattr(ClusterView, "rooms_complete", False)
            it.listen()
            assert it.desk.find("arena", "arena-0").pod.name == "arena-0"
            it.lane.store._ordinals[a_key()] = Kept(Ordinals(4))
            for name in ("arena-1", "arena-9"):
                with pytest.raises(Unavailable, match="read anew"):
                    it.desk.find("arena", name)

    in_virtual_time(main())


def test_the_desk_is_closed_until_pods_were_read_and_when_it_does_not_lead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> None:
        async with stage() as it:
            it.desk.forget()
            monkeypatch.setattr(ClusterView, "rooms_complete", False)
            assert "read completely" in it.desk.closed()
            monkeypatch.setattr(ClusterView, "rooms_complete", True)
            assert it.desk.closed() == ""
            # To ask begins nothing; the first request does.
            assert not it.desk.book.listening
            it.desk.rooms()
            assert it.desk.book.listening
            it.leads = False
            assert "does not lead" in it.desk.closed()
            for ask in (
                lambda: it.desk.find("arena", "arena-0"),
                lambda: it.desk.rooms(),
                lambda: it.desk.changes(),
            ):
                with pytest.raises(Unavailable, match="does not lead"):
                    ask()

    in_virtual_time(main())


def test_rooms_of_a_workload_that_left_git_are_kept_as_it_was_accepted_last() -> None:
    async def main() -> None:
        async with stage() as it:
            accepted = Accepted(canonical(ARENA), 0, "c1", "schedulers/arena.yaml", 1)
            it.lane.store._states[a_key()] = Kept(StateRecord(accepted=accepted, deleting=True))
            it.lane.wanted = Wanted(deleting=frozenset({a_key()}))
            shown = await it.say(OCCUPIED)
            assert shown.judged.state is RoomState.OCCUPIED
            assert it.label() == "busy"

    in_virtual_time(main())


def test_an_idle_room_asked_to_leave_drains_and_is_out_of_every_list() -> None:
    async def main() -> None:
        async with stage() as it:
            assert (await it.say(READY)).available
            await asyncio.sleep(1.0)
            room = await it.desk.leave(it.desk.find("arena", "arena-0"), True, "anna", own=False)
            assert (it.label(), it.note(labels.LEAVING)) == ("draining", "request")
            assert (room.judged.state, room.available) == (RoomState.DRAINING, False)
            room = await it.desk.leave(room, False, "anna", own=False)
            assert (it.label(), it.note(labels.LEAVING)) == ("idle", "")
            assert room.available

    in_virtual_time(main())


def test_a_busy_room_asked_to_leave_stays_busy_and_drains_in_the_end() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(OCCUPIED)
            room = await it.desk.leave(it.desk.find("arena", "arena-0"), True, "anna", own=False)
            assert (it.label(), room.pod.leaving) == ("busy", Why.REQUEST)
            assert not room.available
            await it.say(READY)
            await asyncio.sleep(5.2)
            assert it.label() == "draining"

    in_virtual_time(main())


@pytest.mark.parametrize(
    ("why", "course"),
    [
        pytest.param(Why.REQUEST, "stays", id="a request is taken back"),
        pytest.param(
            Why.SCALE_IN,
            "leaves when it is empty (scale-in), which no request takes back",
            id="a scale-in is not",
        ),
    ],
)
def test_the_log_tells_what_came_of_a_room_that_was_asked_to_stay(
    why: Why, course: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="gamekeeper")

    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            await it.mark(Mark.DRAINING, **{labels.LEAVING: why.value})
            await it.seen()
            room = await it.desk.leave(it.desk.find("arena", "arena-0"), False, "it", own=True)
            assert (room.pod.leaving is Why.STAYS) is (why is Why.REQUEST)

    in_virtual_time(main())
    asked = "room arena/arena-0 was asked by it to stay: it "
    assert asked + course in caplog.messages


@pytest.mark.parametrize("own", [True, False])
def test_a_request_of_a_room_takes_no_other_reason_and_none_its_time(own: bool) -> None:
    """Taken back it would take both with it: a game could put off its deadline for ever.

    A person's takes the reason, or a room that is drained would stay where a scale-in is over.
    """

    async def main() -> None:
        async with stage() as it:
            await it.say(players(3))
            since = f"{it.clock.now() - 60.0:.3f}"
            notes = {labels.LEAVING: Why.ROLLOUT.value, labels.LEAVING_SINCE: since}
            await it.mark(Mark.BUSY, **notes)
            await it.seen()
            arena = it.desk.find("arena", "arena-0")
            room = await it.desk.leave(arena, True, "anna", own=own)
            assert room.pod.leaving is (Why.ROLLOUT if own else Why.REQUEST)
            assert f"{room.pod.leaving_since:.3f}" == since
            room = await it.desk.leave(room, False, "anna", own=own)
            assert room.pod.leaving is (Why.ROLLOUT if own else Why.STAYS)
            assert f"{room.pod.leaving_since:.3f}" == (since if own else "0.000")

    in_virtual_time(main())


@pytest.mark.parametrize(
    ("says", "waits"),
    [
        pytest.param(
            READY,
            "waits for a report, sent after quietSeconds, that says it is empty",
            id="repeats itself",
        ),
        pytest.param(players(0), "", id="reports on change only"),
    ],
)
def test_a_room_that_drains_is_shown_with_what_the_fence_says_of_it(
    says: Report, waits: str
) -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(says)
            await asyncio.sleep(it.workload.timeouts.ping_seconds)  # who listens since then
            await it.say(says)
            assert it.desk.fence(it.desk.find("arena", "arena-0")) is None, "it stays"
            await it.mark(Mark.DRAINING, **{labels.LEAVING: Why.SCALE_IN.value})
            await it.seen()
            room = it.desk.find("arena", "arena-0")
            alone = it.desk.fence(room)
            assert alone is not None
            assert not alone.may
            assert alone.reason.startswith("marked draining, left alone for")
            await asyncio.sleep(6.0)
            since = it.desk.fence(room)
            empty = "known empty since it was marked draining"
            assert since == Verdict(not waits, waits or empty)
            await it.say(says)
            assert it.desk.fence(room) == Verdict(True, empty)

    in_virtual_time(main())


def test_a_busy_room_that_was_never_heard_stays_busy_when_it_is_asked_to_leave() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.mark(Mark.BUSY)
            await it.seen()
            await asyncio.sleep(300.0)
            assert it.desk.book.of(a_key()).rooms[it.live().uid].silent
            await it.desk.leave(it.desk.find("arena", "arena-0"), True, "anna", own=False)
            await asyncio.sleep(20.0)
            assert it.label() == "busy", "silence is not emptiness"
            await it.say(READY)
            await asyncio.sleep(4.8)
            assert it.label() == "busy", "it has said so for a moment only"
            await asyncio.sleep(0.4)
            assert it.label() == "draining"

    in_virtual_time(main())


def test_a_room_that_turns_busy_while_it_is_asked_to_leave_is_not_drained() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            await asyncio.sleep(1.0)
            room = it.desk.find("arena", "arena-0")
            await it.mark(Mark.BUSY)
            room = await it.desk.leave(room, True, "anna", own=False)
            assert (it.label(), room.pod.leaving) == ("busy", Why.REQUEST)

    in_virtual_time(main())


def test_a_request_that_the_cluster_does_not_take_is_not_granted() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            await asyncio.sleep(1.0)
            it.transport.down = "the API server is away"
            with pytest.raises(Unavailable, match="away"):
                await it.desk.leave(it.desk.find("arena", "arena-0"), True, "anna", own=False)

    in_virtual_time(main())


def test_a_pod_of_the_same_name_is_not_the_same_room() -> None:
    async def main() -> None:
        async with stage() as it:
            room = it.desk.find("arena", "arena-0")
            earlier = replace(room, pod=replace(room.pod, uid="earlier"))
            with pytest.raises(Gone, match="never comes back"):
                await it.desk.report(earlier, OCCUPIED)
            assert it.label() == ""

    in_virtual_time(main())


def test_all_rooms_are_listed_by_name_and_none_twice() -> None:
    async def main() -> None:
        async with stage(12) as it:
            names = [room.pod.name for room in it.desk.rooms()]
            assert names == sorted(f"arena-{n}" for n in range(12))
            assert [room.pod.name for room in it.desk.rooms(a_key())] == names
            assert list(it.desk.workloads()) == [a_key()]

    in_virtual_time(main())


@pytest.mark.parametrize(
    ("addresses", "address"),
    [
        ((("InternalIP", "10.0.0.1"), ("ExternalIP", "192.0.2.1")), "192.0.2.1"),
        ((("InternalDNS", "node.local"), ("ExternalDNS", "node.example")), "node.example"),
        ((("InternalDNS", "node.local"), ("InternalIP", "10.0.0.1")), "10.0.0.1"),
        ((("ExternalIP", "192.0.2.1"), ("ExternalIP", "2001:db8::1")), "192.0.2.1"),
        ((("Hostname", "node"),), ""),
    ],
)
def test_the_address_of_a_room_is_the_best_of_its_node(
    addresses: tuple[tuple[str, str], ...], address: str
) -> None:
    assert address_of(LiveNode("node", True, False, (), (), addresses)) == address
    assert address_of(None) == ""


def test_a_room_is_shown_again_as_it_was_until_something_of_it_changes() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            await asyncio.sleep(1.0)
            room = it.desk.find("arena", "arena-0")
            assert room.address
            assert it.desk.find("arena", "arena-0") is room
            it.want(matches_max=7)
            assert it.desk.find("arena", "arena-0").matches_max == 7

    in_virtual_time(main())


def test_a_name_of_two_workloads_finds_nobody_by_it_and_both_by_namespace() -> None:
    async def main() -> None:
        async with stage() as it:
            twin = replace(it.workload, key=WorkloadKey("Fleet", "elsewhere", "arena"))
            effective = {**it.lane.wanted.effective}
            effective[twin.key] = replace(effective[a_key()], workload=twin)
            it.lane.wanted = Wanted(effective=effective)
            with pytest.raises(NotFound, match="the name of several workloads"):
                it.desk.find("arena", "arena-0")
            assert it.desk.find_in("arena", "arena-0").key == a_key()

    in_virtual_time(main())


def test_a_room_whose_key_was_lost_is_not_known_empty_by_what_it_said_before() -> None:
    async def main() -> None:
        kept = '{"players":0}'
        async with stage() as it:
            await it.mark(Mark.IDLE, **{labels.REPORT: kept})
            await it.seen()
            made = it.live().created_at
            for since, known in ((made, True), (made + 1, False), (None, False)):
                it.lane.codes = Coded(since)
                it.desk = it.new_desk()
                it.listen()
                await it.desk.book.sweep()
                assert (it.desk.book.of(a_key()).rooms != {}) is known, since
            it.lane.codes = Coded(made)
            await it.desk.book.sweep()
            assert it.desk.book.of(a_key()).rooms, "asked again until it is known"

    in_virtual_time(main())


@pytest.mark.parametrize(
    "marks",
    [
        pytest.param({labels.INSTANCE: None}, id="the instance is taken away"),
        pytest.param({labels.INSTANCE: "another"}, id="another instance is named"),
        pytest.param({labels.WORKLOAD: None}, id="the workload is taken away"),
    ],
)
def test_a_room_whose_labels_were_changed_is_asked_to_come_again(marks: Json) -> None:
    async def main() -> None:
        async with stage() as it:
            room = await it.say(OCCUPIED)
            await it.patch(labels=marks)
            await asyncio.sleep(1.0)
            for ask in (it.desk.find, it.desk.find_in):
                with pytest.raises(Unseen) as why:
                    ask("arena", "arena-0")
                told = refused(why.value)
                assert told.status == 503
                assert "somebody changed its labels" in str(told)
                assert "arena" not in str(told), "nobody was let in yet"
            with pytest.raises(Unavailable):
                await it.desk.report(room, READY)
            await it.patch(labels=it.pod()["metadata"]["labels"] | MARKS)
            await asyncio.sleep(1.0)
            assert (await it.say(OCCUPIED)).judged.state is RoomState.OCCUPIED

    in_virtual_time(main())


@pytest.mark.parametrize(
    "marks",
    [
        pytest.param({labels.WORKLOAD: "duel"}, id="another workload is named"),
        pytest.param({labels.KIND: "Fleet"}, id="another kind is named"),
    ],
)
def test_a_room_that_was_given_to_a_workload_nobody_knows_is_heard(marks: Json) -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            await it.patch(labels=marks)
            await asyncio.sleep(1.0)
            await it.desk.report(it.desk.find_in("arena", "arena-0"), OCCUPIED)
            await asyncio.sleep(1.0)
            assert it.label() == "busy"

    in_virtual_time(main())


def test_a_defect_in_the_sweep_costs_a_look_and_not_the_process(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with stage() as it:
            room = await it.say(READY)
            sweep, broken = it.desk.book.sweep, [True]

            async def tripping() -> None:
                if broken:
                    raise KeyError("a defect")
                await sweep()

            monkeypatch.setattr(it.desk.book, "sweep", tripping)
            await asyncio.sleep(3600.0)
            defects = len(caplog.messages)
            assert 60 <= defects <= 240
            broken.clear()
            await asyncio.sleep(100.0)
            heard = it.desk.book.heard(room.pod.uid)
            assert heard is not None
            assert heard.silent
            assert len(caplog.messages) <= defects + 1

    in_virtual_time(main())


def test_a_room_that_is_not_heard_as_it_should_be_is_offered_to_nobody_until_it_speaks() -> None:
    async def main() -> None:
        async with stage() as it:
            for _ in range(7):
                await it.say(READY)
                await asyncio.sleep(10.0)
            assert it.desk.find("arena", "arena-0").available
            await asyncio.sleep(120.0)
            room = it.desk.find("arena", "arena-0")
            assert (room.judged.state, room.overdue, room.available) == (
                RoomState.READY,
                True,
                False,
            )
            assert (await it.say(READY)).available
            assert it.desk.find("arena", "arena-0").available

    in_virtual_time(main())


def test_a_room_that_reports_on_change_is_never_overdue() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(Report(periodic=False, players=0))
            await asyncio.sleep(7200.0)
            assert it.desk.find("arena", "arena-0").available

    in_virtual_time(main())
