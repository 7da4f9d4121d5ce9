"""What should stand on a pod by what its room says, and how soon."""

from dataclasses import replace
from typing import Any

import pytest

from reconciler.core import flips
from reconciler.core.hearing import UNHEARD
from reconciler.core.kept_reports import kept_of
from reconciler.model import labels
from reconciler.model.live import Phase
from reconciler.model.refs import Json
from reconciler.model.rooms import Health, Heard, Mark, Said, Why
from tests.unit.core.making import NOW, a_pod, a_room, a_workload

READY = Heard(at=NOW, said=Said.READY)
BUSY = Heard(at=NOW, said=Said.OCCUPIED, matches=1)
CREATING = Heard(at=NOW, periodic=False, health=Health.CREATING)
OVER = Heard(at=NOW, said=Said.TERMINATED, begun=False)
MUTE = Heard(at=NOW, silent=True, tells=False)
WELL = Heard(at=NOW, periodic=False, health=Health.HEALTHY, tells=False)
MIXED = Heard(at=NOW, said=Said.READY, players=3, mixed=True)
MATCH = Heard(at=NOW, said=Said.OCCUPIED, matches=1, players=3, mixed=True)
REPORTING = a_workload(reports="required")
THREE, NOBODY = (Heard(at=NOW, periodic=False, players=count) for count in (3, 0))


@pytest.mark.parametrize(
    ("mark", "heard", "leaving", "empty_seconds", "wished"),
    [
        pytest.param(Mark.NONE, READY, Why.STAYS, 0, Mark.IDLE, id="the first word"),
        pytest.param(Mark.NONE, READY, Why.REQUEST, 0, Mark.DRAINING, id="the first, and leaves"),
        pytest.param(Mark.NONE, BUSY, Why.STAYS, 0, Mark.BUSY, id="busy from the first word"),
        pytest.param(Mark.NONE, CREATING, Why.STAYS, 0, Mark.NONE, id="not begun yet"),
        pytest.param(Mark.NONE, OVER, Why.STAYS, 0, Mark.NONE, id="over, and never begun"),
        pytest.param(Mark.IDLE, BUSY, Why.STAYS, 0, Mark.BUSY, id="idle turns busy"),
        pytest.param(Mark.DRAINING, BUSY, Why.ROLLOUT, 0, Mark.BUSY, id="draining turns busy"),
        pytest.param(Mark.ALLOCATED, BUSY, Why.STAYS, 0, Mark.BUSY, id="allocated turns busy"),
        pytest.param(Mark.ALLOCATED, READY, Why.STAYS, 99, Mark.ALLOCATED, id="allocated stays"),
        pytest.param(Mark.BUSY, READY, Why.STAYS, 4.9, Mark.BUSY, id="not empty for long enough"),
        pytest.param(Mark.BUSY, READY, Why.STAYS, 5, Mark.IDLE, id="empty for five seconds"),
        pytest.param(Mark.BUSY, READY, Why.ROLLOUT, 5, Mark.DRAINING, id="empty, and leaves"),
        pytest.param(Mark.DRAINING, READY, Why.STAYS, 99, Mark.DRAINING, id="draining stays"),
        pytest.param(Mark.FAILED, READY, Why.FAILED, 99, Mark.FAILED, id="failed is failed"),
        pytest.param(Mark.FAILED, BUSY, Why.FAILED, 0, Mark.BUSY, id="failed, with players now"),
        pytest.param(
            Mark.FAILED,
            replace(BUSY, silent=True),
            Why.FAILED,
            99,
            Mark.FAILED,
            id="failed, given up for the silence of its players",
        ),
        pytest.param(Mark.BUSY, MUTE, Why.REQUEST, 99, Mark.BUSY, id="silence is not emptiness"),
        pytest.param(Mark.NONE, MUTE, Why.STAYS, 99, Mark.NONE, id="nor is it a first word"),
        pytest.param(Mark.BUSY, WELL, Why.STAYS, 99, Mark.BUSY, id="nor is health"),
        pytest.param(Mark.NONE, WELL, Why.STAYS, 0, Mark.IDLE, id="well is a first word"),
        pytest.param(Mark.IDLE, None, Why.STAYS, 99, Mark.IDLE, id="never heard"),
    ],
)
def test_the_mark_that_should_stand(
    mark: Mark, heard: Heard | None, leaving: Why, empty_seconds: float, wished: Mark
) -> None:
    pod = replace(a_pod(0), mark=mark, leaving=leaving)
    assert flips.wished(pod, heard, empty_seconds).mark is wished


