"""What the environment of a container must be."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.kube import names
from reconciler.sandbox.refusals import Cause, invalid_value, required, unsupported
from reconciler.sandbox.requests import Json
from reconciler.sandbox.validate.metadata import config_key_problems

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef")
_FIELDS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
    "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
_LABELS = (
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
    "metadata.uid", "spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
    "spec.serviceAccountName", "spec.hostNetwork", "status.phase", "status.hostIP",
    "status.hostIPs", "status.podIP", "status.podIPs", "status.nominatedNodeName",
)  # fmt: skip
_AMOUNTS = (
    "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu",
    "requests.ephemeral-storage", "requests.memory",
)  # fmt: skip
_PAGES = ("limits.hugepages-", "requests.hugepages-")
_NO_SOURCE = (
    "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` "
    "or `fileKeyRef`"
)
_TOO_MANY = "may not have more than one field specified at a time"


def check_environment(container: Json, path: str) -> Iterator[Cause]:
    """Check the variables of a container, one by one and taken from elsewhere."""
    for index, variable in enumerate(container.get("env") or ()):
        place, name = f"{path}.env[{index}]", variable.get("name", "")
        told = names.env_name_problem(name) if name else None
        if not name:
            yield required(f"{place}.name")
        elif told:
            yield invalid_value(f"{place}.name", name, told)
        if variable.get("valueFrom") is not None:
            has_value = bool(variable.get("value"))
            yield from _value_from(variable["valueFrom"], f"{place}.valueFrom", has_value=has_value)
    for index, source in enumerate(container.get("envFrom") or ()):
        yield from _everything_of(source, f"{path}.envFrom", index)


def _value_from(sources: Json, path: str, *, has_value: bool) -> Iterator[Cause]:
    found = [name for name in _SOURCES if sources.get(name) is not None]
    for name in found:
        reference, place = sources[name], f"{path}.{name}"
        if name == "fieldRef":
            yield from _field(reference, place)
        elif name == "resourceFieldRef":
            yield from _amount(reference, place)
        else:
            yield from _key(reference, place)
    if not found:
        yield invalid_value(path, "", _NO_SOURCE)
    elif has_value:
        yield invalid_value(path, "", "may not be specified when `value` is not empty")
    elif len(found) > 1:
        yield invalid_value(path, "", _TOO_MANY)


def _field(reference: Json, path: str) -> Iterator[Cause]:
    asked = reference.get("fieldPath", "")
    if not asked:
        yield required(f"{path}.fieldPath")
        return
    plain = asked.partition("[")[0] if asked.endswith("']") else asked
    if plain not in _LABELS:
        detail = f"error converting fieldPath: field label not supported: {asked}"
        yield invalid_value(f"{path}.fieldPath", asked, detail)
    elif plain == asked and asked not in _FIELDS:
        yield unsupported(f"{path}.fieldPath", asked, _FIELDS)


def _amount(reference: Json, path: str) -> Iterator[Cause]:
    asked = reference.get("resource", "")
    if not asked:
        yield required(f"{path}.resource")
    elif asked not in _AMOUNTS and not asked.startswith(_PAGES):
        yield unsupported(f"{path}.resource", asked, _AMOUNTS)


def _key(reference: Json, path: str) -> Iterator[Cause]:
    name, key = reference.get("name", ""), reference.get("key", "")
    told = names.subdomain_problem(name)
    if told:
        yield invalid_value(f"{path}.name", name, told)
    if not key:
        yield required(f"{path}.key")
    for problem in config_key_problems(key) if key else ():
        yield invalid_value(f"{path}.key", key, problem)


def _everything_of(source: Json, path: str, index: int) -> Iterator[Cause]:
    place, prefix = f"{path}[{index}]", source.get("prefix", "")
    told = names.env_name_problem(prefix) if prefix else None
    if told:
        yield invalid_value(f"{place}.prefix", prefix, told)
    found = [one for one in ("configMapRef", "secretRef") if source.get(one) is not None]
    for one in found:
        name = source[one].get("name", "")
        told = names.subdomain_problem(name) if name else None
        if not name:
            yield required(f"{place}.{one}.name")
        elif told:
            yield invalid_value(f"{place}.{one}.name", name, told)
    if not found:
        yield invalid_value(path, "", "must specify one of: `configMapRef` or `secretRef`")
    elif len(found) > 1:
        yield invalid_value(path, "", _TOO_MANY)
