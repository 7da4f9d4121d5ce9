from decimal import Decimal

import pytest

from reconciler.kube.json_types import Json
from reconciler.kube.resources import host_ports, host_ports_clash, qos_class, requests


def _container(cpu: str, **more: object) -> Json:
    return {"name": "c", "resources": {"requests": {"cpu": cpu}}, **more}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        pytest.param({"containers": [_container("1"), _container("500m")]}, "1.5", id="a sum"),
        pytest.param(
            {"containers": [_container("1")], "initContainers": [_container("3")]},
            "3",
            id="an init container runs alone",
        ),
        pytest.param(
            {
                "containers": [_container("1")],
                "initContainers": [_container("2", restartPolicy="Always"), _container("1")],
            },
            "3",
            id="a sidecar runs on beside the containers",
        ),
        pytest.param(
            {
                "containers": [_container("1")],
                "initContainers": [_container("2", restartPolicy="Always"), _container("4")],
            },
            "6",
            id="an init container runs beside the sidecars before it",
        ),
        pytest.param(
            {
                "containers": [_container("1")],
                "initContainers": [_container("4"), _container("2", restartPolicy="Always")],
            },
            "4",
            id="a sidecar does not run beside the init containers before it",
        ),
        pytest.param(
            {"containers": [_container("1")], "overhead": {"cpu": "250m"}},
            "1.25",
            id="overhead is added",
        ),
        pytest.param(
            {"containers": [{"resources": {"limits": {"cpu": "2"}}}]}, "2", id="a limit asks too"
        ),
        pytest.param(
            {"containers": [_container("1")], "resources": {"requests": {"cpu": "5"}}},
            "5",
            id="what the pod asks as a whole counts",
        ),
    ],
)
def test_the_scheduler_sets_aside(spec: Json, cpu: str) -> None:
    assert requests(spec)["cpu"] == Decimal(cpu)


def test_a_pod_that_asks_nothing_takes_nothing() -> None:
    assert requests({"containers": [{"name": "c"}]}) == {}


def _port(**port: object) -> Json:
    return {"name": "c", "ports": [port]}


@pytest.mark.parametrize(
    ("spec", "taken"),
    [
        pytest.param({"containers": [_port(containerPort=80)]}, [], id="no host port"),
        pytest.param(
            {"containers": [_port(containerPort=80, hostPort=7000)]},
            [(7000, "TCP", "0.0.0.0")],
            id="TCP on every address is the default",
        ),
        pytest.param(
            {"containers": [_port(containerPort=80, hostPort=7, protocol="UDP", hostIP="::1")]},
            [(7, "UDP", "::1")],
            id="protocol and address are kept",
        ),
        pytest.param(
            {"hostNetwork": True, "containers": [_port(containerPort=80)]},
            [(80, "TCP", "0.0.0.0")],
            id="on the host's network every port is a host port",
        ),
        pytest.param(
            {"initContainers": [_port(containerPort=80, hostPort=7000)]},
            [],
            id="an init container has ended",
        ),
        pytest.param(
            {
                "initContainers": [
                    {**_port(containerPort=80, hostPort=7), "restartPolicy": "Always"}
                ]
            },
            [(7, "TCP", "0.0.0.0")],
            id="a sidecar goes on",
        ),
    ],
)
def test_a_pod_takes_host_ports(spec: Json, taken: list[tuple[int, str, str]]) -> None:
    assert host_ports(spec) == frozenset(taken)


@pytest.mark.parametrize(
    ("other", "is_clash"),
    [
        pytest.param((7000, "UDP", "0.0.0.0"), True, id="every address holds each"),
        pytest.param((7000, "UDP", "10.0.0.1"), True, id="the same address"),
        pytest.param((7000, "UDP", "10.0.0.2"), False, id="another address"),
        pytest.param((7000, "TCP", "10.0.0.1"), False, id="another protocol"),
        pytest.param((7001, "UDP", "10.0.0.1"), False, id="another port"),
    ],
)
def test_host_ports_clash(other: tuple[int, str, str], is_clash: bool) -> None:
    mine = frozenset({(7000, "UDP", "10.0.0.1")})
    assert host_ports_clash(mine, frozenset({other})) is is_clash
    assert host_ports_clash(frozenset({other}), mine) is is_clash


_FULL = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("spec", "quality"),
    [
        pytest.param({"containers": [{"name": "c"}]}, "BestEffort", id="nothing asked"),
        pytest.param({"containers": [_container("0")]}, "BestEffort", id="zero is nothing"),
        pytest.param({"containers": [_container("1")]}, "Burstable", id="a request only"),
        pytest.param({"containers": [{"resources": {"limits": _FULL}}]}, "Guaranteed", id="limits"),
        pytest.param(
            {"containers": [{"resources": {"limits": _FULL, "requests": {"cpu": "1000m"}}}]},
            "Guaranteed",
            id="requests of the same amount",
        ),
        pytest.param(
            {"containers": [{"resources": {"limits": _FULL, "requests": {"cpu": "500m"}}}]},
            "Burstable",
            id="requests below the limits",
        ),
        pytest.param(
            {"containers": [{"resources": {"limits": _FULL}}, {"name": "d"}]},
            "Burstable",
            id="one container without limits",
        ),
        pytest.param(
            {
                "containers": [{"resources": {"limits": _FULL}}],
                "initContainers": [_container("1")],
            },
            "Burstable",
            id="init containers count",
        ),
        pytest.param(
            {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
            "BestEffort",
            id="only processor and memory count",
        ),
    ],
)
def test_the_quality_of_service(spec: Json, quality: str) -> None:
    assert qos_class(spec) == quality
