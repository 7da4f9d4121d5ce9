"""Decoding as Go does it.

Unknown fields are told, a value of the wrong type is refused, null and empty optional values
vanish.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import Any

from reconciler.kube import quantities
from reconciler.sandbox import clock
from reconciler.sandbox.requests import Json
from reconciler.sandbox.shapes import ANY, Shape

# Optional scalars behind a pointer keep their zero; the schemas do not tell them apart.
_KEEPS_ZERO = frozenset(
    {
        "activeDeadlineSeconds",
        "allowPrivilegeEscalation",
        "automountServiceAccountToken",
        "blockOwnerDeletion",
        "controller",
        "defaultMode",
        "deletionGracePeriodSeconds",
        "enableServiceLinks",
        "expirationSeconds",
        "fsGroup",
        "gracePeriodSeconds",
        "holderIdentity",
        "hostUsers",
        "immutable",
        "leaseDurationSeconds",
        "leaseTransitions",
        "matchPolicy",
        "maxUnavailable",
        "minAvailable",
        "minDomains",
        "mode",
        "namespaceSelector",
        "optional",
        "path",
        "port",
        "preemptionPolicy",
        "priority",
        "privileged",
        "procMount",
        "readOnlyRootFilesystem",
        "runAsGroup",
        "runAsNonRoot",
        "runAsUser",
        "seconds",
        "setHostnameAsFQDN",
        "shareProcessNamespace",
        "started",
        "storageClassName",
        "terminationGracePeriodSeconds",
        "tolerationSeconds",
        "unhealthyPodEvictionPolicy",
    }
)
_KEEPS_ZERO_IN = {("v1.PodDNSConfigOption", "value")}
"""Those whose name another type has without a pointer."""
_GO_NAMES = {
    str: "string",
    bool: "bool",
    int: "number",
    float: "number",
    list: "array",
    dict: "object",
}
_GO_TYPES = {"time": "string", "micro-time": "string", "int-or-string": "int32"}
# What Go's types write even when nobody set it, as null: times held by value, and one list.
_ALWAYS = {
    "v1.PodCondition": ("lastProbeTime", "lastTransitionTime"),
    "v1.NodeCondition": ("lastHeartbeatTime", "lastTransitionTime"),
    "v1.NamespaceCondition": ("lastTransitionTime",),
    "v1.Condition": ("lastTransitionTime",),
    "v1.ContainerStateRunning": ("startedAt",),
    "v1.ContainerStateTerminated": ("startedAt", "finishedAt"),
    "v1.ProjectedVolumeSource": ("sources",),
}
_ZEROS = {"string": "", "int32": 0, "int64": 0, "bool": False}
_NO_QUANTITY = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_BYTE = Shape("uint8", "uint8")
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/=]")
_MICRO = re.compile(r".*[0-9]\.[0-9]{6}(Z|[-+][0-9:]+)")


class Mistyped(Exception):
    """A value of a type that its field cannot hold; the message is Go's.

    `alone` is what is said where every value is decoded for itself, as apply does.
    """

    def __init__(self, message: str, alone: str = "") -> None:
        super().__init__(message)
        self.alone = alone or message


@dataclass(slots=True)
class Reading:
    """One decoding: the unknown fields met on the way."""

    unknown: list[str] = field(default_factory=list)

    def read(self, shape: Shape, value: Any, path: str = "", owner: str = "") -> Any:
        """Decode a value the way Go does. Raises Mistyped."""
        form = shape.form
        if form == "string":
            return value if isinstance(value, str) else self._refuse(shape, value, path, owner)
        if form == "object":
            return self._object(shape, value, path, owner)
        if form == "list":
            return self._list(shape, value, path, owner)
        if form == "map":
            return self._map(shape, value, path, owner)
        return self._scalar(shape, value, path, owner)

    def _object(self, shape: Shape, value: Any, path: str, owner: str) -> Json:
        if not isinstance(value, dict):
            self._refuse(shape, value, path, owner)
        result: Json = {}
        owner = shape.go_name.rsplit(".", 1)[-1]
        for name, part in value.items():
            place = f"{path}.{name}" if path else name
            inner = shape.fields.get(name)
            if inner is None:
                self.unknown.append(place)
                continue
            if part is None:
                continue
            read = self.read(inner, part, place, owner)
            if read or _kept(name, inner, shape):
                result[name] = read
        for name in shape.required:
            if name not in result and shape.fields[name].form in _ZEROS:
                result[name] = _ZEROS[shape.fields[name].form]
        for name in _ALWAYS.get(shape.go_name, ()):
            result.setdefault(name, None)
        return result

    def _list(self, shape: Shape, value: Any, path: str, owner: str) -> list[Any]:
        if not isinstance(value, list):
            self._refuse(shape, value, path, owner)
        item = shape.item or ANY
        return [
            self.read(item, _nothing(item) if part is None else part, f"{path}[{index}]", owner)
            for index, part in enumerate(value)
        ]

    def _map(self, shape: Shape, value: Any, path: str, owner: str) -> Json:
        if not isinstance(value, dict):
            self._refuse(shape, value, path, owner)
        item = shape.item or ANY
        empty = _nothing(item)
        return {
            name: empty if part is None else self.read(item, part, path, owner)
            for name, part in value.items()
        }

    def _scalar(self, shape: Shape, value: Any, path: str, owner: str) -> Any:
        form = shape.form
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        whole = number and value == int(value)
        if form == "any" or (form == "bool" and isinstance(value, bool)):
            return value
        if form in ("int32", "int64") and whole:
            return int(value)
        if form == "int-or-string" and (isinstance(value, str) or whole):
            return value
        if form == "number" and number:
            return value
        if form == "bytes" and isinstance(value, str | list):
            if isinstance(value, str):
                return _bytes(value)
            odd = [one for one in value if not isinstance(one, int) or not 0 <= one < 256]
            return self._refuse(_BYTE, odd[0], path, owner) if odd else _packed(value)
        if form in ("time", "micro-time") and isinstance(value, str):
            return _time(value, form)
        if form == "quantity" and (isinstance(value, str) or number):
            return _quantity(str(value))
        if form == "quantity":
            raise Mistyped(_NO_QUANTITY)
        return self._refuse(shape, value, path, owner)

    def _refuse(self, shape: Shape, value: Any, path: str, owner: str) -> Any:
        told = _GO_NAMES.get(type(value), "null")
        if told == "number" and shape.form in ("int32", "int64", "int-or-string"):
            told = f"number {value}"
        plain = "".join(part.split("]")[-1] for part in path.split("["))
        wanted = _GO_TYPES.get(shape.form) or shape.go_name or shape.form
        intro = f"json: cannot unmarshal {told} into Go"
        alone = f"{intro} value of type {wanted}"
        if isinstance(value, float) and shape.form in ("int32", "int64"):
            alone = f"cannot convert float64 to {wanted}"
        raise Mistyped(f"{intro} struct field {owner}.{plain} of type {wanted}", alone)


def _nothing(shape: Shape) -> Any:
    """Give what Go makes of null inside a list or a map."""
    zeros: Json = {**_ZEROS, "bytes": "", "quantity": "0", "list": [], "int-or-string": 0}
    return zeros.get(shape.form, {})


def _kept(name: str, inner: Shape, outer: Shape) -> bool:
    if (outer.go_name, name) in _KEEPS_ZERO_IN:
        return True
    return name in outer.required or inner.form in ("object", "any") or name in _KEEPS_ZERO


def _packed(numbers: list[int]) -> str:
    return base64.b64encode(bytes(numbers)).decode()


def _bytes(text: str) -> str:
    plain = text.replace("\n", "").replace("\r", "")
    bad = _NOT_BASE64.search(plain)
    if bad is None and len(plain) % 4 == 0 and "=" not in plain[:-2]:
        return text
    place = bad.start() if bad else len(plain) - len(plain) % 4
    problem = f"illegal base64 data at input byte {place}"
    raise Mistyped(problem, f"error decoding from json: {problem}")


def _time(text: str, form: str) -> str:
    try:
        moment = clock.moment(text)
        if form == "time":
            return clock.stamp(moment)
        if _MICRO.fullmatch(text):
            return clock.micro(moment)
        problem = 'cannot parse "Z" as ".000000"'
    except ValueError:
        problem = f"cannot parse {_shown(text)} as {_shown('2006')}"
    layout = f"2006-01-02T15:04:05{'.000000' if form == 'micro-time' else ''}Z07:00"
    raise Mistyped(f"parsing time {_shown(text)} as {_shown(layout)}: {problem}")


def _shown(text: str) -> str:
    return f'"{text}"'


def _quantity(text: str) -> str:
    try:
        return quantities.canonical(text)
    except ValueError as error:
        raise Mistyped(_NO_QUANTITY) from error
