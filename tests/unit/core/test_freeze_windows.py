"""When freezes are open, also on clocks that change; what is wrong with those that never are."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler import assets
from reconciler.core import freeze_windows
from reconciler.core.freeze_windows import check_freeze, next_change, open_at, windows_of
from reconciler.core.sound_record import problem_of
from reconciler.model.freezes import Window
from reconciler.model.records import RepositoryRecord

ZONES = assets.TimeZones()
HOUR = 3600


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def cron(schedule: str, duration: int, zone: str = "Europe/Berlin") -> Window:
    return Window("one", schedule=schedule, time_zone=zone, duration_seconds=duration)


def dates(begin: str, end: str, zone: str = "Europe/Berlin") -> Window:
    return Window("one", begin=begin, end=end, time_zone=zone)


def span(window: Window, at: str) -> tuple[float, float] | None:
    found = open_at([window], ZONES, seconds(at))
    return (found[0].since, found[0].until) if found else None


@pytest.mark.parametrize(
    ("window", "first", "end"),
    [
        pytest.param(cron("0 17 * * fri", 60 * HOUR), "2026-12-04T16:00", "2026-12-07T04:00",
                     id="a weekend"),
        pytest.param(cron("0 1 29 3 *", 4 * HOUR), "2026-03-29T00:00", "2026-03-29T04:00",
                     id="the clock is put forward in it: it lasts as long all the same"),
        pytest.param(cron("0 1 25 10 *", 4 * HOUR), "2026-10-24T23:00", "2026-10-25T03:00",
                     id="the clock is put back in it"),
        pytest.param(cron("30 2 29 3 *", HOUR), "2026-03-29T01:30", "2026-03-29T02:30",
                     id="a time that is skipped is meant as if the clock were not put forward"),
        pytest.param(cron("30 2 25 10 *", HOUR), "2026-10-25T00:30", "2026-10-25T01:30",
                     id="a time that is shown twice is the first of both"),
        pytest.param(cron("0,30 9 4 12 *", HOUR), "2026-12-04T08:00", "2026-12-04T09:30",
                     id="what opens again before it ends goes on"),
        pytest.param(dates("2026-12-23", "2027-01-03"), "2026-12-22T23:00", "2027-01-03T23:00",
                     id="dates are whole days, the last one too"),
        pytest.param(dates("2026-03-29", "2026-03-29"), "2026-03-28T23:00", "2026-03-29T22:00",
                     id="a day of twenty-three hours"),
        pytest.param(dates("2026-12-23T18:00:00+01:00", "2027-01-04T08:00:00Z", ""),
                     "2026-12-23T17:00", "2027-01-04T08:00", id="dates and times with their zone"),
        pytest.param(dates("2026-12-23", "2026-12-24T12:00:00+01:00"),
                     "2026-12-22T23:00", "2026-12-24T11:00", id="one of each"),
    ],
)  # fmt: skip
def test_a_window_is_open_from_its_begin_until_its_end(
    window: Window, first: str, end: str
) -> None:
    begin, over = seconds(first), seconds(end)
    for at in (begin, (begin + over) / 2, over - 1):
        (found,) = open_at([window], ZONES, at)
        assert found.until == over
        assert next_change([window], ZONES, at) == over
    assert open_at([window], ZONES, begin)[0].since == begin
    assert not open_at([window], ZONES, begin - 1)
    assert not open_at([window], ZONES, over)
    assert next_change([window], ZONES, begin - 1) == begin


def test_a_zone_that_is_not_installed_any_more_is_taken_for_utc() -> None:
    window = cron("0 9 * * *", HOUR, "Mars/Olympus")
    assert span(window, "2026-12-04T09:30") == (
        seconds("2026-12-04T09:00"),
        seconds("2026-12-04T10:00"),
    )


def test_windows_that_touch_for_long_are_told_a_week_ahead() -> None:
    window = cron("0 0-23 2-30 12 *", HOUR, "UTC")
    assert span(window, "2026-12-04T09:30") == (
        seconds("2026-12-04T09:00"),
        seconds("2026-12-12T00:00"),
    )


@settings(deadline=None)
@given(
    st.sampled_from(["0 17 * * fri", "*/30 2 * * *", "0 0 1 * *", "15 3 * 3,10 sun"]),
    st.integers(60, 100_000),
    st.sampled_from(["Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Pacific/Apia"]),
    st.integers(1_700_000_000, 1_900_000_000),
)
def test_an_open_window_holds_now_and_began_on_its_schedule(
    schedule: str, duration: int, zone: str, now: int
) -> None:
    window = cron(schedule, duration, zone)
    for found in open_at([window], ZONES, now):
        assert found.since <= now < found.until
        assert found.until - found.since >= duration
        assert open_at([window], ZONES, found.since)
    change = next_change([window], ZONES, now)
    assert change is None or change > now


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        pytest.param({"schedule": "0 9 * * fri", "timeZone": "Europe/Berlin",
                      "durationSeconds": 60}, [], id="a schedule"),
        pytest.param({"from": "2026-12-23", "until": "2026-12-23", "timeZone": "UTC"}, [],
                     id="one day"),
        pytest.param({"from": "2026-12-23T00:00:00Z", "until": "2026-12-23T00:00:01Z"}, [],
                     id="instants need no zone"),
        pytest.param({}, ["a window has a schedule, or from and until"] * 2, id="neither"),
        pytest.param({"from": "2026-12-23T00:00:00Z"},
                     ["a window has a schedule, or from and until"], id="no end"),
        pytest.param({"schedule": "0 9 * * fri", "timeZone": "UTC"},
                     ["durationSeconds is missing: how long does it last?"], id="no duration"),
        pytest.param({"schedule": "0 9 * * fri", "durationSeconds": 60},
                     ["timeZone is missing: whose clocks are meant?"], id="no zone"),
        pytest.param({"from": "2026-12-23", "until": "2026-12-24"},
                     ["timeZone is missing: whose clocks are meant?"], id="dates without a zone"),
        pytest.param({"schedule": "0 9 * * fri", "timeZone": "Europe/Berlln",
                      "durationSeconds": 60}, ['there is no time zone "Europe/Berlln"'],
                     id="a zone that is none"),
        pytest.param({"schedule": "0 25 * * *", "timeZone": "UTC", "durationSeconds": 60},
                     ["25 is no hour, 0 to 23"], id="no cron"),
        pytest.param({"schedule": "0 9 * * *", "timeZone": "UTC", "durationSeconds": 86_400},
                     ["it opens again before it ends: it would never end"], id="never ends"),
        pytest.param({"schedule": "0 * * * *", "timeZone": "UTC", "durationSeconds": 3600},
                     ["it opens again before it ends: it would never end"], id="nor this one"),
        pytest.param({"schedule": "*/5 * * * *", "timeZone": "UTC", "durationSeconds": 60},
                     ["begins more than 24 times a day"], id="too often"),
        pytest.param({"schedule": "*/5 9 * * *", "timeZone": "UTC", "durationSeconds": 600}, [],
                     id="one that joins, and ends"),
        pytest.param({"schedule": "0 9 * * mon", "timeZone": "UTC", "durationSeconds": 604_800},
                     ["it opens again before it ends: it would never end"], id="all week"),
        pytest.param({"schedule": "0 9 * * fri", "timeZone": "UTC", "durationSeconds": 60,
                      "from": "2026-12-23"},
                     ["a window has a schedule, or from and until, one of both"], id="both"),
        pytest.param({"from": "2026-02-30", "until": "2026-03-01", "timeZone": "UTC"},
                     ['"2026-02-30" is no date and no date and time'], id="no day"),
        pytest.param({"from": "2026-12-23T10:00:00", "until": "2026-12-24", "timeZone": "UTC"},
                     ['"2026-12-23T10:00:00" is no date and no date and time'], id="no offset"),
        pytest.param({"from": "2026-12-23", "until": "9999-12-31", "timeZone": "Europe/Berlin"},
                     ['"9999-12-31" is of a year that no time zone tells of'], id="for ever"),
        pytest.param({"from": "0001-01-01", "until": "2026-12-23", "timeZone": "UTC"},
                     ['"0001-01-01" is of a year that no time zone tells of'], id="since ever"),
        pytest.param({"from": "2026-12-24", "until": "2026-12-23", "timeZone": "UTC"},
                     ["2026-12-23 is not after from, 2026-12-24: it would never open"],
                     id="backwards"),
        pytest.param({"from": "2026-12-23", "until": "2026-12-24", "timeZone": "UTC",
                      "durationSeconds": 60},
                     ["durationSeconds is of a schedule: from and until say how long it lasts"],
                     id="a duration beside dates"),
    ],
)  # fmt: skip
def test_the_mistakes_of_a_window(entry: dict[str, Any], wanted: list[str]) -> None:
    found = list(check_freeze([{"name": "one", **entry}], ZONES))
    assert [each.message for each in found] == wanted
    assert all(each.path[:3] == ("spec", "freeze", 0) for each in found)


def test_two_windows_of_one_name() -> None:
    one = {"name": "one", "from": "2026-12-23T00:00:00Z", "until": "2026-12-24T00:00:00Z"}
    (found,) = check_freeze([one, one], ZONES)
    assert (found.path, found.message) == (
        ("spec", "freeze", 1, "name"),
        'there is another window "one"',
    )


def test_what_is_said_of_an_open_window() -> None:
    entry = {"name": "cup", "from": "2026-12-23T00:00:00Z", "until": "2026-12-24T00:00:00Z"}
    (window,) = windows_of([{**entry, "reason": "the cup"}])
    (found,) = open_at([window], ZONES, seconds("2026-12-23T09:00"))
    assert freeze_windows.sentence(found) == (
        'frozen until 2026-12-24 00:00 UTC by "cup" (gamekeeper.yaml: the cup)'
    )


def test_a_secret_in_its_reason_is_told_nowhere() -> None:
    entry = {"name": "cup", "from": "2026-12-23T00:00:00Z", "until": "2026-12-24T00:00:00Z"}
    windows = windows_of([{**entry, "reason": f"ask with ghp_{'a' * 36}"}])
    (found,) = open_at(windows, ZONES, seconds("2026-12-23T09:00"))
    assert found.reason == "ask with ***"


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Pacific/Kiritimati", "America/Lima"])
@pytest.mark.parametrize("begin", ["1970-01-01", "1900-01-01", "2026-01-01"])
def test_what_is_open_for_good_can_stand_on_record(begin: str, zone: str) -> None:
    (freeze,) = open_at([dates(begin, "2999-12-31", zone)], ZONES, seconds("2026-11-23T12:00"))
    record = replace(RepositoryRecord(), freezes=(freeze,))
    assert problem_of(record) == ""
