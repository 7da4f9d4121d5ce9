"""The checks of a whole object, whatever its kind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reconciler.kube import quantities
from reconciler.sandbox.kinds import BUDGET, CONFIG_MAP, EVENT, LEASE, NODE, POD, SECRET, Kind
from reconciler.sandbox.refusals import (
    Cause,
    forbidden_value,
    invalid_value,
    required,
    unsupported,
)
from reconciler.sandbox.requests import Json
from reconciler.sandbox.validate.metadata import (
    check_metadata,
    check_name,
    check_selector,
    config_key_problems,
)
from reconciler.sandbox.validate.placement import check_taints
from reconciler.sandbox.validate.pods import check_pod

_BUDGET_FIELDS = ("minAvailable", "selector", "maxUnavailable", "unhealthyPodEvictionPolicy")
_SIZE_LIMIT_BYTES = 1024 * 1024
_PERCENT_TEXT = "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
_WHOLE = 100
_UNHEALTHY = ("AlwaysAllow", "IfHealthyBudget")
_PERCENT = re.compile(r"[0-9]+%")


def check_object(kind: Kind, value: Json) -> Iterator[Cause]:
    """Check an object as it would be stored."""
    if kind is BUDGET:
        # The server looks at the spec of a budget first, and at its metadata only then.
        wrong = list(_budget(value.get("spec") or {}))
        yield from wrong or [
            *check_name(kind, value["metadata"]),
            *check_all_metadata(kind, value),
        ]
        return
    yield from check_name(kind, value["metadata"])
    yield from check_all_metadata(kind, value)
    if kind is POD:
        yield from check_pod(value.get("spec") or {})
    elif kind in (CONFIG_MAP, SECRET):
        yield from _content(value)
    elif kind is NODE:
        yield from check_taints(value.get("spec") or {})
        yield from _amounts(value.get("status") or {})
    elif kind is LEASE:
        yield from _lease(value.get("spec") or {})


def check_all_metadata(kind: Kind, value: Json) -> Iterator[Cause]:
    """Check metadata as the server does for a kind: of a group's it asks less than of core's."""
    yield from check_metadata(value["metadata"], of_core=not kind.group and kind is not EVENT)


def check_new(kind: Kind, value: Json) -> Iterator[Cause]:
    """Check what only a new object may not be."""
    spec = value.get("spec") or {}
    if kind is POD and spec.get("nodeName") and spec.get("schedulingGates"):
        detail = "cannot be set until all schedulingGates have been cleared"
        yield forbidden_value("spec.nodeName", detail)


def _content(value: Json) -> Iterator[Cause]:
    size = 0
    for part in ("data", "binaryData"):
        for key, content in (value.get(part) or {}).items():
            size += len(content)
            for told in config_key_problems(key):
                yield invalid_value(f"{part}[{key}]", key, told)
    for key in value.get("data") or ():
        if key in (value.get("binaryData") or {}):
            yield invalid_value(f"data[{key}]", key, "duplicate of key present in binaryData")
    if size > _SIZE_LIMIT_BYTES:
        text = f"Too long: may not be more than {_SIZE_LIMIT_BYTES} bytes"
        yield Cause("", "FieldValueTooLong", text)


def _budget(spec: Json) -> Iterator[Cause]:
    both = "minAvailable and maxUnavailable cannot be both set"
    if "minAvailable" in spec and "maxUnavailable" in spec:
        shown = {name[0].upper() + name[1:]: spec.get(name) for name in _BUDGET_FIELDS}
        yield invalid_value("spec", shown, both)
    for name in ("minAvailable", "maxUnavailable"):
        amount = spec.get(name)
        if isinstance(amount, str) and not _PERCENT.fullmatch(amount):
            detail = "a valid percent string must be a numeric string followed by an ending '%'"
            yield invalid_value(f"spec.{name}", amount, f"{detail} {_PERCENT_TEXT}")
        elif isinstance(amount, int) and amount < 0:
            detail = "must be greater than or equal to 0"
            yield invalid_value(f"spec.{name}", amount, detail)
        elif isinstance(amount, str) and int(amount.removesuffix("%")) > _WHOLE:
            yield invalid_value(f"spec.{name}", amount, "must not be greater than 100%")
    yield from check_selector(spec.get("selector"), "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _UNHEALTHY:
        yield unsupported("spec.unhealthyPodEvictionPolicy", policy, _UNHEALTHY)


def _amounts(status: Json) -> Iterator[Cause]:
    for part in ("capacity", "allocatable"):
        for name, amount in (status.get(part) or {}).items():
            if quantities.parse(amount) < 0:
                detail = "must be greater than or equal to 0"
                yield invalid_value(f"status.{part}.{name}", amount, detail)
            if name == "pods" and quantities.parse(amount) % 1:
                yield invalid_value(f"status.{part}.{name}", amount, "must be an integer")


def _lease(spec: Json) -> Iterator[Cause]:
    duration = spec.get("leaseDurationSeconds")
    if duration is not None and duration <= 0:
        yield invalid_value("spec.leaseDurationSeconds", duration, "must be greater than 0")
    transitions = spec.get("leaseTransitions")
    if transitions is not None and transitions < 0:
        detail = "must be greater than or equal to 0"
        yield invalid_value("spec.leaseTransitions", transitions, detail)


def check_event(value: Json, namespace: str) -> Iterator[Cause]:
    """Check where an event belongs and what it is about."""
    about = value.get("involvedObject") or {}
    place = about.get("namespace", "")
    if place and place != namespace:
        yield invalid_value("involvedObject.namespace", place, "does not match event.namespace")
    if not place and namespace not in ("default", "kube-system", ""):
        yield invalid_value("involvedObject.namespace", "", "does not match event.namespace")
    if value.get("eventTime") and not value.get("reportingComponent"):
        yield required("reportingController")
