"""Demand from elsewhere: what a table and a Prometheus answer say, and what is wrong with them."""

import io
import json
from typing import Any

import pytest

from reconciler.core.demand import QUARTERS
from reconciler.core.demand_rows import Rows, from_csv, from_prometheus, moment_of, to_csv, told

NOW = 1_795_330_800.0
"""2026-11-22T07:00:00Z, the first second of quarter 1,994,812."""
QUARTER = 1_994_812


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        pytest.param("time,starts\n1795329900,7\n", {QUARTER - 1: 7}, id="Unix seconds"),
        pytest.param("time,starts\n2026-11-22T06:45:00Z,7", {QUARTER - 1: 7}, id="ISO 8601"),
        pytest.param("time,starts\n2026-11-22 07:45+01:00,7", {QUARTER - 1: 7}, id="another zone"),
        pytest.param("time,starts\n2026-11-22T06:45:00.5-00:00,7", {QUARTER - 1: 7}, id="a part"),
        pytest.param("\ufeffTime, Starts\r\n1795329900,7\r\n", {QUARTER - 1: 7}, id="a sheet's"),
        pytest.param(
            "time,starts\n1795329900,3\n\n1795330000,4\n1795328999,2.6\n",
            {QUARTER - 1: 7, QUARTER - 3: 3},
            id="rows of a quarter add up, one without any is a gap",
        ),
        pytest.param("time,starts\n1795329900,0\n", {QUARTER - 1: 0}, id="nobody came"),
        pytest.param("time,starts\n1795329900,7\x1f", {QUARTER - 1: 7}, id="odd white space"),
    ],
)
def test_a_table_says_how_many_rooms_turned_occupied(text: str, counts: dict[int, int]) -> None:
    rows = from_csv(io.StringIO(text), NOW)

    assert (rows.counts, rows.problems) == (counts, [])


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        pytest.param("", 1, "time,starts", id="nothing at all"),
        pytest.param("1795329900,7\n", 1, "time,starts", id="no head"),
        pytest.param("time,starts\n1795329900\n", 2, "1 cells", id="a cell is missing"),
        pytest.param("time,starts\n1795329900,7\nyesterday,1", 3, "is no time", id="no time"),
        pytest.param("time,starts\n2026-02-30T00:00Z,1", 2, "is no time", id="no day"),
        pytest.param("time,starts\n2026-11-22T06:45:99Z,1", 2, "is no time", id="no second"),
        pytest.param("time,starts\n2026-11-22T06:45+01:99,1", 2, "is no time", id="no zone"),
        pytest.param("time,starts\n2026-11-22T06:45:00,1", 2, "time zone", id="no time zone"),
        pytest.param("time,starts\n1795329900,many", 2, '"many" is no number', id="no number"),
        pytest.param("time,starts\n1795329900,nan", 2, "no number", id="NaN"),
        pytest.param("time,starts\n1795329900,-1", 2, "no count", id="fewer than none"),
        pytest.param("time,starts\n1795330800,1", 2, "not over yet", id="a quarter that runs"),
        pytest.param("time,starts\n1795329900000,1", 2, "Unix seconds", id="milliseconds"),
        pytest.param("time,starts\n1969-12-31T23:59Z,1", 2, "before 1970", id="before 1970"),
        pytest.param("time,starts\n1795329900,inf", 2, "no number", id="without end"),
        pytest.param('time,starts\n"1795329900,7\n', 2, "1 cells", id="a mark of a line alone"),
        pytest.param("time,starts\n1795329900,\x1b[2J", 2, '"?[2J"', id="words to a terminal"),
        pytest.param("time,starts\n" + "9" * 999 + ",1", 2, '999..."', id="a long word is cut"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int, words: str) -> None:
    problems = from_csv(io.StringIO(text), NOW).problems

    assert [place for place, _ in problems] == [line]
    assert words in problems[0][1]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("\0" * 200_000, 1, id="another kind of file"),
        pytest.param(f'time,starts\n"1{"x" * 200_000}\n', 2, id="a mark that nothing closes"),
    ],
)
def test_what_is_no_table_is_told_with_its_line(text: str, line: int) -> None:
    rows = from_csv(io.StringIO(text), NOW)

    assert rows.counts == {}
    assert [(at, "this is no table" in words) for at, words in rows.problems] == [(line, True)]


def answer(values: list[Any], **changes: Any) -> str:
    """Return an answer of Prometheus with one series."""
    result = [{"metric": {}, "values": values}]
    return json.dumps(
        {"status": "success", "data": {"resultType": "matrix", "result": result}, **changes}
    )


def test_prometheus_tells_of_the_quarter_before_each_time() -> None:
    rows = from_prometheus(answer([[NOW - 900, "3.2"], [NOW, "NaN"]]), NOW)

    assert (rows.counts, rows.problems) == ({QUARTER - 2: 3}, [])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("<html>", "no answer of", id="no JSON"),
        pytest.param("[]", "no answer of", id="no answer"),
        pytest.param(answer([], status="error"), "none that succeeded", id="an error"),
        pytest.param(
            answer([], data={"resultType": "matrix", "result": []}), "0 series", id="no series"
        ),
        pytest.param(answer([[NOW - 60, "1"]]), "step=900", id="other steps"),
        pytest.param(answer([], data={"resultType": "matrix"}), "no answer of", id="no result"),
        pytest.param(answer(["1"]), "no answer of", id="no pairs"),
        pytest.param(answer([["soon", "1"]]), "could not convert", id="no time"),
        pytest.param(answer([[10**400, "1"]]), "too large", id="a time beyond all"),
        pytest.param("[" * 100_000, "recursion", id="a hundred thousand lists"),
    ],
)
def test_an_answer_that_cannot_be_read_is_told(text: str, words: str) -> None:
    rows = from_prometheus(text, NOW)

    assert rows.counts == {}
    assert words in rows.problems[0][1]


def test_what_is_exported_can_be_imported() -> None:
    counts = {QUARTER - 9: 4, QUARTER - 2: 0}

    assert from_csv(to_csv(counts), NOW).counts == counts


def test_rows_may_come_in_any_order_and_from_several_zones() -> None:
    table = "time,starts\n1795329900,1\n1795318200,2\n2026-11-22T12:15+05:30,4\n1795318201,8\n"

    counts = {QUARTER - 1: 5, QUARTER - 14: 10}
    assert from_csv(io.StringIO(table), NOW).counts == counts


def test_of_a_table_without_end_no_more_is_kept_than_a_history_holds() -> None:
    table = (f"{at},1" for at in range(int(NOW) - 60_000 * 900, int(NOW), 900))
    rows = from_csv(("time,starts", *table), NOW)

    assert (len(rows.counts), min(rows.counts)) == (QUARTERS, QUARTER - QUARTERS)
    assert rows.problem_count == 0


def test_every_mistake_is_told_and_beyond_what_one_reads_how_many_more() -> None:
    few, many = Rows(), Rows()
    for line in range(2, 10):
        few.refuse(line, "wrong")
    for line in range(2, 60_000):
        many.refuse(line, "wrong")

    assert list(told(few, "a.csv")) == [f"a.csv:{line}: wrong" for line in range(2, 10)]
    shown = list(told(many, "a.csv"))
    assert (len(shown), len(many.problems)) == (201, 200)
    assert shown[-1].startswith("and 59798 more: ")


def test_a_time_is_read_as_its_zone_says() -> None:
    assert moment_of("2026-11-22T12:30:00+05:30") == NOW
