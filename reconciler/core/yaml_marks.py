"""YAML text as a tree of marks: where each scalar stands, and what shares it by an alias.

Unlike `yaml_strict` it judges nothing: a tag, a merge key or a duplicate is kept as it is written,
for an edit has to know it and to leave it alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from reconciler.core.document_builder import MOST_DEPTH
from reconciler.core.yaml_strict import LOADER


class NotYaml(ValueError):
    """The text cannot be parsed; `index` is the character where that showed, -1 if unknown."""

    def __init__(self, problem: str, index: int) -> None:
        super().__init__(problem)
        self.index = index


@dataclass(slots=True)
class Node:
    """One node as it is written. `event` is PyYAML's; `order` is its place among all events.

    `parts` are the items of a list, and keys and values in turn of a mapping. An alias has a
    `target`, and that knows the first alias that stands for it: its `use`.
    """

    event: Any
    order: int
    parts: "list[Node]"
    target: "Node | None" = None
    use: "Node | None" = None

    @property
    def index(self) -> int:
        """The character at which it starts, with its anchor and tag, counted from 0."""
        return int(self.event.start_mark.index)

    @property
    def end(self) -> int:
        """The character after a scalar or an alias."""
        return int(self.event.end_mark.index)

    @property
    def is_map(self) -> bool:
        """Whether it is written as a mapping."""
        return isinstance(self.event, yaml.MappingStartEvent)

    @property
    def is_list(self) -> bool:
        """Whether it is written as a list."""
        return isinstance(self.event, yaml.SequenceStartEvent)

    @property
    def text(self) -> str | None:
        """What a scalar says, quotes and escapes resolved; None of any other node."""
        return self.event.value if isinstance(self.event, yaml.ScalarEvent) else None

    @property
    def entries(self) -> "Iterator[tuple[Node, Node]]":
        """The names and values of a mapping; nothing of any other node."""
        return zip(self.parts[::2], self.parts[1::2], strict=True) if self.is_map else iter(())

    def followed(self) -> "Node":
        """Return the node itself, or what the alias stands for."""
        return self.target or self

    def entries_of(self, name: str) -> "list[tuple[Node, Node]]":
        """Return the entries of a mapping with this name; more than one is somebody's mistake."""
        return [entry for entry in self.entries if entry[0].followed().text == name]


_NONE: list[Node] = []
"""The parts of every scalar and alias: never filled."""


def events_of(text: str, loader: Any = LOADER) -> list[Any]:
    """Return the events of a text. Raises NotYaml, also for what nests deeper than specs may.

    PyYAML and libyaml take a time that grows with the square of the depth.
    """
    found: list[Any] = []
    depth = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            found.append(event)
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > MOST_DEPTH:
                    break
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "broken syntax"
        raise NotYaml(problem, int(mark.index) if mark is not None else -1) from error
    except (yaml.YAMLError, ValueError) as error:
        raise NotYaml((str(error).splitlines() or ["broken text"])[0], -1) from error
    if depth > MOST_DEPTH:
        index = int(found[-1].start_mark.index)
        raise NotYaml(f"values are nested more than {MOST_DEPTH} deep", index)
    return found


def documents_of(events: list[Any]) -> Iterator[Node]:
    """Yield the root of each document. Raises NotYaml for an alias without its anchor."""
    stack: list[Node] = []
    anchors: dict[str, Node] = {}
    for order, event in enumerate(events):
        if isinstance(event, yaml.DocumentStartEvent):
            anchors = {}
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            node = stack.pop()
        elif isinstance(event, yaml.NodeEvent):
            is_collection = isinstance(event, yaml.CollectionStartEvent)
            node = Node(event, order, [] if is_collection else _NONE)
            if stack:
                stack[-1].parts.append(node)
            if event.anchor is not None:
                _name(node, anchors)
            if is_collection:
                stack.append(node)
                continue
        else:
            continue
        if not stack:
            yield node


def _name(node: Node, anchors: dict[str, Node]) -> None:
    anchor = node.event.anchor
    if not isinstance(node.event, yaml.AliasEvent):
        anchors[anchor] = node
    elif anchor in anchors:
        node.target = anchors[anchor]
        node.target.use = node.target.use or node
    else:
        raise NotYaml(f"there is no anchor &{anchor} above *{anchor}", node.index)


def signature(event: Any) -> tuple[Any, ...]:
    """Return all that an event says, save where it stands: two texts with equal ones are one."""
    if isinstance(event, yaml.ScalarEvent):
        return ("=", event.anchor, event.tag, event.implicit, event.style, event.value)
    if isinstance(event, yaml.CollectionStartEvent):
        return (type(event), event.anchor, event.tag, event.implicit, event.flow_style)
    if isinstance(event, yaml.DocumentStartEvent):
        return (type(event), event.explicit, event.version, event.tags)
    if isinstance(event, yaml.DocumentEndEvent):
        return (type(event), event.explicit)
    return (type(event), getattr(event, "anchor", None))
