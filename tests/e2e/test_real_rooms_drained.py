"""Nodes are drained by kubectl while rooms with players run there, on a real control plane."""

import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.controlplane.cluster import ControlPlane
from tests.e2e.real_removals import removals
from tests.e2e.real_rooms import Installation, installation, scheduler
from tests.e2e.real_voices import Voice

pytestmark = pytest.mark.real

ROOMS = 20
RACE_SECONDS = 30.0


def _on(there: Installation, name: str, node: str) -> list[Voice]:
    return [room for room in there.house.rooms(name) if room.node == node]


def _half(rooms: list[Voice]) -> list[Voice]:
    """Every other room of each node."""
    return sorted(rooms, key=lambda room: (room.node, room.room))[::2]


@pytest.mark.parametrize(
    ("name", "alone"),
    [
        pytest.param("siege", False, id="a standby takes over"),
        pytest.param("watch", True, id="it is alone, and started anew"),
    ],
)
def test_a_drained_node_keeps_its_matches_though_the_leader_is_killed_in_the_midst(
    deployed: ControlPlane, tmp_path: Path, name: str, alone: bool
) -> None:
    node, *_ = deployed.add_nodes(3, labels={"pool": name})
    with installation(deployed, tmp_path, name) as there:
        there.commit(**{name: scheduler(name, ROOMS)})
        leader = there.start()
        rooms = there.stand(name, ROOMS)
        if not alone:
            standby = there.start()
            there.wait("the standby says so", lambda: there.standing_by(standby))
        assert there.leads(leader)
        there.play(_half(rooms))
        drained = _on(there, name, node)
        playing = [room for room in drained if room.busy]
        assert playing
        assert len(playing) < len(drained)

        drain = there.drain(node, 900)
        there.wait("the first one leaves", lambda: len(_on(there, name, node)) < len(drained))
        leader.end(signal.SIGKILL)
        there.wait("the empty ones leave", lambda: _on(there, name, node) == playing)

        if alone:
            standby = there.start()

        def replaced() -> bool:
            return len(there.house.rooms(name)) == ROOMS

        took = there.wait("the next one leads", lambda: there.leads(standby), 40.0)
        there.wait("they are replaced", replaced)
        assert drain.poll() is None
        there.wait("they are heard", lambda: all(room.heard for room in playing))
        assert _on(there, name, node) == playing
        there.judge(name)

        there.play(playing, busy=False)
        said = drain.communicate(timeout=240)[0]
        assert drain.returncode == 0, said
        assert said.count("Cannot evict pod") >= len(playing)
        there.play([room for room in there.house.rooms(name) if room.busy], busy=False)
        there.stand(name, ROOMS)
        removed = there.judge(name)
        assert sorted(removed) == sorted(f"{name}/{room.room}" for room in drained)
        there.report(
            f"drained {len(drained)} rooms, {len(playing)} of them busy; the next replica led "
            f"{took:.1f} s after the empty ones had left"
        )


