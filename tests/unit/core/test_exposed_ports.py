"""The ports of a template that get a host port, in its order."""

import pytest

from reconciler.core.exposed_ports import container_ports
from reconciler.model.refs import Json


def a_template(*ports: int, beside: tuple[Json, ...] = ()) -> Json:
    game = {"ports": [{"containerPort": port} for port in ports]}
    return {"spec": {"containers": [game, *beside]}}


def test_only_what_is_exposed_gets_a_host_port_in_the_order_of_the_template() -> None:
    template = a_template(9, 7, 8)
    assert container_ports(template, (8, 9, 1)) == (9, 8)
    assert container_ports(template, ()) == ()


@pytest.mark.parametrize(
    ("template", "ports"),
    [
        pytest.param({}, (), id="nothing"),
        pytest.param(a_template(), (), id="no ports"),
        pytest.param(a_template(9, 7, 8), (9, 7, 8), id="ports in their order"),
        pytest.param(a_template(7, 8, 7), (7, 8), id="TCP and UDP of one port are a pair"),
        pytest.param(
            a_template(1, beside=({"name": "b"}, {"ports": None})),
            (1,),
            id="a sidecar without ports",
        ),
    ],
)
def test_container_ports_are(template: Json, ports: tuple[int, ...]) -> None:
    assert container_ports(template) == ports
