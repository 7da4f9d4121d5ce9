"""The yardstick counts what it says: demand, the world, and the lanes of its anchors."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.yardstick import anchors, page, published, runs, world
from benchmarks.yardstick.demand import DAY_TICKS, GAMES, Case, beginning, demand, readings
from benchmarks.yardstick.page import Row, verdict
from reconciler.model.scaling import Advice, Look

CASE = Case("pubg", 50, 60)
TWO_DAYS = beginning(demand(CASE, 7), 2)


def buffer_of(rooms: int) -> world.Policy:
    """Return Agones' buffer, asked every 30 s, as a policy of the world."""

    def policy(look: Look) -> Advice:
        tick = round((look.now - TWO_DAYS.start) / 10.0) - 1
        due = tick % anchors.AGONES_TICKS == 0
        return Advice(look.load.busy + rooms if due else look.load.members, "")

    return policy


@pytest.mark.parametrize("game", GAMES)
def test_readings_that_failed_are_no_demand(game: str) -> None:
    times, players = readings(game)

    assert players.min() > 0
    assert np.all(np.diff(times) > 0)
    assert len(players) > 500


def test_equal_seeds_are_equal_demand_and_others_are_not() -> None:
    one, same, other = (demand(CASE, seed) for seed in (7, 7, 8))

    assert np.array_equal(one.arrivals, same.arrivals)
    assert np.array_equal(one.lasts, same.lasts)
    assert not np.array_equal(one.arrivals, other.arrivals)


def test_the_peak_needs_as_many_rooms_as_the_case_says() -> None:
    month = demand(Case("dota-2", 2000, 60), 3)
    busy = np.convolve(month.arrivals, np.ones(150)).max()

    assert busy == pytest.approx(2000, rel=0.15)
    assert month.lasts.mean() * 10 == pytest.approx(1500, rel=0.01)


@pytest.mark.parametrize(
    ("case", "check"),
    [
        pytest.param(Case("rust", 50, 60, group=3), "g3", id="groups of three"),
        pytest.param(Case("rust", 50, 60, wobble=True), "wobble", id="a rate that wobbles by 5%"),
        pytest.param(Case("rust", 50, 60, step=True), "step", id="three times as much on day 15"),
    ],
)
def test_harder_variants_are_what_they_say(case: Case, check: str) -> None:
    plain, harder = demand(Case("rust", 50, 60), 1), demand(case, 1)
    ratio = harder.rate / plain.rate
    inside = slice(15 * DAY_TICKS + 60, 15 * DAY_TICKS + 2160)

    assert check in case.name
    assert check != "g3" or np.all(harder.arrivals % 3 == 0)
    assert check != "wobble" or ratio.std() == pytest.approx(0.05, rel=0.1)
    assert check != "step" or (ratio[inside].min() == ratio.max() == 3.0)


@pytest.mark.long
@pytest.mark.parametrize("rooms", [2, 5])
def test_a_buffer_comes_to_the_same_in_the_world_and_in_the_lanes(rooms: int) -> None:
    score = world.run(CASE, TWO_DAYS, 7, buffer_of(rooms))
    tally = anchors.play([TWO_DAYS], 2, 6, anchors.agones(np.array([rooms, 40.0])), 3)

    assert int(tally.misses[0]) == int(score.misses.sum())
    assert float(tally.idle_hours[0]) == pytest.approx(score.idle_hours)
    assert float(tally.paid_idle_hours[0]) == pytest.approx(score.paid_idle_hours)
    assert int(tally.starts[0]) == score.starts
    assert score.misses.sum() > 0 or rooms > 2
    assert int(tally.misses[1]) == 0


def test_a_fleet_that_is_in_play_is_given_the_rooms_that_it_lacks_at_first() -> None:
    """roomOccupancy grows from nothing by a share of readyTarget a start-up time."""
    case = Case("counter-strike-2", 2000, 300)
    day = beginning(demand(case, 7), 1)
    cold, given = (
        anchors.play([day], 1, 30, anchors.maestro(np.array([0.06])), 6, ticks)
        for ticks in (0, world.UNCOUNTED_TICKS)
    )

    assert cold.misses[0] > 1000
    assert given.misses[0] < 100
    assert given.arrivals[0] == cold.arrivals[0]


