"""What a room has said until now: one report laid over another."""

from dataclasses import replace
from typing import Any

import pytest

from reconciler.core.hearing import (
    began_anew,
    emptied,
    is_doubtful,
    is_outlived,
    lay,
    over,
    told_under,
)
from reconciler.model.rooms import GameState, Health, Heard, Report, Said
from tests.unit.core.making import a_pod

NOW = 1_800_000_000.0
HEARD = Heard(at=NOW, said=Said.OCCUPIED, matches=2, players=7, said_since=NOW)


def report(**said: Any) -> Report:
    return replace(Report(periodic=True), **said)


@pytest.mark.parametrize(
    ("said", "matches"),
    [
        pytest.param({"matches": 3}, 3, id="what it says"),
        pytest.param({"matches": 99}, 4, id="never more than it takes"),
        pytest.param({"matches": -5}, 0, id="never less than none"),
        pytest.param({"said": Said.OCCUPIED}, 1, id="occupied without a number is one match"),
        pytest.param({"said": Said.OCCUPIED, "matches": 0}, 1, id="occupied with 0 is one match"),
        pytest.param({"said": Said.READY}, 0, id="ready without a number is none"),
        pytest.param({"said": Said.READY, "matches": 2}, 2, id="ready with matches has them"),
        pytest.param({"said": Said.TERMINATED}, 0, id="terminated has none"),
        pytest.param({"said": Said.TERMINATING}, 2, id="terminating keeps those it had"),
        pytest.param({"players": 1}, 2, id="a word about players says nothing of matches"),
    ],
)
def test_matches_are_what_it_says_within_what_it_takes(
    said: dict[str, object], matches: int
) -> None:
    assert lay(HEARD, report(**said), 4, NOW).matches == matches


@pytest.mark.parametrize(("said", "players"), [(-1, 0), (12, 12), (10**9, 10**6), (None, 7)])
def test_players_are_bounded(said: int | None, players: int) -> None:
    assert lay(HEARD, report(players=said), 4, NOW).players == players


def test_the_same_again_is_the_same_value() -> None:
    again = report(said=Said.OCCUPIED, matches=2, players=7)
    assert lay(HEARD, again, 4, NOW + 60) is HEARD


def test_a_word_after_a_silence_counts() -> None:
    silent = replace(HEARD, silent=True)
    laid = lay(silent, report(said=Said.OCCUPIED, matches=2), 4, NOW + 600)
    assert laid == replace(HEARD, at=NOW + 600)


def test_a_word_about_its_health_tells_of_no_players_and_confirms_nothing() -> None:
    well = Report(periodic=False, health=Health.HEALTHY)
    first = lay(None, well, 4, NOW)
    assert not first.tells
    assert lay(first, report(players=0), 4, NOW).tells
    assert lay(HEARD, well, 4, NOW).tells, "it told before"
    assert not lay(HEARD, well, 4, NOW, NOW).confirmed_at
    empty = lay(HEARD, report(matches=0), 4, NOW, NOW)
    assert lay(empty, well, 4, NOW, NOW).confirmed_at, "it said so before"


def test_since_when_it_says_things_and_not_who_plays_there() -> None:
    empty = lay(None, Report(periodic=False, players=0), 4, NOW)
    assigned = Report(periodic=False, game_state=GameState.ASSIGNED)
    given = lay(empty, assigned, 4, NOW + 5)
    assert (empty.untold_since, given.untold_since) == (0.0, NOW + 5)
    assert lay(given, assigned, 4, NOW + 9) is given, "it said nothing new"
    running = lay(given, Report(periodic=False, game_state=GameState.RUNNING), 4, NOW + 12)
    assert running.untold_since == NOW + 12
    assert lay(running, Report(periodic=False, players=0), 4, NOW + 20).untold_since == 0.0
    counted = lay(running, Report(periodic=False, players=0), 4, NOW + 20)
    again = Report(periodic=False, game_state=GameState.RUNNING)
    assert lay(counted, again, 4, NOW + 30).untold_since == NOW + 30, "the next match begins so"
    assert lay(running, report(said=Said.READY), 4, NOW + 20).untold_since == 0.0
    assert lay(HEARD, report(health=Health.HEALTHY), 4, NOW).untold_since == 0.0, (
        "it repeats itself"
    )
    assert over(running, NOW + 30).untold_since == 0.0


