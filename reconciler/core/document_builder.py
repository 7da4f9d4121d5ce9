"""YAML events to documents, without recursion and within bounds.

Mistakes that leave the structure clear (a duplicate key, a tag) are collected in the document;
whatever breaks a bound, or leaves open what is meant, stops the file.
"""

from dataclasses import dataclass, field
from typing import Any

import yaml

from reconciler.core import scalars
from reconciler.core.documents import IDENTITY, Document
from reconciler.core.mistakes import shown, word
from reconciler.core.places import Path, Place, written
from reconciler.model.findings import Finding

MOST_ALIASES = 100
MOST_ANCHORS = 1000
MOST_NODES = 100_000
MOST_DEPTH = 64
MOST_MISTAKES = 100
MOST_DOCUMENTS = 1000


class Stop(Exception):
    """The file cannot be read on; `mark` is where, where that is known."""

    def __init__(self, mark: Any, message: str, fix: str, rule: str) -> None:
        super().__init__(message)
        self.mark, self.message, self.fix, self.rule = mark, message, fix, rule


@dataclass(slots=True)
class _Open:
    """A mapping or list that is being built. `nodes` counts itself and everything in it."""

    value: Any
    place: Place
    children: Any
    path: Path
    anchor: str | None
    nodes: int = 1
    key: str | None = None
    key_at: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class DocumentBuilder:
    """Builds the documents of one file; `done` are those that have ended."""

    file: str
    done: list[Document] = field(default_factory=list)
    document: Document | None = None
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, tuple[Any, Place, int]] = field(default_factory=dict)
    aliases: int = 0
    anchors_of_file: int = 0
    nodes: int = 0
    """Of all documents of the file."""

    def take(self, event: Any) -> None:
        """Take the next event of the parser. Raises Stop."""
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close()
        elif isinstance(event, yaml.DocumentStartEvent):
            if len(self.done) >= MOST_DOCUMENTS:
                message = f"more than {MOST_DOCUMENTS} documents in a file"
                raise Stop(event.start_mark, message, "split it into several files", "documents")
            self.document = Document(self.file, None, Place(*line_and_column(event.end_mark)))
            self.anchors, self.aliases = {}, 0
        elif isinstance(event, yaml.DocumentEndEvent) and self.document is not None:
            self.done.append(self.document)

    def _scalar(self, event: Any) -> None:
        value: Any = event.value
        at = line_and_column(event.start_mark)
        self._mark(event, at)
        if event.implicit[0] and not event.style:
            try:
                value = scalars.meaning(event.value)
            except scalars.TooLarge as error:
                fix = "use at most 63 bits, or quote it"
                self._mistake(at, None, f"{error} is too large", fix, "number")
        elif not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            raise Stop(event.start_mark, "half a character", "write it whole", "encoding")
        if self._wants_key():
            self._name(value, at, event)
        else:
            self._put(value, Place(*at), event.anchor, 1, event.start_mark)

    def _name(self, key: Any, at: tuple[int, int], event: Any) -> None:
        around = self.stack[-1]
        if not isinstance(key, str):
            what = f"a property name must be text, not {shown(key)}"
            self._mistake(at, event.value, what, f'write "{event.value}" in quotes', "key")
            key = event.value
        if key == "<<" and not event.style:
            fix = "write the properties out, or use a plain alias"
            raise Stop(event.start_mark, "merge keys (<<) are not read", fix, "merge-key")
        if key in around.value:
            first = around.place.keys[key]
            for here, other in ((first, at), (at, first)):
                message = f"{shown(key)} is written twice, here and on line {other[0]}"
                self._mistake(here, key, message, "keep one of them", "duplicate-key")
        around.key, around.key_at = key, at

    def _alias(self, event: Any) -> None:
        self.aliases += 1
        if self.aliases > MOST_ALIASES:
            message = f"more than {MOST_ALIASES} aliases in a document"
            raise Stop(event.start_mark, message, "write the values out", "aliases")
        if self._wants_key():
            raise Stop(event.start_mark, "an alias is used as a name", "write it out", "aliases")
        if any(opened.anchor == event.anchor for opened in self.stack):
            message = f"*{word(event.anchor)} contains itself"
            raise Stop(event.start_mark, message, "write the value out", "aliases")
        found = self.anchors.get(event.anchor)
        if found is None:
            message = f"there is no anchor &{word(event.anchor)} above this alias"
            fix = "write the value itself, or set the anchor before the value above"
            raise Stop(event.start_mark, message, fix, "aliases")
        self._put(found[0], found[1], None, found[2], event.start_mark)

    def _open(self, event: Any) -> None:
        if len(self.stack) >= MOST_DEPTH:
            message = f"values are nested more than {MOST_DEPTH} deep"
            raise Stop(event.start_mark, message, "flatten it", "depth")
        if self._wants_key():
            message = "a list or mapping is used as a property name"
            fix = "property names are plain text; quote {{ or [ if text was meant"
            raise Stop(event.start_mark, message, fix, "key")
        at = line_and_column(event.start_mark)
        self._mark(event, at)
        is_map = isinstance(event, yaml.MappingStartEvent)
        value, children = ({}, {}) if is_map else ([], [])  # type: Any, Any
        place = Place(*at, children=children)
        self.stack.append(_Open(value, place, children, self._path(), event.anchor))

    def _close(self) -> None:
        opened = self.stack.pop()
        self.nodes -= opened.nodes - 1
        self._put(opened.value, opened.place, opened.anchor, opened.nodes, None)

    def _put(self, value: Any, place: Place, anchor: str | None, nodes: int, mark: Any) -> None:
        self.nodes += nodes
        if self.nodes > MOST_NODES:
            message = f"more than {MOST_NODES} values, aliases written out"
            raise Stop(mark, message, "split the document", "nodes")
        if anchor is not None:
            self.anchors[anchor] = (value, place, nodes)
        if not self.stack:
            if self.document is not None:
                self.document.value, self.document.places = value, place
            return
        around = self.stack[-1]
        around.nodes += nodes
        if around.key is None:
            around.value.append(value)
            around.children.append(place)
            return
        around.value[around.key] = value
        around.place.keys.setdefault(around.key, around.key_at)
        around.children[around.key] = place
        around.key = None

    def _wants_key(self) -> bool:
        return (
            bool(self.stack)
            and isinstance(self.stack[-1].value, dict)
            and (self.stack[-1].key is None)
        )

    def _path(self) -> Path:
        if not self.stack:
            return ()
        around = self.stack[-1]
        return (*around.path, len(around.value) if around.key is None else around.key)

    def _mark(self, event: Any, at: tuple[int, int]) -> None:
        """Refuse a tag, and more anchors than anybody writes. Raises Stop."""
        self.anchors_of_file += event.anchor is not None
        if self.anchors_of_file > MOST_ANCHORS:
            message = f"more than {MOST_ANCHORS} anchors in a file"
            raise Stop(event.start_mark, message, "leave out those that no alias names", "anchors")
        if event.tag is not None:
            message = f"the tag {shown(event.tag)} is not read"
            self._mistake(at, None, message, "leave it out; quote text to keep it text", "tag")

    def _mistake(
        self, at: tuple[int, int], key: str | None, message: str, fix: str, rule: str
    ) -> None:
        if self.document is None:
            return
        path = self._path() if key is None else (*self.stack[-1].path, key)
        if not path or path[0] in IDENTITY:
            self.document.identity_in_doubt = True
        if len(self.document.findings) >= MOST_MISTAKES:
            message = f"more than {MOST_MISTAKES} mistakes in a document"
            raise Stop(None, message, "mend the first ones and look again", "mistakes")
        self.document.findings.append(Finding(self.file, *at, written(path), message, fix, rule))


def line_and_column(mark: Any) -> tuple[int, int]:
    """Return where a mark of PyYAML stands, counted from 1."""
    return mark.line + 1, mark.column + 1
