"""Who owns which field of our objects, as API servers keep it for managers that are not ours."""

import json
import random
from typing import Any

from reconciler.core.contests import said_of
from reconciler.core.ignoring import given_up
from reconciler.core.own_objects import count_alone
from reconciler.kube import managed_fields
from reconciler.kube.fieldpaths import key, value
from reconciler.kube.fieldsets import FieldSet
from reconciler.model.plan_objects import ApplyObject
from reconciler.model.refs import ObjectRef
from tests.fuzz.forging import Forge, altered, written
from tests.fuzz.playing import Target, search

OURS = "gamekeeper-main"
BODY: Any = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "arena", "labels": {"a": "b"}, "annotations": {"team": "x"}},
    "spec": {"minAvailable": 3},
}
REF = ObjectRef("policy/v1", "PodDisruptionBudget", "arena", "arena")
ITEM = ApplyObject(REF, BODY, "0a1b", "7", (), "it differs")
ENTRY: Any = {
    "manager": "kubectl",
    "operation": "Update",
    "apiVersion": "policy/v1",
    "time": "2026-01-02T03:04:05Z",
    "fieldsType": "FieldsV1",
    "fieldsV1": {
        "f:metadata": {"f:labels": {".": {}, "f:a": {}}, "f:annotations": {"f:team": {}}},
        "f:spec": {"f:minAvailable": {}, "f:ports": {'k:{"port":80}': {".": {}, "f:name": {}}}},
    },
}
ENTRIES: Any = [ENTRY, {**ENTRY, "manager": OURS, "operation": "Apply", "subresource": "status"}]
WORDS = Forge(
    [b"spec", b"metadata", b"labels", b"app.kubernetes.io/name"], (b"[", b'"', b"f:"), 300
)
OTHERS: tuple[Any, ...] = (
    "f:",
    ".",
    "k:",
    "v:",
    "i:0",
    "",
    "k:{}",
    OURS,
    {".": {}},
    {"f:a": {}},
    {"f:a": None},
)


def entries_of(chance: random.Random) -> bytes:
    """Return managedFields of any JSON."""
    return written(altered(ENTRIES, chance, OTHERS), chance)


def read_or_not(data: bytes) -> None:
    """Whatever stands there, it is owners and fields, or nobody's."""
    try:
        found = json.loads(data)
    except ValueError:
        return
    for there in ({"metadata": {"managedFields": found}}, {"metadata": found}):
        if not isinstance(there["metadata"], dict | None):
            continue
        owners = managed_fields.read(there)
        assert all(isinstance(each.fields, FieldSet) for each in owners.values())
        len(managed_fields.union(each.fields for each in owners.values()))


def fields_of(chance: random.Random) -> bytes:
    """Return the `fieldsV1` of some managers, as an API server writes whatever they own."""
    sets = [_node(chance, chance.randint(1, 6)) for _ in range(chance.randint(1, 3))]
    return json.dumps(sets).encode()


def _node(chance: random.Random, depth: int) -> Any:
    return {
        _element(chance): _node(chance, depth - 1) if depth and chance.random() < 0.7 else {}
        for _ in range(chance.choice((1, 1, 2, 3)))
    }


def _element(chance: random.Random) -> str:
    word = WORDS(chance).decode("utf-8", "replace")
    part = chance.choice((word, word, 0, -1, 0.5, True, None, 2**63))
    what = chance.randrange(8)
    if what == 0:
        return key({word: part, "protocol": "TCP"})
    if what == 1:
        return value(chance.choice((part, {word: [part]}, [])))
    if what == 2:
        return f"i:{chance.randrange(9)}"
    return "." if what == 3 else f"f:{chance.choice((word, 'spec', 'metadata', 'labels', 'a'))}"


def owned(data: bytes) -> None:
    """What others own is told in words, and given up where it is theirs; sets stay as they are."""
    sets = json.loads(data)
    names = [OURS, "kubectl", "an operator"]
    pairs = zip(names, sets, strict=False)
    entries = [{**ENTRY, "manager": name, "fieldsV1": each} for name, each in pairs]
    there = {**BODY, "metadata": {**BODY["metadata"], "managedFields": entries}}
    owners = managed_fields.read(there)
    assert len(owners) == len(sets)
    assert (
        managed_fields.read({"metadata": {"managedFields": managed_fields.write(owners)}}) == owners
    )
    for each in owners.values():
        again = FieldSet.from_fields_v1(each.fields.to_fields_v1())
        assert again == each.fields
        assert len(list(each.fields)) == len(each.fields)
    said = said_of(ITEM, (".spec.minAvailable", ".metadata.labels.a"), there, OURS)
    assert str(ITEM.ref) in said
    kept = given_up(BODY, there, ("/spec/minAvailable", "/metadata/labels/a"), OURS)
    assert kept.keys() == BODY.keys()
    alone = count_alone(BODY, there, OURS)
    assert alone["spec"] == BODY["spec"]


def test_no_owners_of_an_object_are_too_much() -> None:
    search(Target("owners", 21_000, entries_of, read_or_not))


def test_no_fields_of_other_managers_are_too_much() -> None:
    search(Target("fields", 21_000, fields_of, owned))
