"""JSON of strangers, taken only where it can mean one thing.

The standard parser takes NaN, makes infinity of 1e999, keeps the last of two equal keys, and ends
with RecursionError or ValueError where it is pushed. Here all of that is one refusal.

Most of what rooms say is plain. orjson reads that in a quarter of the time, and where it writes its
value again as the text was, but for spaces, no key was there twice and no number is another one.
Every other text goes the slow way, which also words the refusals.
"""

import json
import math
from json import JSONDecoder
from typing import Any

import orjson

from reconciler.adapters.http.refusals import Refused, malformed
from reconciler.model.json_keys import once
from reconciler.model.refs import Json

MOST_DEPTH = 32
_SPACES = b" \t\r\n"
_SURELY_FITS, _LONGEST_WHOLE = 19, 20
_WHOLE_FROM, _WHOLE_TO = -(2**63), 2**64 - 1
_OPENS, _CLOSES = frozenset("[{"), frozenset("]}")
_OPENED, _CLOSED = frozenset(b"[{"), frozenset(b"]}")
_QUOTE, _ESCAPE = b'"'[0], b"\\"[0]


def parsed_object(body: bytes) -> Json:
    """Return the one JSON object that a body is. Raises Refused (400)."""
    value = parsed(body)
    if not isinstance(value, dict):
        raise malformed("the body is no JSON object")
    return value


def first_object(body: bytes) -> Json:
    """Return the JSON object that a body begins with. Raises Refused (400).

    What follows it is not looked at, as the two systems did that games were written for: some send
    the NUL that ends their text, or what their buffer held before.
    """
    try:
        return parsed_object(body)
    except Refused:
        end = _end_of_first(body)
        if end is None:
            raise
        return parsed_object(body[:end])


def _end_of_first(body: bytes) -> int | None:
    """Return where the object ends that a body begins with, None where none does, or all is it."""
    if not body.lstrip(_SPACES).startswith(b"{"):
        return None
    depth, quoted, escaped = 0, False, False
    for place, byte in enumerate(body):
        if quoted:
            quoted = escaped or byte != _QUOTE
            escaped = not escaped and byte == _ESCAPE
        elif byte == _QUOTE:
            quoted = True
        elif byte in _OPENED:
            depth += 1
        elif byte in _CLOSED:
            depth -= 1
            if depth == 0:
                return place + 1 if place + 1 < len(body) else None
    return None


def parsed(body: bytes) -> Any:
    """Return the one JSON value that a body is. Raises Refused (400)."""
    if body.count(b"{") + body.count(b"[") <= MOST_DEPTH:
        try:
            value = orjson.loads(body)
            if orjson.dumps(value).translate(None, _SPACES) == body.translate(None, _SPACES):
                return value
        except ValueError:
            pass
    return _strictly_parsed(body)


def _strictly_parsed(body: bytes) -> Any:
    """Return the same of any text, step by step. Raises Refused (400)."""
    if not body.strip():
        raise malformed("the body is empty")
    try:
        text = body.decode()
        if text.count("[") + text.count("{") > MOST_DEPTH:
            _check_depth(text)
        value = _DECODER.decode(text)
        if "\\u" in text:
            # Half a pair of surrogates is no character, and cannot be sent on.
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeError:
        raise malformed("the body is no UTF-8 text") from None
    except ValueError as error:
        raise malformed(f"the body is no strict JSON: {error}") from None
    return value


def _check_depth(text: str) -> None:
    """Raises ValueError where arrays and objects stand in each other too deeply."""
    depth, quoted, escaped = 0, False, False
    for character in text:
        if quoted:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                quoted = False
        elif character == '"':
            quoted = True
        elif character in _OPENS:
            depth += 1
            if depth > MOST_DEPTH:
                raise ValueError(f"more than {MOST_DEPTH} arrays and objects in each other")
        elif character in _CLOSES:
            depth -= 1


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _whole(text: str) -> int:
    if len(text) < _SURELY_FITS:
        return int(text)
    if len(text) > _LONGEST_WHOLE or not _WHOLE_FROM <= int(text) <= _WHOLE_TO:
        raise ValueError("a whole number does not fit into 64 bits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError("a number is too large")
    return value


_DECODER = JSONDecoder(
    object_pairs_hook=once, parse_constant=_constant, parse_int=_whole, parse_float=_finite
)