def test_players_of_a_kept_room_whose_container_ended_are_gone() -> None:
    pod = a_pod(0, mark=Mark.FAILED, running=False, was_heard=True)
    assert flips.wished(pod, BUSY, 0.0) == flips.standing_of(pod)
    assert not flips.is_prompt(pod, BUSY)


@pytest.mark.parametrize("over", [{"terminating": True}, {"phase": Phase.FAILED}])
def test_nothing_is_written_on_a_pod_that_is_over(over: dict[str, Any]) -> None:
    pod = replace(a_pod(0), mark=Mark.IDLE, **over)
    assert not flips.is_prompt(pod, BUSY)
    assert flips.delay_seconds(pod, BUSY, 0.0) is None
    assert flips.wished(pod, BUSY, 0.0) == flips.standing_of(pod)


@pytest.mark.parametrize(
    ("mark", "kept", "heard", "prompt", "delay"),
    [
        pytest.param(Mark.IDLE, "", BUSY, True, 0.0, id="busy"),
        pytest.param(Mark.BUSY, "", BUSY, False, None, id="busy as it stands"),
        pytest.param(Mark.NONE, "", READY, False, 0.0, id="the first word"),
        pytest.param(Mark.NONE, "", NOBODY, True, 0.0, id="the first word, said once"),
        pytest.param(Mark.NONE, "", WELL, True, 0.0, id="well, said once"),
        pytest.param(Mark.NONE, "", CREATING, True, 0.0, id="being created, said once"),
        pytest.param(Mark.NONE, kept_of(CREATING), CREATING, False, None, id="not begun as kept"),
        pytest.param(Mark.IDLE, "no report of ours", NOBODY, True, 0.0, id="what is kept is none"),
        pytest.param(Mark.BUSY, "", READY, False, 4.0, id="empty for a second"),
        pytest.param(Mark.BUSY, kept_of(THREE), NOBODY, True, 0.0, id="the last player left"),
        pytest.param(Mark.BUSY, kept_of(NOBODY), THREE, True, 0.0, id="players in a busy room"),
        pytest.param(
            Mark.BUSY, kept_of(THREE), replace(THREE, players=4), False, 10.0, id="one more"
        ),
        pytest.param(
            Mark.BUSY,
            kept_of(THREE),
            replace(THREE, runs=(1,)),
            True,
            0.0,
            id="as many, of the process that began since",
        ),
        pytest.param(
            Mark.IDLE,
            kept_of(NOBODY),
            replace(NOBODY, runs=(1,)),
            False,
            10.0,
            id="nobody still, in the process that began since",
        ),
        pytest.param(Mark.IDLE, kept_of(NOBODY), NOBODY, False, None, id="nobody as it stands"),
        pytest.param(
            Mark.BUSY,
            kept_of(MATCH),
            replace(MATCH, players=0),
            True,
            0.0,
            id="the last player left a match that pings still tell of",
        ),
        pytest.param(
            Mark.BUSY,
            kept_of(MATCH),
            replace(MATCH, matches=2),
            False,
            10.0,
            id="a match more, of which pings tell",
        ),
    ],
)
def test_how_soon_it_must_stand(
    mark: Mark, kept: str, heard: Heard, prompt: bool, delay: float | None
) -> None:
    pod = replace(a_pod(0), mark=mark, kept_report=kept)
    assert flips.is_prompt(pod, heard) is prompt
    assert flips.delay_seconds(pod, heard, 1.0) == delay


def test_one_patch_carries_mark_guard_and_report() -> None:
    idle = {"mark": Mark.IDLE, "guard": ("true", "false")}
    pod = a_pod(0, **idle, kept_report=kept_of(NOBODY))
    wish = flips.wished(pod, THREE, 0.0)
    patch = flips.patch(pod, wish, a_workload(reports="required"), NOW)
    assert {entry["op"] for entry in patch[:2]} == {"test"}
    assert _set_by(patch) == {
        labels.STATE: "busy",
        labels.SAFE_TO_EVICT: "false",
        labels.DO_NOT_DISRUPT: "true",
        labels.REPORT: kept_of(THREE),
    }
    assert flips.patch(pod, flips.standing_of(pod), a_workload(), NOW) == []


