"""Answers of Prometheus' API: one finite number, or the reason why there is none."""

import math
from typing import Any

import pytest

from reconciler.core.prometheus_answers import refusal_of, signal_of, told

NOW = 1_800_000_000.0


def success(kind: str, result: Any, **more: Any) -> dict[str, Any]:
    return {"status": "success", "data": {"resultType": kind, "result": result}, **more}


def sample(text: Any, at: Any = NOW - 2) -> dict[str, Any]:
    return {"metric": {"__name__": "queue"}, "value": [at, text]}


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        pytest.param(success("vector", [sample("12.5")]), 12.5, id="a vector of one"),
        pytest.param(success("scalar", [NOW - 2, "3"]), 3.0, id="a scalar"),
        pytest.param(success("vector", [sample("1e3")]), 1000.0, id="with an exponent"),
        pytest.param(success("vector", [sample("-1")]), -1.0, id="the policy judges its sign"),
        pytest.param(success("vector", [sample("0")], infos=["might be no counter"]), 0.0,
                     id="a remark on the query's style"),
        pytest.param(success("vector", [sample("7")], warnings=[]), 7.0, id="no warning"),
    ],
)  # fmt: skip
def test_one_number_is_the_signal_with_its_time(answer: Any, value: float) -> None:
    found = signal_of(answer, NOW)

    assert (found.value, found.at, found.trouble) == (value, NOW - 2, "")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param(success("vector", []), "gives nothing", id="an empty vector"),
        pytest.param(success("vector", [sample("1"), sample("2")]), "gives 2 series", id="two"),
        pytest.param(success("vector", [sample("NaN")]), "NaN, which is no number", id="NaN"),
        pytest.param(success("vector", [sample("+Inf")]), "+Inf, which is no number", id="Inf"),
        pytest.param(success("vector", [sample("x")]), "x, which is no number", id="a word"),
        pytest.param(success("vector", [sample(3)]), "no number", id="a number that is no text"),
        pytest.param(success("vector", [sample("3", "now")]), "now, which is no", id="no time"),
        pytest.param(success("vector", [sample("3", True)]), "no time", id="a time that is true"),
        pytest.param(success("vector", [sample("3", -1)]), "-1, which is no time",
                     id="a time before all times"),
        pytest.param(success("scalar", [1e3 * NOW, "3"]), "1800000000000.0, which is no time",
                     id="milliseconds"),
        pytest.param(success("scalar", [math.nan, "3"]), "no time", id="a time that is no number"),
        pytest.param(success("scalar", [10**400, "3"]), "no time", id="a time beyond all numbers"),
        pytest.param(success("vector", [{"metric": {}, "histogram": [NOW, {}]}]), "histogram",
                     id="a native histogram"),
        pytest.param(success("vector", [3]), "histogram", id="a series that is none"),
        pytest.param(success("vector", {"a": 1}), "gives a vector", id="a vector that is a map"),
        pytest.param(success("matrix", []), "gives a matrix", id="a range"),
        pytest.param(success("string", [NOW, "a"]), "gives a string", id="a string"),
        pytest.param(success("scalar", [NOW]), "none of Prometheus' API", id="half a scalar"),
        pytest.param(success("scalar", None), "none of Prometheus' API", id="no scalar"),
        pytest.param(success("vector", [sample("7")], warnings=["store a is down"]),
                     "warns: store a is down", id="a part of the data"),
        pytest.param({"status": "success"}, "no result", id="no data"),
        pytest.param({"status": "success", "data": [1]}, "no result", id="data that is a list"),
        pytest.param({"status": "error", "errorType": "bad_data", "error": "parse error at 3"},
                     "refuses the query: parse error at 3", id="an error"),
        pytest.param({}, "none of Prometheus' API", id="an empty object"),
        pytest.param([], "none of Prometheus' API", id="a list"),
        pytest.param(None, "none of Prometheus' API", id="null"),
    ],
)  # fmt: skip
def test_all_else_is_trouble(answer: Any, why: str) -> None:
    found = signal_of(answer, NOW)

    assert found.value is None
    assert found.at == NOW
    assert why in found.trouble


def test_a_strangers_words_are_short_and_give_no_orders() -> None:
    words = refusal_of({"error": "\x1b[2J" + "x" * 5000})

    assert words.isprintable()
    assert len(words) < 200
    assert "hunter2" not in told("cannot reach https://me:hunter2@db/")
