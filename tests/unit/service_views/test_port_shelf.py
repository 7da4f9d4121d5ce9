from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.model.live import HostPort
from reconciler.service.port_shelf import NOTHING, Held, PortShelf


def held(node: str, *numbers: int) -> Held:
    return node, tuple(HostPort(number, "UDP") for number in numbers)


def test_ports_are_counted_by_node_and_for_all() -> None:
    shelf = PortShelf()
    shelf.take(held("one", 7000, 7001))
    shelf.take(held("", 7000, 7000))
    shelf.take(NOTHING)
    assert shelf.use() == Counter({7000: 2, 7001: 1})
    assert shelf.by_node() == {"one": Counter({7000: 1, 7001: 1}), "": Counter({7000: 1})}
    shelf.give_back(held("one", 7000, 7001))
    assert shelf.by_node() == {"": Counter({7000: 1})}


def test_the_same_is_handed_out_until_something_changes() -> None:
    shelf = PortShelf()
    shelf.take(held("one", 7000))
    assert shelf.use() is shelf.use()
    assert shelf.by_node() is shelf.by_node()
    shelf.take(NOTHING)
    assert shelf.by_node() is shelf.by_node()


CHANGES = st.lists(st.tuples(st.sampled_from(["", "one", "two"]), st.integers(7000, 7002)))


@pytest.mark.parametrize("looks", [1, 3], ids=["looked at each time", "looked at now and then"])
@given(CHANGES)
def test_what_was_handed_out_never_changes(looks: int, changes: list[tuple[str, int]]) -> None:
    shelf, seen = PortShelf(), []
    taken: list[tuple[str, int]] = []
    for number, change in enumerate(changes):
        if change in taken:
            taken.remove(change)
            shelf.give_back(held(*change))
        else:
            taken.append(change)
            shelf.take(held(*change))
        if number % looks == 0:
            there = shelf.by_node()
            seen.append((there, {node: Counter(users) for node, users in there.items()}))
    for there, then in seen:
        assert there == then
    expected: dict[str, Counter[int]] = {}
    for node, port in taken:
        expected.setdefault(node, Counter())[port] += 1
    assert shelf.by_node() == expected
    assert shelf.use() == sum(expected.values(), Counter())
