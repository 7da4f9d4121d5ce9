"""Just enough protobuf to read what kubectl sends in it.

`kubectl create namespace|configmap|secret|serviceaccount|pdb` and `kubectl auth` speak protobuf
and do not try again in JSON. Field numbers are those of the published .proto files.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from reconciler.sandbox.requests import Json

MAGIC = b"k8s\x00"
MEDIA_TYPE = "application/vnd.kubernetes.protobuf"


class Undecodable(Exception):
    """Bytes that are not the message they should be."""


@dataclass(frozen=True, slots=True)
class Message:
    """The fields of one message: number to (JSON name, how its value reads)."""

    fields: Mapping[int, tuple[str, Any]] = field(default_factory=dict)


_TEXT, _BYTES, _BOOL, _INT, _INT_OR_STRING = "text", "bytes", "bool", "int", "int-or-string"


@dataclass(frozen=True, slots=True)
class Many:
    """A repeated field."""

    item: Any


@dataclass(frozen=True, slots=True)
class Map:
    """A map from text."""

    item: Any


_OWNER = Message(
    {
        1: ("kind", _TEXT),
        3: ("name", _TEXT),
        4: ("uid", _TEXT),
        5: ("apiVersion", _TEXT),
        6: ("controller", _BOOL),
        7: ("blockOwnerDeletion", _BOOL),
    }
)
_METADATA = Message(
    {
        1: ("name", _TEXT),
        2: ("generateName", _TEXT),
        3: ("namespace", _TEXT),
        5: ("uid", _TEXT),
        6: ("resourceVersion", _TEXT),
        11: ("labels", Map(_TEXT)),
        12: ("annotations", Map(_TEXT)),
        13: ("ownerReferences", Many(_OWNER)),
        14: ("finalizers", Many(_TEXT)),
    }
)
_REQUIREMENT = Message(
    {1: ("key", _TEXT), 2: ("operator", _TEXT), 3: ("values", Many(_TEXT))},
)
_SELECTOR = Message(
    {1: ("matchLabels", Map(_TEXT)), 2: ("matchExpressions", Many(_REQUIREMENT))},
)
_BUDGET_SPEC = Message(
    {
        1: ("minAvailable", _INT_OR_STRING),
        2: ("selector", _SELECTOR),
        3: ("maxUnavailable", _INT_OR_STRING),
        4: ("unhealthyPodEvictionPolicy", _TEXT),
    }
)
_RESOURCE_ATTRIBUTES = Message(
    {
        1: ("namespace", _TEXT),
        2: ("verb", _TEXT),
        3: ("group", _TEXT),
        4: ("version", _TEXT),
        5: ("resource", _TEXT),
        6: ("subresource", _TEXT),
        7: ("name", _TEXT),
    }
)
_PATH_ATTRIBUTES = Message({1: ("path", _TEXT), 2: ("verb", _TEXT)})
_REVIEW_SPEC = Message(
    {
        1: ("resourceAttributes", _RESOURCE_ATTRIBUTES),
        2: ("nonResourceAttributes", _PATH_ATTRIBUTES),
    }
)

MESSAGES: Mapping[str, Message] = {
    "Namespace": Message({1: ("metadata", _METADATA)}),
    "ServiceAccount": Message(
        {1: ("metadata", _METADATA), 4: ("automountServiceAccountToken", _BOOL)}
    ),
    "ConfigMap": Message(
        {
            1: ("metadata", _METADATA),
            2: ("data", Map(_TEXT)),
            3: ("binaryData", Map(_BYTES)),
            4: ("immutable", _BOOL),
        }
    ),
    "Secret": Message(
        {
            1: ("metadata", _METADATA),
            2: ("data", Map(_BYTES)),
            3: ("type", _TEXT),
            4: ("stringData", Map(_TEXT)),
            5: ("immutable", _BOOL),
        }
    ),
    "PodDisruptionBudget": Message({1: ("metadata", _METADATA), 2: ("spec", _BUDGET_SPEC)}),
    "SelfSubjectAccessReview": Message({2: ("spec", _REVIEW_SPEC)}),
    "SelfSubjectRulesReview": Message({2: ("spec", Message({1: ("namespace", _TEXT)}))}),
    "SelfSubjectReview": Message({1: ("metadata", _METADATA)}),
}

_TYPE = Message({1: ("apiVersion", _TEXT), 2: ("kind", _TEXT)})
_ENVELOPE = Message({1: ("type", _TYPE), 2: ("raw", "raw")})
_ENTRY_KEY, _ENTRY_VALUE = 1, 2
_INT_FORM, _INT_PART, _STRING_PART = 1, 2, 3


def decode(body: bytes) -> Json:
    """Read a request body into the JSON object that it stands for. Raises Undecodable."""
    if not body.startswith(MAGIC):
        raise Undecodable("the body does not begin as Kubernetes protobuf does")
    envelope = _message(body[len(MAGIC) :], _ENVELOPE)
    kind = envelope.get("type", {}).get("kind", "")
    message = MESSAGES.get(kind)
    if message is None:
        raise Undecodable(f"the sandbox reads no {kind or 'nameless kind'} in protobuf; send JSON")
    return {**envelope["type"], **_message(envelope.get("raw", b""), message)}


def _message(data: bytes, message: Message) -> Json:
    value: Json = {}
    for number, content in _fields(data):
        known = message.fields.get(number)
        if known is None:
            continue
        name, form = known
        if isinstance(form, Many):
            value.setdefault(name, []).append(_value(content, form.item))
        elif isinstance(form, Map):
            entry = dict(_fields(_bytes(content)))
            key = _value(entry.get(_ENTRY_KEY, b""), _TEXT)
            value.setdefault(name, {})[key] = _value(entry.get(_ENTRY_VALUE, b""), form.item)
        else:
            value[name] = _value(content, form)
    return {name: part for name, part in value.items() if part != ""}


def _value(content: bytes | int, form: Any) -> Any:
    if form == _BOOL:
        return bool(content)
    if form == _INT:
        return content
    data = _bytes(content)
    if isinstance(form, Message):
        return _message(data, form)
    if form == _INT_OR_STRING:
        parts = dict(_fields(data))
        text = parts.get(_STRING_PART, b"")
        return _bytes(text).decode() if parts.get(_INT_FORM) else parts.get(_INT_PART, 0)
    if form == _BYTES:
        return base64.b64encode(data).decode()
    return data if form == "raw" else data.decode()


def _bytes(content: bytes | int) -> bytes:
    if isinstance(content, int):
        raise Undecodable("a number stands where bytes should")
    return content


def _fields(data: bytes) -> Iterator[tuple[int, bytes | int]]:
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value
            continue
        length, at = (8, at) if wire == 1 else (4, at) if wire == 5 else _varint(data, at)
        if wire not in (1, 2, 5) or at + length > len(data):
            raise Undecodable("the body is cut short or not protobuf")
        yield number, data[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise Undecodable("a number is cut short")
