"""Objects as the rows that kubectl prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reconciler.sandbox import clock
from reconciler.sandbox.kinds import (
    BUDGET,
    CONFIG_MAP,
    EVENT,
    LEASE,
    NAMESPACE,
    NODE,
    POD,
    SECRET,
    SERVICE_ACCOUNT,
    Kind,
)
from reconciler.sandbox.printed import (
    budget_cells,
    event_cells,
    namespace_cells,
    node_cells,
    pod_cells,
)
from reconciler.sandbox.requests import Json
from reconciler.sandbox.store import Stored

Cells = Callable[[Json, float], list[Any]]


def _lengths(*names: str) -> Cells:
    def cells(value: Json, now: float) -> list[Any]:
        return [sum(len(value.get(name) or ()) for name in names)]

    return cells


def _nothing(value: Json, now: float) -> list[Any]:
    return []


def _secret(value: Json, now: float) -> list[Any]:
    return [value.get("type", ""), len(value.get("data") or ())]


def _lease(value: Json, now: float) -> list[Any]:
    return [value.get("spec", {}).get("holderIdentity", "")]


# Columns between Name and Age, and after Age those of `-o wide`; then who fills them.
_AGE = "Age"
_COLUMNS: Mapping[Kind, tuple[tuple[str, ...], tuple[str, ...], Cells]] = {
    POD: (
        ("Ready", "Status", "Restarts", _AGE),
        ("IP", "Node", "Nominated Node", "Readiness Gates"),
        pod_cells,
    ),
    NODE: (
        ("Status", "Roles", _AGE, "Version"),
        ("Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"),
        node_cells,
    ),
    NAMESPACE: (("Status", _AGE), (), namespace_cells),
    BUDGET: (
        ("Min Available", "Max Unavailable", "Allowed Disruptions", _AGE),
        (),
        budget_cells,
    ),
    CONFIG_MAP: (("Data", _AGE), (), _lengths("data", "binaryData")),
    SECRET: (("Type", "Data", _AGE), (), _secret),
    SERVICE_ACCOUNT: ((_AGE,), (), _nothing),
    LEASE: (("Holder", _AGE), (), _lease),
}
_EVENT_COLUMNS = (
    ("Last Seen", 0),
    ("Type", 0),
    ("Reason", 0),
    ("Object", 0),
    ("Subobject", 1),
    ("Source", 1),
    ("Message", 0),
    ("First Seen", 1),
    ("Count", 1),
    ("Name", 1),
)
_COMPLETED = {"type": "Completed", "status": "True"}
_OVER = {
    "Succeeded": {
        **_COMPLETED,
        "reason": "Succeeded",
        "message": "The pod has completed successfully.",
    },
    "Failed": {**_COMPLETED, "reason": "Failed", "message": "The pod failed."},
}
_NUMBERS = frozenset({"Allowed Disruptions"})


def columns(kind: Kind) -> list[Json]:
    """Describe the columns of a kind."""
    if kind is EVENT:
        return [one for name, priority in _EVENT_COLUMNS for one in _described((name,), priority)]
    shown, wide, _ = _COLUMNS[kind]
    return _described(("Name", *shown), 0) + _described(wide, 1)


def _described(names: tuple[str, ...], priority: int) -> list[Json]:
    return [
        {
            "name": name,
            "type": "integer" if name in _NUMBERS else "string",
            "format": "name" if name == "Name" else "",
            "description": f"{name} of the object",
            "priority": priority,
        }
        for name in names
    ]


def cells(kind: Kind, value: Json, now: float) -> list[Any]:
    """Fill one row."""
    if kind is EVENT:
        return event_cells(value, now)
    shown, _, fill = _COLUMNS[kind]
    filled = fill(value, now)
    at = shown.index(_AGE)
    aged = [*filled[:at], _age(value, now), *filled[at:]]
    return [value["metadata"]["name"], *aged]


def _is_over(pod: Json) -> bool:
    return pod.get("status", {}).get("phase") in _OVER


def _age(value: Json, now: float) -> str:
    created = value["metadata"].get("creationTimestamp")
    return clock.age(now - clock.moment(created)) if created else "<unknown>"


def partial(kind: Kind, stored: Stored) -> Json:
    """Cut an object down to its metadata."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": stored.decode(kind)["metadata"],
    }


def table(
    kind: Kind,
    found: list[Stored],
    metadata: Json,
    *,
    include: str,
    now: float,
    with_columns: bool = True,
) -> Json:
    """Write objects as a Table; `include` is None, Metadata or Object."""
    rows = []
    for stored in found:
        value = stored.decode(kind)
        row: Json = {"cells": cells(kind, value, now)}
        if kind is POD and _is_over(value):
            row["conditions"] = [_OVER[value["status"]["phase"]]]
        if include == "Object":
            row["object"] = value
        elif include != "None":
            row["object"] = {
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": value["metadata"],
            }
        else:
            row["object"] = None
        rows.append(row)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": columns(kind) if with_columns else None,
        "rows": rows,
    }
