"""A template is held to Kubernetes' schemas of the declared version and to our own names."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler import assets
from reconciler.core.pod_rules import POD_SPEC
from reconciler.core.template_check import check_template
from tests.unit.core.reading import container, kit, loaded, paths_of, pod, put, rules

ROOT = Path(__file__).parents[3]


def check(spec: Any, version: str = "1.36", level: Any = "baseline", metadata: Any = None) -> Any:
    template = {"spec": spec, "metadata": metadata or {}}
    return rules(check_template(template, kit().pod_spec(version), level, version))


KUBERNETES = [
    pytest.param("containers: []", "spec.containers", "length", id="no container"),
    pytest.param("restartPolicy: always", "spec.restartPolicy", "enum", id="an unknown policy"),
    pytest.param("dnsPolicy: Clusterfirst", "spec.dnsPolicy", "enum", id="an unknown DNS policy"),
    pytest.param("priority: high", "spec.priority", "type", id="a word for a number"),
    pytest.param("hostnam: a", "spec.hostnam", "unknown-property", id="an unknown property"),
    pytest.param("hostname: A", "spec.hostname", "dns-label", id="a name in capitals"),
    pytest.param("overhead: {cpu: x}", "spec.overhead.cpu", "quantity", id="no quantity"),
    pytest.param("terminationGracePeriodSeconds: -1", "spec.terminationGracePeriodSeconds",
                 "range", id="a time below 0"),
    pytest.param("nodeSelector: {a b: c}", "spec.nodeSelector.a b", "name", id="a bad label key"),
    pytest.param("nodeSelector: {a: b c}", "spec.nodeSelector.a", "name", id="a bad label value"),
    pytest.param("tolerations: [{key: a, operator: equals}]", "spec.tolerations.0.operator",
                 "enum", id="an unknown operator"),
    pytest.param("volumes: [{name: v, emptyDir: {sizeLimit: much}}]",
                 "spec.volumes.0.emptyDir.sizeLimit", "quantity", id="a size that is none"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path", "rule"), KUBERNETES)
def test_kubernetes_would_refuse(text: str, path: str, rule: str) -> None:
    assert check(pod(**loaded(text))) == {(path, rule)}


SHOWCASE = loaded(
    (ROOT / "examples/good/everything-a-pod-can-have/schedulers/showcase.yaml").read_text("utf-8")
)["spec"]["template"]["spec"]
LIBRARY = jsonschema.Draft202012Validator(
    {"$ref": f"#/$defs/{POD_SPEC}", "$defs": assets.kubernetes_definitions("1.36")}
)
WRONG = st.sampled_from([True, 7, "word", ["word"], [], {}, {"unheard": 1}, [{"unheard": 1}]])


def test_a_pod_with_everything_is_sound_to_us_and_to_the_library() -> None:
    assert check(SHOWCASE) == set()
    assert LIBRARY.is_valid(SHOWCASE)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([path for path in paths_of(SHOWCASE) if path]), WRONG)
def test_whatever_the_library_refuses_we_refuse(path: tuple[Any, ...], value: Any) -> None:
    broken = put(SHOWCASE, path, value)

    assert check(broken) or LIBRARY.is_valid(broken)
    found = check_template({"spec": broken}, kit().pod_spec("1.36"), "restricted", "1.36")
    assert [mistake for mistake in found if not mistake.fix] == []


@pytest.mark.parametrize("version", kit().versions)
def test_a_sound_pod_is_sound_in_every_version(version: str) -> None:
    assert check(pod(), version) == set()


def test_a_property_is_known_from_the_version_that_brought_it() -> None:
    hook = container(lifecycle={"preStop": {"sleep": {"seconds": 1}}})
    path = "spec.containers.0.lifecycle.preStop"

    assert check(pod(containers=[hook]), "1.36") == set()
    assert (f"{path}.sleep", "unknown-property") in check(pod(containers=[hook]), "1.25")


def test_plain_containers_have_restart_policies_where_the_version_knows_them() -> None:
    spec = pod(containers=[container(restartPolicy="Never")])

    assert check(spec, "1.36") == set()
    assert check(spec, "1.29") == {("spec.containers.0.restartPolicy", "init-container")}


def test_what_baseline_forbids_may_be_allowed_by_the_process() -> None:
    assert check(pod(hostNetwork=True)) == {("spec.hostNetwork", "pod-security")}
    assert check(pod(hostNetwork=True), level="privileged") == set()


@pytest.mark.parametrize(
    ("part", "name", "value", "rule"),
    [
        pytest.param("labels", "gamekeeper.dev/x", "a", "reserved-property", id="our label"),
        pytest.param("annotations", "gamekeeper.dev/x", "a", "reserved-property", id="ours too"),
        pytest.param("labels", "x.gamekeeper.dev/x", "a", "reserved-property", id="below ours"),
        pytest.param("labels", "a b", "a", "name", id="a key with a space"),
        pytest.param("annotations", "/a", "a", "name", id="a key without its domain"),
        pytest.param("labels", "a", "b c", "name", id="a value with a space"),
    ],
)
def test_metadata_may_not_have(part: str, name: str, value: str, rule: str) -> None:
    assert check(pod(), metadata={part: {name: value}}) == {(f"metadata.{part}.{name}", rule)}


def test_an_annotation_may_say_anything() -> None:
    assert (
        check(pod(), metadata={"annotations": {"example.com/note": "all\nkinds of {text}"}})
        == set()
    )
