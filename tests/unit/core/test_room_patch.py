from dataclasses import replace

import pytest

from reconciler.core import room_patch
from reconciler.core.reporting import covers_heard
from reconciler.kube.patches import PatchFailed, json_patch
from reconciler.model import labels
from reconciler.model.live import LivePod
from reconciler.model.refs import Json
from reconciler.model.rooms import Mark, Why
from reconciler.service.live_records import pod_of

RAW: Json = {
    "metadata": {
        "uid": "u-1",
        "name": "arena-0",
        "namespace": "arena",
        "labels": {labels.WORKLOAD: "arena"},
        "annotations": {labels.SAFE_TO_EVICT: "false", labels.DO_NOT_DISRUPT: "true"},
    },
    "spec": {},
    "status": {"phase": "Running"},
}
LET_GO = ("true", "false")


def written(raw: Json, mark: Mark, leaving: Why = Why.STAYS, since: float = 7.5) -> Json:
    patched: Json = json_patch(
        raw, room_patch.operations(pod_of(raw), mark, leaving, since, LET_GO)
    )
    return patched


def state(raw: Json) -> tuple[Mark, Why, float, tuple[str, str]]:
    pod = pod_of(raw)
    return pod.mark, pod.leaving, pod.leaving_since, pod.guard


def test_what_is_written_is_what_is_read() -> None:
    draining = written(RAW, Mark.DRAINING, Why.SCALE_IN)
    assert state(draining) == (Mark.DRAINING, Why.SCALE_IN, 7.5, LET_GO)
    back = written(draining, Mark.IDLE)
    assert state(back) == (Mark.IDLE, Why.STAYS, 0.0, LET_GO)
    none = written(draining, Mark.NONE)
    assert labels.STATE not in none["metadata"]["labels"]


@pytest.mark.parametrize("kept", [False, True], ids=["", "kept for a post-mortem meanwhile"])
@pytest.mark.parametrize("before", [Mark.IDLE, Mark.BUSY, Mark.ALLOCATED])
def test_draining_covers_what_the_mark_before_it_told_for_as_long_as_it_stands(
    before: Mark, kept: bool
) -> None:
    def marked(raw: Json, mark: Mark) -> Json:
        patch = room_patch.record(pod_of(raw), covers_heard(pod_of(raw), mark))
        patched: Json = json_patch(written(raw, mark, Why.SCALE_IN), patch)
        return patched

    def drained_after(raw: Json) -> Json:
        return marked(marked(raw, Mark.FAILED) if kept else raw, Mark.DRAINING)

    drained = drained_after(marked(RAW, before))
    assert pod_of(drained).was_heard
    assert pod_of(marked(drained, Mark.DRAINING)).was_heard, "it is told anew"
    for mark in (Mark.NONE, Mark.IDLE, Mark.BUSY):
        assert labels.WAS_HEARD not in marked(drained, mark)["metadata"]["annotations"]
    unheard = drained_after(RAW)
    assert not pod_of(unheard).was_heard, "it had no mark before"
    assert not pod_of(marked(unheard, Mark.DRAINING)).was_heard


def test_a_room_that_was_told_to_leave_keeps_its_time_until_it_drains() -> None:
    told = written(RAW, Mark.BUSY, Why.ROLLOUT)
    assert state(written(told, Mark.IDLE, Why.ROLLOUT, since=99.0))[2] == 7.5
    assert state(written(told, Mark.DRAINING, Why.ROLLOUT, since=99.0))[2] == 99.0


def test_it_keeps_its_time_for_another_reason_and_none_for_the_time_of_one_that_is_gone() -> None:
    told = written(RAW, Mark.BUSY, Why.ROLLOUT)
    assert state(written(told, Mark.BUSY, Why.REQUEST, since=99.0))[1:3] == (Why.REQUEST, 7.5)
    notes = {**told["metadata"]["annotations"]}
    del notes[labels.LEAVING]
    by_hand = {**told, "metadata": {**told["metadata"], "annotations": notes}}
    assert state(written(by_hand, Mark.BUSY, Why.REQUEST, since=99.0))[1:3] == (Why.REQUEST, 99.0)


@pytest.mark.parametrize("now", ["busy", "allocated", "draining"])
def test_a_mark_fails_where_the_state_is_another_one_by_now(now: str) -> None:
    raw = written(RAW, Mark.IDLE)
    changed = {**raw, "metadata": {**raw["metadata"], "labels": {labels.STATE: now}}}
    operations = room_patch.operations(pod_of(raw), Mark.DRAINING, Why.SCALE_IN, 1.0)
    with pytest.raises(PatchFailed, match="another one"):
        json_patch(changed, operations)


@pytest.mark.parametrize(
    ("mark", "leaving"),
    [
        pytest.param(Mark.DRAINING, Why.SCALE_IN, id="to drain it"),
        pytest.param(Mark.IDLE, Why.STAYS, id="to let it stay"),
        pytest.param(Mark.IDLE, Why.SCALE_IN, id="to tell it"),
    ],
)
@pytest.mark.parametrize("asked", ["request", "of somebody else"])
def test_what_a_person_asked_meanwhile_is_not_overwritten(
    mark: Mark, leaving: Why, asked: str
) -> None:
    raw = written(RAW, Mark.IDLE, Why.LEFT_GIT)
    notes = {**raw["metadata"]["annotations"], labels.LEAVING: asked}
    changed = {**raw, "metadata": {**raw["metadata"], "annotations": notes}}
    operations = room_patch.operations(pod_of(raw), mark, leaving, 1.0)
    with pytest.raises(PatchFailed, match="another one"):
        json_patch(changed, operations)
    again = json_patch(changed, room_patch.operations(pod_of(changed), mark, leaving, 1.0))
    assert state(again)[:2] == (mark, leaving)


def test_a_mark_fails_on_another_pod_of_that_name() -> None:
    other = {**RAW, "metadata": {**RAW["metadata"], "uid": "u-2"}}
    with pytest.raises(PatchFailed, match="another one"):
        json_patch(other, room_patch.operations(pod_of(RAW), Mark.IDLE, Why.STAYS, 1.0))


def test_nothing_is_written_that_stands() -> None:
    raw = written(RAW, Mark.IDLE)
    pod: LivePod = pod_of(raw)
    operations = room_patch.operations(pod, Mark.IDLE, Why.STAYS, 1.0, LET_GO)
    assert {each["op"] for each in operations} == {"test"}
    assert room_patch.operations(replace(pod, uid="u-9"), Mark.IDLE, Why.STAYS, 1.0)[0] == {
        "op": "test",
        "path": "/metadata/uid",
        "value": "u-9",
    }


def test_a_report_is_kept_and_taken_away() -> None:
    kept = json_patch(RAW, [room_patch.kept('{"players":3}', "")])
    assert pod_of(kept).kept_report == '{"players":3}'
    gone = json_patch(kept, [room_patch.kept("", '{"players":3}')])
    assert pod_of(gone).kept_report == ""


def test_a_public_address_is_written_where_it_is_another_one() -> None:
    pod = pod_of(RAW)
    told = pod_of(json_patch(RAW, addressed(pod, "203.0.113.9")))
    assert told.address == "203.0.113.9"
    assert addressed(told, "203.0.113.9") == addressed(told, "") == addressed(pod, "")
    moved = json_patch(RAW, addressed(pod, "203.0.113.9"))
    assert pod_of(json_patch(moved, addressed(told, "2001:db8::9"))).address == "2001:db8::9"


def addressed(pod: LivePod, address: str) -> list[Json]:
    return room_patch.operations(pod, pod.mark, pod.leaving, 1.0, None, address)
