"""When an entry holds: days, times over midnight, dates that passed, hours that clocks skip."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler import assets
from reconciler.core.policies.windows import check_window, holds_at, told
from tests.unit.core.reading import rules

ZONES = assets.TimeZones()
BERLIN = {"timeZone": "Europe/Berlin"}


def at(text: str, zone: str = "Europe/Berlin", fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp()


EVENING = {**BERLIN, "days": ["fri"], "from": "18:00", "to": "02:00"}
ADVENT = {**BERLIN, "start": "2026-12-01", "end": "2026-12-24"}
NIGHT = {**BERLIN, "from": "01:00", "to": "02:30"}
SKIPPED = {**BERLIN, "from": "02:15", "to": "02:45"}


@pytest.mark.parametrize(
    ("entry", "now", "holds"),
    [
        pytest.param({}, at("2026-07-03T12:00"), True, id="no word about time is always"),
        pytest.param(EVENING, at("2026-07-03T17:59:59"), False, id="before it begins"),
        pytest.param(EVENING, at("2026-07-03T18:00"), True, id="as it begins"),
        pytest.param(EVENING, at("2026-07-04T01:59:59"), True, id="after midnight, the day after"),
        pytest.param(EVENING, at("2026-07-04T02:00"), False, id="as it ends"),
        pytest.param(EVENING, at("2026-07-03T01:00"), False,
                     id="the night to its day belongs to the day before"),
        pytest.param(EVENING, at("2026-07-04T18:30"), False, id="another day"),
        pytest.param({"from": "18:00", "to": "24:00"}, at("2026-07-03T23:59", "UTC"), True,
                     id="until the end of the day, in UTC"),
        pytest.param({"from": "06:00", "to": "06:00"}, at("2026-07-03T05:00", "UTC"), True,
                     id="from six to six is a whole day"),
        pytest.param({"from": "06:00", "to": "06:00", "days": ["sat"]},
                     at("2026-07-05T05:59", "UTC"), True, id="its end is on the next day"),
        pytest.param(ADVENT, at("2026-11-30T23:59"), False, id="before its first day"),
        pytest.param(ADVENT, at("2026-12-01T00:00"), True, id="its first day"),
        pytest.param(ADVENT, at("2026-12-24T23:59"), True, id="its last day"),
        pytest.param(ADVENT, at("2026-12-25T00:00"), False, id="after it: passed, and no mistake"),
        pytest.param(NIGHT, at("2026-10-25T02:15", fold=0), True, id="doubled hour: the first"),
        pytest.param(NIGHT, at("2026-10-25T02:15", fold=1), False,
                     id="doubled hour: it ended at the first 02:30, and does not begin again"),
        pytest.param(SKIPPED, at("2026-03-29T03:15"), True,
                     id="skipped hour: it holds as if the clock had not been put forward"),
        pytest.param(SKIPPED, at("2026-03-29T03:45"), False, id="skipped hour: and as long"),
        pytest.param({"timeZone": "Nowhere/Town", "from": "18:00"}, at("2026-07-03T18:00", "UTC"),
                     True, id="a zone that is not installed any more is UTC"),
        pytest.param({"timeZone": "Pacific/Auckland", "from": "00:00", "to": "01:00"},
                     at("2026-07-03T00:30", "Pacific/Auckland"), True, id="far from Greenwich"),
    ],
)  # fmt: skip
def test_when_an_entry_holds(entry: dict[str, Any], now: float, holds: bool) -> None:
    assert holds_at(entry, ZONES, now) is holds


@settings(deadline=None)
@given(
    now=st.integers(1_700_000_000, 1_900_000_000),
    zone=st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"]),
    first=st.integers(0, 23),
    second=st.integers(0, 23),
    minute=st.integers(0, 59),
)
def test_windows_that_touch_on_the_clock_leave_no_gap_and_do_not_overlap(
    now: int, zone: str, first: int, second: int, minute: int
) -> None:
    one, other = f"{first:02}:{minute:02}", f"{second:02}:{minute:02}"
    if one == other:
        return
    halves = [
        {"timeZone": zone, "from": one, "to": other},
        {"timeZone": zone, "from": other, "to": one},
    ]

    assert sum(holds_at(half, ZONES, now) for half in halves) == 1


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        pytest.param(BERLIN, set(), id="a zone there is"),
        pytest.param({"timeZone": "Europe/Berlln"}, {("timeZone", "time-zone")}, id="none"),
        pytest.param({"timeZone": "../../etc/passwd"}, {("timeZone", "time-zone")}, id="a path"),
        pytest.param({"start": "2026-02-30"}, {("start", "date")}, id="no such day"),
        pytest.param({"start": "2026-12-02", "end": "2026-12-01"}, {("end", "date")},
                     id="an end before its start"),
        pytest.param({"start": "1999-01-01", "end": "1999-01-01"}, set(), id="long ago"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_entry(entry: dict[str, Any], found: set[tuple[str, str]]) -> None:
    assert rules(check_window(entry, ZONES)) == found


def test_a_zone_that_was_mistyped_is_suggested_and_an_entry_tells_itself() -> None:
    (mistake,) = check_window({"timeZone": "Europe/Berlln"}, ZONES)

    assert mistake.fix == "did you mean Europe/Berlin?"
    assert told(EVENING, ZONES) == "18:00 to 02:00 on fri (Europe/Berlin)"
    assert told(ADVENT, ZONES) == (
        "00:00 to 24:00 from 2026-12-01 until 2026-12-24 (Europe/Berlin)"
    )
