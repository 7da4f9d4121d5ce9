"""Every control of the Pod Security level `restricted` beyond `baseline`, and what it allows."""

import json
from pathlib import Path
from typing import Any

import pytest

from reconciler.core.template_check import check_template
from reconciler.model.refs import Json
from tests.unit.core.reading import container, kit, loaded, pod, rules

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples/good/a-restricted-room/schedulers/arena.yaml"
TIGHT = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
SAFE = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


def tight(context: Any = None, **properties: Any) -> Json:
    """Return a container with all that only containers can have, and more of its own."""
    return container(securityContext={**TIGHT, **(context or {})}, **properties)


def safe(containers: list[Json] | None = None, **properties: Any) -> Json:
    """Return the spec of a pod that keeps `restricted`, with some properties of its own."""
    return pod(**{"securityContext": SAFE, "containers": containers or [tight()], **properties})


def of(text: str) -> Json:
    """Return that pod with other properties, written in YAML."""
    return safe(**loaded(text))


def inside(text: str) -> Json:
    """Return that pod with a container whose context has other properties, written in YAML."""
    return safe([tight(loaded(text))])


CONTEXT = "containers.0.securityContext"
NO_USER = "securityContext: {seccompProfile: {type: RuntimeDefault}}"
NO_PROFILE = "securityContext: {runAsNonRoot: true}"
REFUSED = [
    pytest.param(of(f"volumes: [{{name: a, {kind}}}]"), [f"volumes.0.{kind.split(':')[0]}"],
                 id=kind.split(":")[0])
    for kind in (
        "hostPath: {path: /}", "nfs: {server: a, path: /}", "gitRepo: {repository: a}",
        "iscsi: {targetPortal: a, iqn: iqn.2001-04.com.example:a, lun: 0}",
        "fc: {lun: 0, targetWWNs: [a]}",
        "flexVolume: {driver: a/b}", "azureFile: {shareName: a, secretName: a}",
        "awsElasticBlockStore: {volumeID: a}",
    )
] + [
    pytest.param(inside("allowPrivilegeEscalation: true"),
                 [f"{CONTEXT}.allowPrivilegeEscalation"], id="an escalation"),
    pytest.param(inside("allowPrivilegeEscalation: null"),
                 [f"{CONTEXT}.allowPrivilegeEscalation"], id="an escalation that is not ruled out"),
    pytest.param(inside("capabilities: null"), [f"{CONTEXT}.capabilities.drop"],
                 id="capabilities that are not dropped"),
    pytest.param(inside("capabilities: {drop: [NET_RAW]}"), [f"{CONTEXT}.capabilities.drop"],
                 id="not all are dropped"),
    pytest.param(inside("capabilities: {drop: [ALL], add: [NET_BIND_SERVICE, CHOWN]}"),
                 [f"{CONTEXT}.capabilities.add.1"], id="one that baseline allows"),
    pytest.param(inside("capabilities: {drop: [ALL], add: [SYS_ADMIN]}"),
                 [f"{CONTEXT}.capabilities.add.0"], id="one that baseline forbids"),
    pytest.param(inside("runAsNonRoot: false"), [f"{CONTEXT}.runAsNonRoot"], id="maybe root"),
    pytest.param(inside("runAsUser: 0"), [f"{CONTEXT}.runAsUser"], id="root"),
    pytest.param(inside("seccompProfile: {type: Unconfined}"),
                 [f"{CONTEXT}.seccompProfile.type"], id="no profile"),
    pytest.param(safe([tight({"procMount": "Unmasked"})], hostUsers=False),
                 [f"{CONTEXT}.procMount"], id="proc unmasked among users of its own"),
    pytest.param(of(NO_USER), [f"{CONTEXT}.runAsNonRoot"], id="a user that nobody rules out"),
    pytest.param(of("securityContext: {runAsNonRoot: false, seccompProfile: {type: Localhost, "
                    "localhostProfile: a}}"), ["securityContext.runAsNonRoot"], id="a pod as root"),
    pytest.param(of("securityContext: {runAsNonRoot: true, runAsUser: 0, seccompProfile: {type: "
                    "RuntimeDefault}}"), ["securityContext.runAsUser"], id="a pod of user 0"),
    pytest.param(of(NO_PROFILE), [f"{CONTEXT}.seccompProfile"], id="a profile nobody chose"),
    pytest.param(of("securityContext: {runAsNonRoot: true, seccompProfile: {type: Unconfined}}"),
                 ["securityContext.seccompProfile.type"], id="a pod without profile"),
    pytest.param(safe(initContainers=[container(name="first")]),
                 ["initContainers.0.securityContext.allowPrivilegeEscalation",
                  "initContainers.0.securityContext.capabilities.drop"], id="an init container"),
    pytest.param(of("{os: {name: windows}, containers: [{name: a, image: a}], "
                    "securityContext: null}"),
                 [f"{CONTEXT}.runAsNonRoot"], id="Windows, where any user may be meant"),
]  # fmt: skip
ALLOWED = [
    pytest.param(safe(), id="what is written for it"),
    pytest.param(inside("capabilities: {drop: [ALL], add: [NET_BIND_SERVICE]}"), id="low ports"),
    pytest.param(safe([tight(SAFE)], securityContext=None), id="all of it in the container"),
    pytest.param(inside("{runAsUser: 1000, seccompProfile: {type: Localhost, "
                        "localhostProfile: a}}"), id="a user and a profile of its own"),
    pytest.param(of("volumes: [{name: a, emptyDir: {}}, {name: b, configMap: {name: b}}, "
                    "{name: c, secret: {secretName: c}}, {name: d, projected: {sources: []}}, "
                    "{name: e, downwardAPI: {}}, {name: f, persistentVolumeClaim: {claimName: f}}, "
                    "{name: g, csi: {driver: g}}, {name: h, image: {reference: h}}]"),
                 id="volumes of the cluster's own"),
    pytest.param(of("{os: {name: windows}, containers: [{name: a, image: a}], "
                    "securityContext: {runAsNonRoot: true}}"), id="Windows"),
    pytest.param(safe([tight({"runAsUser": 0})], hostUsers=False,
                      securityContext={"seccompProfile": {"type": "RuntimeDefault"}}),
                 id="root among users of its own"),
]  # fmt: skip


