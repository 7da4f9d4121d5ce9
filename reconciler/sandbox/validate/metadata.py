"""Names, labels, annotations and finalizers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reconciler.kube import names
from reconciler.sandbox.kinds import BUDGET, EVENT, NAMESPACE, Kind
from reconciler.sandbox.refusals import Cause, forbidden_value, invalid_value, required
from reconciler.sandbox.requests import Json

_OWNER_TEXTS = {
    "apiVersion": "version must not be empty",
    "kind": "must not be empty",
    "name": "must not be empty",
    "uid": "must not be empty",
}
_ANNOTATIONS_LIMIT_BYTES = 256 * 1024
_CONFIG_KEY = re.compile(r"[-._a-zA-Z0-9]+")
_CONFIG_KEY_TEXT = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
    "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
    "'[-._a-zA-Z0-9]+')"
)
_CONFIG_KEY_LIMIT = 253


def _path_problem(text: str) -> str | None:
    """Say what keeps a text from standing in a URL."""
    if text in (".", ".."):
        return f"may not be '{text}'"
    bad = next((one for one in "/%" if one in text), None)
    return f"may not contain '{bad}'" if bad else None


# Whose names the server only checks for what a path cannot hold, and the one that is a label.
_RULES = {EVENT: _path_problem, BUDGET: _path_problem, NAMESPACE: names.label_problem}


def check_name(kind: Kind, metadata: Json) -> Iterator[Cause]:
    """Check the name of a new object."""
    name = metadata.get("name", "")
    if not name:
        yield required("metadata.name", "name or generateName is required")
        return
    told = _RULES.get(kind, names.subdomain_problem)(name)
    if told and metadata.get("generateName"):
        yield invalid_value("metadata.generateName", metadata["generateName"], told)
    if told:
        yield invalid_value("metadata.name", name, told)


def check_metadata(metadata: Json, *, of_core: bool = True) -> Iterator[Cause]:
    """Check what an object says about itself besides its name."""
    yield from check_labels(metadata.get("labels") or {}, "metadata.labels")
    for owner in metadata.get("ownerReferences") or ():
        for name, text in _OWNER_TEXTS.items():
            if not owner.get(name):
                yield invalid_value(f"metadata.ownerReferences.{name}", "", text)
    size = 0
    for key, value in (metadata.get("annotations") or {}).items():
        told = names.label_key_problem(key.lower())
        if told:
            yield invalid_value("metadata.annotations", key, told)
        size += len(key.encode()) + len(value.encode())
    if size > _ANNOTATIONS_LIMIT_BYTES:
        limit = f"Too long: may not be more than {_ANNOTATIONS_LIMIT_BYTES} bytes"
        yield Cause("metadata.annotations", "FieldValueTooLong", limit)
    for index, finalizer in enumerate(metadata.get("finalizers") or ()):
        wrong = key_problems(finalizer)
        yield from (invalid_value("metadata.finalizers", finalizer, one) for one in wrong)
        if of_core and "/" not in finalizer and finalizer not in ("orphan", "foregroundDeletion"):
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid_value(f"metadata.finalizers[{index}]", finalizer, detail)


def check_labels(labels: Json, path: str) -> Iterator[Cause]:
    """Check labels or a map like them."""
    for key, value in labels.items():
        for problem in key_problems(key):
            yield invalid_value(path, key, problem)
        told = names.label_value_problem(value)
        if told:
            yield invalid_value(path, value, told)


def check_selector(selector: Json | None, path: str) -> Iterator[Cause]:
    """Check a label selector."""
    for index, one in enumerate((selector or {}).get("matchExpressions") or ()):
        place = f"{path}.matchExpressions[{index}]"
        yield from _requirement(one, place)
    yield from check_labels((selector or {}).get("matchLabels") or {}, f"{path}.matchLabels")


def _requirement(one: Json, place: str) -> Iterator[Cause]:
    yield from check_operator(one, place)
    for told in key_problems(one.get("key", "")):
        yield invalid_value(f"{place}.key", one.get("key", ""), told)
    yield from check_values(one, place)


def check_operator(one: Json, place: str) -> Iterator[Cause]:
    """Check how a requirement of a selector compares, and with how many values."""
    operator = one.get("operator", "")
    if operator in ("In", "NotIn") and not one.get("values"):
        yield required(f"{place}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist") and one.get("values"):
        detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        yield forbidden_value(f"{place}.values", detail)
    elif operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
        yield invalid_value(f"{place}.operator", operator, "not a valid selector operator")


def check_values(one: Json, place: str) -> Iterator[Cause]:
    """Check what a requirement of a selector compares with."""
    for index, value in enumerate(one.get("values") or ()):
        told = names.label_value_problem(value) or ""
        if told:
            yield invalid_value(f"{place}.values[{index}]", value, told)


def key_problems(key: str) -> list[str]:
    """Say everything that is wrong with a key; an empty name part is wrong in two ways."""
    told = names.label_key_problem(key)
    if told is None:
        return []
    if told != "name part must be non-empty":
        return [told]
    # A key of one bad character earns the sentence about characters.
    return [told, names.label_key_problem("-") or ""]


def config_key_problems(key: str) -> Iterator[str]:
    """Say everything that keeps a text from being a key of a ConfigMap or Secret."""
    if len(key) > _CONFIG_KEY_LIMIT:
        yield f"must be no more than {_CONFIG_KEY_LIMIT} characters"
    if not _CONFIG_KEY.fullmatch(key):
        yield _CONFIG_KEY_TEXT
    if key in (".", ".."):
        yield f"must not be '{key}'"
    elif key.startswith(".."):
        yield "must not start with '..'"
