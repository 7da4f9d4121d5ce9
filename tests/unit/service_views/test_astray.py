"""Rooms whose labels somebody took away: alive, and no rooms any more."""

import pytest

from reconciler.model.refs import WorkloadKey
from reconciler.service.pod_shelf import PodShelf
from tests.unit.service_views.scripted import INSTANCE, VirtualClock, room


@pytest.fixture
def shelf() -> PodShelf:
    return PodShelf(INSTANCE, lambda key: None, VirtualClock().now)


def test_a_pod_that_lost_our_labels_is_known_astray_until_it_is_gone_or_has_them_back(
    shelf: PodShelf,
) -> None:
    for number in (1, 2, 3):
        shelf.put(room(f"arena-{number}", 5))
        for version in (6, 7):
            stripped = room(f"arena-{number}", version)
            stripped["metadata"]["labels"] = {}
            shelf.put(stripped)
    assert shelf.is_astray("arena", "arena-1")
    shelf.put(room("arena-1", 8))
    shelf.drop(room("arena-2", 8))
    shelf.keep_only([room("arena-1")["metadata"]["uid"]])
    assert not any(shelf.is_astray("arena", f"arena-{number}") for number in (1, 2, 3))
    assert [pod.name for pod in shelf.of(WorkloadKey("Scheduler", "arena", "arena"))] == ["arena-1"]


@pytest.mark.parametrize(
    ("marks", "notes", "astray"),
    [
        pytest.param({}, True, True, id="no labels, and our revision"),
        pytest.param({"instance": INSTANCE}, True, True, id="our instance, and no workload"),
        pytest.param({"instance": "another"}, True, False, id="a room of another instance"),
        pytest.param({}, False, False, id="somebody's own pod"),
    ],
)
def test_a_process_that_starts_anew_knows_a_room_by_the_signs_that_are_left(
    shelf: PodShelf, marks: dict[str, str], notes: bool, astray: bool
) -> None:
    pod = room("arena-1")
    pod["metadata"]["labels"] = {f"gamekeeper.dev/{name}": text for name, text in marks.items()}
    pod["metadata"]["annotations"] = {"gamekeeper.dev/revision": "1-new"} if notes else {}
    shelf.put(pod)
    assert shelf.is_astray("arena", "arena-1") is astray
