"""What says where a pod may run: taints, tolerations, affinity, spreading, gates."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.kube import names
from reconciler.sandbox.refusals import (
    Cause,
    duplicate,
    forbidden_value,
    invalid_value,
    quoted,
    required,
    unsupported,
)
from reconciler.sandbox.requests import Json
from reconciler.sandbox.validate.metadata import (
    check_operator,
    check_selector,
    check_values,
    key_problems,
)

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_SPREADS = ("DoNotSchedule", "ScheduleAnyway")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_HEAVIEST = 100
_NO_TERM = "must have at least one node selector term"


def check_taints(spec: Json) -> Iterator[Cause]:
    """Check the taints of a node."""
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(spec.get("taints") or ()):
        # The server's validation names the metadata as their place, and so do its clients.
        place = f"metadata.taints[{index}]"
        key, effect = taint.get("key", ""), taint.get("effect", "")
        for told in key_problems(key):
            yield invalid_value(f"{place}.key", key, told)
        problem = names.label_value_problem(taint.get("value", ""))
        if problem:
            yield invalid_value(f"{place}.value", taint["value"], problem)
        if not effect:
            yield required(f"{place}.effect")
        elif effect not in _EFFECTS:
            yield unsupported(f"{place}.effect", effect, _EFFECTS)
        if (key, effect) in seen:
            yield _twice(taint, place)
        seen.add((key, effect))


def _twice(taint: Json, place: str) -> Cause:
    parts = {"Key": "", "Value": "", "Effect": "", "TimeAdded": None}
    shown = {name: taint.get(name[0].lower() + name[1:], none) for name, none in parts.items()}
    text = f"Duplicate value: {quoted(shown)}: taints must be unique by key and effect pair"
    return Cause(place, "FieldValueDuplicate", text)


def check_affinity(spec: Json) -> Iterator[Cause]:
    """Check what a pod wants to be near, and far from."""
    affinity = spec.get("affinity") or {}
    yield from _nodes(affinity.get("nodeAffinity") or {}, "spec.affinity.nodeAffinity")
    for side in ("podAffinity", "podAntiAffinity"):
        path, wishes = f"spec.affinity.{side}", affinity.get(side) or {}
        for index, term in enumerate(wishes.get(_REQUIRED) or ()):
            yield from _term(term, f"{path}.{_REQUIRED}[{index}]")
        for index, wish in enumerate(wishes.get(_PREFERRED) or ()):
            place = f"{path}.{_PREFERRED}[{index}]"
            yield from _weight(wish, place)
            yield from _term(wish.get("podAffinityTerm") or {}, f"{place}.podAffinityTerm")


def _nodes(wishes: Json, path: str) -> Iterator[Cause]:
    needed = wishes.get(_REQUIRED)
    if needed is not None and not needed.get("nodeSelectorTerms"):
        yield required(f"{path}.{_REQUIRED}.nodeSelectorTerms", _NO_TERM)
    for index, term in enumerate((needed or {}).get("nodeSelectorTerms") or ()):
        place = f"{path}.{_REQUIRED}.nodeSelectorTerms[{index}]"
        yield from _node_term(term, place, is_required=True)
    for index, wish in enumerate(wishes.get(_PREFERRED) or ()):
        place = f"{path}.{_PREFERRED}[{index}]"
        yield from _weight(wish, place)
        yield from _node_term(wish.get("preference") or {}, f"{place}.preference")


def _node_term(term: Json, path: str, *, is_required: bool = False) -> Iterator[Cause]:
    for index, one in enumerate(term.get("matchExpressions") or ()):
        place = f"{path}.matchExpressions[{index}]"
        if one.get("operator") not in ("Gt", "Lt"):
            yield from check_operator(one, place)
        elif len(one.get("values") or ()) != 1:
            detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            yield required(f"{place}.values", detail)
        for told in key_problems(one.get("key", "")):
            yield invalid_value(f"{place}.key", one.get("key", ""), told)
        if is_required:
            yield from check_values(one, place)


def _weight(wish: Json, path: str) -> Iterator[Cause]:
    weight = wish.get("weight", 0)
    if not 0 < weight <= _HEAVIEST:
        yield invalid_value(f"{path}.weight", weight, "must be in the range 1-100")


def _term(term: Json, path: str) -> Iterator[Cause]:
    yield from check_selector(term.get("labelSelector"), f"{path}.labelSelector")
    key = term.get("topologyKey", "")
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty")
    for told in key_problems(key):
        yield invalid_value(f"{path}.topologyKey", key, told)


def check_spread(spec: Json) -> Iterator[Cause]:
    """Check how pods are spread."""
    wanted = spec.get("topologySpreadConstraints") or ()
    kinds = [(one["topologyKey"], one["whenUnsatisfiable"]) for one in wanted]
    for index, one in enumerate(wanted):
        place = f"spec.topologySpreadConstraints[{index}]"
        if one["maxSkew"] <= 0:
            yield invalid_value(f"{place}.maxSkew", one["maxSkew"], "must be greater than zero")
        if not one["topologyKey"]:
            yield required(f"{place}.topologyKey", "can not be empty")
        if one["whenUnsatisfiable"] not in _SPREADS:
            yield unsupported(f"{place}.whenUnsatisfiable", one["whenUnsatisfiable"], _SPREADS)
        if kinds[index] in kinds[index + 1 :]:
            told = f"{{{', '.join(kinds[index])}}}"
            yield duplicate(f"{place}.{{topologyKey, whenUnsatisfiable}}", told)


def check_tolerations(spec: Json) -> Iterator[Cause]:
    """Check the tolerations of a pod."""
    for index, one in enumerate(spec.get("tolerations") or ()):
        place = f"spec.tolerations[{index}]"
        operator, value = one.get("operator", ""), one.get("value", "")
        for told in key_problems(one["key"]) if one.get("key") else ():
            yield invalid_value(f"{place}.key", one["key"], told)
        if not one.get("key") and operator != "Exists":
            detail = (
                "operator must be Exists when `key` is empty, "
                'which means "match all values and all keys"'
            )
            yield invalid_value(f"{place}.operator", operator, detail)
        if one.get("tolerationSeconds") is not None and one.get("effect") != "NoExecute":
            detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield invalid_value(f"{place}.effect", one.get("effect", ""), detail)
        problem = names.label_value_problem(value) if operator in ("Equal", "") else None
        if problem:
            yield invalid_value(f"{place}.operator", value, problem)
        if operator == "Exists" and value:
            detail = "value must be empty when `operator` is 'Exists'"
            yield invalid_value(f"{place}.operator", value, detail)
        if operator not in ("Equal", "Exists", ""):
            yield unsupported(f"{place}.operator", operator, ("Equal", "Exists"))
        if one.get("effect") and one["effect"] not in _EFFECTS:
            yield unsupported(f"{place}.effect", one["effect"], sorted(_EFFECTS))


def check_gates(spec: Json) -> Iterator[Cause]:
    """Check the names of what a pod waits for before it is ready, and before it is placed."""
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        kind = gate.get("conditionType", "")
        for told in key_problems(kind):
            yield invalid_value(f"spec.readinessGates[{index}].conditionType", kind, told)
    seen: set[str] = set()
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        name, place = gate.get("name", ""), f"spec.schedulingGates[{index}]"
        yield from (invalid_value(place, name, told) for told in key_problems(name))
        if name in seen:
            yield duplicate(place, name)
        seen.add(name)


def check_gates_only_shrink(live: Json, updated: Json) -> Iterator[Cause]:
    """Check that scheduling gates are only taken away."""
    known = {gate["name"] for gate in live.get("schedulingGates") or ()}
    for index, gate in enumerate(updated.get("schedulingGates") or ()):
        if gate["name"] not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{gate['name']}'"
            yield forbidden_value(f"spec.schedulingGates[{index}].name", detail)
