"""Request bodies: JSON, YAML or protobuf, decoded and checked against the shape of their kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from reconciler.sandbox import kinds, protobuf, refusals
from reconciler.sandbox.kinds import Kind
from reconciler.sandbox.reading import Mistyped, Reading
from reconciler.sandbox.refusals import Refused
from reconciler.sandbox.requests import JSON_TYPE, Json, Request
from reconciler.sandbox.shapes import Shape, Shapes

APPLY_TYPE = "application/apply-patch+yaml"
_NO_YAML = "error decoding YAML: error converting YAML to JSON: "
_YAML_TYPES = ("application/yaml", APPLY_TYPE)


@dataclass(frozen=True, slots=True)
class Body:
    """A decoded body and the field names that stand twice in it."""

    value: Any
    duplicates: tuple[str, ...] = ()


class _Doubled(dict[str, Any]):
    """A JSON object in which some names stand twice."""

    names: tuple[str, ...] = ()


def _pairs(pairs: list[tuple[str, Any]]) -> Json:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    doubled = _Doubled(value)
    names = [name for name, _ in pairs]
    doubled.names = tuple(dict.fromkeys(name for name in names if names.count(name) > 1))
    return doubled


class Unreadable(Refused):
    """A body that is not what its type says."""

    def __init__(self, why: str) -> None:
        super().__init__(refusals.bad_request(why).status)


def media_type(request: Request) -> str:
    """Read the Content-Type without its parameters; JSON when there is none."""
    return request.headers.get("content-type", JSON_TYPE).split(";")[0].strip() or JSON_TYPE


def check_media(request: Request) -> None:
    """Check that the type of a body is known. Raises Refused (415)."""
    if media_type(request) not in (JSON_TYPE, *_YAML_TYPES, protobuf.MEDIA_TYPE):
        raise unsupported_media((JSON_TYPE, "application/yaml", protobuf.MEDIA_TYPE))


def parse(request: Request, kind: Kind) -> Body:
    """Decode a body of a kind by its media type.

    Raises:
        Refused: 400 when it cannot be read, 415 when its type is unknown.
    """
    media = media_type(request)
    if media == protobuf.MEDIA_TYPE:
        try:
            return Body(protobuf.decode(request.body))
        except (protobuf.Undecodable, UnicodeDecodeError, KeyError) as error:
            raise refusals.bad_request(f"unable to decode protobuf: {error}") from error
    check_media(request)
    if media in _YAML_TYPES and not request.body.lstrip().startswith(b"{"):
        return _yaml(request.body)
    try:
        return parse_json(request.body)
    except Unreadable as error:
        if media == APPLY_TYPE:
            raise refusals.bad_request(f"{_NO_YAML}{error}") from error
        raise _unrecognized(kind, str(error)) from error


def parse_json(data: bytes) -> Body:
    """Decode JSON and note doubled names. Raises Unreadable."""
    try:
        value = json.loads(data, object_pairs_hook=_pairs)
    except ValueError as error:
        raise Unreadable(_as_go_says(error)) from error
    if value is None:
        value = {}
    if b"\\ud" in data or b"\\uD" in data:
        value = _without_surrogates(value)
    return Body(value, tuple(_places(value)))


def _as_go_says(error: ValueError) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    if error.pos >= len(error.doc.rstrip()):
        return "unexpected end of JSON input"
    wanted = "object key string" if "property name" in error.msg else "value"
    return f"invalid character '{error.doc[error.pos]}' looking for beginning of {wanted}"


def _without_surrogates(value: Any) -> Any:
    """Put U+FFFD where half a character stands, as Go's decoder does."""
    text = json.dumps(value, ensure_ascii=False)
    return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _places(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value, _Doubled):
            yield from (f"{path}.{name}" if path else name for name in value.names)
        for name, part in value.items():
            if isinstance(part, dict | list):
                yield from _places(part, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _places(part, f"{path}[{index}]")


def decode_plain(request: Request, shapes: Shapes, kind: Kind) -> Json:
    """Decode a body that is no object of the store. Raises Refused (400)."""
    body = parse(request, kind)
    check_object(body.value, kind)
    shape = shapes.for_kind(kind.group, kind.version, kind.kind)
    return decode(body, shape, kind, "Ignore")[0]


def _yaml(data: bytes) -> Body:
    try:
        return Body(yaml.load(data, Loader=yaml.CSafeLoader))
    except yaml.YAMLError as error:
        raise Unreadable(f"{_NO_YAML}{error}") from error


def unsupported_media(known: tuple[str, ...]) -> Refused:
    """Refuse the media type of an object (415)."""
    listed = ", ".join(known)
    message = (
        f"the body of the request was in an unknown format - accepted media types include: {listed}"
    )
    return refusals.failure(415, "UnsupportedMediaType", message)


def check_object(value: Any, kind: Kind) -> Json:
    """Check that a body is an object of its kind, which it may leave out. Raises Refused."""
    wanted = kind.kind
    if not isinstance(value, dict):
        raise _unrecognized(kind, "it is no object")
    given_version = value.get("apiVersion") or kind.api_version
    given_kind = value.get("kind") or wanted
    if not isinstance(given_kind, str) or not isinstance(given_version, str):
        raise refusals.bad_request("kind and apiVersion are texts")
    if given_kind != wanted or (given_version != kind.api_version and kind.plural):
        group, _, version = given_version.rpartition("/")
        why = (
            f'no kind "{given_kind}" is registered for version "{given_version}" '
            'in scheme "pkg/runtime/scheme.go:111"'
        )
        if kinds.named(group, version, given_kind):
            internal = kind.group.split(".")[0] or "core"
            why = (
                f"converting ({version}.{given_kind}) to ({internal}.{wanted}): unknown conversion"
            )
        raise refusals.bad_request(
            f'{given_kind} in version "{version}" cannot be handled as a {wanted}: {why}'
        )
    value["kind"], value["apiVersion"] = wanted, given_version
    return value


def _unrecognized(kind: Kind, why: str) -> Refused:
    problem = f"couldn't get version/kind; json parse error: {why}"
    if kind is kinds.DELETE_OPTIONS:
        return refusals.bad_request(problem)
    intro = f"the object provided is unrecognized (must be of type {kind.kind})"
    return refusals.bad_request(f"{intro}: {problem}")


class Undecoded(Refused):
    """An object whose fields are not those of its kind; `why` and `alone` do not name that."""

    why = alone = ""


def undecodable(intro: str, why: str, alone: str = "") -> Undecoded:
    """Refuse an object that does not decode (400)."""
    refused = Undecoded(refusals.bad_request(intro + why).status)
    refused.why, refused.alone = why, alone
    return refused


def decode(body: Body, shape: Shape, kind: Kind, validation: str) -> tuple[Json, tuple[str, ...]]:
    """Decode an object by its shape; gives it with the warnings that it earned.

    Raises:
        Refused: 400 for a value of the wrong type or, when strict, an unknown field.
    """
    version = kind.api_version.rpartition("/")[2]
    intro = f'{kind.kind} in version "{version}" cannot be handled as a {kind.kind}: '
    reading = Reading()
    try:
        value: Json = reading.read(shape, body.value)
    except Mistyped as error:
        raise undecodable(intro, str(error), error.alone) from error
    told = [f'duplicate field "{path}"' for path in body.duplicates]
    told += [f'unknown field "{path}"' for path in reading.unknown]
    if told and validation == "Strict":
        raise undecodable(intro, f"strict decoding error: {', '.join(told)}")
    return value, tuple(told) if validation != "Ignore" else ()
