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
    return str(value)