def test_a_flip_brings_the_public_address_along_and_is_never_made_for_it() -> None:
    pod, told = a_pod(0), a_pod(0, address="203.0.113.9")
    wish, workload = flips.wished(pod, THREE, 0.0), a_workload(reports="required")
    patch = flips.patch(pod, wish, workload, NOW, "203.0.113.9")
    assert _set_by(patch)[labels.ADDRESS] == "203.0.113.9"
    assert labels.ADDRESS not in _set_by(flips.patch(told, wish, workload, NOW, "203.0.113.9"))
    assert labels.ADDRESS not in _set_by(flips.patch(told, wish, workload, NOW))
    assert flips.patch(pod, flips.standing_of(pod), workload, NOW, "203.0.113.9") == []


@pytest.mark.parametrize(
    ("mark", "leaving", "heard", "leaves", "reports", "stands"),
    [
        pytest.param(
            Mark.IDLE, "", None, True, "required", ("draining", "request"), id="idle drains"
        ),
        pytest.param(Mark.BUSY, "", None, True, "required", (None, "request"), id="busy is told"),
        pytest.param(
            Mark.IDLE, "", BUSY, True, "required", (None, "request"), id="busy by its own word"
        ),
        pytest.param(Mark.NONE, "", None, True, "required", (None, "request"), id="not heard yet"),
        pytest.param(
            Mark.NONE, "", None, True, "none", ("draining", "request"), id="does not report"
        ),
        pytest.param(Mark.DRAINING, "request", None, True, "required", None, id="told before"),
        pytest.param(
            Mark.FAILED, "failed", None, True, "required", (None, "request"), id="a post-mortem"
        ),
        pytest.param(
            Mark.DRAINING, "failed", None, True, "required", None, id="it is on its way already"
        ),
        pytest.param(
            Mark.DRAINING, "request", None, False, "required", ("idle", None), id="taken back"
        ),
        pytest.param(
            Mark.DRAINING, "request", None, False, "none", (None, None), id="back to no mark"
        ),
        pytest.param(Mark.BUSY, "request", None, False, "required", (None, None), id="busy stays"),
        pytest.param(
            Mark.DRAINING, "scale-in", None, False, "required", None, id="only a request ends"
        ),
    ],
)
def test_a_room_is_asked_to_leave_and_to_stay(
    mark: Mark,
    leaving: str,
    heard: Heard | None,
    leaves: bool,
    reports: str,
    stands: tuple[str | None, str | None] | None,
) -> None:
    made = a_room(0) if reports == "required" else a_pod(0)
    pod = replace(made, mark=mark, leaving=Why(leaving), leaving_since=NOW if leaving else 0.0)
    pod = replace(pod, was_heard=reports == "required" and mark is Mark.DRAINING)
    patch = flips.leave_patch(pod, heard, a_workload(reports=reports), leaves, NOW)
    if stands is None:
        assert patch == []
    else:
        there = _set_by(patch)
        assert (there.get(labels.STATE), there.get(labels.LEAVING)) == stands


def test_one_that_was_drained_in_its_start_begins_when_it_stays() -> None:
    asked = {"mark": Mark.DRAINING, "leaving": Why.REQUEST, "leaving_since": NOW}
    pod = a_room(0, ready=False, **asked)
    patch = flips.leave_patch(pod, None, a_workload(reports="required"), False, NOW)
    assert {"op": "remove", "path": "/metadata/labels/gamekeeper.dev~1state"} in patch


