"""A YAML file as pages of whole documents, of which only those that matter are parsed.

A file of 5 MB holds thousands of documents, and an edit is about one of them: where its name does
not stand, nothing is parsed.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from reconciler.core.yaml_marks import Node, NotYaml, documents_of, events_of
from reconciler.model.edits import Edit
from reconciler.model.refs import WorkloadKey

_STARTS = re.compile(
    r"(?:^%[^\n]*\n(?:[ \t\r]*(?:#[^\n]*)?\n)*+){0,8}+^---(?=[ \t\r\n]|\Z)", re.MULTILINE
)
"""Where a document begins, with its directives: a `---` here means nothing else anywhere in YAML.

Possessive and counted, so that no text makes it run away.
"""


class Inexact(Exception):
    """The edit cannot be exact; `line` of the file says why, 0 for the whole of it."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


@dataclass(slots=True)
class Page:
    """Whole documents of a file that stand together, from the line `first_line` on.

    `changes` are the edits that are to be made in it, by the order of their scalars.
    """

    text: str
    first_line: int
    changes: dict[int, tuple[Node, Edit]] = field(default_factory=dict)
    events: list[Any] = field(default_factory=list)
    roots: list[Node] = field(default_factory=list)

    def line_of(self, index: int) -> int:
        """Return the line of a character, as editors count them; behind the last it is the last."""
        return self.first_line + self.text.count("\n", 0, min(index, len(self.text) - 1))

    def documents(self) -> list[Node]:
        """Return the root of each document, parsed once. Raises Inexact."""
        if not self.events:
            try:
                self.events = events_of(self.text)
                self.roots = list(documents_of(self.events))
            except NotYaml as error:
                line = self.line_of(error.index) if error.index >= 0 else 0
                raise Inexact(line, f"the document is not YAML: {error}") from error
        return self.roots


class Book:
    """The pages of a text, and in which of them a word stands."""

    def __init__(self, text: str) -> None:
        found = (match.start() for match in _STARTS.finditer(text))
        self.starts = [0, *(start for start in found if start > 0)]
        self.pages: list[Page] = []
        self._text, line = text, 1
        for start, end in pairwise([*self.starts, len(text)]):
            self.pages.append(Page(text[start:end], line))
            line += text.count("\n", start, end)
        # No line ends within a name: only an escape can hide one.
        self._escaped = {at for at, page in enumerate(self.pages) if "\\" in page.text}

    def pages_about(self, where: WorkloadKey) -> Iterator[Page]:
        """Yield the pages that may hold a document about a workload, by the words in them."""
        named = re.finditer(re.escape(where.name or where.kind), self._text)
        at = {bisect_right(self.starts, match.start()) - 1 for match in named}
        return (self.pages[number] for number in sorted(at | self._escaped))
