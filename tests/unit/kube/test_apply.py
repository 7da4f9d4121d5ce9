from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.kube.apply import Applied, BadObject, Conflicts, apply, same_but_times, track_update
from reconciler.kube.diff import left_scoped
from reconciler.kube.json_types import Json, copied
from tests.unit.kube.definitions import config_map, pod, schema_of


def _apply(
    live: Json | None, applied: Json, manager: str = "m", **more: Any
) -> Applied | Conflicts:
    asked = {"force": False, "now": "t2", **more}
    before = copied([live, applied])
    outcome = apply(live, applied, manager=manager, schema=schema_of(applied), **asked)
    assert [live, applied] == before
    return outcome


def _applied(live: Json | None, applied: Json, manager: str = "m", **more: Any) -> Json:
    outcome = _apply(live, applied, manager, **more)
    assert isinstance(outcome, Applied), outcome
    assert outcome.object["metadata"]["managedFields"] == outcome.managed_fields
    return outcome.object


def _updated(live: Json | None, obj: Json, manager: str = "u", **more: Any) -> Json:
    asked = {"now": "t1", **more}
    entries = track_update(live, obj, manager=manager, schema=schema_of(obj), **asked)
    return {**obj, "metadata": {**obj["metadata"], "managedFields": entries}}


def _owners(obj: Json) -> dict[str, Json]:
    return {
        f"{entry['manager']} {entry['operation']}": entry["fieldsV1"]
        for entry in obj["metadata"]["managedFields"]
    }


def _bare(obj: Json) -> Json:
    metadata = {key: part for key, part in obj["metadata"].items() if key != "managedFields"}
    return {**obj, "metadata": metadata}


def test_a_create_owns_what_it_set_and_not_the_name() -> None:
    obj = config_map({"k": "v"}, namespace="n", uid="u", labels={"a": "1"}, generateName="g")
    assert _updated(None, obj)["metadata"]["managedFields"] == [
        {
            "manager": "u",
            "operation": "Update",
            "apiVersion": "v1",
            "time": "t1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:data": {".": {}, "f:k": {}},
                "f:metadata": {"f:generateName": {}, "f:labels": {".": {}, "f:a": {}}},
            },
        }
    ]


def test_fields_that_every_pod_has_are_not_set_by_a_create() -> None:
    created = _updated(None, pod({"name": "c", "image": "i"}, securityContext={}))
    assert _owners(created)["u Update"] == {
        "f:spec": {
            "f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:name": {}}},
            "f:securityContext": {},
        }
    }


def test_the_status_belongs_to_who_writes_the_status() -> None:
    created = _updated(None, {**pod({"name": "c"}), "status": {"phase": "Pending"}})
    assert "f:status" not in _owners(created)["u Update"]
    ran = {**created, "status": {"phase": "Running"}, "spec": {"nodeName": "n"}}
    entries = track_update(
        created, ran, manager="kubelet", schema=schema_of(ran), now="t2", subresource="status"
    )
    written = [entry for entry in entries if entry["manager"] == "kubelet"]
    assert [entry["subresource"] for entry in written] == ["status"]
    assert written[0]["fieldsV1"] == {"f:status": {"f:phase": {}}}


def test_an_apply_owns_leaves_and_stands_before_updates() -> None:
    live = _updated(None, config_map({"k": "v"}))
    applied = _applied(live, config_map({"l": "w"}))
    assert applied["data"] == {"k": "v", "l": "w"}
    assert list(_owners(applied)) == ["m Apply", "u Update"]
    assert _owners(applied)["m Apply"] == {"f:data": {"f:l": {}}}


def test_an_apply_creates_what_is_not_there() -> None:
    applied = _applied(None, config_map({"k": "v"}))
    assert _bare(applied) == config_map({"k": "v"})
    assert _owners(applied) == {"m Apply": {"f:data": {"f:k": {}}}}


def test_another_value_is_a_conflict_that_names_field_and_owner() -> None:
    live = _applied(None, config_map({"k": "v"}), "first")
    refused = _apply(live, config_map({"k": "w"}))
    assert isinstance(refused, Conflicts)
    assert refused.message == 'Apply failed with 1 conflict: conflict with "first": .data.k'
    assert refused.causes == [
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "first"',
            "field": ".data.k",
        }
    ]


def test_several_conflicts_are_listed_by_owner() -> None:
    live = _applied(None, config_map({"k": "v"}, labels={"x": "1"}), "first")
    live = _updated(live, {**live, "data": {"k": "v", "u": "1"}})
    refused = _apply(live, config_map({"k": "w", "u": "2"}, labels={"x": "2"}))
    assert isinstance(refused, Conflicts)
    assert refused.message == (
        'Apply failed with 3 conflicts: conflicts with "first":\n- .data.k\n- .metadata.labels.x\n'
        'conflicts with "u" using v1:\n- .data.u'
    )


