import json
from dataclasses import replace

from reconciler.core import desired
from reconciler.model.plans import Desired
from reconciler.model.specs import Disruption
from tests.unit.core.making import a_workload, rendered


def digests(replicas: int = 20, game: str = "arena-royale") -> dict[str, str]:
    workload = replace(a_workload(replicas=replicas), game=game)
    return {item.ref.kind: item.digest for item in desired.build(workload, rendered()).objects}


def test_the_count_is_stamped_on_the_budget_alone() -> None:
    built = desired.build(a_workload(replicas=20), rendered())
    bodies = {item.ref.kind: item.body for item in built.objects}
    assert bodies["PodDisruptionBudget"]["spec"]["minAvailable"] == 19
    assert bodies["Namespace"] == json.loads(rendered().objects[0])
    assert built.room == rendered().room


def test_a_digest_names_the_content() -> None:
    assert digests() == digests()
    other = digests(replicas=40)
    assert {kind for kind in other if other[kind] != digests()[kind]} == {"PodDisruptionBudget"}


def test_a_digest_does_not_depend_on_the_order_of_keys() -> None:
    plain = rendered()
    turned = tuple(json.dumps(dict(reversed(json.loads(text).items()))) for text in plain.objects)
    mixed = desired.build(a_workload(), replace(plain, objects=turned))
    straight = desired.build(a_workload(), plain)
    assert [item.digest for item in mixed.objects] == [item.digest for item in straight.objects]


def budget_of(built: Desired) -> tuple[int, str]:
    (item,) = [each for each in built.objects if each.ref.kind == "PodDisruptionBudget"]
    return item.body["spec"]["minAvailable"], item.digest


def test_until_rooms_are_counted_every_room_counts_as_occupied() -> None:
    workload = a_workload(replicas=20, reports="required", disruption=Disruption("count"))
    built = desired.build(workload, rendered())
    assert budget_of(built)[0] == 20

    calm = desired.with_occupied(built, total=20, occupied=4)
    assert budget_of(calm)[0] == 5
    assert budget_of(calm)[1] != budget_of(built)[1]
    assert calm.wish == built.wish
    changed = [new for new, old in zip(calm.objects, built.objects, strict=True) if new != old]
    assert [item.ref.kind for item in changed] == ["PodDisruptionBudget"]
    assert desired.with_occupied(calm, total=20, occupied=4) is calm
    assert budget_of(desired.with_occupied(calm, 20, 20)) == budget_of(built)


def test_a_budget_that_counts_no_occupied_rooms_stays_as_it_is() -> None:
    for workload in (
        a_workload(replicas=20),
        a_workload(replicas=20, reports="required", disruption=Disruption("occupied")),
    ):
        built = desired.build(workload, rendered())
        assert desired.with_occupied(built, total=20, occupied=4) is built
    assert budget_of(built)[0] == 1_000_000
