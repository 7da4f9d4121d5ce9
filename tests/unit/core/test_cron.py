"""Cron's five fields, on days that are known; what is none of them is said."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core import calendar, cron
from reconciler.core.cron import Cron

EPOCH = date(1970, 1, 1)


def parsed(text: str) -> Cron:
    found = cron.parse(text)
    assert isinstance(found, Cron), found
    return found


def days(text: str, year: int, month: int) -> list[int]:
    """Return the days of a month on which a schedule begins."""
    schedule, first = parsed(text), date(year, month, 1)
    found = (first + timedelta(days=n) for n in range(31))
    return [
        each.day for each in found if each.month == month and schedule.is_on((each - EPOCH).days)
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("0 0 * * *", list(range(1, 32)), id="every day"),
        pytest.param("0 0 1,15 * *", [1, 15], id="two days of the month"),
        pytest.param("0 0 * * fri", [4, 11, 18, 25], id="a day of the week by name"),
        pytest.param("0 0 * * 5", [4, 11, 18, 25], id="a day of the week by number"),
        pytest.param("0 0 * * 7", [6, 13, 20, 27], id="seven is Sunday"),
        pytest.param("0 0 * * 0", [6, 13, 20, 27], id="so is zero"),
        pytest.param("0 0 1 * mon", [1, 7, 14, 21, 28], id="either one where both are limited"),
        pytest.param("0 0 */1 * mon", [7, 14, 21, 28], id="a field that begins with * limits only"),
        pytest.param("0 0 */10 * mon", [21], id="so does one with steps: both must match"),
        pytest.param("0 0 1-7 * */5", [4, 6], id="the first week on Fridays and Sundays"),
        pytest.param("0 0 *,3 * mon", [7, 14, 21, 28], id="* first in a list"),
        pytest.param("0 0 1-31 * mon", list(range(1, 32)), id="all days written out are limited"),
        pytest.param("0 0 * jan *", [], id="another month"),
        pytest.param("0 0 */10 DEC *", [1, 11, 21, 31], id="steps, and capitals"),
        pytest.param("0 0 20-22 12 *", [20, 21, 22], id="a span"),
        pytest.param("0 0 28/2 12 *", [28, 30], id="steps from a day on"),
    ],
)  # fmt: skip
def test_the_days_of_december_2026(text: str, wanted: list[int]) -> None:
    assert days(text, 2026, 12) == wanted


def test_too_many_times_a_day() -> None:
    assert cron.parse("*/30 0-12 * * *") == "begins more than 24 times a day"
    assert len(parsed("*/30 0-11 * * *").times) == cron.MOST_TIMES


def test_the_times_of_a_day() -> None:
    assert parsed("*/30 9-10 * * *").times == (32_400, 34_200, 36_000, 37_800)
    assert parsed("5 17 * * *").times == (17 * 3600 + 300,)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "must have five fields"),
        ("0 0 * *", "must have five fields"),
        ("@daily", "must have five fields"),
        ("60 * * * *", "60 is no minute, 0 to 59"),
        ("* 24 * * *", "24 is no hour, 0 to 23"),
        ("* * 0 * *", "0 is no day of the month, 1 to 31"),
        ("* * * 13 *", "13 is no month, 1 to 12"),
        ("* * * * 8", "8 is no day of the week, 0 to 7"),
        ("*/0 * * * *", "*/0 is no minute"),
        ("5-1 * * * *", "5-1 is no minute"),
        ("1,,2 * * * *", "1,,2 is no minute"),
        ("1- * * * *", "1- is no minute"),
        ("*/x * * * *", "*/x is no minute"),
        ("\u0661 * * * *", "is no minute"),
        ("0 0 30 2 *", "there is no such day in these months"),
        ("0 0 31 4,6 *", "there is no such day in these months"),
        ("* * * * * " + " " * 300, "must have five fields"),
    ],
)
def test_what_is_no_schedule(text: str, wanted: str) -> None:
    found = cron.parse(text)
    assert isinstance(found, str)
    assert wanted in found


@given(st.text(alphabet="0123456789*/-, monfrijanx", max_size=40))
def test_no_text_is_too_much(text: str) -> None:
    found = cron.parse(text)
    if isinstance(found, Cron):
        assert found.times
        assert all(0 <= time < calendar.DAY_SECONDS for time in found.times)
