"""What the API server would refuse of a pod is found before it is asked."""

import pytest

from reconciler.core.podspec import check_pod_spec
from tests.unit.core.reading import container, loaded, pod, rules

IN_POD = [
    pytest.param("nodeName: a", "nodeName", "reserved-property", id="a node of its own"),
    pytest.param("serviceAccountName: a", "serviceAccountName", "reserved-property", id="account"),
    pytest.param("ephemeralContainers: [{name: a}]", "ephemeralContainers", "reserved-property",
                 id="containers for running pods"),
    pytest.param("volumes: [{name: a, emptyDir: {}}, {name: a, emptyDir: {}}]", "volumes.1.name",
                 "duplicate", id="a volume twice"),
    pytest.param("volumes: [{name: a}]", "volumes.0", "one-of", id="a volume without source"),
    pytest.param("tolerations: [{key: a, value: b, tolerationSeconds: 5}]", "tolerations.0",
                 "one-of", id="seconds of a toleration that nothing ends"),
    pytest.param("dnsPolicy: None", "dnsPolicy", "one-of", id="no name server at all"),
    pytest.param("volumes: [{name: a, emptyDir: {}, configMap: {name: b}}]", "volumes.0", "one-of",
                 id="a volume with two sources"),
    pytest.param("initContainers: [{name: game}]", "containers.0.name", "duplicate",
                 id="an init container of the same name"),
    pytest.param("initContainers: [{name: a, livenessProbe: {exec: {command: [x]}}}]",
                 "initContainers.0.livenessProbe", "init-container", id="a probe of what ends"),
    pytest.param("tolerations: [{key: a, operator: Exists, value: b}]", "tolerations.0.value",
                 "one-of", id="a toleration with a value too many"),
    pytest.param("tolerations: [{effect: NoSchedule}]", "tolerations.0", "missing-property",
                 id="a toleration without key"),
    pytest.param("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                 "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}}}",
                 "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                 "nodeSelectorTerms.0.matchExpressions.0", "one-of", id="In without values"),
    pytest.param("affinity: {podAffinity: {x: {key: a, operator: Exists, values: [b]}}}",
                 "affinity.podAffinity.x.values", "one-of", id="Exists with values"),
]  # fmt: skip

IN_CONTAINER = [
    pytest.param("env: [{name: A}, {name: A}]", "env.1.name", "duplicate", id="a variable twice"),
    pytest.param("env: [{name: A, valueFrom: {}}]", "env.0.valueFrom", "one-of", id="no source"),
    pytest.param("env: [{name: A, value: x, valueFrom: {fieldRef: {fieldPath: a}}}]", "env.0",
                 "one-of", id="a value and a source"),
    pytest.param("envFrom: [{prefix: A}]", "envFrom.0", "one-of", id="variables from nowhere"),
    pytest.param("volumeMounts: [{name: a, mountPath: /x}, {name: b, mountPath: /x}]",
                 "volumeMounts.1.mountPath", "duplicate", id="two volumes in one place"),
    pytest.param("ports: [{name: a, containerPort: 1}, {name: a, containerPort: 2}]",
                 "ports.1.name", "duplicate", id="a port name twice"),
    pytest.param("ports: [{containerPort: 1}, {containerPort: 1, protocol: TCP}]",
                 "ports.1.containerPort", "duplicate-port", id="a port twice"),
    pytest.param("livenessProbe: {}", "livenessProbe", "one-of", id="a probe that does nothing"),
    pytest.param("livenessProbe: {exec: {command: [x]}, grpc: {port: 1}}", "livenessProbe",
                 "one-of", id="a probe that does two things"),
    pytest.param("livenessProbe: {exec: {command: [x]}, successThreshold: 2}",
                 "livenessProbe.successThreshold", "range", id="a second success to be alive"),
    pytest.param("lifecycle: {preStop: {grpc: {port: 1}}}", "lifecycle.preStop", "one-of",
                 id="a hook that hooks cannot do"),
    pytest.param("resources: {requests: {memory: 2Gi}, limits: {memory: 2047Mi}}",
                 "resources.requests.memory", "range", id="more than its limit"),
    pytest.param("resources: {requests: {memroy: 1Gi}}", "resources.requests.memroy", "resource",
                 id="a resource with a typo"),
    pytest.param("resources: {limits: {cpu: -1}}", "resources.limits.cpu", "range", id="below 0"),
]  # fmt: skip

SOUND = [
    pytest.param("resources: {limits: {example.com/gpu: 1, hugepages-2Mi: 4Mi}}", id="extended"),
    pytest.param("ports: [{containerPort: 1}, {containerPort: 1, protocol: UDP}]", id="a pair"),
    pytest.param("resources: {requests: {memory: 1Gi}, limits: {memory: 1024Mi}}", id="equal"),
    pytest.param("resources: {requests: {memory: oops}, limits: {memory: 1}}", id="told elsewhere"),
    pytest.param("env: [{name: A, value: ''}, {name: B, valueFrom: {fieldRef: {}}}]", id="env"),
    pytest.param("lifecycle: {preStop: {sleep: {seconds: 1}}}", id="a hook"),
]


@pytest.mark.parametrize(("text", "path", "rule"), IN_POD)
def test_a_pod_may_not_have(text: str, path: str, rule: str) -> None:
    assert rules(check_pod_spec(pod(**loaded(text)))) == {(path, rule)}


@pytest.mark.parametrize(("text", "path", "rule"), IN_CONTAINER)
def test_a_container_may_not_have(text: str, path: str, rule: str) -> None:
    spec = pod(containers=[container(**loaded(text))])

    assert rules(check_pod_spec(spec)) == {(f"containers.0.{path}", rule)}


@pytest.mark.parametrize("text", SOUND)
def test_a_container_may_have(text: str) -> None:
    assert rules(check_pod_spec(pod(containers=[container(**loaded(text))]))) == set()


def test_ports_are_shared_by_the_containers_of_a_pod() -> None:
    port = [{"containerPort": 1}]
    spec = pod(containers=[container(ports=port), container(name="b", ports=port)])

    assert rules(check_pod_spec(spec)) == {("containers.1.ports.0.containerPort", "duplicate-port")}


def test_a_sidecar_may_have_probes() -> None:
    probe = {"exec": {"command": ["x"]}}
    sidecar = container(name="b", restartPolicy="Always", startupProbe=probe)

    assert rules(check_pod_spec(pod(initContainers=[sidecar]))) == set()


@pytest.mark.parametrize("value", [None, 1, "x", [], [1], {}, {"a": 1}])
@pytest.mark.parametrize(
    "name", ["containers", "volumes", "affinity", "tolerations", "initContainers"]
)
def test_misshapen_parts_are_left_to_the_schema(name: str, value: object) -> None:
    for mistake in check_pod_spec(pod(**{name: value})):
        assert mistake.path[0] == name