def test_that_it_terminates_tells_of_no_players_unless_it_names_a_number() -> None:
    ends = report(said=Said.TERMINATING)
    assert not lay(None, ends, 4, NOW).tells
    assert lay(None, replace(ends, matches=1), 4, NOW).tells
    assert lay(HEARD, ends, 4, NOW).tells, "it told before"
    assert not lay(HEARD, ends, 4, NOW, NOW).confirmed_at, "nobody said that it is empty"
    assert lay(lay(None, ends, 4, NOW), Report(periodic=False, players=0), 4, NOW).mixed


def test_the_first_word_since_it_drains_counts_and_the_next_does_not() -> None:
    first = lay(HEARD, report(matches=2), 4, NOW + 5, NOW + 4)
    assert (first.confirmed_at, first.at) == (NOW + 4, NOW + 5)
    assert lay(first, report(matches=2), 4, NOW + 9, NOW + 8) is first


def test_since_when_it_says_so_is_kept_while_it_does() -> None:
    later = lay(HEARD, report(said=Said.OCCUPIED, matches=3), 4, NOW + 60)
    assert later.said_since == NOW
    assert lay(later, report(said=Said.READY), 4, NOW + 70).said_since == NOW + 70


def test_a_game_that_repeats_itself_on_one_path_may_use_another_beside_it() -> None:
    assert lay(HEARD, Report(periodic=False, players=1), 4, NOW).periodic
    assert not lay(None, Report(periodic=False, players=1), 4, NOW).periodic


def test_a_game_that_speaks_both_ways_is_known_for_it() -> None:
    counted = Report(periodic=False, players=1)
    both = lay(HEARD, counted, 4, NOW)
    assert both.mixed
    assert lay(lay(None, counted, 4, NOW), report(said=Said.READY), 4, NOW) == replace(
        both, said=Said.READY, matches=0, at=NOW
    )
    assert not lay(None, counted, 4, NOW).mixed
    assert not lay(HEARD, report(players=1), 4, NOW).mixed


def test_a_room_that_was_known_for_its_silence_alone_speaks_its_own_way() -> None:
    mute = Heard(at=NOW, silent=True, tells=False)
    spoke = lay(mute, Report(periodic=False, players=1), 4, NOW)
    assert (spoke.periodic, spoke.mixed) == (False, False)


COUNTED = Heard(at=NOW, periodic=False, players=3, health=Health.HEALTHY)


@pytest.mark.parametrize(
    ("told", "now", "anew"),
    [
        pytest.param((), (), False, id="it runs on"),
        pytest.param((), (1,), True, id="its only container was restarted"),
        pytest.param((1,), (1,), False, id="it told since"),
        pytest.param((1,), (3,), True, id="twice since"),
        pytest.param((), (1, 0), False, id="one of two, and nobody knows which is the game"),
        pytest.param((1,), (1, 1), False, id="the other of two"),
        pytest.param((), (2, 1), True, id="both"),
        pytest.param((1, 1), (2,), False, id="containers went"),
    ],
)
def test_a_room_has_begun_anew(told: tuple[int, ...], now: tuple[int, ...], anew: bool) -> None:
    assert began_anew(told_under(COUNTED, None, a_pod(0, runs=told), NOW), now) is anew


def test_a_word_about_its_health_makes_a_count_no_younger_and_no_older() -> None:
    told = told_under(COUNTED, None, a_pod(0, runs=(1,)), 77.5)
    unwell = lay(told, Report(periodic=False, health=Health.FAILED), 4, NOW + 9)
    assert (unwell.runs, unwell.counted) == ((1,), 78)


@pytest.mark.parametrize(
    ("count", "runs", "later", "counted"),
    [
        pytest.param(7, (1,), 59.0, 100, id="the same count a moment later"),
        pytest.param(7, (1,), 60.0, 160, id="once the one on its pod may be behind"),
        pytest.param(6, (1,), 1.0, 101, id="another count"),
        pytest.param(7, (2,), 1.0, 101, id="another process"),
        pytest.param(7, (1,), -9.0, 91, id="a clock that was set back"),
    ],
)
def test_a_count_that_is_told_again_is_news_once_a_minute(
    count: int, runs: tuple[int, ...], later: float, counted: int
) -> None:
    before = replace(COUNTED, players=7, runs=(1,), counted=100)
    heard = replace(before, players=count)
    assert told_under(heard, before, a_pod(0, runs=runs), 100.0 + later).counted == counted


