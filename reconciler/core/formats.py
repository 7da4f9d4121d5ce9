"""Forms of text that JSON Schema has no word for: names, quantities, ports by name or number."""

import math
import re
from collections.abc import Callable
from typing import Any

from reconciler.core.mistakes import shown
from reconciler.kube import images, names, quantities
from reconciler.model.masks import redact

_DATA = "a spec is data, in which neither Jinja nor variables are filled in: write the value itself"
_IMAGE = (
    "must be an image that container runtimes take, [registry[:port]/]repository[:tag][@digest] "
    "with the repository in lower case"
)
_AMOUNT = "write the number and its unit together, as m, k, M, G, Ki, Mi or Gi"
_SUCH_AN_IMAGE = "registry.example.com/arena:1.4.2"
_JINJA = re.compile(r"\{\{|\{%|\{#")
_NO_PART_OF_A_NAME = re.compile(r"[^a-zA-Z0-9.-]")
_LARGEST_SHOWN = 1e15
"""A fraction beyond it is no count that somebody meant, and has more digits than one reads."""


def problem_of(kind: str, value: Any) -> tuple[str, str] | None:
    """Return what a value of format `kind` must be and what to write; None where it is that."""
    if kind == "quantity":
        sentence = _quantity_problem(value)
        return (sentence, _AMOUNT) if sentence else None
    if kind == "int-or-string":
        if type(value) in (int, str):
            return None
        fix = whole(value) if type(value) is float else "write 8080, or a name in its place"
        return "must be a whole number or text", fix
    if kind == "image" and isinstance(value, str):
        return None if images.is_reference(value) else (_IMAGE, _image_fix(value))
    if kind in _NAMES and isinstance(value, str):
        accepts, sentence, such = _NAMES[kind]
        return None if accepts(value) else (sentence, mended(value, accepts) or such)
    return None


def _quantity_problem(value: Any) -> str:
    if type(value) in (int, float, str):
        try:
            quantities.parse(value)
        except quantities.TooLong:
            return f"must be a number of at most {quantities.MOST_DIGITS} digits, such as 512Mi"
        except ValueError:
            return "must be a number with an optional unit, such as 250m, 2 or 512Mi"
        return ""
    return "must be an amount such as 250m, 2 or 512Mi"


def _is_label(text: str) -> bool:
    return names.label_problem(text) is None


def _is_subdomain(text: str) -> bool:
    return names.subdomain_problem(text) is None


def _is_env_name(text: str) -> bool:
    return names.env_name_problem(text) is None


def _is_port_name(text: str) -> bool:
    has_letter = any(c.isalpha() for c in text)
    return has_letter and len(text) <= 15 and "--" not in text and _is_label(text)


def whole(fraction: float) -> str:
    """Say which whole number to write for one that was written as a fraction."""
    if abs(fraction) >= _LARGEST_SHOWN:
        return "write a whole number"
    below = math.floor(fraction)
    if below == fraction:
        return f"write {below}, not {fraction}"
    return f"write {below} or {below + 1}"


def mended(text: str, judge: Callable[[str], bool]) -> str:
    """Suggest the name that a text was probably meant to be; "" where none comes to mind."""
    if _JINJA.search(text):
        return _DATA
    if judge is _is_env_name or not _is_near_a_name(text):
        return ""
    better = re.sub(r"[^a-z0-9.]+", "-", text[:253].lower()).strip("-.")
    return f'write "{better}"' if better and judge(better) and _is_told(better, text[:253]) else ""


def _is_told(better: str, text: str) -> bool:
    """Whether a text may be repeated, mended: what would not be repeated itself is not."""
    return redact(text) == text and shown(better) == f'"{better}"'


def _image_fix(text: str) -> str:
    if _JINJA.search(text) or "${" in text:
        return _DATA
    better = images.in_lower_case(text.strip())
    if images.is_reference(better) and _is_told(better, text):
        return f'write "{better}"'
    return f'write it like "{_SUCH_AN_IMAGE}"'


def _is_near_a_name(text: str) -> bool:
    """Whether a name made of this text keeps nearly all of it; an image is no name."""
    lost = len(_NO_PART_OF_A_NAME.findall(text.strip()))
    return ":" not in text and (lost <= 1 or 4 * lost <= len(text))


_ENDS = "with a letter or digit at both ends"
_NAMES: dict[str, tuple[Callable[[str], bool], str, str]] = {
    "dns-label": (
        _is_label,
        f"must be at most 63 lower-case letters, digits and '-', {_ENDS}",
        'write it like "arena-1"',
    ),
    "dns-subdomain": (
        _is_subdomain,
        f"must be at most 253 lower-case letters, digits, '-' and '.', {_ENDS}",
        'write it like "arena-1.eu"',
    ),
    "env-name": (
        _is_env_name,
        "must be printable ASCII characters other than '='",
        'write it like "GAME_MODE"',
    ),
    "port-name": (
        _is_port_name,
        "must be at most 15 lower-case letters, digits and single '-', at least one letter",
        'write it like "game-udp"',
    ),
}

KINDS = ("quantity", "int-or-string", "image", *_NAMES)
"""Every form that `problem_of` judges."""
