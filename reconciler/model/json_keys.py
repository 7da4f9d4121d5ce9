"""That an object in JSON names each of its keys once: which of two counts nobody can tell."""

from typing import Any

from reconciler.model.refs import Json


def once(pairs: list[tuple[str, Any]]) -> Json:
    """Return an object's pairs as a dict, for `object_pairs_hook`. Raises ValueError."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same key twice")
    return found