@pytest.mark.parametrize(
    ("heard", "pod", "doubtful"),
    [
        pytest.param(COUNTED, {"runs": (1,)}, True, id="it began anew since, or right before"),
        pytest.param(COUNTED, {}, False, id="it runs on"),
        pytest.param(replace(COUNTED, players=0), {"runs": (1,)}, False, id="nobody plays"),
        pytest.param(COUNTED, {"ended": "Completed"}, True, id="it ended since, or right before"),
        pytest.param(
            replace(COUNTED, after_end=True), {"ended": "Completed"}, False, id="it had ended"
        ),
        pytest.param(
            replace(COUNTED, mixed=True, periodic=True, said=Said.OCCUPIED),
            {"runs": (1,)},
            False,
            id="its pings tell of a match",
        ),
        pytest.param(
            replace(COUNTED, mixed=True, periodic=True, said=Said.READY),
            {"runs": (1,)},
            True,
            id="its pings tell of nobody",
        ),
        pytest.param(
            replace(HEARD, said=Said.READY, matches=0, players=3),
            {"ended": "Completed"},
            False,
            id="it only repeats itself",
        ),
    ],
)
def test_players_of_whom_nobody_knows_whose_word_they_were(
    heard: Heard, pod: dict[str, Any], doubtful: bool
) -> None:
    assert is_doubtful(heard, a_pod(0, **pod)) is doubtful


def test_a_room_that_only_repeats_itself_says_itself_that_it_is_empty() -> None:
    assert not began_anew(HEARD, (1,))
    assert told_under(HEARD, None, a_pod(0, runs=(1,)), NOW) is HEARD


def test_that_a_game_is_over_is_the_word_of_the_process_that_ran_then() -> None:
    over = report(said=Said.TERMINATED)
    told = lay(HEARD, over, 4, NOW, pod=a_pod(0, runs=(1, 0)))
    assert not is_outlived(told, a_pod(0, runs=(1, 0)))
    assert not is_outlived(told, a_pod(0, runs=(2, 0))), "one of them runs on"
    assert is_outlived(told, a_pod(0, runs=(2, 1)))
    well = report(health=Health.HEALTHY)
    assert lay(told, well, 4, NOW, pod=a_pod(0, runs=(2, 1))).said is None
    assert lay(told, well, 4, NOW, pod=a_pod(0, runs=(2, 0))).said is Said.TERMINATED
    assert lay(told, report(players=3), 4, NOW, pod=a_pod(0, runs=(1, 0))).busy
    assert not lay(told, report(players=0), 4, NOW, pod=a_pod(0, runs=(1, 0))).busy
    assert not is_outlived(
        lay(told, over, 4, NOW, pod=a_pod(0, runs=(2, 1))), a_pod(0, runs=(2, 1))
    )
    assert not lay(told, report(said=Said.READY), 4, NOW, pod=a_pod(0, runs=(2, 1))).over_runs


def test_whoever_played_where_every_container_began_anew_is_gone() -> None:
    anew = emptied(replace(COUNTED, tells=False, confirmed_at=NOW), (1,), NOW + 9)
    assert anew == Heard(at=NOW + 9, periodic=False, said_since=NOW + 9, runs=(1,))
    both = replace(HEARD, mixed=True, health=Health.HEALTHY)
    assert emptied(both, (1,), NOW + 9) == replace(
        both, players=0, health=None, at=NOW + 9, runs=(1,)
    ), "what it repeats it tells itself"
    known_empty = emptied(replace(both, confirmed_at=NOW), (1,), NOW + 9)
    assert not known_empty.confirmed_at, "who came to the new process, it has not said"
    over = emptied(replace(both, said=Said.TERMINATED, confirmed_at=NOW), (1,), NOW + 9)
    assert (over.said, over.confirmed_at, over.said_since) == (None, 0.0, NOW + 9), "that is over"
