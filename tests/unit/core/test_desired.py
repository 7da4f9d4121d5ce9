import json
from dataclasses import replace

from reconciler.core import desired
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
