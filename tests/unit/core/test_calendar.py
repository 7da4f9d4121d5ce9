"""Dates and wall clocks agree with Python's own; hours that clocks skip or double are defined."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler import assets
from reconciler.core import calendar

BERLIN = "Europe/Berlin"
NAMES = (BERLIN, "America/Sao_Paulo", "Asia/Kathmandu", "Australia/Lord_Howe", "Africa/Casablanca")


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("Europe/Berlin", [], id="one that there is"),
        pytest.param("europe/berlin", ["did you mean Europe/Berlin?"], id="capitals count"),
        pytest.param("Berlin", ["write one as Europe/Berlin"], id="no region, nothing near"),
    ],
)
def test_a_name_of_no_time_zone(name: str, said: list[str]) -> None:
    found = list(calendar.check_zone(name, assets.TimeZones(), ("spec", "timeZone")))
    assert [mistake.fix for mistake in found] == said
    assert all(mistake.path == ("spec", "timeZone") for mistake in found)


@settings(deadline=None)
@given(st.dates(min_value=date(1900, 1, 1)))
def test_a_day_is_that_of_the_calendar(day: date) -> None:
    found = calendar.day_of(day.isoformat())

    assert found == (day - date(1970, 1, 1)).days
    assert calendar.weekday_of(found) == day.strftime("%a").lower()


@pytest.mark.parametrize(
    "text", ["2026-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2026-4-1", "", "tomorrow"]
)
def test_what_is_no_day(text: str) -> None:
    assert calendar.day_of(text) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("00:00", 0), ("18:30", 66_600), ("24:00", 86_400), ("24:01", None), ("9:00", None),
     ("10:60", None), ("", None)],
)  # fmt: skip
def test_a_time_of_day(text: str, wanted: int | None) -> None:
    assert calendar.time_of(text) == wanted


@pytest.mark.parametrize(
    ("day", "time", "wanted"),
    [
        pytest.param("2026-07-01", "18:00", "2026-07-01T16:00", id="summer"),
        pytest.param("2026-12-01", "18:00", "2026-12-01T17:00", id="winter"),
        pytest.param("2026-03-29", "02:30", "2026-03-29T01:30",
                     id="a time that is skipped is meant as if the clock were not put forward"),
        pytest.param("2026-03-29", "03:00", "2026-03-29T01:00", id="the first after the gap"),
        pytest.param("2026-10-25", "02:30", "2026-10-25T00:30",
                     id="a time that is shown twice is the first of both"),
        pytest.param("2026-10-25", "03:00", "2026-10-25T02:00", id="after the doubled hour"),
    ],
)  # fmt: skip
def test_when_a_clock_in_berlin_shows_a_time(day: str, time: str, wanted: str) -> None:
    zone, day_number, of_day = assets.TimeZones()[BERLIN], calendar.day_of(day), None
    of_day = calendar.time_of(time)
    assert day_number is not None
    assert of_day is not None

    assert calendar.instant_of(zone, day_number, of_day) == seconds(wanted)


@settings(deadline=None)
@given(
    at=st.integers(1_000_000_000, 2_000_000_000),
    name=st.sampled_from(NAMES),
    shift=st.integers(0, 1),
)
def test_instants_are_those_of_pythons_own_time_zones(at: int, name: str, shift: int) -> None:
    there = ZoneInfo(name)
    shown = datetime.fromtimestamp(at, there).replace(fold=0) + timedelta(hours=shift)
    midnight = shown.replace(hour=0, minute=0, second=0)
    day = (shown.date() - date(1970, 1, 1)).days
    of_day = int((shown.replace(tzinfo=None) - midnight.replace(tzinfo=None)).total_seconds())

    found = calendar.instant_of(assets.TimeZones()[name], day, of_day)

    assert found == shown.timestamp()


@given(st.integers(-700_000, 2_000_000))
def test_a_date_is_that_of_its_day(day: int) -> None:
    assert calendar.day_of(calendar.date_of(day)) == day
