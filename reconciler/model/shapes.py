"""What a record of ours is made of: frozen dataclasses and named tuples, by their type hints."""

from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints


def is_record(shape: Any) -> bool:
    """Whether a type hint is a dataclass or a named tuple: something with fields."""
    return is_dataclass(shape) or (isinstance(shape, type) and issubclass(shape, tuple))


def fields_of(shape: Any) -> list[tuple[str, Any]]:
    """Return the fields of a record in order, each with its type.

    A dataclass is asked for its own: its hints name what belongs to the class, too.
    """
    hints = get_type_hints(shape)
    names = [field.name for field in fields(shape)] if is_dataclass(shape) else list(hints)
    return [(name, hints[name]) for name in names]
