"""fixedBuffer keeps empty rooms beside all that serve players, partly full ones too."""

import pytest

from tests.unit.core.policies.looks import a_load, a_look, advice


@pytest.mark.parametrize(
    ("load", "amount", "wanted"),
    [
        pytest.param({"occupied": 7}, 5, 12, id="full rooms and the buffer"),
        pytest.param({"occupied": 2, "allocated": 3}, 5, 10, id="allocated rooms serve as well"),
        pytest.param({"occupied": 1, "active": 9, "matches": 22, "matches_max": 4}, 5, 15,
                     id="partly full rooms serve as well, which Maestro forgets"),
        pytest.param({"ready": 20, "starting": 5}, 5, 5, id="empty and starting rooms do not"),
        pytest.param({}, 5, 5, id="no rooms: it comes back from nothing"),
        pytest.param({"ready": 3}, 0, 0, id="nothing, where nothing is written"),
    ],
)  # fmt: skip
def test_a_buffer_is_kept(load: dict[str, int], amount: int, wanted: int) -> None:
    found = advice({"fixedBuffer": {"amount": amount}}, a_look(a_load(**load)))

    assert (found.replicas, found.may_remove, found.hold) == (wanted, True, "")


def test_the_reason_tells_who_serves() -> None:
    load = a_load(occupied=3, active=1, allocated=1, matches_max=2)

    found = advice({"fixedBuffer": {"amount": 2}}, a_look(load))

    assert found.reason == (
        "5 rooms with players (3 full, 1 partly full, 1 allocated) and 2 more: 7 rooms"
    )
