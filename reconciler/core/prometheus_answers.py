"""What Prometheus answers to an instant query, read as the one number that a policy asked for.

The form is that of its HTTP API: `{status, data: {resultType, result}, warnings}` where a scalar
is `[time, "value"]` and a vector a list of `{metric, value: [time, "value"]}`. The time is that of
the evaluation. With a warning the number may be of a part of the data, so it is none.
"""

import math
from typing import Any

from reconciler.core.sound_record import MOST_SECONDS
from reconciler.model.masks import redact
from reconciler.model.printable import escaped
from reconciler.model.refs import Json
from reconciler.model.scaling import Signal

_MOST_TOLD = 160


def signal_of(answer: Any, now: float) -> Signal:
    """Return the number of an answer with its time; trouble where it holds no single number."""
    if not isinstance(answer, dict) or answer.get("status") != "success":
        return Signal(now, trouble=refusal_of(answer))
    warnings = answer.get("warnings")
    if warnings:
        return Signal(now, trouble=f"Prometheus warns: {told(_first(warnings))}")
    data = answer.get("data")
    sample, trouble = _sample_of(data if isinstance(data, dict) else {})
    return Signal(now, trouble=trouble) if trouble else _number_of(sample, now)


def refusal_of(answer: Any) -> str:
    """Say why a query was refused, in Prometheus' own words where there are any."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, str):
        return "its answer is none of Prometheus' API"
    return f"Prometheus refuses the query: {told(error)}"


def told(text: Any) -> str:
    """Return a stranger's words as they may be shown: one short line without secrets."""
    line = escaped(redact(" ".join(str(text)[: 4 * _MOST_TOLD].split())))
    return line if len(line) <= _MOST_TOLD else f"{line[: _MOST_TOLD - 1]}…"


def _sample_of(data: Json) -> tuple[Any, str]:
    kind, result = data.get("resultType"), data.get("result")
    if kind == "scalar":
        return result, ""
    if kind != "vector" or not isinstance(result, list):
        what = f"a {told(kind)}" if isinstance(kind, str) else "no result"
        return None, f"the query gives {what}, and one number is wanted"
    if not result:
        return None, "the query gives nothing: no series of that name is there now"
    if len(result) > 1:
        return None, f"the query gives {len(result)} series: write sum(…) or max(…) around it"
    (series,) = result
    if not isinstance(series, dict) or "value" not in series:
        return None, "the query gives a histogram, and one number is wanted"
    return series["value"], ""


def _number_of(sample: Any, now: float) -> Signal:
    if not isinstance(sample, list) or len(sample) != 2:
        return Signal(now, trouble="its answer is none of Prometheus' API")
    at, text = sample
    is_number = isinstance(at, int | float) and not isinstance(at, bool)
    if not (is_number and 0 <= at <= MOST_SECONDS):
        # No calendar tells its date: nobody could read what rests on it.
        return Signal(now, trouble=f"its answer is of {told(at)}, which is no time in seconds")
    try:
        value = float(text) if isinstance(text, str) else math.nan
    except ValueError:
        return Signal(now, trouble=f"the query gives {told(text)}, which is no number")
    if not math.isfinite(value):
        return Signal(now, trouble=f"the query gives {told(text)}, which is no number")
    return Signal(float(at), value)


def _first(warnings: Any) -> Any:
    return warnings[0] if isinstance(warnings, list) else warnings
