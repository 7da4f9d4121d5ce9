"""What a line takes from its pod: the last words that are kept there, and which of them count."""

import math
from dataclasses import replace
from typing import Any

import pytest

from reconciler.core import hearing
from reconciler.core.kept_reports import kept_of
from reconciler.model.live import LivePod
from reconciler.model.rooms import GameState, Health, Mark, Report, Said
from reconciler.service.rooms import kept
from reconciler.service.rooms.lines import Line, line_of
from tests.unit.core.making import a_heard, a_key, a_pod

UNIX = 1_800_000_000.0
SEVEN, NOBODY = (kept_of(a_heard(periodic=False, players=count)) for count in (7, 0))


def pod(report: str, version: int, mark: Mark = Mark.BUSY) -> LivePod:
    return replace(a_pod(0, mark=mark, kept_report=report), resource_version=str(version))


def line(of: LivePod) -> Line:
    made = line_of(a_key(), of, 5.0)
    kept.begin(made, of, mute=False)
    return made


def test_a_newer_pod_tells_what_another_process_kept() -> None:
    made = line(pod(SEVEN, 10))
    assert kept.renew(made, pod(NOBODY, 11), 6.0, UNIX)
    assert made.heard is not None
    assert made.heard.players == 0


def test_that_a_game_repeats_itself_is_taken_over_from_whoever_hears_it() -> None:
    """Its count came first, by which it seemed to tell on change only: that drains otherwise."""
    made = line(pod(NOBODY, 10))
    pings = kept_of(a_heard(periodic=True, mixed=True, said=Said.OCCUPIED, matches=2))
    assert kept.renew(made, pod(pings, 11), 6.0, UNIX)
    assert made.heard is not None
    assert (made.heard.periodic, made.heard.mixed, made.heard.matches) == (True, True, 2)
    assert made.heard.busy


def test_what_a_room_told_us_stands_beside_what_it_told_another_process() -> None:
    made = line(pod(NOBODY, 10))
    made.heard = a_heard(periodic=True, said=Said.READY)
    made.spoke_at = 5.5
    assert kept.renew(made, pod(SEVEN, 11), 6.0, UNIX)
    assert made.heard is not None
    assert (made.heard.said, made.heard.players) == (Said.READY, 7)
    assert hearing.keeps(made.heard), "a part of what it tells is told on change only"


def test_an_older_pod_brings_nobody_back() -> None:
    made = line(pod(SEVEN, 10))
    assert kept.renew(made, pod(NOBODY, 11), 6.0, UNIX)
    assert not kept.renew(made, pod(SEVEN, 10), 7.0, UNIX)
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
    told = kept_of(a_heard(periodic=False, players=7, counted=999))
    made = line(pod(told, 10))
    made.counted_at = 99.0
    began = replace(pod(told, 11), runs=(1, 0), game_started_at=900.0)
    assert not kept.void(made, began, 100.0, 1000.0)
    beside = replace(began, runs=(1, 1))
    for each in (made, line(beside)):
        kept.void(each, beside, 7000.0, 7900.0)
        assert each.heard is not None
        assert each.heard.players == 7


def test_a_count_that_was_told_again_is_kept_as_that_once_it_matters() -> None:
    told = kept_of(a_heard(periodic=False, players=7, counted=100))
    made = line(pod(told, 10))
    made.counted_at = 900.0
    began = replace(pod(told, 11), runs=(1,), game_started_at=890.0)
    assert kept.void(made, began, 910.0, 910.0)
    assert not kept.void(made, began, 911.0, 911.0), "that is known"
    assert made.heard is not None
    assert (made.heard.players, made.heard.counted) == (7, 900)


def test_a_doubt_is_as_old_as_the_last_word_that_nobody_knows_whose_it_was() -> None:
    """The same count again is no news, and no silence."""
    made = line(pod(SEVEN, 10))
    assert made.heard is not None
    made.counted_at = 900.0
    began = replace(pod(SEVEN, 11), runs=(1,), game_started_at=910.0)
    assert kept.void(made, began, 912.0, 912.0)
    assert (made.heard.players, made.heard.at) == (7, 900.0)
    assert hearing.is_doubtful(made.heard, began)
    made.heard = a_heard(periodic=False, players=7, counted=100, at=100.0)
    ended = replace(pod(SEVEN, 12), ended="Completed", game_ended_at=890.0)
    kept.bury(made, None, ended, 902.0, 902.0)
    assert (made.heard.players, made.heard.at) == (7, 900.0)