def told(spec: Any, version: str = "1.36") -> set[tuple[str, str]]:
    """What stands against a pod at this level, beside what Kubernetes' schemas say."""
    found = check_template({"spec": spec}, kit().pod_spec(version), "restricted", version)
    return {each for each in rules(found) if each[1] == "pod-security"}


@pytest.mark.parametrize(("spec", "paths"), REFUSED)
def test_restricted_forbids_each_once(spec: Json, paths: list[str]) -> None:
    found = check_template({"spec": spec}, kit().pod_spec("1.36"), "restricted", "1.36")

    expected = sorted(f"spec.{path}" for path in paths)
    assert sorted(".".join(map(str, one.path)) for one in found) == expected
    assert {one.rule for one in found} == {"pod-security"}
    assert all(one.fix for one in found)


@pytest.mark.parametrize("spec", ALLOWED)
def test_restricted_allows(spec: Json) -> None:
    found = check_template({"spec": spec}, kit().pod_spec("1.36"), "restricted", "1.36")

    assert rules(found) == set()


def test_root_among_users_of_its_own_is_allowed_from_the_version_that_says_so() -> None:
    spec = safe([tight({"runAsUser": 0})], hostUsers=False)

    assert told(spec, "1.35") == set()
    assert told(spec, "1.34") == {(f"spec.{CONTEXT}.runAsUser", "pod-security")}


@pytest.mark.parametrize("odd", [{"a": 1}, ["a"], [[]], 7, True, "word", None, {}])
@pytest.mark.parametrize(
    "text",
    [
        "capabilities: {{drop: [{odd}], add: [{odd}]}}", "capabilities: {odd}",
        "seccompProfile: {{type: {odd}}}", "seccompProfile: {odd}",
        "runAsUser: {odd}", "runAsNonRoot: {odd}", "allowPrivilegeEscalation: {odd}",
    ],
)  # fmt: skip
def test_no_odd_value_ends_the_reading(text: str, odd: Any) -> None:
    told(inside(text.format(odd=json.dumps(odd))))
    told(of("volumes: [{name: " + json.dumps(odd) + ", nfs: " + json.dumps(odd) + "}]"))
    told({"containers": odd, "volumes": odd, "securityContext": odd, "os": odd, "hostUsers": odd})


@pytest.mark.parametrize("level", ["baseline", "privileged"])
def test_other_levels_ask_for_none_of_it(level: Any) -> None:
    assert rules(check_template({"spec": pod()}, kit().pod_spec("1.36"), level, "1.36")) == set()


def test_the_example_keeps_it() -> None:
    spec = loaded(EXAMPLE.read_text(encoding="utf-8"))["spec"]["template"]["spec"]

    assert told(spec) == set()
    assert told({**spec, "securityContext": None}) != set()
