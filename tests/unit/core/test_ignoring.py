"""Fields that others own: what may be left to them, and what is applied over what they made."""

from typing import Any

import pytest

from reconciler.core.ignoring import (
    check_ignore,
    given_up,
    ignored_of,
    laid_over,
    pointers_for,
    steps_of,
    through_list,
)
from reconciler.model.refs import Json, ObjectRef
from reconciler.model.specs import Ignored
from tests.unit.core.reading import loaded, rules

BODY: Json = {
    "metadata": {"name": "a", "labels": {"team": "blue"}},
    "data": {"motd": "hi", "n": "1"},
}
PATH = "spec.ignore.0.paths.0"


@pytest.mark.parametrize(
    ("kind", "pointer", "refused"),
    [
        ("ConfigMap", "/data/motd", False),
        ("ConfigMap", "/data", False),
        ("NetworkPolicy", "/spec/ingress", False),
        ("PodDisruptionBudget", "/metadata/annotations/team", False),
        ("PodDisruptionBudget", "/spec", True),
        ("PodDisruptionBudget", "/spec/minAvailable", True),
        ("PodDisruptionBudget", "/spec/selector/matchLabels", True),
        ("ConfigMap", "/metadata", True),
        ("ConfigMap", "/metadata/labels", True),
        ("ConfigMap", "/metadata/annotations", True),
        ("ConfigMap", "/metadata/name", True),
        ("ConfigMap", "/metadata/ownerReferences/0", True),
        ("ConfigMap", "/metadata/labels/team", False),
        ("ConfigMap", "/metadata/labels/gamekeeper.dev~1instance", True),
        ("ConfigMap", "/metadata/labels/x.gamekeeper.dev~1a", True),
        ("ConfigMap", "/metadata/labels/app.kubernetes.io~1name", True),
        ("ConfigMap", "/metadata/annotations/gamekeeper.dev~1adopt", True),
        ("ConfigMap", "/kind", True),
        ("ConfigMap", "/apiVersion", True),
        ("Service", "/status/loadBalancer", True),
    ],
)
def test_what_marks_our_objects_and_protects_rooms_is_nobody_elses(
    kind: str, pointer: str, refused: bool
) -> None:
    found = rules(check_ignore({"ignore": [{"kind": kind, "paths": [pointer]}]}))

    assert found == ({(PATH, "ignore")} if refused else set())


@pytest.mark.parametrize(
    "ignore",
    [None, "a", {}, [None], [[]], [{}], [{"paths": "/kind"}],
     [{"kind": [], "paths": [None, {}, 7]}],
     [{"kind": {"a": 1}, "paths": ["", "kind", "/a"]}]],
)  # fmt: skip
def test_what_is_misshapen_is_for_the_schema_to_tell(ignore: Any) -> None:
    assert rules(check_ignore({"ignore": ignore})) == set()


def test_steps_are_those_of_json_pointers() -> None:
    assert steps_of("/a~1b/~0c/~01/0") == ("a/b", "~c", "~1", "0")


def test_an_entry_without_a_name_is_for_every_object_of_its_kind() -> None:
    spec = loaded("ignore: [{kind: A, paths: [/a, /b]}, {kind: A, name: x, paths: [/b, /c]}]")
    ignore = ignored_of(spec)

    assert ignore == (Ignored("A", ("/a", "/b")), Ignored("A", ("/b", "/c"), "x"))
    assert pointers_for(ignore, ObjectRef("v1", "A", "n", "x")) == ("/a", "/b", "/c")
    assert pointers_for(ignore, ObjectRef("v1", "A", "n", "y")) == ("/a", "/b")
    assert pointers_for(ignore, ObjectRef("v1", "B", "n", "x")) == ()
    assert ignored_of({}) == ()


@pytest.mark.parametrize(
    ("there", "pointer", "expected"),
    [
        pytest.param({"data": {"motd": "theirs", "n": "2"}}, "/data/motd",
                     {"motd": "theirs", "n": "1"}, id="theirs is kept, ours is wanted"),
        pytest.param({"data": {"n": "2"}}, "/data/motd", {"n": "1"}, id="what they took away"),
        pytest.param({}, "/data/motd", {"n": "1"}, id="where nothing is there"),
        pytest.param({"data": None}, "/data/motd", {"n": "1"}, id="where null is there"),
        pytest.param({"data": {"new": "x"}}, "/data/new", {"motd": "hi", "n": "1", "new": "x"},
                     id="what only they have"),
        pytest.param({"data": {"a": "b"}}, "/data", {"a": "b"}, id="all of a part"),
        pytest.param({"data": {"motd": "theirs"}}, "/data/motd/x", {"motd": "hi", "n": "1"},
                     id="a path that leads through a text"),
    ],
)  # fmt: skip
def test_what_others_own_is_applied_as_it_is_there(
    there: Json, pointer: str, expected: Json
) -> None:
    whole = laid_over(BODY, there, (pointer,))

    assert whole == {**BODY, "data": expected}
    assert BODY["data"] == {"motd": "hi", "n": "1"}, "nothing is changed in place"


def test_a_whole_part_that_they_took_away_is_left_out() -> None:
    assert laid_over(BODY, {}, ("/data", "/metadata/labels/team")) == {
        "metadata": {"name": "a", "labels": {}}
    }


def owned(manager: str, fields: Json, api_version: str = "v1") -> Json:
    entry = {"manager": manager, "operation": "Update", "apiVersion": api_version}
    return {**entry, "fieldsType": "FieldsV1", "fieldsV1": fields}


MOTD: Json = {"f:data": {"f:motd": {}}}


@pytest.mark.parametrize(
    ("owners", "pointer", "expected"),
    [
        pytest.param([owned("theirs", MOTD)], "/data/motd", {"n": "1"}, id="another owns it"),
        pytest.param(
            [owned("theirs", MOTD), owned("ours", MOTD)], "/data/motd", {"n": "1"}, id="both do"
        ),
        pytest.param([owned("ours", MOTD)], "/data/motd", BODY["data"], id="we alone do"),
        pytest.param([], "/data/motd", BODY["data"], id="nobody is known"),
        pytest.param([owned("theirs", MOTD)], "/data", BODY["data"], id="a part of it is ours"),
        pytest.param(
            [owned("theirs", {"f:data": {".": {}, "f:n": {}}})],
            "/data/motd",
            BODY["data"],
            id="another owns what stands beside it",
        ),
        pytest.param(
            [owned("theirs", MOTD, "v2")], "/data/motd", BODY["data"], id="in another version"
        ),
    ],
)
def test_what_another_manager_owns_is_given_up_and_nothing_else(
    owners: list[Json], pointer: str, expected: Json
) -> None:
    body: Json = {"apiVersion": "v1", **BODY}
    there: Json = {**body, "metadata": {**BODY["metadata"], "managedFields": owners}}

    assert given_up(body, there, (pointer,), "ours") == {**body, "data": expected}


def test_a_path_into_a_list_is_seen() -> None:
    body: Json = {"spec": {"ingress": [{"from": []}]}}
    assert through_list(body, "/spec/ingress/0")
    assert not through_list(body, "/spec/ingress")
    assert not through_list(body, "/spec/other/0")
