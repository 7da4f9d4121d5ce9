from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.core import host_ports
from reconciler.core.grounds import NO_GROUND, Ground
from reconciler.model.live import HostPort, LivePod
from reconciler.model.refs import Json
from reconciler.model.specs import PortRange
from tests.unit.core.making import NOW, a_pod, a_workload, waiting_for_port

RANGE = PortRange(7000, 7003)


def a_template(*ports: int, beside: tuple[Json, ...] = ()) -> Json:
    game = {"ports": [{"containerPort": port} for port in ports]}
    return {"spec": {"containers": [game, *beside]}}


def a_ground(in_use: Mapping[int, int], nodes: int = 4, out_of: int | None = None) -> Ground:
    names = frozenset(f"node-{number}" for number in range(1, nodes + 1))
    return Ground(names, nodes if out_of is None else out_of, Counter(in_use))


def one_by_one(
    ports: int, rooms: int, port_range: PortRange, in_use: Counter[int]
) -> list[tuple[int, ...]]:
    """What is meant, said plainly: each room in its turn takes the ports with the fewest users."""
    uses = Counter(in_use)
    numbers = range(port_range.start, port_range.end + 1)
    seats = []
    for _ in range(rooms):
        seat = sorted(numbers, key=lambda number: (uses[number], number))[:ports]
        uses.update(seat)
        seats.append(tuple(seat))
    return seats


@pytest.mark.long
@settings(max_examples=400)
@given(
    st.integers(0, 5),
    st.integers(0, 40),
    st.integers(0, 12),
    st.dictionaries(st.integers(6998, 7018), st.integers(0, 6)),
)
def test_many_at_once_are_chosen_as_one_by_one(
    ports: int, rooms: int, more: int, uses: dict[int, int]
) -> None:
    port_range = PortRange(7000, 7000 + max(1, ports) - 1 + more)
    in_use = Counter(uses)
    chosen = host_ports.choose(ports, rooms, port_range, in_use)
    assert chosen == one_by_one(ports, rooms, port_range, in_use)
    assert in_use == Counter(uses), "what was handed in is not changed"


@pytest.mark.parametrize(
    ("changes", "seats"),
    [
        pytest.param({"port_range": None}, [(), ()], id="without a range none"),
        pytest.param({"port_range": RANGE}, [(7000, 7001), (7002, 7003)], id="all"),
        pytest.param(
            {"port_range": RANGE, "ports_to_expose": (9,)}, [(7000,), (7001,)], id="the exposed"
        ),
        pytest.param({"port_range": RANGE, "ports_to_expose": ()}, [(), ()], id="none is exposed"),
    ],
)
def test_rooms_of_a_workload_get_host_ports_for(
    changes: dict[str, Any], seats: list[tuple[int, ...]]
) -> None:
    workload = a_workload(template=a_template(8, 9), **changes)
    assert host_ports.choose_for(workload, 2, NO_GROUND) == seats


@given(st.integers(1, 4), st.integers(0, 40), st.integers(0, 20))
def test_ports_of_a_room_are_distinct_and_load_is_even(ports: int, rooms: int, more: int) -> None:
    port_range = PortRange(7000, 7000 + ports - 1 + more)
    before = Counter[int]()
    seats = host_ports.choose(ports, rooms, port_range, before)
    assert len(seats) == rooms
    assert all(len(set(seat)) == ports for seat in seats)
    assert all(port_range.start <= number <= port_range.end for seat in seats for number in seat)
    uses = Counter(number for seat in seats for number in seat)
    loads = [uses[number] for number in range(port_range.start, port_range.end + 1)]
    assert max(loads) - min(loads) <= 1
    assert not before, "what was handed in is not changed"


@given(st.integers(0, 30), st.dictionaries(st.integers(7000, 7009), st.integers(0, 5)))
def test_an_unused_port_goes_before_a_used_one(rooms: int, uses: dict[int, int]) -> None:
    in_use = Counter(uses)
    chosen = host_ports.choose(1, rooms, PortRange(7000, 7009), in_use)
    for (number,) in chosen:
        assert in_use[number] == min(in_use[other] for other in range(7000, 7010))
        in_use[number] += 1


@pytest.mark.parametrize(
    ("pod", "in_use", "port_range", "moves"),
    [
        pytest.param(waiting_for_port(0, 7000), {7000: 3}, RANGE, True, id="a freer one exists"),
        pytest.param(
            waiting_for_port(0, 7000),
            {7000: 2, 7001: 1, 7002: 1, 7003: 1},
            RANGE,
            False,
            id="another port has as many others",
        ),
        pytest.param(waiting_for_port(0, 7000), {7000: 1}, RANGE, False, id="it is alone on it"),
        pytest.param(
            waiting_for_port(0, 7000), {7000: 3}, None, False, id="no range to choose from"
        ),
        pytest.param(
            waiting_for_port(0, 7000, created_at=NOW - 4), {7000: 3}, RANGE, False, id="too soon"
        ),
        pytest.param(
            waiting_for_port(0, 7000, created_at=0.0), {7000: 3}, RANGE, True, id="age unknown"
        ),
        pytest.param(a_pod(0, unschedulable="no memory"), {}, RANGE, False, id="no memory"),
        pytest.param(
            a_pod(0, unschedulable="didn't have free ports"),
            {},
            RANGE,
            False,
            id="no port of its own",
        ),
    ],
)
def test_a_waiting_room_moves_when(
    pod: LivePod, in_use: dict[int, int], port_range: PortRange | None, moves: bool
) -> None:
    workload = a_workload(port_range=port_range, template=a_template(9))
    waiting = [pod] if host_ports.waits(pod) else []
    moved = host_ports.to_move(waiting, workload, a_ground(in_use), NOW)
    assert moved == ([pod] if moves else [])


