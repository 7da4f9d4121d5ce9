"""Text of strangers as it may be shown: none of it moves a cursor, colours or reorders."""

import re

_ORDERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def escaped(text: str) -> str:
    """Return text as one line, whatever is not printable in it as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def harmless(text: str) -> str:
    """Return text with its lines, tabs and letters of any script, but no orders to a terminal.

    The escapes are those of JSON: JSON stays the same value.
    """
    return text if text.isprintable() else _ORDERS.sub(lambda found: _escape(found[0]), text)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
