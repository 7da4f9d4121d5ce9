"""Values as Go prints them, for the messages that show one."""

from __future__ import annotations

from typing import Any


def shown(value: Any) -> str:
    """Print a JSON value the way Go prints its maps and slices."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{shown(value[name])}' for name in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(shown, value))}]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return f"{float(value):g}"
    return str(value)


def syntax(value: Any) -> str:
    """Print a JSON value in Go's own syntax."""
    if isinstance(value, dict):
        inner = ", ".join(f'"{name}":{_inside(value[name])}' for name in sorted(value))
        return f"map[string]interface {{}}{{{inner}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_inside, value))}}}"
    return f'"{value}"' if isinstance(value, str) else shown(value)


def _inside(value: Any) -> str:
    return "interface {}(nil)" if value is None else syntax(value)


def json_type(value: Any) -> str:
    """Name the type of a JSON value as Go's decoder does."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    known = ((str, "string"), (list, "array"), (dict, "object"))
    return next((name for kind, name in known if isinstance(value, kind)), "number")
