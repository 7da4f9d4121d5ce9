from typing import Any

import pytest

from reconciler.kube.diff import Difference, left_scoped
from reconciler.kube.json_types import MISSING, Json
from tests.unit.kube.definitions import config_map, pod, schema_of


def _differences(desired: Json, live: Json) -> list[Difference]:
    return list(left_scoped(desired, live, schema_of(desired)))


@pytest.mark.parametrize(
    ("desired", "live"),
    [
        pytest.param({"nodeName": "n"}, {"nodeName": "n", "priority": 0}, id="a defaulted field"),
        pytest.param(
            {"containers": [{"name": "b"}, {"name": "a"}]},
            {"containers": [{"name": "a", "image": "i"}, {"name": "injected"}, {"name": "b"}]},
            id="items of others, in another order",
        ),
        pytest.param(
            {"containers": [{"name": "a", "ports": [{"containerPort": 80}]}]},
            {"containers": [{"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP"}]}]},
            id="a key with its default",
        ),
        pytest.param(
            {"overhead": {"cpu": "1000m", "memory": 1024}},
            {"overhead": {"cpu": "1", "memory": "1Ki"}},
            id="an amount in another notation",
        ),
        pytest.param(
            {"volumes": [], "nodeSelector": {}}, {}, id="empty lists and maps are dropped"
        ),
        pytest.param({"nodeName": None}, {}, id="null asks for nothing"),
        pytest.param(
            {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1024Mi"}}]},
            {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi", "medium": ""}}]},
            id="an amount deep inside",
        ),
    ],
)
def test_no_difference(desired: Json, live: Json) -> None:
    assert _differences(pod(**desired), pod(**live)) == []


@pytest.mark.parametrize(
    ("desired", "live", "path", "wanted", "found"),
    [
        pytest.param({"nodeName": "n"}, {"nodeName": "m"}, ".spec.nodeName", "n", "m", id="value"),
        pytest.param({"nodeName": "n"}, {}, ".spec.nodeName", "n", MISSING, id="a missing field"),
        pytest.param({"nodeName": None}, {"nodeName": "m"}, ".spec.nodeName", None, "m", id="null"),
        pytest.param(
            {"hostNetwork": True}, {"hostNetwork": 1}, ".spec.hostNetwork", True, 1, id="no number"
        ),
        pytest.param(
            {"securityContext": {}}, {}, ".spec.securityContext", {}, MISSING, id="an empty struct"
        ),
        pytest.param(
            {"containers": [{"name": "a", "image": "i:2"}]},
            {"containers": [{"name": "b"}, {"name": "a", "image": "i:1"}]},
            '.spec.containers[name="a"].image',
            "i:2",
            "i:1",
            id="a field of an item",
        ),
        pytest.param(
            {"containers": [{"name": "a"}]},
            {"containers": [{"name": "b"}]},
            '.spec.containers[name="a"]',
            {"name": "a"},
            MISSING,
            id="a missing item",
        ),
        pytest.param(
            {"nodeSelector": {"a": "1"}},
            {"nodeSelector": {"a": "1", "b": "2"}},
            ".spec.nodeSelector",
            {"a": "1"},
            {"a": "1", "b": "2"},
            id="an atomic map is compared whole",
        ),
        pytest.param(
            {"tolerations": [{"key": "a"}]},
            {"tolerations": [{"key": "a"}, {"key": "b"}]},
            ".spec.tolerations",
            [{"key": "a"}],
            [{"key": "a"}, {"key": "b"}],
            id="an atomic list is compared whole",
        ),
        pytest.param(
            {"overhead": {"cpu": "1"}},
            {"overhead": {"cpu": "2"}},
            ".spec.overhead.cpu",
            "1",
            "2",
            id="another amount",
        ),
    ],
)
def test_a_difference_names_field_and_values(
    desired: Json, live: Json, path: str, wanted: Any, found: Any
) -> None:
    assert _differences(pod(**desired), pod(**live)) == [Difference(path, wanted, found)]


def test_sets_are_compared_as_sets() -> None:
    live = config_map(finalizers=["a/x", "a/y"])
    assert _differences(config_map(finalizers=["a/y"]), live) == []
    assert _differences(config_map(finalizers=["a/z"]), live) == [
        Difference('.metadata.finalizers[="a/z"]', "a/z", MISSING)
    ]


def test_all_differences_are_told() -> None:
    desired = config_map({"a": "1", "b": "2"}, labels={"l": "1"})
    assert [one.path for one in _differences(desired, config_map({"a": "9"}))] == [
        ".metadata.labels",
        ".data.a",
        ".data.b",
    ]
