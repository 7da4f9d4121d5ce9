from collections import Counter
from dataclasses import fields, replace
from typing import Any

import pytest

from reconciler.core.lasting import Basis, basis_of, is_lasting
from reconciler.core.plan import plan
from reconciler.kube.schemas import Schemas
from reconciler.model.copies import Looked
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import LiveWorkload
from reconciler.model.neighbours import Namesake, Sharing
from reconciler.model.plans import Situation
from reconciler.model.records import Ordinals, StateRecord
from reconciler.model.refusals import Refusals
from reconciler.model.rooms import Ears
from tests.unit.core.making import (
    NOW,
    a_key,
    a_situation,
    a_workload,
    live_objects,
    nodes,
    pending,
    pods,
    port_range,
    ref,
    waiting_for_port,
)

SCHEMAS = Schemas({})
ARENA = a_workload(replicas=3, port_range=port_range(7000, 7010))
CALM = a_situation(ARENA, pods(3))
LEAVING = LiveWorkload((), tuple(replace(item, terminating=True) for item in live_objects(ARENA)))

BESIDE_IT: dict[str, tuple[str, Any]] = {
    "in_use": ("ports are chosen and moved where rooms are not ready", Counter(range(7000, 7011))),
    "drifted": (
        "it counts where an object differs, and the plan that asks does not last",
        frozenset({("digest", "1")}),
    ),
    "confirmed": ("it spares comparing what is equal by the basis", frozenset()),
    "create_not_before": ("nothing is to be made", NOW + 10_000),
    "refused": ("nothing is asked for", {"rooms": Refusals("", 9, NOW, "no")}),
    "nodes": ("they are counted for rooms without a port, which are not ready", nodes(0)),
    "held": ("so are the ports on them", {"node-1": Counter({7000: 1})}),
    "version": ("it counts where names are outstanding or rooms are missing", 9_000_000),
    "elapsed": ("time counts only where a plan says when to look again", NOW + 1e6),
    "budgeted_at": ("nothing is to be applied", NOW),
    "unanswered_at": ("nothing is to be deleted", NOW),
    "newborn": ("nothing is to be made, so no name is chosen", True),
}
"""What a lasting plan does not depend on, why, and another value that must not change it."""

OF_THE_LANE = {
    "key": "plans are kept by key",
    "instance": "a lane has one",
    "kinds": "a lane has one set",
}


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
        pytest.param(a_situation(None, pods(2), deleting=True), id="a workload that goes"),
        pytest.param(
            replace(a_situation(None, [], deleting=True), live=LEAVING), id="objects that go"
        ),
        pytest.param(replace(CALM, ordinals=None, record=StateRecord()), id="no record of names"),
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
        *(replace(situation, **{name: value}) for name, (_, value) in BESIDE_IT.items()),
    ]
    for other in (situation, *others):
        for seconds in (0.0, 3.0, 100_000.0):
            assert plan(other, SCHEMAS, NOW + seconds) == first


def test_every_field_of_a_situation_is_in_the_basis_or_has_a_reason_not_to_be() -> None:
    beside = {*BESIDE_IT, *OF_THE_LANE}
    assert beside.isdisjoint(Basis._fields)
    assert beside.union(Basis._fields) == {field.name for field in fields(Situation)}


def test_only_what_is_calm_lasts() -> None:
    assert is_lasting(plan(CALM, SCHEMAS, NOW), CALM)
    for there in (pods(2), [*pods(2), *pending(1, 2)], [*pods(2), waiting_for_port(2, 7000)]):
        situation = a_situation(ARENA, there)
        assert not is_lasting(plan(situation, SCHEMAS, NOW), situation)


CHANGED: dict[str, Any] = {
    "live": LiveWorkload(tuple(pods(2))),
    "desired": a_situation(a_workload(replicas=4)).desired,
    "record": StateRecord(highest=7),
    "ordinals": None,
    "holds": (Hold(HoldKind.SUSPENDED, a_key(), "x"),),
    "complete": False,
    "rooms_complete": False,
    "deleting": True,
    "ears": Ears(deaf="so many fell silent"),
    "sharing": Sharing.WAITS,
    "namespace_made": True,
    "addresses": {"node-1": "203.0.113.9"},
    "namesake": Namesake(a_key(), goes=True),
    "elsewhere": frozenset({ref("ConfigMap", namespace="arena")}),
    "looked": Looked((), 1.0, ("a",)),
    "unserved": ("ResourceQuota",),
}


@pytest.mark.parametrize("name", Basis._fields)
def test_a_basis_is_another_one_when_this_changes(name: str) -> None:
    assert basis_of(replace(CALM, **{name: CHANGED[name]})) != basis_of(CALM)


def test_a_basis_is_the_same_where_equal_things_were_made_anew() -> None:
    anew = LiveWorkload(tuple(pods(3)), live_objects(ARENA))
    assert basis_of(replace(CALM, live=anew)) == basis_of(CALM)
