"""The shapes of objects, made from Kubernetes' own JSON Schemas: what a decoder needs to know."""

from __future__ import annotations

from dataclasses import dataclass, field

from reconciler.sandbox.requests import Json


@dataclass(slots=True)
class Shape:
    """What one place of an object may hold."""

    form: str  # object, map, list, string, int32, int64, bool, number, int-or-string, quantity, any
    go_name: str = ""
    fields: dict[str, Shape] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    item: Shape | None = None


ANY = Shape("any")
_SCALARS = {"string": "string", "boolean": "bool", "number": "number"}
_SPECIAL = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "micro-time",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
}


class Shapes:
    """Shapes by apiVersion and kind, made on first use."""

    def __init__(self, definitions: Json) -> None:
        self._definitions = definitions
        self._made: dict[str, Shape] = {}
        self._kinds = {
            (one["group"], one["version"], one["kind"]): name
            for name, definition in definitions.items()
            for one in definition.get("x-kubernetes-group-version-kind", ())
        }

    def for_kind(self, group: str, version: str, kind: str) -> Shape:
        """Find the shape of a kind. Raises KeyError."""
        return self._named(self._kinds[group, version, kind])

    def _named(self, name: str) -> Shape:
        made = self._made.get(name)
        if made is None:
            short = ".".join(name.split(".")[-2:])
            made = Shape(_SPECIAL.get(name, "any"), short)
            self._made[name] = made
            self._fill(made, self._definitions[name])
        return made

    def _fill(self, shape: Shape, schema: Json) -> None:
        if "properties" in schema:
            shape.form = "object"
            shape.required = frozenset(schema.get("required", ()))
            for name, part in schema["properties"].items():
                shape.fields[name] = self._shape(part)
        elif shape.form == "any":
            shape.form = self._plain(schema)

    def _shape(self, schema: Json) -> Shape:
        if "$ref" in schema:
            return self._named(schema["$ref"].rsplit("/", 1)[1])
        form = self._plain(schema)
        if form == "list":
            item = self._shape(schema["items"])
            return Shape("list", f"[]{item.go_name or item.form}", item=item)
        if form == "map":
            item = self._shape(schema["additionalProperties"])
            return Shape("map", f"map[string]{item.go_name or item.form}", item=item)
        if schema.get("format") == "byte":
            return Shape("bytes", "[]uint8")
        return Shape(form, form)

    @staticmethod
    def _plain(schema: Json) -> str:
        declared = schema.get("type", "")
        kind = declared if isinstance(declared, str) else declared[0] if declared else ""
        if kind == "array":
            return "list"
        if kind == "object":
            return "map" if isinstance(schema.get("additionalProperties"), dict) else "any"
        if kind == "integer":
            return str(schema.get("format", "int64"))
        return _SCALARS.get(kind, "any")
