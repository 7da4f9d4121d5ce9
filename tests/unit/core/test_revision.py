"""A revision names what is asked for, not how it is written; released hashes never change.

GAMEKEEPER_UPDATE_GOLDEN=1 adds new cases to revisions.json; it never rewrites a known one.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.revision import revision_of
from reconciler.core.yaml_strict import parse_file
from reconciler.model.refs import Json
from tests.unit.core.reading import container, loaded, pod

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "revisions.json"


def of(text: str, **spec: Any) -> str:
    return revision_of({"spec": pod(containers=[container(**loaded(text))], **spec)})


SAME = [
    pytest.param("resources: {requests: {cpu: 1000m}}", "resources: {requests: {cpu: 1}}",
                 id="a quantity in other units"),
    pytest.param("resources: {limits: {memory: 1Gi}}", "resources: {limits: {memory: 1024Mi}}",
                 id="a quantity in other multiples"),
    pytest.param("env: []", "{}", id="an empty list"),
    pytest.param("securityContext: {capabilities: {}}", "{}", id="empty maps in each other"),
    pytest.param("workingDir: null", "{}", id="nothing"),
    pytest.param("{tty: true, stdin: true}", "{stdin: true, tty: true}", id="the order of keys"),
    pytest.param("env: [{name: A, valueFrom: {resourceFieldRef: {resource: a, divisor: 1k}}}]",
                 "env: [{name: A, valueFrom: {resourceFieldRef: {resource: a, divisor: 1000}}}]",
                 id="a divisor"),
]  # fmt: skip
OTHER = [
    pytest.param("image: a", "image: b", id="another image"),
    pytest.param("args: [a, b]", "args: [b, a]", id="the order of arguments"),
    pytest.param(
        "env: [{name: A, value: '1000m'}]",
        "env: [{name: A, value: '1'}]",
        id="text that only looks like a quantity",
    ),
    pytest.param("env: [{name: A, value: ''}]", "env: [{name: A}, {name: B}]", id="a variable"),
    pytest.param(
        "resources: {requests: {cpu: 1}}",
        "resources: {limits: {cpu: 1}}",
        id="a limit for a request",
    ),
    pytest.param("tty: false", "{}", id="a default that is written out"),
    pytest.param("tty: true", "tty: false", id="a switch"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_wish_has_the_same_revision(one: str, other: str) -> None:
    assert of(one) == of(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another_wish_has_another_revision(one: str, other: str) -> None:
    assert of(one) != of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"volumes": [{"name": "a", "emptyDir": {}}]},
                     {"volumes": [{"name": "a", "downwardAPI": {}}]}, id="the source of a volume"),
        pytest.param({"topologySpreadConstraints": [{"labelSelector": {}}]},
                     {"topologySpreadConstraints": [{}]}, id="a selector of everything"),
    ],
)  # fmt: skip
def test_an_empty_map_that_says_something_counts(one: Json, other: Json) -> None:
    assert of("{}", **one) != of("{}", **other)


def test_sizes_of_volumes_are_quantities() -> None:
    def sized(size: str) -> str:
        return of("{}", volumes=[{"name": "a", "emptyDir": {"sizeLimit": size}}])

    assert sized("1Gi") == sized("1024Mi")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=4))
def test_the_order_of_keys_never_counts(template: Json) -> None:
    assert revision_of(template) == revision_of(dict(reversed(template.items())))


def test_released_hashes_are_kept() -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.is_file() else {}
    found = {}
    for path in sorted((ROOT / "examples" / "good").rglob("*.yaml")):
        for document in parse_file(path.name, path.read_bytes()).documents:
            if document.value["kind"] == "Scheduler":
                template = document.value["spec"]["template"]
                name = f"{path.parent.parent.name}/{document.value['metadata']['name']}"
                found[name] = {"revision": revision_of(template), "template": template}
    if os.environ.get("GAMEKEEPER_UPDATE_GOLDEN") == "1":
        golden = found | golden
        GOLDEN.write_text(json.dumps(golden, indent=1, sort_keys=True) + "\n", encoding="utf-8")

    assert golden.keys() >= found.keys()
    assert {name: revision_of(case["template"]) for name, case in golden.items()} == {
        name: case["revision"] for name, case in golden.items()
    }
