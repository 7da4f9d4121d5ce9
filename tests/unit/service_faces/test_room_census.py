"""All rooms as series: each counted once, whatever changes, and nothing of who does not lead."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest

from reconciler.core import room_state
from reconciler.loop.lost_records import ensure_namespace
from reconciler.model.holds import HoldKind
from reconciler.model.live import LivePod
from reconciler.model.plans import Desired
from reconciler.model.records import Condition
from reconciler.model.rooms import Ears, Health, Judged, Said
from reconciler.model.wanted import Wanted
from reconciler.service import room_census
from reconciler.service.room_census import SLICE, RoomCensus
from reconciler.service.room_counts import CountedRoom, Sums
from tests.unit.core.making import a_heard
from tests.unit.service_faces.hall import Hall, pod


@pytest.fixture
def hall() -> Hall:
    return Hall()


def test_every_room_counts_once_by_state_and_revision(hall: Hall) -> None:
    hall.put(0)
    hall.put(1, mark="busy")
    hall.put(2, revision="1-old")
    hall.ears = Ears({f"uid-{n}": a_heard() for n in (0, 2)}, since=1.0)
    hall.sweep()
    assert hall.read("rooms", state="ready", revision="new") == 1
    assert hall.read("rooms", state="occupied", revision="new") == 1
    assert hall.read("rooms", state="ready", revision="old") == 1
    page = hall.page()
    assert sum(line.startswith("gamekeeper_rooms{") for line in page.splitlines()) == 3


def test_rooms_that_leave_are_not_up(hall: Hall) -> None:
    hall.put(0)
    hall.put(1, mark="busy")
    hall.put(2, mark="busy", leaving="rollout")
    hall.put(3, ready=False, mark="")
    hall.ears = Ears({"uid-0": a_heard()})
    hall.sweep()
    assert hall.read("rooms_desired") == 3
    assert hall.read("rooms_up") == 2


def test_a_room_that_changed_is_counted_anew_and_no_longer_as_it_was(hall: Hall) -> None:
    hall.put(0)
    hall.ears = Ears({"uid-0": a_heard()})
    hall.sweep()
    hall.put(0, mark="busy")
    hall.ears = Ears({"uid-0": a_heard(said=Said.OCCUPIED, players=3)})
    hall.sweep()
    assert hall.read("rooms", state="ready", revision="new") is None
    assert hall.read("rooms", state="occupied", revision="new") == 1
    assert hall.read("rooms_protected", reason="players") == 1


def test_time_alone_changes_what_a_room_is(hall: Hall) -> None:
    hall.put(0, ready=False, mark="", created="2027-01-15T07:59:59Z")
    hall.sweep()
    assert hall.read("rooms", state="unready", revision="new") == 1
    hall.sweep(301)
    assert hall.read("rooms", state="error", revision="new") == 1


def test_rooms_that_leave_are_shown_by_why_for_as_long_as_they_are_there(hall: Hall) -> None:
    hall.put(0, mark="busy", leaving="left-git")
    hall.sweep()
    assert hall.read("rooms_leaving", why="left-git") == 1
    hall.view._pods.drop(pod(0, 9, True))
    hall.sweep()
    assert hall.read("rooms_leaving", why="left-git") is None


def test_the_time_until_ready_is_seen_once_and_not_of_rooms_that_were_there_before(
    hall: Hall,
) -> None:
    hall.put(0)
    hall.put(1, ready=False, mark="", created="2027-01-15T08:00:00Z")
    hall.sweep()
    hall.put(1, created="2027-01-15T08:00:00Z")
    hall.sweep(4)
    hall.put(1, ready=False, created="2027-01-15T08:00:00Z")
    hall.sweep()
    hall.put(1, created="2027-01-15T08:00:00Z")
    hall.sweep()
    where = {"cluster": "local"}
    read = hall.registry.get_sample_value
    assert read("gamekeeper_room_ready_seconds_count", where) == 1
    assert read("gamekeeper_room_ready_seconds_sum", where) == 5


def test_a_room_that_became_ready_while_another_process_led_is_not_timed(hall: Hall) -> None:
    hall.leads = False
    hall.sweep(60)
    hall.put(0, created="2027-01-15T08:00:10Z")
    hall.leads = True
    hall.sweep()
    read = hall.registry.get_sample_value
    assert read("gamekeeper_room_ready_seconds_count", {"cluster": "local"}) == 0


def test_ports_of_a_range_count_whoever_uses_them(hall: Hall) -> None:
    for n in (0, 1, 2, 300):
        hall.put(n)
    hall.sweep()
    assert hall.read("host_ports_used") == 3
    assert hall.read("host_ports_size") == 10


async def test_a_fleet_shows_its_face_and_a_scheduler_has_none(hall: Hall) -> None:
    hall.put(0)
    await hall.census.sweep()
    assert "gamekeeper_fleet_available{" not in hall.page()

    fleet = Hall("Fleet")
    fleet.put(0)
    fleet.put(1)
    fleet.ears = Ears({"uid-0": a_heard(health=Health.FAILED)})
    await fleet.census.sweep()
    assert fleet.read("fleet_available") == 1
    assert fleet.read("fleet_health", health="Failed") == 1
    assert fleet.read("fleet_pods", state="Running") == 1

    await ensure_namespace(fleet.lane.cluster, "gamekeeper")
    needs = (Condition("Stalled", True, HoldKind.NEEDS_INTERVENTION, "too many fail", 0.0),)
    await fleet.lane.store.change_state(fleet.key, lambda old: replace(old, conditions=needs))
    await fleet.census.sweep()
    assert fleet.read("fleet_health", health="NeedsIntervention") == 1
    assert fleet.read("fleet_health", health="Failed") is None


async def test_a_fleet_whose_record_cannot_be_read_is_not_shown_as_well() -> None:
    fleet = Hall("Fleet")
    fleet.put(0, mark="failed")  # kept for a post-mortem: no room that counts
    await ensure_namespace(fleet.lane.cluster, "gamekeeper")
    store = fleet.lane.store
    await store.change_state(fleet.key, lambda old: replace(old, highest=3))
    fleet.lane.wanted = Wanted()
    await fleet.census.sweep()
    assert fleet.read("fleet_health", health="Healthy") == 1

    (ref,) = store.written()
    await fleet.lane.cluster.merge_patch(ref, {"data": {"record": "{"}})
    await store.load()
    await fleet.census.sweep()
    assert fleet.read("fleet_health", health="Creating") == 1
    assert fleet.read("fleet_health", health="Healthy") is None


@pytest.mark.parametrize(("suspend", "state"), [(False, "Pending"), (True, "Running")])
async def test_a_fleet_that_is_suspended_waits_for_no_room(suspend: bool, state: str) -> None:
    fleet = Hall("Fleet")
    asked = Desired(replace(fleet.workload, suspend=suspend), (), "", {}, "")
    fleet.lane.wanted = Wanted(effective={fleet.key: asked})
    fleet.put(0)
    await fleet.census.sweep()
    fleet.put(0, mark="failed")
    await fleet.census.sweep()
    assert fleet.read("fleet_pods", state=state) == 1


@pytest.mark.parametrize(
    "ears",
    [
        pytest.param(Ears(deaf="3 of 9 rooms fell silent"), id="all"),
        pytest.param(Ears(deaf_on={"node-1": "three"}), id="a node"),
        pytest.param(Ears(deaf_here="no room of it is heard"), id="a workload"),
    ],
)
def test_deafness_shows(hall: Hall, ears: Ears) -> None:
    hall.put(0)
    hall.sweep()
    assert hall.registry.get_sample_value("gamekeeper_deaf", {"cluster": "local"}) == 0
    hall.ears = ears
    hall.sweep()
    assert hall.registry.get_sample_value("gamekeeper_deaf", {"cluster": "local"}) == 1


def test_a_workload_that_is_gone_leaves_no_series(hall: Hall) -> None:
    hall.put(0)
    hall.sweep()
    hall.view._pods.drop(pod(0, 9, True))
    hall.lane.wanted = Wanted()
    hall.sweep()
    assert "arena" not in hall.page()


def test_a_workload_that_trips_a_defect_is_shown_no_more_and_ends_nothing(
    hall: Hall, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hall.put(0)
    hall.sweep()

    def trip(*_: object) -> None:
        raise KeyError("spec")

    with monkeypatch.context() as patch:
        patch.setattr(room_census, "room_of", trip)
        hall.put(0, mark="busy")
        hall.sweep()
        hall.sweep()
    assert "gamekeeper_rooms{" not in hall.page()
    assert caplog.text.count("are not counted") == 1
    hall.sweep()
    assert hall.read("rooms", state="occupied", revision="new") == 1


def test_who_does_not_lead_shows_no_rooms(hall: Hall) -> None:
    hall.put(0)
    hall.sweep()
    hall.leads = False
    hall.sweep()
    assert "arena" not in hall.page()


def test_a_sweep_judges_only_what_changed(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = 3 * SLICE
    for n in range(rooms):
        hall.put(n)
    judged: list[str] = []
    judge = room_state.judge

    def counted(pod: LivePod, *rest: Any) -> Judged:
        judged.append(pod.name)
        return judge(pod, *rest)

    monkeypatch.setattr(room_state, "judge", counted)
    hall.ears = Ears({f"uid-{n}": a_heard() for n in range(rooms)})
    hall.sweep()
    assert len(judged) == rooms
    hall.put(7, mark="busy")
    hall.sweep()
    hall.sweep()
    assert judged[rooms:] == ["arena-7"]


def test_of_a_workload_that_changed_only_the_rooms_that_did_are_looked_at(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(SLICE):
        hall.put(n)
    hall.ears = Ears({f"uid-{n}": a_heard() for n in range(SLICE)})
    hall.sweep()
    looked: list[str] = []
    put = Sums.put

    def counted(sums: Sums, room: CountedRoom) -> None:
        looked.append(room.pod.name)
        put(sums, room)

    monkeypatch.setattr(Sums, "put", counted)
    hall.put(7, mark="busy")
    busy = a_heard(said=Said.OCCUPIED, matches=1)
    hall.ears = replace(hall.ears, rooms={**hall.ears.rooms, "uid-7": busy, "uid-9": busy})
    hall.sweep()
    assert looked == ["arena-7", "arena-9"]
    assert hall.read("rooms", state="occupied", revision="new") == 2


NUMBERS = st.integers(0, 4)
WORDS = st.sampled_from(
    [
        None,
        a_heard(),
        a_heard(said=Said.OCCUPIED, matches=1),
        a_heard(said=Said.TERMINATING),
        replace(a_heard(), silent=True),
    ]
)
Step = tuple[str, int, dict[str, Any]]
STEPS: st.SearchStrategy[Step] = st.one_of(
    st.tuples(
        st.just("pod"),
        NUMBERS,
        st.fixed_dictionaries(
            {
                "ready": st.booleans(),
                "mark": st.sampled_from(["", "idle", "busy", "draining", "failed"]),
            },
            optional={"revision": st.just("1-old"), "leaving": st.just("rollout")},
        ),
    ),
    st.tuples(st.just("gone"), NUMBERS, st.just({})),
    st.tuples(st.just("word"), NUMBERS, st.fixed_dictionaries({"heard": WORDS})),
    st.tuples(st.just("deaf"), st.just(0), st.fixed_dictionaries({"deaf": st.sampled_from("x ")})),
)


def play(hall: Hall, step: Step) -> None:
    what, n, how = step
    if what == "pod":
        hall.put(n, **how)
    elif what == "gone":
        hall.view._pods.drop({"metadata": {"uid": f"uid-{n}"}})
    elif what == "deaf":
        hall.ears = replace(hall.ears, deaf=how["deaf"].strip())
    else:
        others = {uid: heard for uid, heard in hall.ears.rooms.items() if uid != f"uid-{n}"}
        said = {f"uid-{n}": how["heard"]} if how["heard"] else {}
        hall.ears = replace(hall.ears, rooms={**hall.ears.rooms, **said} if said else others)


def rooms_of(registry: CollectorRegistry) -> list[str]:
    lines = generate_latest(registry).decode().splitlines()
    return sorted(line for line in lines if line.startswith("gamekeeper_rooms"))


@pytest.mark.long
@given(st.lists(st.tuples(STEPS, st.sampled_from([0.0, 1.0, 40.0, 301.0])), max_size=12))
def test_what_was_summed_up_one_by_one_is_what_is_counted_from_nothing(
    steps: list[tuple[Step, float]],
) -> None:
    hall = Hall()
    for n in range(3):
        hall.put(n)
    hall.sweep()
    for step, seconds in steps:
        play(hall, step)
        hall.sweep(seconds)
        anew = CollectorRegistry()
        census = RoomCensus(hall.lane, lambda: True, hall.world.time, anew)
        asyncio.run(census.sweep())
        assert rooms_of(hall.registry) == rooms_of(anew)