def test_an_equal_value_is_shared() -> None:
    live = _applied(None, config_map({"k": "v"}), "first", now="t1")
    shared = _applied(live, config_map({"k": "v"}))
    assert _owners(shared)["first Apply"] == _owners(shared)["m Apply"] == {"f:data": {"f:k": {}}}
    # The object did not change, and so the API server gives the new owner no time.
    assert [entry.get("time") for entry in shared["metadata"]["managedFields"]] == [None, "t1"]


def test_force_moves_a_field_to_who_forces() -> None:
    live = _applied(None, config_map({"k": "v"}), "first")
    forced = _applied(live, config_map({"k": "w"}), force=True)
    assert forced["data"] == {"k": "w"}
    assert _owners(forced) == {"m Apply": {"f:data": {"f:k": {}}}}


def test_an_update_takes_fields_from_who_applied_them() -> None:
    live = _applied(None, config_map({"k": "v", "l": "v"}))
    written = _updated(live, {**live, "data": {"k": "w", "l": "v"}})
    assert _owners(written) == {
        "m Apply": {"f:data": {"f:l": {}}},
        "u Update": {"f:data": {"f:k": {}}},
    }


@pytest.mark.parametrize(
    ("first", "then", "left"),
    [
        pytest.param(
            config_map({"a": "1", "b": "2"}), config_map({"a": "1"}), {"a": "1"}, id="a field"
        ),
        pytest.param(config_map({"a": "1"}), config_map(), None, id="a whole map"),
    ],
)
def test_what_an_applier_alone_owned_and_drops_is_removed(
    first: Json, then: Json, left: Json | None
) -> None:
    dropped = _applied(_applied(None, first), then)
    assert dropped.get("data") == left


def test_what_another_still_owns_stays() -> None:
    live = _applied(_applied(None, config_map({"a": "1"}), "other"), config_map({"a": "1"}))
    assert _applied(live, config_map())["data"] == {"a": "1"}


def test_an_item_is_removed_with_the_defaults_in_it() -> None:
    live = _applied(None, pod({"name": "a"}, {"name": "b"}))
    defaulted = copied(live)
    for container in defaulted["spec"]["containers"]:
        container["imagePullPolicy"] = "Always"
    dropped = _applied(defaulted, pod({"name": "a"}))
    assert dropped["spec"]["containers"] == [{"name": "a", "imagePullPolicy": "Always"}]


def test_who_owns_nothing_any_more_is_forgotten() -> None:
    live = _applied(None, config_map({"a": "1"}), "other")
    live = _applied(live, config_map({"b": "1"}))
    assert list(_owners(_applied(live, config_map()))) == ["other Apply"]


def test_time_moves_only_where_something_changed() -> None:
    live = _applied(None, config_map({"a": "1"}), now="t1")
    again = _applied(live, config_map({"a": "1"}), now="t2")
    assert again == live
    changed = _applied(live, config_map({"a": "2"}), now="t2")
    assert changed["metadata"]["managedFields"][0]["time"] == "t2"
    untouched = _updated(live, live, now="t3")
    assert untouched["metadata"]["managedFields"] == live["metadata"]["managedFields"]


def test_an_object_that_nobody_owns_was_there_before_the_first_apply() -> None:
    applied = _applied(config_map({"k": "v"}), config_map({"l": "w"}))
    assert _owners(applied) == {
        "m Apply": {"f:data": {"f:l": {}}},
        "before-first-apply Update": {"f:data": {".": {}, "f:k": {}}},
    }
    refused = _apply(config_map({"k": "v"}), config_map({"k": "w"}))
    assert isinstance(refused, Conflicts)
    assert refused.message.endswith('conflict with "before-first-apply" using v1: .data.k')


@pytest.mark.parametrize("entries", [[], [{}]])
def test_an_update_can_forget_all_owners_and_then_nothing_is_tracked(entries: list[Json]) -> None:
    live = _applied(None, config_map({"k": "v"}))
    cleared = config_map({"k": "v"}, managedFields=entries)
    forgotten = _updated(live, cleared)
    assert forgotten["metadata"]["managedFields"] == []
    assert _updated(forgotten, config_map({"k": "w"}))["metadata"]["managedFields"] == []


def test_an_update_without_managed_fields_keeps_the_owners() -> None:
    live = _applied(None, config_map({"k": "v"}))
    assert _owners(_updated(live, config_map({"k": "v"}))) == _owners(live)


def test_the_oldest_of_too_many_updaters_become_one() -> None:
    live = _updated(None, config_map({"0": ""}), "u0", now="t00")
    for number in range(1, 12):
        data = {**live["data"], str(number): ""}
        live = _updated(live, {**live, "data": data}, f"u{number}", now=f"t{number:02}")
    owners = _owners(live)
    assert len(owners) == 10
    assert owners["ancient-changes Update"] == {
        "f:data": {".": {}, "f:0": {}, "f:1": {}, "f:2": {}}
    }


