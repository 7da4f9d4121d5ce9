"""Our answers beside those that Kubernetes' own libraries gave (see `recorded/main.go`)."""

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconciler.kube import managed_fields, quantities
from reconciler.kube.apply import Applied, BadObject, apply, track_update
from reconciler.kube.json_types import Json, same
from reconciler.kube.selectors import BadSelector, FieldSelector, LabelSelector
from reconciler.kube.strategic import PatchFailed, strategic_patch
from tests.unit.kube.definitions import schema_of

_CASES = Path(__file__).parent / "recorded" / "cases.jsonl"
_LEAST_CASES = {
    "apply": 70,
    "update": 70,
    "strategic": 30,
    "quantity": 35,
    "labels": 30,
    "fields": 10,
}


@functools.cache
def _recorded() -> tuple[Json, ...]:
    return tuple(map(json.loads, _CASES.read_text(encoding="utf-8").splitlines()))


def _quantity(case: Json) -> Json:
    try:
        return {"printed": quantities.canonical(case["text"])}
    except ValueError as error:
        return {"error": str(error)}


def _labels(case: Json) -> Json:
    try:
        selector = LabelSelector.parse_labels(case.get("text", ""))
    except BadSelector as error:
        return {"error": str(error)}
    return {"matches": [selector.matches(labels) for labels in case["obj"]]}


def _fields(case: Json) -> Json:
    try:
        FieldSelector.parse_fields(case.get("text", ""))
    except BadSelector as error:
        return {"error": str(error)}
    return {}


def _strategic(case: Json) -> Json:
    try:
        return {"object": strategic_patch(case["live"], case["obj"], schema_of(case))}
    except PatchFailed as error:
        return {"error": str(error)}


def _update(case: Json) -> Json:
    obj = case["obj"]
    entries = track_update(
        case.get("live"),
        obj,
        manager=case["manager"],
        schema=schema_of(case),
        now="now",
        subresource=case.get("subresource", ""),
    )
    return {"managedFields": entries, "object": managed_fields.without(obj)}


def _apply(case: Json) -> Json:
    try:
        outcome = apply(
            case.get("live"),
            case["obj"],
            manager=case["manager"],
            force=case.get("force", False),
            schema=schema_of(case),
            now="now",
            subresource=case.get("subresource", ""),
        )
    except BadObject as error:
        return {"error": str(error)}
    if not isinstance(outcome, Applied):
        return {"error": outcome.message}
    return {
        "managedFields": outcome.managed_fields,
        "object": managed_fields.without(outcome.object),
    }


_ANSWERS: dict[str, Callable[[Json], Json]] = {
    "apply": _apply,
    "fields": _fields,
    "labels": _labels,
    "quantity": _quantity,
    "strategic": _strategic,
    "update": _update,
}
_OUR_OWN_WORDS = ("quantity", "strategic")


@pytest.mark.parametrize("op", sorted(_ANSWERS))
def test_the_librarys_answer_is_ours(op: str) -> None:
    lines = [line for line in _recorded() if line["case"]["op"] == op]
    assert len(lines) >= _LEAST_CASES[op]
    for line in lines:
        ours, real = _ANSWERS[op](line["case"]), line["real"]
        if op in _OUR_OWN_WORDS and "error" in real:
            assert "error" in ours, line
            continue
        assert same(_comparable(ours), _comparable(real)), (ours, line)


def _comparable(answer: Json) -> Json:
    """Leave out what Go's structs always print and a partial object need not have."""
    return {name: _pruned(part) if name == "object" else part for name, part in answer.items()}


def _pruned(part: Any) -> Any:
    if isinstance(part, dict):
        kept = {name: _pruned(child) for name, child in part.items()}
        return {name: child for name, child in kept.items() if child not in (None, "", 0, {}, [])}
    return [_pruned(item) for item in part] if isinstance(part, list) else part
