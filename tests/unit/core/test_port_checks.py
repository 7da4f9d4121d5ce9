"""Host ports that a room can be given, and those that no room ever could."""

from typing import Any

import pytest

from reconciler.core.port_checks import check_ports
from reconciler.model.findings import Severity
from reconciler.model.refs import Json
from tests.unit.core.reading import rules

NARROW, WIDE = {"start": 5, "end": 5}, {"start": 5, "end": 99}


def asked(kind: str, *ports: object, replicas: int = 10, **more: Any) -> Json:
    container = {"name": "game", "ports": [{"containerPort": port} for port in ports]}
    template = {"spec": {"containers": [container]}}
    return {"kind": kind, "spec": {"replicas": replicas, "template": template, **more}}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        pytest.param(asked("Scheduler", 1, 2), set(), id="no range at all"),
        pytest.param(asked("Scheduler", 1, 2, portRange=None), set(), id="none on purpose"),
        pytest.param(asked("Scheduler", 1, 2, portRange=WIDE), set(), id="a range that suffices"),
        pytest.param(
            asked("Scheduler", 1, 2, portRange=NARROW), {("spec.portRange", "port-range")},
            id="fewer ports than one room wants",
        ),
        pytest.param(
            asked("Scheduler", 1, portRange={"start": 5, "end": 4}), {("spec.portRange", "range")},
            id="backwards",
        ),
        pytest.param(
            asked("Scheduler", 1, 1, portRange=WIDE),
            {("spec.template.spec.containers.0.ports.1.containerPort", "port-range")},
            id="a port that is declared twice",
        ),
        pytest.param(asked("Fleet", 1, 2), set(), id="the usual range of a fleet"),
        pytest.param(asked("Fleet"), set(), id="a fleet without ports that asked for none"),
        pytest.param(
            asked("Fleet", 1, 2, portRange=NARROW, portsToExpose=[2], replicas=1), set(),
            id="only what is exposed is wanted",
        ),
        pytest.param(
            asked("Fleet", 1, 2, portsToExpose=[2, 3]), {("spec.portsToExpose.1", "reference")},
            id="a port to expose that no container has",
        ),
        pytest.param(
            asked("Fleet", 1, "x", portsToExpose=["x", 1.5, 0], portRange={"start": True}), set(),
            id="what the schema tells of",
        ),
    ],
)  # fmt: skip
def test_of_host_ports_is_told(value: Json, found: set[tuple[str, str]]) -> None:
    errors = [one for one in check_ports(value) if one.severity is Severity.ERROR]
    assert rules(errors) == found


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param(
            asked("Scheduler", 1, portRange={"start": 1, "end": 9}),
            "10 rooms want 10 host ports, and the range has 9",
            id="a range for 9 rooms of 10",
        ),
        pytest.param(
            asked("Scheduler", portRange=WIDE),
            "no container of the template has a port, so no host port is given out",
            id="a range for no port",
        ),
        pytest.param(
            asked("Fleet", 1, 2, replicas=6000),
            "6000 rooms want 12000 host ports, and the range has 10001",
            id="the usual range of a fleet",
        ),
        pytest.param(
            asked("Scheduler", 1, portRange=WIDE, autoscaling={"min": 1, "max": 200}),
            "200 rooms (autoscaling.max) want 200 host ports, and the range has 95",
            id="as many as a policy may ask for",
        ),
    ],
)
def test_a_range_that_may_not_suffice_stops_nothing(value: Json, message: str) -> None:
    (found,) = check_ports(value)
    assert found.severity is Severity.WARNING
    assert found.message == message


def test_a_hostile_list_of_ports_is_looked_at_as_far_as_the_schema_lets_it_be() -> None:
    value = asked("Fleet", *range(1, 3000), portsToExpose=[9999] * 30_000, portRange=None)
    found = list(check_ports(value))
    assert len(found) == 100
    assert found[0].fix == "containerPorts here: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12"


@pytest.mark.parametrize(
    "scaling", [{"enabled": False, "max": 200}, {"max": "200"}, {"max": 95}, {"max": 1}]
)
def test_what_no_policy_may_ask_for_wants_no_port(scaling: Json) -> None:
    assert list(check_ports(asked("Scheduler", 1, portRange=WIDE, autoscaling=scaling))) == []


def test_a_fleet_may_expose_nothing() -> None:
    assert list(check_ports(asked("Fleet", 1, portRange=WIDE, portsToExpose=[]))) == []
