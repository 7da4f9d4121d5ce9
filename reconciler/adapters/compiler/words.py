"""What Jinja and Python say of a template, in words of whoever wrote it.

Their own messages name classes and settings that nobody who writes templates knows.
"""

import re

from jinja2.exceptions import SecurityError, TemplateAssertionError, TemplateSyntaxError

_UNSAFE = re.compile(r"access to attribute '(.*)' of '.*' object is unsafe", re.DOTALL)
_UNKNOWN_TAG = re.compile(r"Encountered unknown tag '(\w+)'")
_ABSENT = re.compile(r"No (filter|test) named '(\w+)'")
_MOST_CHARACTERS = 300


def words_of(error: Exception) -> str:
    """Return why a template is refused, on one line and short: strangers wrote parts of it."""
    words = _said(error)[:_MOST_CHARACTERS]
    return "".join(c if c.isprintable() else " " for c in words).rstrip(".")


def _said(error: Exception) -> str:
    text = str(error)
    match error:
        case RecursionError():
            return "it nests too deep"
        case ArithmeticError():
            return f"it computes what has no result: {text}"
        case SecurityError() if found := _UNSAFE.match(text):
            return f"it reaches for {found[1]!r}, which templates may not do"
        case TemplateAssertionError() if found := _ABSENT.match(text):
            return f"there is no {found[1]} {found[2]!r} here"
        case TemplateSyntaxError() if found := _UNKNOWN_TAG.match(text):
            return f"there is no statement {found[1]!r} here"
        case ValueError() if "set_int_max_str_digits" in text:
            return "it writes or computes a number of thousands of digits"
        case TypeError():
            return f"it does with a value what its type does not allow: {text}"
        case _:
            return text or type(error).__name__
