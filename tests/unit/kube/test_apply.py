import pytest

from reconciler.kube.apply import BadObject, Conflicts, same_but_times, track_update
from reconciler.kube.json_types import Json, copied
from tests.unit.kube.definitions import config_map, pod, schema_of
from tests.unit.kube.owning import applied, bare, owners_of, try_apply, updated


def test_a_create_owns_what_it_set_and_not_the_name() -> None:
    obj = config_map({"k": "v"}, namespace="n", uid="u", labels={"a": "1"}, generateName="g")
    assert updated(None, obj)["metadata"]["managedFields"] == [
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
    created = updated(None, pod({"name": "c", "image": "i"}, securityContext={}))
    assert owners_of(created)["u Update"] == {
        "f:spec": {
            "f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:name": {}}},
            "f:securityContext": {},
        }
    }


def test_the_status_belongs_to_who_writes_the_status() -> None:
    created = updated(None, {**pod({"name": "c"}), "status": {"phase": "Pending"}})
    assert "f:status" not in owners_of(created)["u Update"]
    ran = {**created, "status": {"phase": "Running"}, "spec": {"nodeName": "n"}}
    entries = track_update(
        created, ran, manager="kubelet", schema=schema_of(ran), now="t2", subresource="status"
    )
    written = [entry for entry in entries if entry["manager"] == "kubelet"]
    assert [entry["subresource"] for entry in written] == ["status"]
    assert written[0]["fieldsV1"] == {"f:status": {"f:phase": {}}}


def test_an_apply_owns_leaves_and_stands_before_updates() -> None:
    live = updated(None, config_map({"k": "v"}))
    result = applied(live, config_map({"l": "w"}))
    assert result["data"] == {"k": "v", "l": "w"}
    assert list(owners_of(result)) == ["m Apply", "u Update"]
    assert owners_of(result)["m Apply"] == {"f:data": {"f:l": {}}}


def test_an_apply_creates_what_is_not_there() -> None:
    result = applied(None, config_map({"k": "v"}))
    assert bare(result) == config_map({"k": "v"})
    assert owners_of(result) == {"m Apply": {"f:data": {"f:k": {}}}}


def test_another_value_is_a_conflict_that_names_field_and_owner() -> None:
    live = applied(None, config_map({"k": "v"}), "first")
    refused = try_apply(live, config_map({"k": "w"}))
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
    live = applied(None, config_map({"k": "v"}, labels={"x": "1"}), "first")
    live = updated(live, {**live, "data": {"k": "v", "u": "1"}})
    refused = try_apply(live, config_map({"k": "w", "u": "2"}, labels={"x": "2"}))
    assert isinstance(refused, Conflicts)
    assert refused.message == (
        'Apply failed with 3 conflicts: conflicts with "first":\n- .data.k\n- .metadata.labels.x\n'
        'conflicts with "u" using v1:\n- .data.u'
    )


def test_an_equal_value_is_shared() -> None:
    live = applied(None, config_map({"k": "v"}), "first", now="t1")
    shared = applied(live, config_map({"k": "v"}))
    assert (
        owners_of(shared)["first Apply"] == owners_of(shared)["m Apply"] == {"f:data": {"f:k": {}}}
    )
    # The object did not change, and so the API server gives the new owner no time.
    assert [entry.get("time") for entry in shared["metadata"]["managedFields"]] == [None, "t1"]


def test_force_moves_a_field_to_who_forces() -> None:
    live = applied(None, config_map({"k": "v"}), "first")
    forced = applied(live, config_map({"k": "w"}), force=True)
    assert forced["data"] == {"k": "w"}
    assert owners_of(forced) == {"m Apply": {"f:data": {"f:k": {}}}}


