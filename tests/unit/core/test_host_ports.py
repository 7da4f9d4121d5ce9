from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core import host_ports
from reconciler.model.live import LivePod
from reconciler.model.refs import Json
from reconciler.model.specs import PortRange
from tests.unit.core.making import NOW, a_pod, waiting_for_port

RANGE = PortRange(7000, 7003)


def a_template(*ports: int, beside: tuple[Json, ...] = ()) -> Json:
    game = {"ports": [{"containerPort": port} for port in ports]}
    return {"spec": {"containers": [game, *beside]}}


@pytest.mark.parametrize(
    ("template", "ports"),
    [
        pytest.param({}, (), id="nothing"),
        pytest.param(a_template(), (), id="no ports"),
        pytest.param(a_template(9, 7, 8), (9, 7, 8), id="ports in their order"),
        pytest.param(a_template(7, 8, 7), (7, 8), id="TCP and UDP of one port are a pair"),
        pytest.param(
            a_template(1, beside=({"name": "b"}, {"ports": None})),
            (1,),
            id="a sidecar without ports",
        ),
    ],
)
def test_container_ports_are(template: Json, ports: tuple[int, ...]) -> None:
    assert host_ports.container_ports(template) == ports


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
    moved = host_ports.to_move([pod], Counter(in_use), port_range, NOW)
    assert moved == ([pod] if moves else [])
