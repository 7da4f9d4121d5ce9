"""What a line takes from its pod: the last words that are kept there, and which of them count."""

from dataclasses import replace

import pytest

from reconciler.core.hearing import kept_of
from reconciler.model.live import LivePod
from reconciler.model.rooms import Mark
from reconciler.service.rooms import kept
from reconciler.service.rooms.lines import Line, line_of
from tests.unit.core.making import a_heard, a_key, a_pod

SEVEN, NOBODY = (kept_of(a_heard(periodic=False, players=count)) for count in (7, 0))


def pod(report: str, version: int, mark: Mark = Mark.BUSY) -> LivePod:
    return replace(a_pod(0, mark=mark, kept_report=report), resource_version=str(version))


def line(of: LivePod) -> Line:
    made = line_of(a_key(), of, 5.0)
    kept.begin(made, of, mute=False)
    return made


def test_a_newer_pod_tells_what_another_process_kept() -> None:
    made = line(pod(SEVEN, 10))
    assert kept.renew(made, pod(NOBODY, 11), 6.0)
    assert made.heard is not None
    assert made.heard.players == 0


def test_an_older_pod_brings_nobody_back() -> None:
    made = line(pod(SEVEN, 10))
    assert kept.renew(made, pod(NOBODY, 11), 6.0)
    assert not kept.renew(made, pod(SEVEN, 10), 7.0)
    assert made.heard is not None
    assert made.heard.players == 0


@pytest.mark.parametrize(
    ("before", "now", "recalled"),
    [
        pytest.param(Mark.FAILED, Mark.DRAINING, True, id="a post-mortem that is over"),
        pytest.param(Mark.FAILED, Mark.FAILED, False, id="one that goes on"),
        pytest.param(Mark.IDLE, Mark.DRAINING, False, id="a room that never failed"),
    ],
)
def test_after_a_post_mortem_the_last_words_count_again(
    before: Mark, now: Mark, recalled: bool
) -> None:
    assert kept.is_recalled(pod(NOBODY, 10, before), pod(NOBODY, 11, now)) is recalled


def test_of_a_room_that_failed_the_last_words_do_not_count() -> None:
    assert line(pod(NOBODY, 10, Mark.FAILED)).heard is None


def test_players_told_of_before_the_pod_tells_of_the_restart_outlive_one_of_a_sidecar() -> None:
    """A game began anew and told of players at once; hours later its sidecar does, too."""
    made = line(pod(SEVEN, 10))
    made.counted_at = 99.0
    began = replace(pod(SEVEN, 11), runs=(1, 0), first_started_at=900.0)
    assert kept.void(made, began, 100.0, 1000.0)
    assert not kept.void(made, began, 101.0, 1001.0), "that is known"
    assert made.heard is not None
    told = kept_of(made.heard)
    led_by_another = line(replace(began, kept_report=told))
    beside = replace(began, runs=(1, 1), kept_report=told)
    assert not kept.void(led_by_another, beside, 7000.0, 8000.0)
    assert led_by_another.heard is not None
    assert led_by_another.heard.players == 7


@pytest.mark.parametrize(
    ("told_before", "players"),
    [
        pytest.param(61.0, 0, id="surely before, by whatever clock"),
        pytest.param(59.0, 7, id="perhaps since, by a node's clock that is ahead"),
        pytest.param(-30.0, 7, id="since"),
    ],
)
def test_players_go_with_a_restart_that_was_surely_after_they_were_told(
    told_before: float, players: int
) -> None:
    made = line(pod(SEVEN, 10))
    began = replace(pod(SEVEN, 11), runs=(1,), first_started_at=900.0 + told_before)
    made.counted_at = 900.0
    assert kept.void(made, began, 2000.0, 2000.0)
    assert made.heard is not None
    assert made.heard.players == players
