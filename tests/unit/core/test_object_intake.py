"""Additional objects into a reading: who gets them, who is held."""

import json
from dataclasses import replace

from reconciler.core import object_intake
from reconciler.core.compile import workload_from_json
from reconciler.model.additional import Made, Outcome
from reconciler.model.findings import Finding
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.trees import Tree
from tests.unit.core.reading import SPEC, read, tree_of

ARENA, LOBBY = (WorkloadKey("Scheduler", name, name) for name in ("arena", "lobby"))
ASKING = SPEC.replace("  game: arena\n", "  game: arena\n  objects: objects\n")
FILES = {
    "schedulers/arena.yaml": ASKING,
    "schedulers/lobby.yaml": SPEC.replace("name: arena", "name: lobby"),
    "objects/configmap.yaml.j2": "kind: ConfigMap",
}


def made(name: str, namespace: str = "arena", size: int = 1) -> Made:
    about = {"name": name, "namespace": namespace}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": {"a": "x" * size}}
    return Made("objects/configmap.yaml.j2", 3, 9, json.dumps(body))


def taken(*outcomes: Outcome) -> Reading:
    return object_intake.take_in(read(FILES), outcomes)


def test_only_who_names_a_directory_is_asked_for_its_templates() -> None:
    tree: Tree = tree_of(FILES)
    asked = object_intake.asked_for(read(FILES), tree)
    assert {key: [one.file for one in each] for key, each in asked.items()} == {
        ARENA: ["objects/configmap.yaml.j2"]
    }


def test_objects_are_a_part_of_the_accepted_spec() -> None:
    before = read(FILES).workloads[ARENA]
    workload = taken(Outcome(ARENA, (made("a"), made("b")))).workloads[ARENA]
    names = [json.loads(text)["metadata"]["name"] for text in workload.objects]
    assert names == ["a", "b"]
    assert workload.spec_json != before.spec_json
    assert workload.revision == before.revision
    assert workload_from_json(workload.spec_json, workload.source).objects == workload.objects
    assert replace(workload, spec_json="", objects=()) == replace(before, spec_json="")


def test_a_finding_holds_its_workload_and_no_other() -> None:
    finding = Finding("objects/configmap.yaml.j2", 1, 1, "", "wrong", "", "template")
    reading = taken(Outcome(ARENA, (made("a"),), (finding,)))
    assert reading.workloads.keys() == {LOBBY}
    assert reading.invalid == {ARENA: (finding,)}
    assert reading.findings == (finding,)


def test_an_object_belongs_to_one_workload() -> None:
    reading = taken(Outcome(ARENA, (made("a"),)), Outcome(LOBBY, (made("a"),)))
    assert reading.invalid.keys() == {ARENA, LOBBY}
    assert "(of Scheduler/lobby)" in reading.invalid[ARENA][0].message


def test_a_name_is_taken_in_its_namespace_only() -> None:
    assert not taken(Outcome(ARENA, (made("a"),)), Outcome(LOBBY, (made("a", "lobby"),))).invalid


def test_a_spec_and_its_objects_fit_a_record() -> None:
    (finding,) = taken(Outcome(ARENA, (made("a", size=131_000),))).invalid[ARENA]
    assert finding.rule == "size"
    assert finding.file == "schedulers/arena.yaml"
