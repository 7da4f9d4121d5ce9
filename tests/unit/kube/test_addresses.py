import pytest

from reconciler.kube.addresses import public_address

INSIDE = ("InternalIP", "10.0.0.7")
OUTSIDE = ("ExternalIP", "203.0.113.7")
NAME = ("ExternalDNS", "node-7.studio.example")


@pytest.mark.parametrize(
    ("addresses", "public"),
    [
        pytest.param([INSIDE, NAME, OUTSIDE], "203.0.113.7", id="an external address comes first"),
        pytest.param([INSIDE, NAME], "node-7.studio.example", id="then an external name"),
        pytest.param([("Hostname", "seven"), INSIDE], "10.0.0.7", id="then an internal address"),
        pytest.param(
            [OUTSIDE, ("ExternalIP", "2001:db8::7")], "203.0.113.7", id="the first of two"
        ),
        pytest.param([("ExternalIP", ""), INSIDE], "10.0.0.7", id="an empty one is none"),
        pytest.param([("Hostname", "seven")], "", id="a hostname is no address"),
    ],
)
def test_players_reach_a_node_at_its_most_public_address(
    addresses: list[tuple[str, str]], public: str
) -> None:
    assert public_address(addresses) == public
