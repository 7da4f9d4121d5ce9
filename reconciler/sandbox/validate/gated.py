"""Which nodes a pod may still come to want while it waits for its scheduling gates."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.sandbox.refusals import Cause, invalid_value
from reconciler.sandbox.requests import Json

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PARTS = ("matchExpressions", "matchFields")


def check_nodes_only_narrow(live: Json, updated: Json) -> Iterator[Cause]:
    """Check that the nodes which a gated pod needs only become fewer."""
    before, after = _terms(live), _terms(updated)
    place = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
    if before and len(before) != len(after or ()):
        detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        shown = None if after is None else [_shown(term) for term in after]
        yield invalid_value(place, shown, detail)
        return
    for index, (was, now) in enumerate(zip(before or (), after or (), strict=False)):
        if not _narrows(was, now):
            detail = "only additions are allowed (no mutations or deletions)"
            yield invalid_value(f"{place}[{index}]", _shown(now), detail)


def keep_nodes(live: Json, spec: Json) -> None:
    """Put back the nodes that a gated pod wanted: what it wants of them is checked for itself."""
    wanted, kept = spec.get("affinity"), _of_nodes(live)
    if _of_nodes(spec) == kept:
        return
    if wanted is None:
        spec["affinity"] = {"nodeAffinity": kept}
    elif live.get("affinity") is None and wanted.keys() <= {"nodeAffinity"}:
        del spec["affinity"]
    else:
        wanted.pop("nodeAffinity", None)
        if kept is not None:
            wanted["nodeAffinity"] = kept


def _of_nodes(spec: Json) -> Json | None:
    found: Json | None = (spec.get("affinity") or {}).get("nodeAffinity")
    return found


def _terms(spec: Json) -> list[Json] | None:
    found: list[Json] | None = ((_of_nodes(spec) or {}).get(_REQUIRED) or {}).get(
        "nodeSelectorTerms"
    )
    return found


def _narrows(was: Json, now: Json) -> bool:
    if not any(was.get(part) for part in _PARTS):
        return not any(now.get(part) for part in _PARTS)
    pairs = [(was.get(part) or [], now.get(part) or []) for part in _PARTS]
    return all(after[: len(before)] == before for before, after in pairs)


def _shown(term: Json) -> Json:
    """Write a term as the server's own type of it reads."""
    names = {"Key": "key", "Operator": "operator", "Values": "values"}
    return {
        part[0].upper() + part[1:]: [
            {
                name: one.get(field, None if name == "Values" else "")
                for name, field in names.items()
            }
            for one in term[part]
        ]
        if term.get(part)
        else None
        for part in _PARTS
    }
