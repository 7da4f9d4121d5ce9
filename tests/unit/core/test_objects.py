from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core import objects
from reconciler.kube.schemas import Schemas
from reconciler.model import labels
from reconciler.model.holds import HoldKind
from reconciler.model.live import LiveObject, LiveWorkload
from reconciler.model.neighbours import Sharing
from reconciler.model.plan_objects import Confirmed
from reconciler.model.plans import Situation
from reconciler.model.records import Owned, StateRecord
from reconciler.model.refs import WorkloadKey
from tests.unit.core.making import a_situation, a_workload, live_objects, ref, wanted

WORKLOAD = a_workload(replicas=20)
THERE = {item.ref.kind: item for item in live_objects(WORKLOAD)}
BUDGET = THERE["PodDisruptionBudget"]
NO_SCHEMAS = Schemas({})


def applied(*there: LiveObject, confirmed: frozenset[Confirmed] = frozenset()) -> dict[str, str]:
    live = {item.ref: item for item in there}
    found, _ = objects.to_apply(wanted(WORKLOAD).objects, live, confirmed, NO_SCHEMAS)
    return {item.ref.kind: item.reason for item in found}


def going(*there: LiveObject, made: bool = True) -> Situation:
    inventory = tuple(Owned(item.ref, made=made) for item in THERE.values())
    record = StateRecord(inventory=inventory, deleting=True)
    return replace(a_situation(None), record=record, live=LiveWorkload((), there))


def spoiled(item: LiveObject) -> LiveObject:
    return replace(item, body={**item.body, "spec": {"minAvailable": 3}})


def test_what_is_missing_is_applied_a_namespace_first() -> None:
    assert list(applied()) == ["Namespace", "ServiceAccount", "PodDisruptionBudget"]
    assert applied()["Namespace"] == "Namespace arena is not there"


def test_what_is_as_wanted_is_left_alone() -> None:
    assert applied(*THERE.values()) == {}


def test_what_differs_is_applied_and_says_where() -> None:
    there = [*(item for item in THERE.values() if item is not BUDGET), spoiled(BUDGET)]
    (reason,) = applied(*there).values()
    assert reason.startswith("PodDisruptionBudget arena/arena differs in ")
    assert "minAvailable" in reason


def test_what_others_add_is_theirs() -> None:
    body = {**BUDGET.body, "status": {"expectedPods": 4}}
    body["metadata"] = {**body["metadata"], "annotations": {"team": "blue"}}
    there = [*(item for item in THERE.values() if item is not BUDGET), replace(BUDGET, body=body)]
    assert applied(*there) == {}


@pytest.mark.parametrize(
    ("version", "digest", "proposed"),
    [
        pytest.param("1", "", False, id="neither side has changed"),
        pytest.param("2", "", True, id="the live object has changed"),
        pytest.param("1", "other", True, id="the wanted object has changed"),
    ],
)
def test_what_a_dry_run_found_equal_is_proposed_again_when(
    version: str, digest: str, proposed: bool
) -> None:
    (asked,) = [item for item in wanted(WORKLOAD).objects if item.ref == BUDGET.ref]
    confirmed = frozenset({(digest or asked.digest, "1")})
    live = replace(spoiled(BUDGET), resource_version=version)
    there = [*(item for item in THERE.values() if item is not BUDGET), live]
    assert bool(applied(*there, confirmed=confirmed)) is proposed


def test_what_was_found_equal_is_not_compared_again_until_it_changes() -> None:
    live = {item.ref: item for item in THERE.values()}
    asked = wanted(WORKLOAD).objects
    _, equal = objects.to_apply(asked, live, frozenset(), NO_SCHEMAS)
    assert equal == {(item.digest, "1") for item in asked}
    # A body that was spoiled under the same version can only go unseen where it is not looked at.
    unread = {item.ref: spoiled(item) for item in THERE.values()}
    assert objects.to_apply(asked, unread, equal, NO_SCHEMAS) == ((), equal)
    changed = {**live, BUDGET.ref: replace(spoiled(BUDGET), resource_version="2")}
    proposed, left = objects.to_apply(asked, changed, equal, NO_SCHEMAS)
    assert [item.ref for item in proposed] == [BUDGET.ref]
    assert left < equal


def test_what_is_terminating_is_not_written_to() -> None:
    assert applied(*(replace(spoiled(item), terminating=True) for item in THERE.values())) == {}


def test_the_inventory_is_old_and_new_together() -> None:
    old = Owned(ref("ConfigMap", namespace="arena"), made=True)
    record = StateRecord(inventory=(old,))
    situation = a_situation(WORKLOAD, record=record, live=LiveWorkload((), (BUDGET,)))
    made = {owned.ref.kind: owned.made for owned in objects.inventory_of(situation)}
    assert made == {
        "ConfigMap": True,
        "Namespace": True,
        "ServiceAccount": True,
        "PodDisruptionBudget": False,
    }


def test_an_inventory_does_not_forget_who_made_what() -> None:
    inventory = tuple(sorted(Owned(item.ref, made=False) for item in THERE.values()))
    record = StateRecord(inventory=inventory)
    situation = a_situation(WORKLOAD, record=record, live=LiveWorkload())
    assert objects.inventory_of(situation) == inventory


