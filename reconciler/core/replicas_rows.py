"""The rows of a file of counts: put some in, take some out, and leave the others as they are."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from reconciler.core.counts import COUNTS
from reconciler.core.edit_pages import Book, Inexact, Page
from reconciler.core.edit_splice import REPLICAS, is_about
from reconciler.core.yaml_marks import Node

_NO_COUNTS = re.compile(r"(?P<indent> *)counts:(?P<none> *\{ *\})?(?P<rest>[ \t]*(?:[ \t]#.*)?\r?)")
"""The row above the counts, also where there are none."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """The rows of one count, `end` not included: its comment above and the empty row below."""

    name: str
    start: int
    end: int


def rows_of(name: str, count: int, indent: str, ending: str = "") -> tuple[str, ...]:
    """Return the rows of a count; `ending` is what stands before the line feed."""
    rows = (f"{indent}# {name}", f"{indent}{name}: {count}", "")
    return tuple(f"{row}{ending}" for row in rows)


def moved(data: bytes, coming: Mapping[str, int], leaving: Collection[str]) -> bytes:
    """Return UTF-8 text with some counts more, each where its name belongs, and some fewer.

    Nothing is changed where the text has not one count a row; whoever asks reads it again.
    """
    text = data.decode()
    rows = text.split("\n")
    named = dict(_named_rows(text))
    if not named:
        return _begun(text, rows, coming).encode()
    entries = [_entry(rows, name, row) for row, name in named.items()]
    first = rows[next(iter(named))]
    indent = first[: len(first) - len(first.lstrip(" "))]
    ending = "\r" if first.endswith("\r") else ""
    above: dict[int, list[str]] = {}
    for name in sorted(coming):
        at = next((one.start for one in entries if one.name > name), entries[-1].end)
        above.setdefault(at, []).extend(rows_of(name, coming[name], indent, ending))
    last = entries[-1].end
    if last in above and rows[last - 1].strip():
        above[last].insert(0, ending)
    if not coming and {*named.values()} <= {*leaving}:
        _empty(text, rows)
    dropped = {row for one in entries if one.name in leaving for row in range(one.start, one.end)}
    return "\n".join(_written(rows, above, dropped)).encode()


def _begun(text: str, rows: list[str], coming: Mapping[str, int]) -> str:
    """Return a text that lists no count yet with its first ones."""
    at, head = _head_of(text, rows, empty=True)
    if not coming or head is None:
        return text
    indent, rest = head["indent"], head["rest"]
    ending = "\r" if rest.endswith("\r") else ""
    first = (
        row for name in sorted(coming) for row in rows_of(name, coming[name], f"{indent}  ", ending)
    )
    return "\n".join([*rows[:at], f"{indent}counts:{rest}", *first, *rows[at + 1 :]])


def _empty(text: str, rows: list[str]) -> None:
    """Say in the row above the counts that there are none."""
    at, head = _head_of(text, rows, empty=False)
    if head is not None:
        rows[at] = f"{head['indent']}counts: {{}}{head['rest']}"


def _head_of(text: str, rows: list[str], *, empty: bool) -> tuple[int, re.Match[str] | None]:
    """Return the row above the counts, and how it is written; None where in another form."""
    try:
        found = list(_mappings(text))
    except Inexact:
        return 0, None
    places = [_row(page, key.index) for page, key, counts in found if empty != bool(counts.parts)]
    if len(places) != 1 or len(found) != 1:
        return 0, None
    return places[0], _NO_COUNTS.fullmatch(rows[places[0]])


def _written(
    rows: list[str], above: Mapping[int, list[str]], dropped: Collection[int]
) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield from above.get(number, ())
        if number not in dropped:
            yield row
    yield from above.get(len(rows), ())


def _entry(rows: list[str], name: str, row: int) -> _Entry:
    start = row - 1 if row and rows[row - 1].strip() == f"# {name}" else row
    # The last row is what stands behind the last line feed: no empty row, but the end.
    is_apart = row + 2 < len(rows) and not rows[row + 1].strip()
    return _Entry(name, start, row + 2 if is_apart else row + 1)


def _named_rows(text: str) -> Iterator[tuple[int, str]]:
    """Yield row and name of each count; nothing where a row has more than one, or a part of one."""
    try:
        found = list(_counts(text))
    except Inexact:
        return
    rows = [row for _, row, _ in found]
    if len(set(rows)) < len(rows) or any(row != until for _, row, until in found):
        return
    yield from ((row, name) for name, row, _ in found)


def _counts(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the name of each count, and the rows of its name and its number. Raises Inexact."""
    for page, _, counts in _mappings(text):
        ends = [found.start() for found in re.finditer("\n", page.text)]
        above = page.first_line - 1
        for name, number in counts.entries:
            row, until = (above + bisect_left(ends, at.index) for at in (name, number))
            yield name.text or "", row, until


def _mappings(text: str) -> Iterator[tuple[Page, Node, Node]]:
    """Yield each mapping of counts with its name and its page. Raises Inexact."""
    above, below = COUNTS
    for page in Book(text).pages:
        for root in page.documents():
            if is_about(root, REPLICAS):
                inside = (spec for _, spec in root.entries_of(above)[:1])
                for entry in (entry for spec in inside for entry in spec.entries_of(below)[:1]):
                    yield page, *entry


def _row(page: Page, index: int) -> int:
    return page.first_line - 1 + page.text.count("\n", 0, index)
