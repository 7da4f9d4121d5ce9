"""Memories of several policies as one, and what is none of them."""

from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.policies import nested_memory

memories = st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=9), st.binary(max_size=9))


@given(memories)
def test_what_was_packed_comes_back(kept: dict[str, bytes]) -> None:
    assert nested_memory.unpack(nested_memory.pack(kept)) == kept


@given(memories.filter(bool), st.data())
def test_of_a_memory_that_is_cut_no_part_is_taken_for_whole(
    kept: dict[str, bytes], data: st.DataObject
) -> None:
    packed = nested_memory.pack(kept)
    left = nested_memory.unpack(packed[: data.draw(st.integers(0, len(packed) - 1))])

    assert left.items() <= kept.items()


@given(st.binary(max_size=60))
def test_no_bytes_are_too_strange(memory: bytes) -> None:
    assert isinstance(nested_memory.unpack(memory), dict)


def test_each_level_costs_a_few_bytes() -> None:
    memory = b"m" * 4000
    for _ in range(20):
        memory = nested_memory.pack({"0 max": memory})

    assert len(memory) < 4300
