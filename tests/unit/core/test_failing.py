import json

import pytest

from reconciler.core import failing, flips, hearing
from reconciler.core.room_state import judge
from reconciler.model.live import LivePod, Phase
from reconciler.model.records import Failure
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.rooms import Health, Heard, Judged, Mark, Report, Said, Why
from reconciler.model.specs import FailurePolicy
from reconciler.service.rooms.lines import line_of
from tests.unit.core.making import NOW, a_heard, a_pod, a_workload

SPEC = "{}"
TWO_AN_HOUR = FailurePolicy("delete", max_failures=2, window_seconds=3600)


def failed(
    number: int, first: int = 0, ended: str = "Error (exit code 139)"
) -> list[tuple[LivePod, Judged]]:
    rooms = [a_pod(first + n, phase=Phase.FAILED, ended=ended) for n in range(number)]
    return [(pod, judge(pod, a_workload())) for pod in rooms]


def ordinals(pods: tuple[LivePod, ...]) -> list[int]:
    return [pod.ordinal for pod in pods]


def test_without_a_limit_every_failed_room_is_replaced() -> None:
    found = failing.decide(failed(5), (), FailurePolicy(), SPEC, NOW)
    assert ordinals(found.act) == [0, 1, 2, 3, 4]
    assert found.log is None, "nothing is counted where nothing limits it"


def test_n_failures_are_replaced_and_the_next_one_stays() -> None:
    found = failing.decide(failed(3), (), TWO_AN_HOUR, SPEC, NOW)
    assert (ordinals(found.act), ordinals(found.stuck)) == ([0, 1], [2])
    assert found.log is not None
    assert len(found.log) == 2
    assert found.again_in_seconds == 3600


def test_a_failure_is_counted_once_however_often_it_is_seen() -> None:
    first = failing.decide(failed(2), (), TWO_AN_HOUR, SPEC, NOW)
    assert first.log is not None
    again = failing.decide(failed(2), first.log, TWO_AN_HOUR, SPEC, NOW + 5)
    assert ordinals(again.act) == [0, 1]
    assert again.log is None


def test_several_at_once_do_not_jump_over_the_limit() -> None:
    found = failing.decide(failed(40), (), TWO_AN_HOUR, SPEC, NOW)
    assert len(found.stuck) == 38


def test_the_window_passes_by_itself() -> None:
    first = failing.decide(failed(3), (), TWO_AN_HOUR, SPEC, NOW)
    later = failing.decide(failed(1, 2), first.log or (), TWO_AN_HOUR, SPEC, NOW + 3601)
    assert ordinals(later.act) == [2]


def test_a_commit_that_changes_the_spec_begins_anew() -> None:
    first = failing.decide(failed(3), (), TWO_AN_HOUR, SPEC, NOW)
    repaired = failing.decide(failed(1, 2), first.log or (), TWO_AN_HOUR, '{"image":2}', NOW + 5)
    assert ordinals(repaired.act) == [2]


def test_a_count_that_a_policy_commits_mends_no_room() -> None:
    def scaled(replicas: int) -> str:
        return json.dumps({"spec": {"replicas": replicas, "autoscaling": {"max": 9}}})

    first = failing.decide(failed(3), (), TWO_AN_HOUR, scaled(3), NOW)
    committed = failing.decide(failed(1, 2), first.log or (), TWO_AN_HOUR, scaled(8), NOW + 5)
    assert ordinals(committed.stuck) == [2]


@pytest.mark.parametrize(
    "ended",
    [
        "Evicted",
        "NodePorts",
        "OutOfgpu",
        "DeletionByPodGC",
        "ContainerStatusUnknown (exit code 137)",
    ],
)
def test_what_the_cluster_did_is_nobodys_failure(ended: str) -> None:
    found = failing.decide(failed(5, ended=ended), (), TWO_AN_HOUR, SPEC, NOW)
    assert ordinals(found.act) == [0, 1, 2, 3, 4]
    assert found.log is None


def test_a_clock_that_was_set_back_frees_nothing_early() -> None:
    ahead = (Failure(NOW + 500, "x", "44136fa355b3"), Failure(NOW + 500, "y", "44136fa355b3"))
    found = failing.decide(failed(1), ahead, TWO_AN_HOUR, SPEC, NOW)
    assert ordinals(found.stuck) == [0]


