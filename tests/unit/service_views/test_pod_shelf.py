from collections import Counter

import pytest

from reconciler.model.refs import WorkloadKey
from reconciler.service.pod_shelf import EXPECTATION_SECONDS, PodShelf
from tests.unit.service_views.scripted import INSTANCE, VirtualClock, room

ARENA = WorkloadKey("Scheduler", "arena", "arena")
LOBBY = WorkloadKey("Scheduler", "lobby", "lobby")


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def touched() -> list[WorkloadKey]:
    return []


@pytest.fixture
def shelf(clock: VirtualClock, touched: list[WorkloadKey]) -> PodShelf:
    return PodShelf(INSTANCE, touched.append, clock.now)


def names(shelf: PodShelf, key: WorkloadKey = ARENA) -> list[str]:
    return [pod.name for pod in shelf.of(key)]


def test_rooms_are_found_by_workload(shelf: PodShelf, touched: list[WorkloadKey]) -> None:
    shelf.put(room("arena-1"))
    shelf.put(room("lobby-1", workload="lobby"))
    assert (names(shelf), names(shelf, LOBBY)) == (["arena-1"], ["lobby-1"])
    assert set(shelf.workloads()) == {ARENA, LOBBY}
    assert touched == [ARENA, LOBBY]


def test_a_workload_without_rooms_is_forgotten(shelf: PodShelf, touched: list[WorkloadKey]) -> None:
    shelf.put(room("arena-1"))
    shelf.drop(room("arena-1"))
    assert not shelf.workloads()
    assert touched == [ARENA, ARENA]


def test_nothing_new_wakes_nobody(shelf: PodShelf, touched: list[WorkloadKey]) -> None:
    shelf.put(room("arena-1", 5))
    shelf.put(room("arena-1", 5))
    shelf.put(room("arena-1", 4, ready=True))
    shelf.put(room("other-1", instance="another"))
    assert touched == [ARENA]
    assert not shelf.of(ARENA)[0].ready


def test_of_other_pods_only_host_ports_are_kept(shelf: PodShelf) -> None:
    shelf.put(room("x-1", instance="another", ports=[7000, 7001]))
    shelf.put(room("x-2", instance="another"))
    shelf.put(room("arena-1", ports=[7000]))
    assert shelf.port_use() == Counter({7000: 2, 7001: 1})
    assert names(shelf) == ["arena-1"]
    shelf.drop(room("x-1", instance="another"))
    assert shelf.port_use() == Counter({7000: 1})


def test_ended_pods_hold_no_ports_and_terminating_ones_do(shelf: PodShelf) -> None:
    shelf.put(room("arena-1", 1, ports=[7000]))
    shelf.put(room("arena-2", 1, ports=[7001], deleted=True))
    shelf.put(room("x-1", 1, instance="another", ports=[7002]))
    assert shelf.port_use() == Counter({7000: 1, 7001: 1, 7002: 1})
    shelf.put(room("arena-1", 2, ports=[7000], phase="Failed"))
    shelf.put(room("x-1", 2, instance="another", ports=[7002], phase="Succeeded"))
    assert shelf.port_use() == Counter({7001: 1})


def test_ports_are_told_by_the_node_that_a_pod_has_by_now(shelf: PodShelf) -> None:
    pods = [room("arena-1", 1, ports=[7000]), room("x-1", 1, instance="another", ports=[7001])]
    for pod in pods:
        pod["spec"]["nodeName"] = None
        shelf.put(pod)
    assert shelf.ports_held() == {"": Counter({7000: 1, 7001: 1})}
    for pod in pods:
        pod["metadata"]["resourceVersion"] = "2"
        pod["spec"]["nodeName"] = f"node-of-{pod['metadata']['name']}"
        shelf.put(pod)
    assert shelf.ports_held() == {
        "node-of-arena-1": Counter({7000: 1}),
        "node-of-x-1": Counter({7001: 1}),
    }
    assert shelf.port_use() == Counter({7000: 1, 7001: 1})


def test_sidecars_of_other_pods_hold_their_host_ports(shelf: PodShelf) -> None:
    other = room("x-1", instance="another", ports=[7000])
    ports = [{"containerPort": 1, "hostPort": 7001}]
    other["spec"]["initContainers"] = [
        {"name": "proxy", "restartPolicy": "Always", "ports": ports},
        {"name": "setup", "ports": [{"containerPort": 1, "hostPort": 7002}]},
    ]
    shelf.put(other)
    assert shelf.port_use() == Counter({7000: 1, 7001: 1}), "what ends before the others does not"
    shelf.drop(other)
    assert not shelf.port_use()


def test_port_use_is_a_snapshot(shelf: PodShelf) -> None:
    before = shelf.port_use()
    shelf.put(room("arena-1", ports=[7000]))
    assert before == Counter()
    assert shelf.port_use() is shelf.port_use()


def test_a_change_of_a_room_that_keeps_its_ports_leaves_the_count_of_all_alone(
    shelf: PodShelf,
) -> None:
    shelf.put(room("arena-1", 1, ports=[7000]))
    before = shelf.port_use()
    shelf.put(room("arena-1", 2, ports=[7000], ready=True))
    assert shelf.of(ARENA)[0].ready
    assert shelf.port_use() is before


