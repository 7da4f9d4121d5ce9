"""JSON Schemas turned into shapes: the part of JSON Schema that ours and Kubernetes' use.

A walk of our own instead of a library's, because a fleet of 1,000 specs is read on every commit
and a mistake has to be told in plain words; a test holds its verdicts to the library's.
"""

import re
from collections.abc import Mapping
from typing import Any

from reconciler.model.refs import Json

_REF = "#/$defs/"
_FORMATS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
}


class Shapes:
    """The named definitions that shapes refer to, each compiled when it is first met.

    `refined` says more of some definitions than Kubernetes' schemas do (enums, bounds).
    """

    def __init__(self, definitions: Json, refined: Mapping[str, Json] | None = None) -> None:
        self._definitions = definitions
        self._refined = refined or {}
        self._known: dict[str, Shape] = {}

    def definition(self, name: str) -> "Shape":
        """Return the shape of a named definition."""
        if name not in self._known:
            node = _overlaid(self._definitions[name], self._refined.get(name, {}))
            self._known[name] = Shape(self, node, _FORMATS.get(name, ""))
        return self._known[name]

    def of(self, node: Json) -> "Shape":
        """Return the shape of a schema node, following its reference."""
        if "$ref" in node:
            return self.definition(node["$ref"].removeprefix(_REF))
        return Shape(self, node)


class Shape:
    """What one value may be. Absent bounds are None; `types` is empty where anything goes."""

    __slots__ = (
        "_children",
        "_items",
        "_node",
        "_shapes",
        "choices",
        "closed",
        "enum",
        "format",
        "length",
        "pattern",
        "plain",
        "properties",
        "required",
        "span",
        "types",
        "unique",
    )

    def __init__(self, shapes: Shapes, node: Json, special: str = "") -> None:
        types = node.get("type", ())
        self._shapes, self._node = shapes, node
        self._children: dict[str, Shape | None] = {}
        self._items: Shape | None = None
        self.types = frozenset({types} if isinstance(types, str) else types)
        self.format: str = special or node.get("format", "")
        self.choices = () if special else tuple(shapes.of(one) for one in node.get("oneOf", ()))
        self.properties: frozenset[str] = frozenset(node.get("properties", ()))
        self.closed: bool = node.get("additionalProperties") is False
        self.required: tuple[str, ...] = tuple(node.get("required", ()))
        self.enum: tuple[Any, ...] = tuple(
            node.get("enum") or ([node["const"]] if "const" in node else [])
        )
        self.span = _bounds(node, "minimum", "maximum")
        self.length = _bounds(node, "minLength", "maxLength") or _bounds(
            node, "minItems", "maxItems"
        )
        self.pattern = re.compile(node["pattern"]) if "pattern" in node else None
        self.plain: str = node.get("x-plain", "")
        self.unique: bool = node.get("uniqueItems", False)

    def field(self, name: str) -> "Shape | None":
        """Return the shape of a property; None where there is none of that name."""
        if name not in self._children:
            node = self._node.get("properties", {}).get(name)
            if node is None:
                extra = self._node.get("additionalProperties")
                node = extra if isinstance(extra, dict) else None
            self._children[name] = None if node is None else self._shapes.of(node)
        return self._children[name]

    @property
    def items(self) -> "Shape | None":
        """The shape of a list's items; None where anything may be in it."""
        if self._items is None and "items" in self._node:
            self._items = self._shapes.of(self._node["items"])
        return self._items

    def accepts(self, text: str) -> bool:
        """Whether a text has the length and the pattern asked for."""
        least, most = self.length or (None, None)
        if (least is not None and len(text) < least) or (most is not None and len(text) > most):
            return False
        return self.pattern is None or self.pattern.fullmatch(text) is not None

    def example(self, name: str) -> Any:
        """Return the first example of a property, None where the schema gives none."""
        examples = self._node.get("properties", {}).get(name, {}).get("examples")
        return examples[0] if examples else None


Bounds = tuple[float | None, float | None]


def _bounds(node: Json, least: str, most: str) -> Bounds | None:
    bounds = (node.get(least), node.get(most))
    return None if bounds == (None, None) else bounds


def _overlaid(node: Json, more: Json) -> Json:
    if not more:
        return node
    properties = dict(node.get("properties", {}))
    for name, refinement in more.get("properties", {}).items():
        # A property that this Kubernetes version does not have stays unknown.
        if name in properties:
            properties[name] = {**properties[name], **refinement}
    required = [*node.get("required", ()), *more.get("required", ())]
    return {**node, "properties": properties, "required": required}
