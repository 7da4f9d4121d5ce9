"""When sources are looked at, what a copy is, and what may be copied at all."""

from dataclasses import replace
from typing import Any

import pytest

from reconciler.core.copying import (
    LOOK_SECONDS,
    check_copies,
    copied,
    copies_of,
    is_as_wanted,
    is_copy,
    problem_of,
    with_copies,
)
from reconciler.model import labels
from reconciler.model.copies import NOT_LOOKED, Copies, CopyFrom, Looked
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import LiveWorkload
from reconciler.model.plans import Counts, Plan
from reconciler.model.records import StateRecord
from reconciler.model.refs import Json
from reconciler.model.specs import Permissions
from tests.unit.core.making import a_situation, a_workload, pods
from tests.unit.core.reading import rules

PULL = CopyFrom("Secret", "shared", "pull")
MAPS = CopyFrom("ConfigMap", "shared", "maps")
ASKING = a_workload(copy_from=(MAPS, PULL))
MARKS = {labels.INSTANCE: "main"}
SOURCE: Json = {"type": "Opaque", "data": {"a": "Yg=="}, "immutable": True}
BARE = Plan(ASKING.key, Counts())


def planned(looked: Looked = NOT_LOOKED, elapsed: float = 100.0, **changes: Any) -> Plan:
    """Return what a plan is with the copies of a situation."""
    workload = changes.pop("workload", ASKING)
    situation = replace(a_situation(workload), looked=looked, elapsed=elapsed, **changes)
    return with_copies(BARE, situation, workload)


ALLOWED = Permissions(
    reserved_namespaces=frozenset({"gamekeeper"}), copy_from=("shared", "named/pull", "arena")
)


@pytest.mark.parametrize(
    ("entry", "path", "rule"),
    [
        ({"namespace": "other"}, "namespace", "copy-not-allowed"),
        ({"namespace": "named", "name": "other"}, "namespace", "copy-not-allowed"),
        ({"namespace": "arena"}, "namespace", "copy"),
        ({"namespace": "named"}, "", ""),
        ({}, "", ""),
    ],
)
def test_only_what_the_operator_names_may_be_copied(entry: Json, path: str, rule: str) -> None:
    spec = {"copyFrom": [{"kind": "Secret", "namespace": "shared", "name": "pull", **entry}]}
    found = rules(check_copies(spec, "arena", ALLOWED))

    assert found == ({(f"spec.copyFrom.0.{path}", rule)} if rule else set())


@pytest.mark.parametrize(
    ("namespace", "fix"),
    [
        ("other", "have other/pull added to --copy-from-namespaces"),
        (
            "gamekeeper",
            "have gamekeeper/pull added to --copy-from-namespaces; where Gamekeeper itself runs "
            "there, put it into a namespace of its own first",
        ),
        ("kube-system", "put it into a namespace of its own, and have that added to "),
    ],
)
def test_nobody_is_sent_for_what_the_flag_does_not_take(namespace: str, fix: str) -> None:
    spec = {"copyFrom": [{"kind": "Secret", "namespace": namespace, "name": "pull"}]}
    (mistake,) = check_copies(spec, "arena", ALLOWED)
    assert mistake.fix.startswith(fix)


@pytest.mark.parametrize(
    ("namespace", "name"),
    [("*", "pull"), ("other", "../x"), ("other", "*"), ("Other", "pull"), ("other", "")],
)
def test_nobody_is_sent_for_what_has_a_mistake_of_its_own(namespace: str, name: str) -> None:
    spec = {"copyFrom": [{"kind": "Secret", "namespace": namespace, "name": name}]}
    assert list(check_copies(spec, "arena", ALLOWED)) == []


def test_two_copies_cannot_have_one_name() -> None:
    two = [{"kind": "Secret", "namespace": one, "name": "pull"} for one in ("a", "b")]

    found = rules(check_copies({"copyFrom": two}, "arena", Permissions(copy_from=("a", "b"))))
    assert found == {("spec.copyFrom.1.name", "duplicate")}


def test_no_copy_takes_the_place_of_the_record_of_names() -> None:
    named = {"namespace": "shared", "name": "gamekeeper-arena"}
    both = [{"kind": kind, **named} for kind in ("ConfigMap", "Secret")]

    found = rules(check_copies({"copyFrom": both}, "arena", Permissions(copy_from=("shared",))))
    assert found == {("spec.copyFrom.0.name", "reserved-name")}, "a Secret is no record"


