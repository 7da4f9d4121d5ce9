"""What is large in a record comes back as it was, or is told to be damaged."""

import base64
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core import demand
from reconciler.core.record_packing import MOST_SPEC_BYTES, packed, restored, squeezed, unpacked


@given(st.text())
def test_a_spec_comes_back_as_it_was(text: str) -> None:
    assert unpacked(packed(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("%%", id="no base64"),
        pytest.param(packed("a spec")[:-4], id="cut off"),
        pytest.param(packed("x" * (MOST_SPEC_BYTES + 1)), id="larger than any spec"),
        pytest.param(base64.b64encode(zlib.compress(b"\xff")).decode(), id="no text"),
    ],
)
def test_a_spec_that_cannot_be_read_says_so(text: str) -> None:
    with pytest.raises(ValueError, match=r"cannot be read|decode"):
        unpacked(text)


def test_a_demand_that_cannot_be_read_is_lost() -> None:
    known = demand.encode({2_000_000: 7})
    assert restored(squeezed(known)) == known
    for text in ("%%", 7, None, squeezed(b"\xff" * 30)):
        assert restored(text) == b""
