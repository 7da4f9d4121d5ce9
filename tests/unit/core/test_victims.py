from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core import victims
from reconciler.model.live import LivePod, Phase
from tests.unit.core.making import a_pod

rooms = st.lists(
    st.builds(
        lambda ready, node: a_pod(0, ready=ready and bool(node), node=node),
        st.booleans(),
        st.sampled_from(["", "node-1", "node-2", "node-3"]),
    ),
    max_size=12,
).map(lambda found: [replace(pod, ordinal=n, uid=f"u{n}") for n, pod in enumerate(found)])


@pytest.mark.parametrize(
    ("candidates", "first"),
    [
        pytest.param([a_pod(1), a_pod(2, ready=False)], 2, id="not ready before ready"),
        pytest.param(
            [a_pod(1, ready=False), a_pod(2, ready=False, node="", phase=Phase.PENDING)],
            2,
            id="a room without a node before one that has one",
        ),
        pytest.param(
            [a_pod(1), a_pod(2), a_pod(3, node="node-2")], 3, id="the emptiest node before others"
        ),
        pytest.param([a_pod(1), a_pod(2)], 2, id="the newest name before older ones"),
        pytest.param(
            [a_pod(1), a_pod(2, ready=False, lapsed=True)],
            1,
            id="a ready room before one that was ready and may be full",
        ),
    ],
)
def test_first_goes(candidates: list[LivePod], first: int) -> None:
    (chosen,) = victims.choose(candidates, candidates, 1)
    assert chosen.ordinal == first


def test_a_node_where_other_fleets_stand_is_not_the_emptiest() -> None:
    alone, beside = [a_pod(1), a_pod(2)], a_pod(3, node="node-2")
    held = {"node-1": Counter({7000: 2}), "node-2": Counter({7001: 40})}
    everyone = [*alone, beside]
    assert victims.choose(everyone, everyone, 2, held) == [alone[1], alone[0]]
    assert victims.choose(everyone, everyone, 1) == [beside], "of this fleet alone it is"


@given(rooms, st.integers(0, 15))
def test_no_ready_room_goes_while_one_that_is_not_may(there: list[LivePod], number: int) -> None:
    chosen = victims.choose(there, there, number)
    assert len(chosen) == min(number, len(there))
    assert len({pod.uid for pod in chosen}) == len(chosen)
    stay = [pod for pod in there if pod not in chosen]
    if any(pod.ready for pod in chosen):
        assert all(pod.ready for pod in stay)


@given(rooms)
def test_the_order_does_not_depend_on_the_order_of_the_view(there: list[LivePod]) -> None:
    mixed = sorted(there, key=lambda pod: pod.uid[::-1], reverse=True)
    assert victims.order(mixed, mixed) == victims.order(there, there)