@pytest.mark.parametrize(
    ("told", "doubtful"),
    [
        pytest.param(900.5, True, id="in that very second"),
        pytest.param(901.5, False, id="since, by the clocks"),
        pytest.param(850.0, True, id="before, by clocks that may differ"),
    ],
)
@pytest.mark.parametrize("by_another", [False, True])
def test_players_told_of_after_a_start_are_of_the_process_that_began(
    told: float, doubtful: bool, by_another: bool
) -> None:
    text = kept_of(a_heard(periodic=False, players=7, counted=math.ceil(told)))
    made = line(pod(text, 10))
    made.counted_at = made.counted_at if by_another else told
    began = replace(pod(text, 11), runs=(1,), game_started_at=900.0)
    kept.void(made, began, 2000.0, 2000.0)
    assert made.heard is not None
    assert made.heard.players == 7
    assert hearing.is_doubtful(made.heard, began) is doubtful


@pytest.mark.parametrize(
    ("told", "creating", "players"),
    [
        pytest.param(879, False, 0, id="surely before"),
        pytest.param(881, False, 7, id="what was told later need not stand there"),
        pytest.param(0, False, 7, id="nobody knows when"),
        pytest.param(1000, True, 0, id="it is being created"),
        pytest.param(1002, True, 7, id="it was being created, and told of players since it began"),
    ],
)
def test_what_another_process_kept_goes_with_a_restart_that_was_surely_after_it(
    told: int, creating: bool, players: int
) -> None:
    made = line(pod(kept_of(a_heard(periodic=False, players=7, counted=told)), 10))
    if creating:
        assert made.heard is not None
        made.heard, made.health_at = replace(made.heard, health=Health.CREATING), 1900.0
    began = replace(pod(SEVEN, 11), runs=(1,), game_started_at=1000.0)
    kept.void(made, began, 2000.0, 2000.0)
    assert made.heard is not None
    assert made.heard.players == players


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
    began = replace(pod(SEVEN, 11), runs=(1,), game_started_at=900.0 + told_before)
    made.counted_at = 900.0
    kept.void(made, began, 2000.0, 2000.0)
    assert made.heard is not None
    assert made.heard.players == players


def test_players_go_with_a_game_that_ended_for_good_and_words_since_then_count() -> None:
    up = pod(SEVEN, 10)
    made = line(up)
    ended = replace(pod(SEVEN, 11), ended="Completed")
    assert kept.bury(made, up, ended, 6.0, 6.0)
    assert made.heard is not None
    assert not made.heard.busy
    made.heard = replace(made.heard, players=2)
    assert not kept.bury(made, ended, replace(ended, resource_version="12"), 7.0, 7.0)
    assert made.heard.players == 2


@pytest.mark.parametrize(
    ("counted", "after_end", "players"),
    [
        pytest.param(899, False, 0, id="before it ended"),
        pytest.param(0, False, 0, id="nobody knows when"),
        pytest.param(902, False, 7, id="after it ended, before its pod told so"),
        pytest.param(901, False, 0, id="in the second in which it ended"),
        pytest.param(850, True, 7, id="after its pod told so, whatever clocks say"),
    ],
)
def test_another_leader_believes_who_was_told_of_after_a_game_had_ended(
    counted: int, after_end: bool, players: int
) -> None:
    told = a_heard(periodic=False, players=7, counted=counted, after_end=after_end)
    up = replace(pod(kept_of(told), 11), ended="Completed", game_ended_at=900.0)
    made = line(up)
    assert kept.bury(made, None, up, 2000.0, 2000.0) is not bool(players)
    assert made.heard is not None
    assert made.heard.players == players


def test_players_go_with_a_game_that_ended_while_nothing_beside_it_ran() -> None:
    up = pod(SEVEN, 10)
    made = line(up)
    ended = replace(up, resource_version="11", ended="Completed", running=False)
    assert not kept.bury(made, up, ended, 6.0, 6.0)
    assert kept.bury(made, ended, replace(ended, resource_version="12", running=True), 7.0, 7.0)


@pytest.mark.parametrize(
    ("words", "told", "stays"),
    [
        pytest.param({"periodic": False, "players": 7}, 899.0, False, id="a count before"),
        pytest.param({"periodic": False, "players": 7}, 901.0, True, id="a count since"),
        pytest.param({"said": Said.OCCUPIED, "matches": 1}, 899.0, False, id="a ping before"),
        pytest.param({"said": Said.OCCUPIED, "matches": 1}, 901.0, True, id="a ping since"),
    ],
)
def test_players_told_of_after_a_game_ended_stay_when_its_pod_tells_of_that(
    words: dict[str, Any], told: float, stays: bool
) -> None:
    up = pod("", 10)
    made = line(up)
    made.heard, made.spoke_at = a_heard(**words), told
    made.counted_at = made.spoke_at if "players" in words else made.counted_at
    ended = replace(up, resource_version="11", ended="Completed", game_ended_at=900.0)
    assert kept.bury(made, up, ended, 905.0, 905.0) is not stays
    assert made.heard.busy is stays