@pytest.mark.parametrize("odd", [None, "a", {}, [None], [[]], [{"kind": [], "namespace": {}}]])
def test_what_is_misshapen_is_for_the_schema_to_tell(odd: Any) -> None:
    assert rules(check_copies({"copyFrom": odd}, "arena", Permissions())) == set()


def test_what_is_asked_for_twice_is_copied_once() -> None:
    one = {"kind": "Secret", "namespace": "shared", "name": "pull"}
    assert copies_of({"copyFrom": [one, one]}) == (PULL,)
    assert copies_of({}) == ()


def test_sources_are_looked_at_at_once_and_then_again_and_again() -> None:
    first = planned()
    assert (first.copies, first.look_in_seconds) == (Copies((MAPS, PULL)), LOOK_SECONDS)

    looked = Looked((MAPS, PULL), 95.0)
    between = planned(looked)
    assert (between.copies, between.look_in_seconds) == (None, LOOK_SECONDS)
    assert planned(looked, 95.0 + LOOK_SECONDS - 0.1).copies == Copies((MAPS, PULL))
    assert planned(Looked((MAPS,), 95.0)).copies == Copies((MAPS, PULL)), "another is asked for"


def test_who_asks_for_nothing_has_the_very_same_plan() -> None:
    plain = a_workload()
    assert with_copies(BARE, a_situation(plain), plain) is BARE


def test_what_went_wrong_is_told_until_the_next_look() -> None:
    plan = planned(Looked((MAPS, PULL), 95.0, ("a", "b", "c", "d")))

    assert plan.holds == (Hold(HoldKind.NOT_COPIED, ASKING.key, "a; b; c and 1 more"),)
    assert planned(Looked((PULL,), 95.0, ("a",))).holds == ()


@pytest.mark.parametrize(
    ("changes", "dropped"),
    [
        pytest.param({}, True, id="nobody needs it"),
        pytest.param({"complete": False}, False, id="not everything was read"),
        pytest.param({"holds": (Hold(HoldKind.FINDING, None, "a"),)}, False, id="a spec is held"),
        pytest.param({"live": LiveWorkload(tuple(pods(1, revision="old")), ())}, False,
                     id="an older room may read it again"),
    ],
)  # fmt: skip
def test_a_copy_is_dropped_only_when(changes: Json, dropped: bool) -> None:
    old = CopyFrom("Secret", "shared", "old").copy_in(ASKING.key.namespace)
    record = StateRecord(copied=(old,))
    plan = planned(Looked((MAPS, PULL), 99.0), record=record, **changes)

    assert plan.copies == (Copies((), (old,)) if dropped else None)


@pytest.mark.parametrize(
    ("kind", "sound"),
    [
        ("Opaque", True),
        ("", True),
        (None, True),
        ("kubernetes.io/dockerconfigjson", True),
        ("kubernetes.io/tls", False),
        ("kubernetes.io/service-account-token", False),
        ("bootstrap.kubernetes.io/token", False),
    ],
)
def test_of_secrets_only_plain_ones_and_those_of_registries(kind: Any, sound: bool) -> None:
    assert (problem_of({"type": kind}, PULL) == "") is sound
    assert problem_of({"type": kind}, MAPS) == "", "a ConfigMap has none"


def test_a_copy_has_the_content_our_labels_and_its_source_and_nothing_else() -> None:
    body = copied({**SOURCE, "metadata": {"labels": {"team": "a"}}}, PULL, "arena", MARKS)

    assert body == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "pull",
            "namespace": "arena",
            "labels": MARKS,
            "annotations": {labels.COPIED_FROM: "shared/pull"},
        },
        "type": "Opaque",
        "data": {"a": "Yg=="},
    }
    assert is_copy(body)
    assert not is_copy({"metadata": {"labels": MARKS}})


def test_what_is_there_is_as_wanted_when_content_labels_and_source_are() -> None:
    body = copied(SOURCE, PULL, "arena", MARKS)
    theirs = {**body["metadata"]["labels"], "team": "a"}
    there = {**body, "immutable": True, "metadata": {**body["metadata"], "labels": theirs}}

    assert is_as_wanted(there, body)
    assert not is_as_wanted({**there, "data": {}}, body)
    assert not is_as_wanted({**there, "type": "other"}, body)
    assert not is_as_wanted({**there, "metadata": {}}, body)
    empty = copied({"data": {}}, MAPS, "arena", MARKS)
    assert is_as_wanted({name: value for name, value in empty.items() if name != "data"}, empty)
