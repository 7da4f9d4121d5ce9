from collections import Counter
from dataclasses import replace

import pytest

from reconciler.core.lasting import basis_of, is_lasting
from reconciler.core.plan import plan
from reconciler.kube.schemas import Schemas
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import LiveWorkload
from reconciler.model.plans import Situation
from reconciler.model.records import Ordinals, StateRecord
from tests.unit.core.making import (
    NOW,
    a_key,
    a_situation,
    a_workload,
    live_objects,
    pending,
    pods,
    port_range,
    waiting_for_port,
)

SCHEMAS = Schemas({})
ARENA = a_workload(replicas=3, port_range=port_range(7000, 7010))
CALM = a_situation(ARENA, pods(3))


@pytest.mark.parametrize(
    "situation",
    [
        pytest.param(CALM, id="rooms that are as wanted"),
        pytest.param(
            a_situation(replace(ARENA, suspend=True), pods(1)), id="rooms that are suspended"
        ),
        pytest.param(a_situation(None, []), id="a workload that is on its way out"),
        pytest.param(
            replace(CALM, live=LiveWorkload(tuple(pods(3)), ())), id="objects that are missing"
        ),
        pytest.param(replace(CALM, ordinals=Ordinals(9, frozenset({8}))), id="names outstanding"),
        pytest.param(
            replace(CALM, ordinals=Ordinals(9, frozenset({8}), 5000, NOW)), id="a blind view"
        ),
        pytest.param(a_situation(ARENA, pods(2)), id="a room that is missing"),
        pytest.param(
            replace(a_situation(ARENA, pods(2)), create_not_before=NOW + 5), id="rooms backed off"
        ),
        pytest.param(a_situation(ARENA, [*pods(2), *pending(1, 2)]), id="a room that is not ready"),
        pytest.param(
            a_situation(ARENA, [*pods(2), waiting_for_port(2, 7000)]), id="a room without a port"
        ),
        pytest.param(replace(CALM, rooms_complete=False, complete=False), id="an incomplete read"),
    ],
)
def test_a_plan_that_lasts_is_the_plan_at_any_time_and_beside_any_other_workload(
    situation: Situation,
) -> None:
    first = plan(situation, SCHEMAS, NOW)
    if not is_lasting(first, situation):
        return
    others = [
        replace(situation, confirmed=first.confirmed),
        replace(situation, in_use=Counter(range(7000, 7011))),
        replace(situation, nodes=0, version=9_000_000, create_not_before=NOW + 10_000),
    ]
    for other in (situation, *others):
        for seconds in (0.0, 3.0, 100_000.0):
            assert plan(other, SCHEMAS, NOW + seconds) == first


def test_only_what_is_calm_lasts() -> None:
    assert is_lasting(plan(CALM, SCHEMAS, NOW), CALM)
    for there in (pods(2), [*pods(2), *pending(1, 2)], [*pods(2), waiting_for_port(2, 7000)]):
        situation = a_situation(ARENA, there)
        assert not is_lasting(plan(situation, SCHEMAS, NOW), situation)


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(replace(CALM, live=LiveWorkload(tuple(pods(2)))), id="what is there"),
        pytest.param(
            replace(CALM, desired=a_situation(a_workload(replicas=4)).desired), id="what is wanted"
        ),
        pytest.param(replace(CALM, record=StateRecord(highest=7)), id="the record"),
        pytest.param(replace(CALM, ordinals=None), id="the ordinals"),
        pytest.param(
            replace(CALM, holds=(Hold(HoldKind.SUSPENDED, a_key(), "x"),)), id="the holds"
        ),
        pytest.param(replace(CALM, complete=False), id="whether all was read"),
        pytest.param(replace(CALM, rooms_complete=False), id="whether all rooms were read"),
        pytest.param(replace(CALM, deleting=True), id="whether it goes"),
    ],
)
def test_a_basis_is_another_one_when_this_changes(changed: Situation) -> None:
    assert basis_of(changed) != basis_of(CALM)


def test_a_basis_is_the_same_where_equal_things_were_made_anew() -> None:
    anew = LiveWorkload(tuple(pods(3)), live_objects(ARENA))
    assert basis_of(replace(CALM, live=anew)) == basis_of(CALM)