@pytest.mark.parametrize(
    ("more", "false_start"),
    [
        pytest.param({}, True, id="at once"),
        pytest.param({"brief": False}, False, id="with its match"),
        pytest.param({"runs": (1,)}, False, id="a later run of it alone was brief"),
        pytest.param({"leaving": Why.SCALE_IN}, False, id="as it was told to"),
        pytest.param({"leaving": Why.FAILED, "mark": Mark.DRAINING}, True, id="behind the fence"),
        pytest.param({"mark": Mark.BUSY}, False, id="somebody played there"),
        pytest.param({"phase": Phase.FAILED}, False, id="a failure, which is counted as that"),
        pytest.param({"phase": Phase.RUNNING}, True, id="beside a container that runs on"),
    ],
)
def test_a_room_that_ends_well_as_soon_as_it_began(more: Json, false_start: bool) -> None:
    pod = a_pod(0, **{"phase": Phase.SUCCEEDED, "ended": "Completed", "brief": True, **more})
    judged = judge(pod, a_workload())
    assert failing.is_false_start(pod, judged, None) is false_start
    assert failing.is_false_start(pod, judged, a_heard()) is false_start
    assert not failing.is_false_start(pod, judged, a_heard(said=Said.OCCUPIED))
    if false_start:
        found = failing.decide([(pod, judged)], (), TWO_AN_HOUR, SPEC, NOW)
        assert (found.act, found.log) == ((pod,), None), "no limit counts it"


@pytest.mark.parametrize(
    ("more", "said", "alone"),
    [
        pytest.param({}, Said.TERMINATED, True, id="its first word"),
        pytest.param({}, Said.READY, False, id="another word"),
        pytest.param({}, None, False, id="not a word"),
        pytest.param({"mark": Mark.IDLE}, Said.TERMINATED, False, id="it had begun"),
        pytest.param({"leaving": Why.REQUEST}, Said.TERMINATED, False, id="as it was told to"),
        pytest.param({"leaving": Why.FAILED}, Said.TERMINATED, True, id="nobody heard it before"),
    ],
)
def test_a_room_that_says_at_once_that_it_is_over(
    more: Json, said: Said | None, alone: bool
) -> None:
    heard = None if said is None else a_heard(said=said, begun=False)
    assert failing.tells_its_end_alone(a_pod(0, **{"mark": Mark.NONE, **more}), heard) is alone


READY, OCCUPIED, OVER = (
    Report(True, said) for said in (Said.READY, Said.OCCUPIED, Said.TERMINATED)
)
CREATING = Report(True, health=Health.CREATING)


@pytest.mark.parametrize(
    ("reports", "mark"),
    [
        pytest.param([OVER], Mark.NONE, id="its first word"),
        pytest.param([OVER, OVER], Mark.NONE, id="and its second"),
        pytest.param([CREATING, OVER], Mark.NONE, id="it was being created"),
        pytest.param([READY, OCCUPIED, OVER], Mark.IDLE, id="somebody played there"),
        pytest.param([OCCUPIED, OVER, OVER], Mark.IDLE, id="from its first word on"),
        pytest.param([READY, OVER], Mark.IDLE, id="it had begun"),
        pytest.param([READY, CREATING, OVER], Mark.NONE, id="it is being created again"),
    ],
)
@pytest.mark.parametrize("silent", [False, True])
def test_who_began_is_no_false_start_though_the_cluster_took_no_mark(
    reports: list[Report], mark: Mark, silent: bool
) -> None:
    line = line_of(WorkloadKey("Scheduler", "arena", "arena"), a_pod(0), NOW)
    if silent:
        line.fall_silent(NOW)
    heard: Heard | None = line.heard
    for report in reports:
        heard = hearing.lay(heard, report, 1, NOW)
    pod = a_pod(0, mark=Mark.NONE)
    assert flips.wished(pod, heard, 0.0).mark is mark
    began = READY in reports or OCCUPIED in reports
    assert failing.tells_its_end_alone(pod, heard) is not began


def test_a_new_process_takes_what_is_kept_of_a_first_word_for_no_begin() -> None:
    over, pod = hearing.lay(None, OVER, 1, NOW), a_pod(0, mark=Mark.NONE)
    again = hearing.heard_of(hearing.kept_of(over), NOW)
    assert again is not None
    assert flips.wished(pod, again, 0.0).mark is Mark.NONE
    assert failing.tells_its_end_alone(pod, again)