def test_no_clock_empties_a_room_by_a_word_of_this_moment() -> None:
    """This process' clock is two minutes behind that of the node."""
    made = line(pod(SEVEN, 10))
    made.counted_at = 99.0
    began = replace(pod(SEVEN, 11), runs=(1,), game_started_at=1118.0)
    kept.void(made, began, 100.0, 1000.0)
    assert made.heard is not None
    assert made.heard.players == 7
    kept.void(made, began, 110.0, 1010.0)
    assert made.heard.players == 7, "nor does that clock later"
    kept.void(made, replace(began, runs=(2,), game_started_at=1400.0), 290.0, 1190.0)
    assert made.heard.players == 0, "it began once more"


@pytest.mark.parametrize(
    ("health_at", "health"),
    [
        pytest.param(899.0, None, id="the word of the one before"),
        pytest.param(900.5, Health.FAILED, id="its own, before its pod told of it"),
        pytest.param(-math.inf, None, id="another process heard it"),
    ],
)
@pytest.mark.parametrize("count", [0, 7])
def test_how_it_is_a_new_process_may_say_before_its_pod_tells_of_the_restart(
    health_at: float, health: Health | None, count: int
) -> None:
    told = a_heard(periodic=False, players=count, health=Health.FAILED, counted=count and 902)
    made = line(pod(kept_of(told), 10))
    made.health_at = health_at
    began = replace(pod(kept_of(told), 11), runs=(1,), game_started_at=900.0)
    assert kept.void(made, began, 903.0, 903.0)
    assert made.heard is not None
    assert (made.heard.players, made.heard.health) == (count, health)


@pytest.mark.parametrize(("said_at", "stands"), [(899.0, False), (900.5, True)])
def test_a_match_that_the_new_process_begins_before_its_pod_tells_of_the_restart_stands(
    said_at: float, stands: bool
) -> None:
    made = line(pod(NOBODY, 10))
    assert made.heard is not None
    made.heard = replace(made.heard, game_state=GameState.ASSIGNED, untold_since=said_at)
    kept.void(made, replace(pod(NOBODY, 11), runs=(1,), game_started_at=900.0), 903.0, 903.0)
    assert made.heard.untold_since == (said_at if stands else 0.0)
    assert made.heard.game_state is (GameState.ASSIGNED if stands else None)


def test_the_same_words_end_a_doubt() -> None:
    made = line(pod(SEVEN, 10))
    made.counted_at, made.report = 90.0, Report(periodic=False, players=7)
    began = replace(pod(SEVEN, 11), runs=(1,), game_started_at=1000.0)
    kept.void(made, began, 100.0, 1000.0)
    made.report = Report(periodic=False, players=7)
    assert not kept.void(made, began, 101.0, 1001.0)
    assert made.report is None, "were they no news, nobody would know whose they are"


def test_who_tells_of_players_is_created() -> None:
    made = line(pod(SEVEN, 10))
    made.spoke_at = made.counted_at = 50.0
    late = Report(periodic=False, health=Health.CREATING)
    assert made.in_order(late, 49.0).health is None
    assert made.in_order(late, 51.0).health is Health.CREATING
    unwell = Report(periodic=False, health=Health.FAILED)
    assert made.in_order(unwell, 49.0).health is Health.FAILED


@pytest.mark.parametrize(
    ("beside_since", "players"),
    [
        pytest.param(0.0, 0, id="nothing runs beside it"),
        pytest.param(100.0, 7, id="what may be the game runs on behind its proxy"),
        pytest.param(640.0, 7, id="as far as clocks tell"),
        pytest.param(700.0, 0, id="it was begun anew as well"),
    ],
)
def test_what_a_proxy_hides_is_not_begun_anew_with_it(beside_since: float, players: int) -> None:
    told = a_heard(periodic=False, players=7, counted=600)
    made = line(pod(kept_of(told), 10))
    began = replace(
        pod(kept_of(told), 11), runs=(1,), game_started_at=900.0, beside_since=beside_since
    )
    kept.void(made, began, 2000.0, 2000.0)
    assert made.heard is not None
    assert made.heard.players == players
    assert hearing.is_doubtful(made.heard, began) is bool(players)


@pytest.mark.parametrize(("said_now", "players"), [(True, 0), (False, 7)])
def test_a_creating_beside_a_count_is_proof_once_the_pod_has_told_of_the_restart(
    said_now: bool, players: int
) -> None:
    made = line(pod(SEVEN, 10))
    assert made.heard is not None
    made.heard = replace(made.heard, health=Health.CREATING)
    made.counted_at, made.health_at = 97.0, 98.0
    began = replace(pod(SEVEN, 11), runs=(1,), game_started_at=1000.0)
    kept.void(made, began, 99.0, 999.0)
    assert made.heard.players == 7, "either may have come first"
    if said_now:
        made.health_at = 101.0
        kept.void(made, began, 101.0, 1001.0)
    assert made.heard.players == players
