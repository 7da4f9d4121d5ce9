"""Whether a text still says what it said, with some numbers changed: the last word on an edit.

What the parser tells of two texts is compared event by event, so that quotes, tags, anchors and the
form of every mapping count, too, and not the values alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reconciler.core.yaml_marks import NotYaml, events_of, signature


def says_the_same(before: Sequence[Any], text: str, digits: Mapping[int, str]) -> bool:
    """Return whether a text says what the events `before` say, with some scalars changed.

    `digits` are what those scalars shall say, by their places among the events.
    """
    try:
        after = events_of(text)
    except NotYaml:
        return False
    return len(before) == len(after) and all(
        signature(now) == _changed(signature(then), digits.get(place))
        for place, (then, now) in enumerate(zip(before, after, strict=True))
    )


def _changed(said: tuple[Any, ...], digits: str | None) -> tuple[Any, ...]:
    return said if digits is None else (*said[:-1], digits)
