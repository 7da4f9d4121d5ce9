"""What policies remember stands on record: it comes back whole, or nothing of it does."""

import random

import numpy as np

from reconciler.core.policies import adaptive_memory, nested_memory
from reconciler.core.policies.adaptive_memory import LENGTH, VERSION
from reconciler.core.policies.sudden_falls import Told, remembered
from tests.fuzz.forging import Forge
from tests.fuzz.playing import Target, search

QUESTION = "https://players.example.com"
NEW = adaptive_memory.encode(adaptive_memory.decode(b""))
ROW = np.linspace(VERSION, 3.0 * VERSION, LENGTH)
STRANGE = (
    *(0.0, -0.0, -1.0, VERSION, VERSION + 1.0, 5e-324, 1e308, -1e308, 2.0**53),
    *(float("inf"), float("-inf"), float("nan")),
)
ROWS = Forge([NEW, ROW.tobytes(), b"short"], (np.float64(VERSION).tobytes(),), 20_000)
PACKED = Forge(
    [
        nested_memory.pack({"0 max": NEW, "1 buffer": b"", "2 schedule": b"abc"}),
        nested_memory.pack({"0 max": nested_memory.pack({"0 max": b"", "1 é": b"m" * 40})}),
        nested_memory.pack({}),
    ],
    (b"\xff\xff", b"\xff\xff\xff\xff", b"\x00\x00\x00\x00\x00\x00", b"0 max"),
    20_000,
)
FALLS = Forge(
    [Told(1.7e9, 40, 400.0).packed(QUESTION), Told(1.7e9, 4, 9.0, 1.7e9, 0.0).packed(QUESTION)],
    tuple(np.float64(number).tobytes() for number in STRANGE),
    200,
)


def row_of(chance: random.Random) -> bytes:
    """Return a row with some of its numbers changed, or with its bytes so."""
    if chance.random() < 0.3:
        return ROWS(chance)
    row = ROW.copy()
    for _ in range(chance.choice((1, 1, 2, 6))):
        row[0 if chance.random() < 0.1 else chance.randrange(LENGTH)] = chance.choice(STRANGE)
    return row.tobytes()


def whole_or_new(data: bytes) -> None:
    """A row of our version that is finite, and its sum too, comes back; any other is forgotten."""
    with np.errstate(all="ignore"):  # It warns of a sum that is none.
        memory = adaptive_memory.decode(data)
    assert memory.row[0] == VERSION
    assert np.isfinite(memory.row).all()
    assert adaptive_memory.encode(memory) in (data, NEW)
    assert memory.row.flags.writeable


def told_apart(data: bytes) -> None:
    """What is taken apart is what was packed: all of the bytes, or nothing."""
    found = nested_memory.unpack(data)
    packed = nested_memory.pack(found)
    assert nested_memory.unpack(packed) == found
    # A place that stands there twice has what was said last.
    assert packed == data or len(packed) < len(data)
    for memory in found.values():
        nested_memory.unpack(memory)


def fallen_from(data: bytes) -> None:
    """Whatever stands there is remembered as it is, or as a value to fall from."""
    told = remembered(data, QUESTION)
    if told is not None:
        kept = told.packed(QUESTION)
        again = remembered(kept, QUESTION)
        assert again is not None
        assert again.packed(QUESTION) == kept


def test_no_memory_of_a_policy_is_taken_by_halves() -> None:
    search(Target("memory", 210_000, row_of, whole_or_new))


def test_no_memory_of_several_policies_is_too_much() -> None:
    search(Target("memories", 210_000, PACKED, told_apart))


def test_no_memory_of_a_fall_is_too_much() -> None:
    search(Target("falls", 210_000, FALLS, fallen_from))