def test_an_update_takes_fields_from_who_applied_them() -> None:
    live = applied(None, config_map({"k": "v", "l": "v"}))
    written = updated(live, {**live, "data": {"k": "w", "l": "v"}})
    assert owners_of(written) == {
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
    dropped = applied(applied(None, first), then)
    assert dropped.get("data") == left


def test_what_another_still_owns_stays() -> None:
    live = applied(applied(None, config_map({"a": "1"}), "other"), config_map({"a": "1"}))
    assert applied(live, config_map())["data"] == {"a": "1"}


def test_an_item_is_removed_with_the_defaults_in_it() -> None:
    live = applied(None, pod({"name": "a"}, {"name": "b"}))
    defaulted = copied(live)
    for container in defaulted["spec"]["containers"]:
        container["imagePullPolicy"] = "Always"
    dropped = applied(defaulted, pod({"name": "a"}))
    assert dropped["spec"]["containers"] == [{"name": "a", "imagePullPolicy": "Always"}]


def test_who_owns_nothing_any_more_is_forgotten() -> None:
    live = applied(None, config_map({"a": "1"}), "other")
    live = applied(live, config_map({"b": "1"}))
    assert list(owners_of(applied(live, config_map()))) == ["other Apply"]


def test_time_moves_only_where_something_changed() -> None:
    live = applied(None, config_map({"a": "1"}), now="t1")
    again = applied(live, config_map({"a": "1"}), now="t2")
    assert again == live
    changed = applied(live, config_map({"a": "2"}), now="t2")
    assert changed["metadata"]["managedFields"][0]["time"] == "t2"
    untouched = updated(live, live, now="t3")
    assert untouched["metadata"]["managedFields"] == live["metadata"]["managedFields"]


def test_an_object_that_nobody_owns_was_there_before_the_firsttry_apply() -> None:
    result = applied(config_map({"k": "v"}), config_map({"l": "w"}))
    assert owners_of(result) == {
        "m Apply": {"f:data": {"f:l": {}}},
        "before-first-apply Update": {"f:data": {".": {}, "f:k": {}}},
    }
    refused = try_apply(config_map({"k": "v"}), config_map({"k": "w"}))
    assert isinstance(refused, Conflicts)
    assert refused.message.endswith('conflict with "before-first-apply" using v1: .data.k')


@pytest.mark.parametrize("entries", [[], [{}]])
def test_an_update_can_forget_all_owners_and_then_nothing_is_tracked(entries: list[Json]) -> None:
    live = applied(None, config_map({"k": "v"}))
    cleared = config_map({"k": "v"}, managedFields=entries)
    forgotten = updated(live, cleared)
    assert forgotten["metadata"]["managedFields"] == []
    assert updated(forgotten, config_map({"k": "w"}))["metadata"]["managedFields"] == []


def test_an_update_without_managed_fields_keeps_theowners_of() -> None:
    live = applied(None, config_map({"k": "v"}))
    assert owners_of(updated(live, config_map({"k": "v"}))) == owners_of(live)


def test_the_oldest_of_too_many_updaters_become_one() -> None:
    live = updated(None, config_map({"0": ""}), "u0", now="t00")
    for number in range(1, 12):
        data = {**live["data"], str(number): ""}
        live = updated(live, {**live, "data": data}, f"u{number}", now=f"t{number:02}")
    owners = owners_of(live)
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
        try_apply(None, {**config_map(), **applied})
    assert str(refusal.value) == said


def test_a_text_of_null_is_empty_and_a_field_of_null_is_not_there() -> None:
    result = applied(None, config_map({"k": None}, labels=None))
    assert bare(result) == config_map({"k": ""})


_LAST = "kubectl.kubernetes.io/last-applied-configuration"


def test_kubectl_takes_over_from_its_client_side_apply_and_no_other_may() -> None:
    said = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}'
    live = updated(None, config_map({"k": "v"}, annotations={_LAST: said}), "kubectl-client")
    assert isinstance(try_apply(live, config_map({"k": "w"}), "m"), Conflicts)
    taken = applied(live, config_map({"k": "w"}), "kubectl")
    assert taken["data"] == {"k": "w"}
    assert taken["metadata"]["annotations"][_LAST] == (
        '{"apiVersion":"v1","data":{"k":"w"},"kind":"ConfigMap","metadata":{"name":"a"}}\n'
    )


def test_kubectl_does_not_take_over_what_others_changed_since() -> None:
    said = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}'
    live = updated(None, config_map({"k": "x"}, annotations={_LAST: said}))
    assert isinstance(try_apply(live, config_map({"k": "w"}), "kubectl"), Conflicts)


def test_times_alone_are_no_difference() -> None:
    live = applied(None, config_map({"k": "v"}), now="t1")
    later = copied(live)
    later["metadata"]["managedFields"][0]["time"] = "t2"
    assert same_but_times(live, later)
    assert not same_but_times(live, applied(live, config_map({"k": "w"})))
