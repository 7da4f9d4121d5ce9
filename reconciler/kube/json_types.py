"""The JSON values that Kubernetes objects are made of, as Python reads them."""

from typing import Any, Final

Json = dict[str, Any]


class Missing:
    """The absence of a value, which null is not."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


def copied(value: Any) -> Any:
    """Copy a JSON value, so that the copy may be changed freely."""
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


def same(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are equal; unlike Python's ==, true is not 1."""
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(same(item, right[name]) for name, item in left.items())
        )
    if isinstance(left, list):
        return (
            isinstance(right, list)
            and len(left) == len(right)
            and all(same(a, b) for a, b in zip(left, right, strict=True))
        )
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)
