"""JSON Schemas as `jsonschema` validators: ours, and Kubernetes' with our refinements laid over.

The dialect is draft 2020-12, stricter where YAML that people write needs it, and with errors that
stand at the property or item they are about, one by one and in the order of the document.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import create

from reconciler.core import formats
from reconciler.model.refs import Json

_DEFINED_AS: Mapping[str, Json] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"format": "quantity"},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"format": "int-or-string"},
}

Errors = Iterator[ValidationError]


def validator_of(schema: Json) -> Validator:
    """Return the validator of a schema; the schema itself is not checked."""
    return _Dialect(schema, format_checker=_FORMATS)


def refined_schema(definitions: Json, name: str, refined: Mapping[str, Json]) -> Json:
    """Return the schema of a named definition.

    `refined` says more of some definitions than Kubernetes' schemas do (enums, bounds).
    """
    overlaid = {
        known: _overlaid(node, refined[known])
        for known, node in definitions.items()
        if known in refined
    }
    return {"$ref": f"#/$defs/{name}", "$defs": {**definitions, **overlaid, **_DEFINED_AS}}


def _overlaid(node: Json, more: Json) -> Json:
    properties = dict(node.get("properties", {}))
    for name, refinement in more.get("properties", {}).items():
        # A property that this Kubernetes version does not have stays unknown.
        if name in properties:
            properties[name] = _nullable({**properties[name], **refinement})
    required = [*node.get("required", ()), *more.get("required", ())]
    return {**node, "properties": properties, "required": required}


def _nullable(node: Json) -> Json:
    """Let a property that may be nothing be nothing beside its listed words."""
    if "enum" in node and "null" in node.get("type", ()):
        return {**node, "enum": [*node["enum"], None]}
    return node


def _pattern(_: Draft202012Validator, pattern: Any, instance: Any, __: Mapping[str, Any]) -> Errors:
    """Match the whole text: to Python, `$` also stands before a line's end."""
    if isinstance(instance, str) and re.fullmatch(pattern, instance) is None:
        yield ValidationError("pattern")


def _required(
    validator: Draft202012Validator, required: Any, instance: Any, schema: Mapping[str, Any]
) -> Errors:
    """Take a property that may be null, and is, for missing: so does the API server."""
    if not isinstance(instance, dict):
        return
    for name in required:
        node = schema.get("properties", {}).get(name, True)
        if name not in instance or (
            instance[name] is None and not any(validator.descend(None, node))
        ):
            yield ValidationError("required", path=[name])


def _items(
    validator: Draft202012Validator, items: Any, instance: Any, _: Mapping[str, Any]
) -> Errors:
    """Refuse empty items, which Kubernetes' schemas let pass."""
    if isinstance(instance, list):
        for index, item in enumerate(instance):
            if item is None:
                yield ValidationError("items", path=[index])
            else:
                yield from validator.descend(item, items, path=index)


def _unique_items(
    _: Draft202012Validator, unique: Any, instance: Any, __: Mapping[str, Any]
) -> Errors:
    """Name each repeated text; the library's comparison is quadratic for mixed items."""
    seen: set[str] = set()
    for index, item in enumerate(instance if unique and isinstance(instance, list) else ()):
        if isinstance(item, str):
            if item in seen:
                yield ValidationError("uniqueItems", path=[index], instance=item)
            seen.add(item)


def _other_properties(
    validator: Draft202012Validator, wanted: Any, instance: Any, schema: Mapping[str, Any]
) -> Errors:
    """Take the names in their order: the library's set would tell others on every run."""
    if not isinstance(instance, dict):
        return
    known = schema.get("properties", {})
    for name in instance:
        if name in known:
            continue
        if wanted is False:
            yield ValidationError("additionalProperties", path=[name])
        else:
            yield from validator.descend(instance[name], wanted, path=name)


_Dialect = create(
    Draft202012Validator.META_SCHEMA,
    {
        **Draft202012Validator.VALIDATORS,
        "pattern": _pattern,
        "required": _required,
        "items": _items,
        "uniqueItems": _unique_items,
        "additionalProperties": _other_properties,
    },
    # 1.0 is no whole number to Kubernetes.
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: type(value) is int
    ),
)


def _formats() -> FormatChecker:
    checker = FormatChecker(formats=())
    for kind in formats.KINDS:
        checker.checks(kind)(
            lambda value, kind=kind: value is None or formats.problem_of(kind, value) is None
        )
    return checker


_FORMATS = _formats()