@pytest.mark.parametrize(
    ("situation", "kinds"),
    [
        pytest.param(
            going(*THERE.values()), {"ServiceAccount", "PodDisruptionBudget"}, id="what is inside"
        ),
        pytest.param(going(THERE["Namespace"]), {"Namespace"}, id="the namespace when it is alone"),
        pytest.param(
            going(THERE["Namespace"], replace(BUDGET, terminating=True)),
            set(),
            id="no namespace while something in it is on its way",
        ),
        pytest.param(
            going(replace(THERE["Namespace"], terminating=True)), set(), id="nothing twice"
        ),
        pytest.param(going(*THERE.values(), made=False), set(), id="nothing that we did not make"),
        pytest.param(
            going(*(replace(item, instance="other") for item in THERE.values())),
            set(),
            id="nothing of another instance",
        ),
    ],
)
def test_pruned_is(situation: Situation, kinds: set[str]) -> None:
    found = objects.to_prune(situation)
    assert {item.ref.kind for item in found} == kinds
    assert all((item.uid, item.resource_version) == (f"uid-{item.ref.kind}", "1") for item in found)


@pytest.mark.parametrize("sharing", [Sharing.STAYS, Sharing.WAITS])
def test_a_namespace_in_which_others_are_is_not_pruned(sharing: Sharing) -> None:
    assert objects.to_prune(replace(going(THERE["Namespace"]), sharing=sharing)) == ()
    inner = objects.to_prune(replace(going(*THERE.values()), sharing=sharing))
    assert {item.ref.kind for item in inner} == {"ServiceAccount", "PodDisruptionBudget"}


def test_what_another_workload_asks_for_is_left_for_it() -> None:
    there = ref("ConfigMap", namespace="arena")
    extra = LiveObject(there, "uid-x", "1", "main", "arena", {})
    record = StateRecord(inventory=(Owned(there, made=True),))
    live = LiveWorkload((), (extra,))
    living = a_situation(WORKLOAD, record=record, live=live)
    ending = replace(a_situation(None), record=record, live=live)
    for decide, situation in ((objects.to_drop, living), (objects.to_prune, ending)):
        assert [item.ref for item in decide(situation)] == [there]
        assert decide(replace(situation, elsewhere=frozenset({there}))) == ()
    assert objects.to_pass_on(ending) == ()
    (hold,) = objects.to_pass_on(replace(ending, elsewhere=frozenset({there})))
    assert "is left for the workload that asks for it now" in hold.reason


A, B, C = (WorkloadKey("Fleet", "servers", name) for name in "abc")


@pytest.mark.parametrize(
    ("key", "neighbours", "deleting", "sharing"),
    [
        pytest.param(B, (), {B}, Sharing.ALONE, id="nobody else"),
        pytest.param(B, (A,), {B}, Sharing.STAYS, id="another one stays"),
        pytest.param(B, (A, C), {A, B}, Sharing.STAYS, id="one goes and one stays"),
        pytest.param(B, (A,), {A, B}, Sharing.WAITS, id="the last by name waits for the other"),
        pytest.param(A, (B,), {A, B}, Sharing.STAYS, id="the first by name leaves it to the other"),
    ],
)
def test_a_namespace_that_is_shared(
    key: WorkloadKey,
    neighbours: tuple[WorkloadKey, ...],
    deleting: set[WorkloadKey],
    sharing: Sharing,
) -> None:
    assert objects.sharing_of(key, neighbours, deleting) is sharing


@given(st.sets(st.sampled_from([A, B, C]), min_size=1))
def test_of_those_that_go_together_exactly_one_takes_the_namespace_away(
    keys: set[WorkloadKey],
) -> None:
    found = [objects.sharing_of(key, keys - {key}, keys) for key in keys]
    assert sum(each is not Sharing.STAYS for each in found) == 1


def test_a_namespace_made_for_a_neighbour_is_made_by_us_and_nothing_else_is() -> None:
    live = LiveWorkload((), tuple(THERE.values()))
    for made in (True, False):
        situation = a_situation(WORKLOAD, live=live, namespace_made=made)
        by_us = {owned.ref.kind for owned in objects.inventory_of(situation) if owned.made}
        assert by_us == ({"Namespace"} if made else set())


@pytest.mark.parametrize(
    ("adopt", "held"),
    [
        pytest.param("", True, id="without a word of people it is held"),
        pytest.param("main", False, id="given to us it is not"),
        pytest.param("third", True, id="given to a third it is"),
    ],
)
def test_another_instances_object(adopt: str, held: bool) -> None:
    body = {"metadata": {"annotations": {labels.ADOPT: adopt}}}
    theirs = replace(BUDGET, instance="other", body=body)
    situation = a_situation(WORKLOAD, live=LiveWorkload((), (theirs,)))
    found = objects.foreign(situation)
    assert [hold.kind for hold in found] == ([HoldKind.FOREIGN] if held else [])
    assert all("instance other" in hold.reason for hold in found)