def test_no_match_is_played_twice_or_forgotten() -> None:
    score = world.run(CASE, TWO_DAYS, 7, buffer_of(40))
    counted = TWO_DAYS.lasts[TWO_DAYS.first[world.UNCOUNTED_TICKS] :].sum() / 360.0

    assert score.misses.sum() == 0
    # Matches that began before counting did, or go on after the end, are at the edges only.
    assert score.busy_hours == pytest.approx(counted, rel=0.05)


def test_time_without_a_room_times_the_rate_is_what_was_missed() -> None:
    dry = 0.0

    def policy(look: Look) -> Advice:
        nonlocal dry
        tick = round((look.now - TWO_DAYS.start) / 10.0) - 1
        if tick >= world.UNCOUNTED_TICKS:
            dry += look.activity.dry_seconds * TWO_DAYS.rate[tick]
        return Advice(look.load.busy + 1, "")

    score = world.run(CASE, TWO_DAYS, 7, policy)

    assert score.misses.sum() > 200
    assert dry == pytest.approx(score.misses.sum(), rel=0.15)


def test_the_smallest_setting_that_meets_the_rate_is_the_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(anchors, "demand", lambda case, seed: TWO_DAYS)
    found = anchors.best("Agones", CASE)
    tally = anchors.play([TWO_DAYS], 1, 6, anchors.agones(np.array([found.setting - 1.0])), 3)

    assert found.miss_rate <= 0.001
    assert tally.misses[0] / tally.arrivals[0] > 0.001
    assert [one.setting - found.setting for one in found.near] == [-1.0, 0.0, 1.0]


def a_run(misses: int = 80, bad_day: int = 0, paid_hours: float = 1100.0) -> dict[str, Any]:
    """Return a run of 100 days of 1,000 matches; a bad day misses more."""
    by_day = [misses // 100] * 99 + [misses - misses // 100 * 99 + bad_day]
    figures = {"paid_idle_hours": paid_hours, "starts": 10.0, "decision_microseconds": 50.0}
    return {"arrivals": [1000] * 100, "misses": by_day, **figures}


ORACLE = {
    "setting": 2.5,
    "miss_rate": 0.0009,
    "paid_idle_hours": 1000.0,
    "starts": 10.0,
    "near": [],
}


@pytest.mark.parametrize(
    ("run", "passed"),
    [
        pytest.param(a_run(misses=3), True, id="all is well"),
        pytest.param(a_run(misses=101), False, id="too many missed over all seeds"),
        pytest.param(a_run(misses=0, bad_day=6), False, id="a day that missed too many"),
        pytest.param(a_run(misses=3, paid_hours=1260.0), False, id="too many paid idle hours"),
    ],
)
def test_the_verdict_is_the_bars(run: dict[str, Any], passed: bool) -> None:
    row = Row(CASE, {"Informed-2": ORACLE}, [run, run])

    assert verdict([row])[1] is passed
    assert page.text([row], [1, 2], "Played.").count("| 60 | pubg | 50 |") == 1


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        pytest.param(36, f"**Passed.** {page.JUDGED}", id="the whole table"),
        pytest.param(35, "**Not judged: this is a part of the table.**", id="a part of it"),
    ],
)
def test_the_page_says_what_its_word_is_of(cases: int, said: str) -> None:
    """Microseconds, minutes and anchors have a bound on the page as well, which fails nobody."""
    slow = {**a_run(misses=3), "decision_microseconds": 900.0}
    row = Row(CASE, {"Informed-2": ORACLE}, [slow] * 5)

    assert said in page.text([row] * cases, [1, 2, 3, 4, 5], "Played.").splitlines()


def test_every_case_has_published_anchors() -> None:
    assert all({"Agones", "Informed-2"} <= set(published.anchors_of(case)) for case in runs.CASES)
    assert published.anchors_of(Case("pubg", 50, 60)) == {
        "Agones": (6.0, 4296.0),
        "Informed-2": (3.2, 2721.0),
    }


def anchor_of(setting: float, hours: float, *near: tuple[float, float]) -> dict[str, Any]:
    """Return an anchor as a kept run holds it; `near` are settings and paid hours."""
    tried = [
        {"setting": one, "miss_rate": 0.0011, "paid_idle_hours": paid}
        for one, paid in (*near, (setting, hours))
    ]
    figures = {"miss_rate": 0.0009, "idle_hours": hours, "starts": 10.0, "near": tried}
    return {"setting": setting, "paid_idle_hours": hours, **figures}