@pytest.mark.parametrize(
    ("heard", "recorded"),
    [
        pytest.param(READY, True, id="it spoke"),
        pytest.param(replace(UNHEARD, silent=True), False, id="it was silent alone"),
        pytest.param(replace(UNHEARD, health=Health.CREATING), False, id="it begins yet"),
    ],
)
@pytest.mark.parametrize("mark", [Mark.DRAINING, Mark.FAILED])
def test_a_word_of_a_room_stands_beside_a_mark_that_covers_it(
    mark: Mark, heard: Heard, recorded: bool
) -> None:
    """Who leads next takes its silence for one of a room that was heard."""
    pod = a_room(0, mark=mark, leaving=Why.SCALE_IN, leaving_since=NOW)
    delay = flips.delay_seconds(pod, heard, 0.0)
    assert delay == (flips.KEPT_WITHIN_SECONDS if recorded else None)
    patch = flips.patch(pod, flips.wished(pod, heard, 0.0), REPORTING, NOW)
    assert _set_by(patch) == ({labels.WAS_HEARD: "true"} if recorded else {})
    told = replace(pod, was_heard=True)
    assert flips.delay_seconds(told, heard, 0.0) is None
    assert flips.delay_seconds(told, None, 0.0) is None


def test_what_is_left_of_a_draining_goes_with_the_next_word() -> None:
    pod = a_room(0, mark=Mark.IDLE, was_heard=True)
    patch = flips.patch(pod, flips.wished(pod, READY, 99.0), REPORTING, NOW)
    assert patch[-1] == {"op": "remove", "path": "/metadata/annotations/gamekeeper.dev~1was-heard"}


def _set_by(patch: list[Json]) -> dict[str, str]:
    """What a patch sets, by the name of the label or annotation."""
    return {
        entry["path"].rpartition("/")[2].replace("~1", "/"): entry["value"]
        for entry in patch
        if entry["op"] == "add"
    }


def test_a_count_that_was_given_up_does_not_call_its_room_back() -> None:
    told = {"mark": Mark.DRAINING, "leaving": Why.LEFT_GIT, "kept_report": kept_of(THREE)}
    pod = a_pod(0, **told, was_heard=True, runs=(1,))
    assert flips.wished(pod, THREE, 0.0) == flips.standing_of(pod)
    since = replace(THREE, runs=(1,))
    assert flips.wished(pod, since, 0.0).mark is Mark.BUSY, "players came after all"


def test_a_count_much_later_than_the_one_that_stands_there_stands_before_it_is_answered() -> None:
    pod = a_pod(0, mark=Mark.BUSY, kept_report=kept_of(replace(THREE, counted=100)))
    assert not flips.is_prompt(pod, replace(THREE, players=4, counted=159))
    assert flips.is_prompt(pod, replace(THREE, players=4, counted=160))


def test_of_a_busy_room_no_count_is_kept_that_it_never_told() -> None:
    pod = a_pod(0, mark=Mark.BUSY)
    assert flips.wished(pod, WELL, 99) == flips.standing_of(pod)
    assert flips.delay_seconds(pod, WELL, 99) is None
    assert flips.wished(a_pod(0), WELL, 0).note == kept_of(WELL), "the first word of all"


@pytest.mark.parametrize(
    ("mark", "kept", "heard", "note"),
    [
        pytest.param(Mark.IDLE, "", READY, "", id="who repeats itself keeps nothing"),
        pytest.param(
            Mark.IDLE, kept_of(NOBODY), READY, "", id="and what was kept before it does goes"
        ),
        pytest.param(
            Mark.BUSY, kept_of(NOBODY), MIXED, kept_of(MIXED), id="who speaks both ways keeps it up"
        ),
        pytest.param(
            Mark.BUSY, kept_of(THREE), MUTE, kept_of(THREE), id="silence takes nothing away"
        ),
    ],
)
def test_no_report_is_kept_that_is_not_true_any_more(
    mark: Mark, kept: str, heard: Heard, note: str
) -> None:
    pod = a_pod(0, mark=mark, kept_report=kept)
    assert flips.wished(pod, heard, 1.0).note == note


def test_of_a_room_that_speaks_both_ways_the_last_word_is_kept_at_once() -> None:
    pod = a_pod(0, mark=Mark.BUSY, kept_report=kept_of(NOBODY))
    assert flips.is_prompt(pod, MIXED)


def test_that_a_room_repeats_itself_is_kept_at_once_beside_a_count_that_stays() -> None:
    """By its count alone another process would let it go without a report after its quiet time."""
    pings = replace(NOBODY, periodic=True, mixed=True, said=Said.READY)
    pod = a_pod(0, mark=Mark.IDLE, kept_report=kept_of(NOBODY))
    assert flips.is_prompt(pod, pings)
    assert not flips.is_prompt(replace(pod, kept_report=kept_of(pings)), pings)