def test_a_room_whose_label_was_taken_is_a_room_no_more(
    shelf: PodShelf, touched: list[WorkloadKey]
) -> None:
    shelf.put(room("arena-1", 1, ports=[7000]))
    quarantined = room("arena-1", 2, ports=[7000])
    quarantined["metadata"]["labels"] = {}
    shelf.put(quarantined)
    assert not shelf.of(ARENA)
    assert touched == [ARENA, ARENA]
    assert shelf.port_use() == Counter({7000: 1})
    shelf.put(room("arena-1", 3, ports=[7000]))
    assert names(shelf) == ["arena-1"]
    assert shelf.port_use() == Counter({7000: 1})


def test_a_new_pod_of_an_old_name_is_another_pod(shelf: PodShelf) -> None:
    shelf.put(room("arena-1", 1, uid="old"))
    shelf.put(room("arena-1", 9, uid="new"))
    shelf.drop(room("arena-1", 8, uid="old"))
    assert [pod.uid for pod in shelf.of(ARENA)] == ["new"]


def test_a_list_drops_what_it_does_not_show(shelf: PodShelf) -> None:
    for number in range(3):
        shelf.put(room(f"arena-{number}", ports=[7000 + number]))
    shelf.put(room("x-1", instance="another", ports=[7009]))
    shelf.keep_only({"uid-arena-1"})
    assert names(shelf) == ["arena-1"]
    assert shelf.port_use() == Counter({7001: 1})


def test_a_room_that_we_made_is_there_before_the_watch_shows_it(
    shelf: PodShelf, touched: list[WorkloadKey]
) -> None:
    shelf.expect_created(room("arena-1", 5, ports=[7000]))
    assert names(shelf) == ["arena-1"]
    assert shelf.port_use() == Counter({7000: 1})
    shelf.put(room("arena-1", 5, ports=[7000]))
    assert touched == [ARENA]


def test_a_list_from_before_it_was_made_does_not_drop_it(shelf: PodShelf) -> None:
    shelf.expect_created(room("arena-1", 5))
    shelf.keep_only(())
    assert names(shelf) == ["arena-1"]


def test_a_room_that_no_watch_has_shown_in_time_is_not_believed(
    shelf: PodShelf, clock: VirtualClock, touched: list[WorkloadKey]
) -> None:
    shelf.expect_created(room("arena-1", 5))
    shelf.expect_created(room("arena-2", 6))
    shelf.put(room("arena-2", 6))
    clock.at += EXPECTATION_SECONDS
    shelf.expire()
    assert names(shelf) == ["arena-2"]
    assert touched[-1] == ARENA


def test_the_late_answer_to_a_create_does_not_bring_back_the_dead(
    shelf: PodShelf, clock: VirtualClock
) -> None:
    shelf.put(room("arena-1", 5))
    shelf.drop(room("arena-1", 6))
    shelf.expect_created(room("arena-1", 5))
    assert not names(shelf)


@pytest.mark.parametrize("is_listed", [True, False], ids=["a watch", "a list"])
def test_the_late_answer_to_a_patch_does_not_bring_back_the_dead(
    shelf: PodShelf, is_listed: bool
) -> None:
    """It was carried out, then the pod went, and only then was its answer read."""
    shelf.put(room("arena-1", 5))
    if is_listed:
        shelf.drop(room("arena-1", 7))
    else:
        shelf.keep_only((), "7")
    shelf.take_in(room("arena-1", 6))
    assert names(shelf) == []

    # Where the list was older than the pod, the watch shows it again.
    shelf.put(room("arena-1", 8))
    shelf.take_in(room("arena-1", 9))
    assert names(shelf) == ["arena-1"]


def test_a_room_that_we_deleted_is_terminating_before_the_watch_shows_it(
    shelf: PodShelf, touched: list[WorkloadKey]
) -> None:
    shelf.put(room("arena-1", 5))
    shelf.expect_deleted("uid-arena-1")
    assert shelf.of(ARENA)[0].terminating
    shelf.put(room("arena-1", 5))
    assert shelf.of(ARENA)[0].terminating
    assert touched == [ARENA, ARENA]
    shelf.expect_deleted("uid-nobody")


def test_a_delete_that_no_watch_has_shown_in_time_is_not_believed(
    shelf: PodShelf, clock: VirtualClock
) -> None:
    shelf.put(room("arena-1", 5))
    shelf.put(room("arena-2", 6))
    shelf.expect_deleted("uid-arena-1")
    shelf.expect_deleted("uid-arena-2")
    shelf.put(room("arena-2", 8, deleted=True))
    clock.at += EXPECTATION_SECONDS
    shelf.expire()
    assert {pod.name: pod.terminating for pod in shelf.of(ARENA)} == {
        "arena-1": False,
        "arena-2": True,
    }


def test_a_room_that_lost_our_labels_is_named_once(
    shelf: PodShelf, caplog: pytest.LogCaptureFixture
) -> None:
    shelf.put(room("arena-1", 5))
    for version in (6, 7):
        stripped = room("arena-1", version)
        stripped["metadata"]["labels"] = {}
        shelf.put(stripped)
    shelf.put(room("other-1", instance="another"))
    assert not shelf.of(ARENA)
    assert [text.split(" lost")[0] for text in caplog.messages] == ["room arena/arena-1"]
