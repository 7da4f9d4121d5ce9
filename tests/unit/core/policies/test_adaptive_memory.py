"""What the adaptive policy remembers comes back whole, or is forgotten whole."""

import struct

import numpy as np
import pytest

from reconciler.core.policies.adaptive_memory import LENGTH, VERSION, decode, encode


def test_nothing_is_remembered_at_first() -> None:
    assert decode(b"").is_new


def test_what_was_written_comes_back_and_is_a_few_kib() -> None:
    memory = decode(b"")
    memory.clock[0] = 17.0
    memory.levels[1, 3] = 0.25
    memory.exposed[-1] = 4.0
    kept = encode(memory)

    assert len(kept) <= 5 * 1024
    again = decode(kept)
    assert not again.is_new
    assert (again.levels[1, 3], again.exposed[-1]) == (0.25, 4.0)
    assert encode(again) == kept


def test_two_memories_of_the_same_bytes_share_nothing() -> None:
    kept = encode(decode(b""))
    one, other = decode(kept), decode(kept)
    one.needs[:] = 9.0

    assert np.all(other.needs == 0.0)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"short", id="too short"),
        pytest.param(bytes(8 * LENGTH), id="no version"),
        pytest.param(struct.pack(f"<{LENGTH}d", 9.0, *[1.0] * (LENGTH - 1)), id="a later version"),
        pytest.param(
            struct.pack(f"<{LENGTH}d", VERSION, float("nan"), *[1.0] * (LENGTH - 2)), id="no number"
        ),
    ],
)
def test_strange_bytes_are_forgotten(data: bytes) -> None:
    assert decode(data).is_new
