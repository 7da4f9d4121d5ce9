from dataclasses import replace

import pytest

from reconciler.core import repairs, room_patch, rooms
from reconciler.model.live import LivePod, Seen
from reconciler.model.plans import MarkRoom
from reconciler.model.rooms import Mark, Why
from reconciler.model.specs import Departure
from tests.unit.core.making import NOW, a_heard, a_pod, a_room, a_workload, ears, wanted

HERE = {"node-1": "203.0.113.9"}
KEEP, LET_GO = ("false", "true"), ("true", "false")
IDLE = {"mark": Mark.IDLE, "guard": LET_GO}


def noted(pod: LivePod, reports: str = "none", addresses: dict[str, str] = HERE) -> list[MarkRoom]:
    workload = a_workload(reports=reports, revision=pod.revision)
    there = rooms.sort_rooms([pod], workload, ears(r0=a_heard()))
    return list(repairs.notes(there, (), addresses, NOW))


@pytest.mark.parametrize(
    ("pod", "reports", "says"),
    [
        pytest.param(a_pod(0), "none", None, id="it does not report: no request goes out for it"),
        pytest.param(a_room(0), "required", None, id="its first flip will bring it along"),
        pytest.param(a_room(0, **IDLE), "required", "203.0.113.9", id="its first flip is over"),
        pytest.param(a_room(0, **IDLE, node=""), "required", None, id="it has no node yet"),
        pytest.param(a_room(0, **IDLE, node="node-9"), "required", None, id="its node has none"),
        pytest.param(
            a_room(0, **IDLE, address="203.0.113.9"), "required", None, id="it says so already"
        ),
        pytest.param(
            a_room(0, **IDLE, address="203.0.113.1"), "required", "203.0.113.9", id="another one"
        ),
        pytest.param(
            a_room(0, **IDLE, node="node-9", address="203.0.113.9"),
            "required",
            None,
            id="its node is gone",
        ),
        pytest.param(a_room(0, **IDLE, terminating=True), "required", None, id="it ends"),
    ],
)
def test_a_room_is_given_its_public_address_when(
    pod: LivePod, reports: str, says: str | None
) -> None:
    found = [mark.address for mark in noted(pod, reports)]
    assert found == ([] if says is None else [says])


def test_an_address_changes_nothing_else_of_a_room() -> None:
    (mark,) = noted(a_room(0, **IDLE), "required")
    assert (mark.verb, mark.mark, mark.leaving, mark.guard) == (
        "mark",
        Mark.IDLE,
        Why.STAYS,
        LET_GO,
    )
    assert mark.reason == "arena-0 does not say the public address of its node"


def test_what_is_wrong_with_one_room_is_set_right_in_one_patch() -> None:
    (mark,) = noted(a_room(0, mark=Mark.IDLE, guard=KEEP), "required")
    assert (mark.guard, mark.address) == (LET_GO, "203.0.113.9")
    assert "disruption annotations" in mark.reason


def test_a_room_that_is_kept_for_a_post_mortem_is_kept_from_those_who_empty_nodes() -> None:
    kept = a_room(0, mark=Mark.FAILED, leaving=Why.FAILED, guard=("", ""), address="203.0.113.9")
    (mark,) = noted(kept, "required")
    assert (mark.mark, mark.leaving, mark.guard) == (Mark.FAILED, Why.FAILED, KEEP)
    assert not noted(a_room(0, mark=Mark.FAILED, guard=KEEP, address="203.0.113.9"), "required")


def test_what_another_mark_covered_is_taken_away_from_a_room() -> None:
    """Somebody allocated it while it drained: whoever marks it by hand next covers nothing."""
    pod = a_room(0, mark=Mark.ALLOCATED, guard=KEEP, was_heard=True)
    (mark,) = noted(pod, "required", {})
    assert (mark.mark, mark.reason) == (
        Mark.ALLOCATED,
        "arena-0 still says that it was heard before a mark that it has no more",
    )
    for stands in (replace(pod, was_heard=False), replace(pod, mark=Mark.FAILED)):
        assert not noted(stands, "required", {})


def test_labels_of_ours_that_were_changed_are_set_again() -> None:
    workload = a_workload()
    there = rooms.sort_rooms([a_pod(0), a_pod(1, stamps="other")], workload)
    assert [item.pod.ordinal for item in repairs.labels(there, wanted(workload))] == [1]


@pytest.mark.parametrize(
    ("limit", "said_ago", "seen_ago", "retold"),
    [
        pytest.param(600.0, 700.0, 1.0, True, id="by a clock ten minutes slow"),
        pytest.param(600.0, 700.0, 690.0, False, id="as it was"),
        pytest.param(600.0, -700.0, 1.0, False, id="by a clock that is fast: it only waits longer"),
        pytest.param(None, 700.0, 1.0, False, id="where no deadline counts from it"),
    ],
)
def test_a_room_that_was_told_to_leave(
    limit: float | None, said_ago: float, seen_ago: float, retold: bool
) -> None:
    at = 50_000.0
    pod = a_room(
        0,
        mark=Mark.BUSY,
        guard=KEEP,
        leaving=Why.REQUEST,
        leaving_since=NOW - said_ago,
        seen=Seen(left=at - seen_ago),
    )
    workload = a_workload(reports="required", departure=Departure(5.0, limit))
    there = rooms.sort_rooms([pod], workload, ears(r0=a_heard(players=1)), at)
    marks = repairs.notes(there, (), {}, NOW)
    assert [mark.retold for mark in marks] == [True] * retold
    for mark in marks:
        patch = room_patch.operations(
            pod, mark.mark, mark.leaving, NOW, mark.guard, retold=mark.retold
        )
        assert (patch[-1]["op"], patch[-1]["value"]) == ("add", f"{NOW:.3f}")
