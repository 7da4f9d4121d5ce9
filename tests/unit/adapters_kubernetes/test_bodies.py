"""Bodies on their way out."""

import json

import pytest

from reconciler.adapters.kubernetes.answers import encoded
from reconciler.model.errors import Misconfigured
from reconciler.model.holds import HoldKind


def test_a_body_says_what_it_holds() -> None:
    body = {
        "text": 'é"\n\u2028',
        "kind": HoldKind.FOREIGN,
        "numbers": [1, 2.5, -(2**63)],
        "none": None,
    }
    assert json.loads(encoded(body, "create Pod")) == {**body, "kind": "foreign"}


@pytest.mark.parametrize(
    "value",
    [pytest.param(2**70, id="over 64 bits"), pytest.param("\ud800", id="half of a character")],
)
def test_what_no_server_reads_is_named_and_not_sent(value: object) -> None:
    with pytest.raises(Misconfigured, match=r"create Pod arena/arena-0: it cannot be sent"):
        encoded({"metadata": {"annotations": {"a": value}}}, "create Pod arena/arena-0")
