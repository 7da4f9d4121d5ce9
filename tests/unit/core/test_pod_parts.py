"""Walks yield what has the right shape and pass over the rest."""

import pytest

from reconciler.core.pod_parts import child, containers, entries, handlers, is_sidecar, text


@pytest.mark.parametrize("value", [None, 1, "a", [], {"a": None}, {"a": {"b": 1}}])
def test_what_is_not_a_mapping_is_an_empty_one(value: object) -> None:
    assert child(value, "a", "b") == {}


def test_only_mappings_of_a_list_are_entries() -> None:
    found = list(entries({"x": [1, {"a": 1}, None, {}]}, "x", ("spec",)))

    assert found == [(("spec", "x", 1), {"a": 1}), (("spec", "x", 3), {})]


def test_init_containers_come_first_as_they_start_first() -> None:
    spec = {"containers": [{"name": "b"}], "initContainers": [{"name": "a"}]}

    assert [path for path, _ in containers(spec)] == [("initContainers", 0), ("containers", 0)]


def test_every_probe_and_hook_is_a_handler() -> None:
    container = {"startupProbe": {}, "livenessProbe": 1, "lifecycle": {"preStop": {}}}

    assert [path for path, _ in handlers(container, ())] == [
        ("startupProbe",),
        ("lifecycle", "preStop"),
    ]


def test_a_sidecar_is_an_init_container_that_always_restarts() -> None:
    assert is_sidecar(("initContainers", 0), {"restartPolicy": "Always"})
    assert not is_sidecar(("initContainers", 0), {})


def test_what_is_not_text_is_none() -> None:
    assert text({"a": 1}, "a") == ""