def test_a_budget_by_count_keeps_its_number_of_rooms_through_a_drain(
    deployed: ControlPlane, tmp_path: Path
) -> None:
    name, number, stays = "levy", 12, 9
    deployed.add_nodes(3, labels={"pool": name})
    by_count = {"mode": "count", "safetyPercentage": 0.5, "intervalSeconds": 1}
    with installation(deployed, tmp_path, name) as there:
        there.commit(levy=scheduler(name, number, disruption=by_count))
        there.start()
        rooms = there.stand(name, number)
        # One with more rooms than may go at once; half of all play on the others.
        sizes = Counter(room.node for room in rooms)
        node = max((size, node) for node, size in sizes.items() if size <= number // 2)[1]
        # Who is evicted would no more count among the occupied.
        there.play([room for room in rooms if room.node != node][: number // 2])
        path = f"/apis/policy/v1/namespaces/{name}/poddisruptionbudgets/{name}"

        def counted() -> bool:
            budget = deployed.api.demand("GET", path)
            seen: int = budget["status"].get("observedGeneration", 0)
            kept: int = budget["spec"]["minAvailable"]
            return seen == budget["metadata"]["generation"] and kept == stays

        there.wait("6 of 12 are busy: half as many again stay", counted)
        drained = _on(there, name, node)
        drain = there.drain(node, 300)
        least = number
        while drain.poll() is None:
            least = min(least, there.house.ready(name))
            time.sleep(0.05)
        said = drain.communicate()[0]
        assert drain.returncode == 0, said
        there.wait("they are replaced", lambda: len(there.house.rooms(name)) == number)
        removed = removals(deployed, name)
        assert sorted(removed) == sorted(f"{name}/{room.room}" for room in drained)
        assert least >= stays
        assert least < number
        there.report(
            f"by count: {len(drained)} evicted, never fewer than {least} of {number} ready, "
            f"{stays} promised"
        )


@pytest.mark.parametrize(
    ("name", "how", "alone"),
    [
        pytest.param("race", signal.SIGTERM, False, id="the leader is told to go in the midst"),
        pytest.param("chase", signal.SIGKILL, False, id="the leader is killed in the midst"),
        pytest.param("hunt", signal.SIGKILL, True, id="it is alone, and started anew"),
    ],
)
def test_no_eviction_that_comes_after_the_answer_to_a_match_is_granted(
    deployed: ControlPlane, tmp_path: Path, name: str, how: signal.Signals, alone: bool
) -> None:
    deployed.add_nodes(2, labels={"pool": name})
    with installation(deployed, tmp_path, name) as there:
        there.commit(**{name: scheduler(name, ROOMS)})
        leader = there.start()
        there.stand(name, ROOMS)
        if not alone:
            there.start()
        results: Counter[str] = Counter()
        over, began = threading.Event(), time.monotonic()
        races = [
            threading.Thread(target=_races, args=(there, name, turn, over, results), daemon=True)
            for turn in range(ROOMS)
        ]
        for race in races:
            race.start()
        try:
            time.sleep(RACE_SECONDS / 3)
            ended = leader.end(how)
            assert ended == (0 if how is signal.SIGTERM else -how), leader.said()
            if alone:
                there.start()
            # How many there are in a time is the machine's.
            there.wait("races of each kind", lambda: _are_enough(results, began), 3 * RACE_SECONDS)
        finally:
            over.set()
        for race in races:
            race.join(180)
        removed = there.judge(name)
        on_the_way = Counter(
            span.told
            for room, removal in removed.items()
            for span in (there.house.voices[room].spans if room in there.house.voices else ())
            if removal.received < span.began <= removal.answered
        )
        assert not results["after the answer 201"]
        there.report(
            f"races: {dict(sorted(results.items()))}; granted while the answer was on its way, "
            f"by what it told the room: {dict(on_the_way)}"
        )


def _are_enough(results: Counter[str], began: float) -> bool:
    kinds = results["at once 201"] and results["at once 429"]
    enough = results["after the answer 429"] > ROOMS // 2 and kinds
    return bool(enough) and time.monotonic() - began > RACE_SECONDS


def _races(
    there: Installation, name: str, turn: int, over: threading.Event, results: Counter[str]
) -> None:
    """Turn a room busy and evict it in the same instant, again and again."""
    # A pod on its way out takes any further eviction, and may still be listed as it was.
    evicted: set[str] = set()
    while not over.is_set():
        idle = [room for room in there.house.rooms(name) if there.house.state(room) == "idle"]
        mine = [
            room
            for room in idle
            if int(room.room.rpartition("-")[2]) % ROOMS == turn and room.room not in evicted
        ]
        if not mine:
            time.sleep(0.05)
            continue
        room, waits = mine[0], random.random() < 0.5
        room.say(busy=True)
        patience = time.monotonic() + (10.0 if waits else random.uniform(0.0, 0.02))
        while time.monotonic() < patience and not (waits and room.heard):
            time.sleep(0.001)
        if waits and not room.heard:
            room.say(busy=False)  # nobody leads: it takes part again
            continue
        metadata = {"name": room.room}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        path = f"/api/v1/namespaces/{name}/pods/{room.room}/eviction"
        status = there.cluster.api.ask("POST", path, body).status
        results[f"{'after the answer' if waits else 'at once'} {status}"] += 1
        if status == 201:
            evicted.add(room.room)
        time.sleep(0.3)
        room.say(busy=False)