@pytest.mark.parametrize(
    ("applied", "said"),
    [
        pytest.param({"bogus": 1}, ".bogus: field not declared in schema", id="an unknown field"),
        pytest.param({"data": []}, ".data: expected map, got &{[]}", id="a list for a map"),
        pytest.param(
            {"metadata": {"finalizers": ["a/x", "a/x"]}},
            '.metadata.finalizers: duplicate entries for key [="a/x"]',
            id="an item twice",
        ),
        pytest.param(
            {"data": 1, "bogus": 1},
            "errors:\n  .data: expected map, got &{1}\n  .bogus: field not declared in schema",
            id="two mistakes",
        ),
    ],
)
def test_an_object_outside_its_schema_is_refused(applied: Json, said: str) -> None:
    with pytest.raises(BadObject) as refusal:
        _apply(None, {**config_map(), **applied})
    assert str(refusal.value) == said


def test_a_text_of_null_is_empty_and_a_field_of_null_is_not_there() -> None:
    applied = _applied(None, config_map({"k": None}, labels=None))
    assert _bare(applied) == config_map({"k": ""})


_LAST = "kubectl.kubernetes.io/last-applied-configuration"


def test_kubectl_takes_over_from_its_client_side_apply_and_no_other_may() -> None:
    said = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}'
    live = _updated(None, config_map({"k": "v"}, annotations={_LAST: said}), "kubectl-client")
    assert isinstance(_apply(live, config_map({"k": "w"}), "m"), Conflicts)
    taken = _applied(live, config_map({"k": "w"}), "kubectl")
    assert taken["data"] == {"k": "w"}
    assert taken["metadata"]["annotations"][_LAST] == (
        '{"apiVersion":"v1","data":{"k":"w"},"kind":"ConfigMap","metadata":{"name":"a"}}\n'
    )


def test_kubectl_does_not_take_over_what_others_changed_since() -> None:
    said = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}'
    live = _updated(None, config_map({"k": "x"}, annotations={_LAST: said}))
    assert isinstance(_apply(live, config_map({"k": "w"}), "kubectl"), Conflicts)


def test_times_alone_are_no_difference() -> None:
    live = _applied(None, config_map({"k": "v"}), now="t1")
    later = copied(live)
    later["metadata"]["managedFields"][0]["time"] = "t2"
    assert same_but_times(live, later)
    assert not same_but_times(live, _applied(live, config_map({"k": "w"})))


_texts = st.sampled_from(("", "1", "2"))
_maps = st.dictionaries(st.sampled_from("abcd"), _texts, max_size=4)


def _by_name(item: Json) -> str:
    return str(item["name"])


def _named(names: str, **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    required: dict[str, st.SearchStrategy[Any]] = {"name": st.sampled_from(names)}
    return st.fixed_dictionaries(required, optional=optional)


_limits = st.dictionaries(st.just("cpu"), st.sampled_from(("1", "2")))
_containers = st.lists(
    _named(
        "cde",
        image=_texts,
        args=st.lists(_texts, max_size=2),
        env=st.lists(_named("XYZ", value=_texts), max_size=3, unique_by=_by_name),
        resources=st.builds(lambda limits: {"limits": limits}, _limits),
    ),
    min_size=1,
    max_size=3,
    unique_by=_by_name,
)


@st.composite
def _pods(draw: st.DrawFn) -> Json:
    obj = pod(**draw(st.fixed_dictionaries({}, optional={"nodeSelector": _maps})))
    obj["spec"]["containers"] = draw(_containers)
    obj["metadata"].update(draw(st.fixed_dictionaries({}, optional={"labels": _maps})))
    return obj


@given(_pods(), _pods(), _pods())
def test_applying_twice_changes_nothing(live: Json, other: Json, desired: Json) -> None:
    before = _applied(_updated(None, live), other, "other", force=True)
    once = _applied(before, desired, force=True, now="t3")
    assert _applied(once, desired, force=False, now="t4") == once


@given(_pods(), _pods(), _pods())
def test_after_an_apply_nothing_differs(live: Json, before: Json, desired: Json) -> None:
    held = _applied(_updated(None, live), before, force=True)
    after = _applied(held, desired, force=True)
    assert left_scoped(desired, after, schema_of(desired)) == ()


@given(_pods(), _pods(), _pods())
def test_a_field_that_two_appliers_hold_has_the_value_of_both(
    live: Json, first: Json, second: Json
) -> None:
    held = _applied(_updated(None, live), first, "first", force=True)
    outcome = _apply(held, second, "second")
    if isinstance(outcome, Applied):
        assert left_scoped(first, outcome.object, schema_of(first)) == ()
        assert left_scoped(second, outcome.object, schema_of(second)) == ()


@given(_pods(), _pods())
def test_an_update_leaves_every_changed_field_to_who_updated(live: Json, then: Json) -> None:
    held = _applied(None, live)
    entries = track_update(held, then, manager="u", schema=schema_of(then), now="t3")
    written = {**then, "metadata": {**then["metadata"], "managedFields": entries}}
    # What the applier still owns has its old value: to apply it again conflicts with nobody else.
    again = _apply(written, live, now="t4")
    if isinstance(again, Conflicts):
        assert {conflict.owner.manager for conflict in again.conflicts} == {"u"}
