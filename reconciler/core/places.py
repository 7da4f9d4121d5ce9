"""Where the values of a document stand in its file, as a tree beside the values.

Paths are tuples of property names and list indexes. An alias shares the places of its anchor, so
a mistake in an aliased value is shown where the text stands that must be changed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

Path = tuple[str | int, ...]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclass(slots=True)
class Place:
    """One value: line and column from 1, where its key stands, and the places inside it.

    `file` is set where it, with all inside it, stands in another file than what is around it.
    """

    line: int
    column: int
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)
    children: "dict[str, Place] | list[Place] | None" = None
    file: str = ""

    def inside(self, step: str | int) -> "Place | None":
        """Return the place of one property or item."""
        if isinstance(self.children, dict):
            return self.children.get(step) if isinstance(step, str) else None
        if self.children is not None and isinstance(step, int) and step < len(self.children):
            return self.children[step]
        return None


def place_of_value(root: Place, path: Path) -> tuple[int, int]:
    """Return line and column of the value at `path`, or of the nearest value around it."""
    found = list(_walk(root, path))[-1]
    return found.line, found.column


def place_of_key(root: Place, path: Path) -> tuple[int, int]:
    """Return line and column of the property name at `path`; of the value where it has none."""
    around = list(_walk(root, path[:-1]))
    if path and len(around) == len(path):
        key = around[-1].keys.get(str(path[-1]))
        if key is not None:
            return key
    return place_of_value(root, path) if path else (root.line, root.column)


def file_of(root: Place, path: Path) -> str:
    """Return the file that the value at `path` stands in, "" for that of the document."""
    return next((place.file for place in reversed(list(_walk(root, path))) if place.file), "")


def place_of_field(root: Place, field: str) -> tuple[int, int]:
    """Return line and column of a field as `fields.compare_fields` names it, or of what is there.

    A name may hold dots itself, so the names that are there are tried against the text.
    """
    found, at = root, ""
    while True:
        inner = next(
            (step for step in _steps(found, at) if field == step[0] or _begins(field, step[0])),
            None,
        )
        if inner is None:
            return found.line, found.column
        at, found = inner


def _steps(place: Place, at: str) -> Iterator[tuple[str, Place]]:
    if isinstance(place.children, dict):
        for name, child in place.children.items():
            yield (f"{at}.{name}" if at else name), child
    else:
        for index, child in enumerate(place.children or ()):
            yield f"{at}[{index}]", child


def _begins(field: str, step: str) -> bool:
    return field.startswith((f"{step}.", f"{step}["))


def _walk(root: Place, path: Path) -> Iterator[Place]:
    place: Place | None = root
    yield root
    for step in path:
        place = place.inside(step) if place is not None else None
        if place is None:
            return
        yield place


def written(path: Path) -> str:
    """Return a path as people write it: `spec.containers[0].image`, `labels["a.b/c"]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text
