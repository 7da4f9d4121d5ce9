"""References inside a template lead somewhere, or the nearest name is told."""

import pytest

from reconciler.core.references import check_references
from tests.unit.core.reading import container, loaded, pod, rules

LOST = [
    pytest.param("volumeMounts: [{name: mapss, mountPath: /x}]", "volumeMounts.0.name",
                 id="a mount of no volume"),
    pytest.param("volumeDevices: [{name: disk, devicePath: /x}]", "volumeDevices.0.name",
                 id="a device of no volume"),
    pytest.param("volumeDevices: [{name: maps, devicePath: /x}]", "volumeDevices.0.name",
                 id="a device of a volume that is no claim"),
    pytest.param("readinessProbe: {httpGet: {port: gane}}", "readinessProbe.httpGet.port",
                 id="a probe of no port"),
    pytest.param("lifecycle: {preStop: {tcpSocket: {port: gane}}}",
                 "lifecycle.preStop.tcpSocket.port", id="a hook of no port"),
    pytest.param("resources: {claims: [{name: gpu}]}", "resources.claims.0.name", id="no claim"),
    pytest.param("env: [{name: A, valueFrom: {resourceFieldRef: {containerName: gamee}}}]",
                 "env.0.valueFrom.resourceFieldRef.containerName", id="no container"),
]  # fmt: skip
SPEC = {"volumes": [{"name": "maps", "emptyDir": {}}]}
PORTS = [{"name": "game", "containerPort": 1}]


@pytest.mark.parametrize(("text", "path"), LOST)
def test_a_reference_leads_nowhere(text: str, path: str) -> None:
    spec = pod(containers=[container(ports=PORTS, **loaded(text))], **SPEC)

    assert rules(check_references(spec)) == {(f"containers.0.{path}", "reference")}


def test_the_nearest_name_is_told_else_those_that_there_are() -> None:
    mounts = [{"name": "mapss", "mountPath": "/x"}, {"name": "zz", "mountPath": "/y"}]
    near, far = check_references(pod(containers=[container(volumeMounts=mounts)], **SPEC))

    assert near.fix == 'did you mean "maps"?'
    assert far.fix == "volumes here: maps"


def test_a_port_number_needs_no_declared_port_but_must_be_one() -> None:
    good = container(readinessProbe={"httpGet": {"port": 8080}})
    bad = container(readinessProbe={"tcpSocket": {"port": 0}})

    assert rules(check_references(pod(containers=[good]))) == set()
    assert rules(check_references(pod(containers=[bad]))) == {
        ("containers.0.readinessProbe.tcpSocket.port", "range")
    }
