"""Lengths of time as kubectl's flags take them: `30s`, `1m30s`, `250ms`, or plain seconds."""

import re

_UNIT_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s|us|µs|ns)")


def seconds_of(text: str) -> float:
    """Return the seconds that a text means.

    Raises ValueError when it is no length of time.
    """
    words = text.strip()
    if re.fullmatch(r"\d+(\.\d+)?", words):
        return float(words)
    parts = _PART.findall(words)
    if not parts or "".join(f"{number}{unit}" for number, unit in parts) != words:
        raise ValueError(f"{text!r} is no length of time")
    return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts)