def test_no_room_moves_where_every_port_is_held_on_every_node_of_its_own() -> None:
    ground = a_ground({7000: 4, 7001: 2}, nodes=2)
    workload = a_workload(port_range=PortRange(7000, 7001), template=a_template(9))
    assert not host_ports.to_move([waiting_for_port(0, 7000)], workload, ground, NOW)


def test_a_room_of_two_ports_does_not_move_again_and_again_while_one_of_them_is_held() -> None:
    # 7001 is free, and held by this room: a move would take it again, beside one that is held.
    waiting = waiting_for_port(0, 7000)
    waiting = replace(waiting, host_ports=(HostPort(7000, "UDP"), HostPort(7001, "UDP")))
    ground = a_ground({7000: 3, 7001: 1, 7002: 2, 7003: 2})
    workload = a_workload(port_range=RANGE, template=a_template(8, 9))
    assert not host_ports.to_move([waiting], workload, ground, NOW)


def test_of_many_that_wait_only_so_many_move_as_find_a_freer_port() -> None:
    waiting = [waiting_for_port(n, 7000) for n in range(5)]
    ground = a_ground({7000: 7, 7001: 1}, nodes=3)
    workload = a_workload(port_range=PortRange(7000, 7001), template=a_template(9))
    # 7000 is held by two others: one place of it is left, and two of 7001.
    assert len(host_ports.to_move(waiting, workload, ground, NOW)) == 2


def test_a_port_that_is_held_on_other_nodes_is_taken_after_those_that_nobody_holds() -> None:
    chosen = host_ports.choose(1, 5, RANGE, Counter(), {7000, 7001})
    assert chosen == [(7002,), (7003,), (7000,), (7001,), (7000,)]


@given(st.integers(1, 3), st.integers(0, 30), st.dictionaries(st.integers(7000, 7039), st.just(1)))
def test_while_ports_are_left_no_two_rooms_can_clash_wherever_they_go(
    ports: int, rooms: int, others: dict[int, int]
) -> None:
    numbers = PortRange(7000, 7039)
    free = 40 - len(others)
    seats = host_ports.choose(ports, min(rooms, free // ports), numbers, Counter(others))
    taken = [number for seat in seats for number in seat]
    assert len(taken) == len(set(taken))
    assert not set(taken) & set(others)


@given(st.integers(1, 5), st.integers(1, 8), st.integers(0, 40))
def test_rooms_that_fit_can_be_placed_without_a_clash(nodes: int, size: int, rooms: int) -> None:
    numbers = PortRange(7000, 7000 + size - 1)
    seats = host_ports.choose(1, min(rooms, nodes * size), numbers, Counter())
    # Each number has a place on each node: the n-th user of a number goes to the n-th node.
    uses = Counter(number for (number,) in seats)
    assert max(uses.values(), default=0) <= nodes


CROWDED = "host ports 7000-7003 are all taken: 4 ports on 2 nodes are 8 places, asked for "


@pytest.mark.parametrize(
    ("rooms", "others", "nodes", "said"),
    [
        pytest.param(8, {}, 3, "", id="a node is free of each"),
        pytest.param(7, {}, 2, "", id="one port is left on one node"),
        pytest.param(8, {}, 0, "", id="without nodes nothing can be said"),
        pytest.param(
            9,
            {},
            2,
            CROWDED + "9 times by its own rooms; make portRange at least 5 ports wide, or bring "
            "nodes",
            id="own rooms alone",
        ),
        pytest.param(
            5,
            {7001: 1, 7002: 1, 7003: 1},
            2,
            CROWDED + "5 times by its own rooms and 3 by other pods; make portRange at least 4 "
            "ports wide, or bring nodes",
            id="other pods stand in the range",
        ),
    ],
)
def test_a_crowded_range_says_who_is_there_and_what_would_do(
    rooms: int, others: dict[int, int], nodes: int, said: str
) -> None:
    template = a_template(9000)
    workload = a_workload(replicas=rooms, port_range=RANGE, template=template)
    numbers = [7000 + number % 4 for number in range(rooms)]
    pods = [waiting_for_port(n, number) for n, number in enumerate(numbers)]
    in_use = Counter(numbers) + Counter(others)

    assert host_ports.crowding(workload, pods, a_ground(in_use, nodes)) == said


def test_a_pair_of_tcp_and_udp_is_one_user_of_its_port() -> None:
    pair = (HostPort(7000, "TCP"), HostPort(7000, "UDP"))
    pods = [a_pod(n, host_ports=pair) for n in range(2)]
    workload = a_workload(
        replicas=2, port_range=PortRange(7000, 7000), template=a_template(9000, 9000)
    )
    said = host_ports.crowding(workload, pods, a_ground({7000: 2}, 1))
    assert "asked for 2 times by its own rooms; make portRange at least 2 ports wide" in said


def test_a_workload_without_a_range_is_never_crowded() -> None:
    assert not host_ports.crowding(a_workload(port_range=None), [], a_ground({}, 1))


def test_a_crowded_range_names_the_nodes_that_its_template_may_use() -> None:
    workload = a_workload(replicas=9, port_range=PortRange(7000, 7000), template=a_template(9000))
    pods = [a_pod(n, host_ports=(HostPort(7000, "UDP"),)) for n in range(7)]
    elsewhere = a_pod(8, node="old-pool-1", host_ports=(HostPort(7000, "UDP"),))
    said = host_ports.crowding(workload, [*pods, elsewhere], a_ground({7000: 7}, 7, out_of=50))
    assert "1 port on the 7 nodes of 50 that its template may use (node-1, node-2, " in said
    assert "node-5 and 2 more) is 7 places, asked for 7 times by its own rooms;" in said