NONE_FOUND = {**anchor_of(float("nan"), float("nan")), "near": []}
APART = "60-pubg-50: Agones {} h, published 6 and 4296 h {}".format


@pytest.mark.parametrize(
    ("anchor", "counted", "within", "said"),
    [
        pytest.param(
            anchor_of(6.0, 4300.0), "1 of 1", "0.1%", [], id="the same setting, as many hours"
        ),
        pytest.param(
            anchor_of(6.0, 4600.0),
            *("1 of 1", "7.1%"),
            [APART("6 pays 4600", "(+7.1%); with 6 ours pays 4600 h (+7.1%) and misses 0.110%")],
            id="the same setting, other hours",
        ),
        pytest.param(
            anchor_of(7.0, 5012.0, (6.0, 4300.0)),
            *("0 of 1", "0.1%"),
            [APART("7 pays 5012", "(+16.7%); with 6 ours pays 4300 h (+0.1%) and misses 0.110%")],
            id="another setting is compared at the published one",
        ),
        pytest.param(
            NONE_FOUND,
            *("0 of 1", "0.0%"),
            [APART("nan pays nan", "(+nan%); the published setting is more than a step away")],
            id="none was found",
        ),
    ],
)
def test_anchors_stand_beside_the_published_ones(
    anchor: dict[str, Any], counted: str, within: str, said: list[str]
) -> None:
    summary, *apart = published.verdict([(CASE, {"Agones": anchor})])

    assert summary.startswith(f"{counted} anchors have the published setting")
    assert summary.endswith(f"the published hours to within {within}")
    assert apart == said


def test_the_table_of_anchors_tells_what_never_met_the_rate_there_and_here() -> None:
    found = {"Agones": NONE_FOUND, "Maestro": anchor_of(0.51, 9904.0)}

    assert published.table([(CASE, found)])[2:] == [
        "| 60-pubg-50 | Agones | never |  |  | 6 | 4296 |  |  |",
        "| 60-pubg-50 | Maestro | 0.51 | 9904 | 0.090 | never |  |  |  |",
    ]


@pytest.mark.parametrize(
    ("noted", "said"),
    [
        pytest.param([90.0, 30.0, 60.0], ["all runs together took 3 minutes"], id="all noted it"),
        pytest.param([None, 30.0, 60.0], ["2 of 3 runs together took 2 minutes"], id="two did"),
        pytest.param([None, None, None], [], id="none did"),
    ],
)
def test_how_long_the_table_took_stands_on_its_page(
    noted: list[float | None], said: list[str]
) -> None:
    oracle, *played = (
        kept if seconds is None else {**kept, "seconds": seconds}
        for kept, seconds in zip([ORACLE, a_run(), a_run()], noted, strict=True)
    )
    lines = page.text([Row(CASE, {"Informed-2": oracle}, played)], [1, 2], "Played.").splitlines()

    assert [line[2:].partition(" of one core")[0] for line in lines if " minutes " in line] == said


def test_a_run_notes_how_long_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anchors, "best", lambda name, case: anchors.Anchor(6.0, 0.0, 1.0, 1.0, 1))
    clock = SimpleNamespace(monotonic=iter([100.0, 107.5]).__next__)
    monkeypatch.setattr("benchmarks.yardstick.runs.time", clock)

    assert runs.carry_out(runs.Work(CASE, "Agones", 0))["seconds"] == 7.5


def test_a_bad_day_of_one_run_is_told_and_pooled_with_the_others() -> None:
    row = Row(CASE, {"Informed-2": ORACLE}, [a_run(misses=0, bad_day=6), a_run(misses=0)])

    assert (row.worst_day_of_a_run, row.worst_day) == (0.006, 0.003)
    assert verdict([row])[1]


def test_one_run_that_missed_far_more_than_the_others_fails() -> None:
    row = Row(CASE, {"Informed-2": ORACLE}, [a_run(misses=200), a_run(misses=0)])

    assert row.missed() <= 0.001
    assert row.failures == ["60-pubg-50: a run missed 200 of 100"]


def test_runs_that_are_kept_are_not_played_again_and_a_line_cut_off_is_no_run(
    tmp_path: Path,
) -> None:
    work = runs.Work(CASE, runs.ADAPTIVE, 1)
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps({"key": work.key, "misses": 3}) + '\n{"key": "cut o', "utf-8")

    assert runs.play([work], path, 1) == {work.key: {"key": work.key, "misses": 3}}
