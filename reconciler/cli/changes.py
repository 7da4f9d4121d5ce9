"""A `Change` for people, for programs and for a pull request's page."""

import json
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

from reconciler.cli.annotations import Spots, annotation, hold_annotations
from reconciler.cli.console import Console
from reconciler.cli.hold_words import NOTE, title_of, way_through
from reconciler.cli.output import print_json, print_yaml
from reconciler.cli.reading import findings_as_json, print_annotations, print_findings
from reconciler.model.changes import Change, FieldChange, Verb
from reconciler.model.findings import Finding
from reconciler.model.holds import Hold
from reconciler.model.printable import escaped
from reconciler.model.refs import WorkloadKey

SIGNS = {Verb.CREATE: ("+", "green"), Verb.UPDATE: ("~", "yellow"), Verb.DELETE: ("-", "red")}
LONGEST_VALUE = 60
_SHOWN_BEFORE = 20
"""Of what two long values have in common, before the place where they differ."""


def print_change(
    console: Console,
    change: Change,
    output: str,
    findings: Iterable[Finding],
    root: str,
    spots: Spots | None = None,
) -> None:
    """Print the head's Findings and the change as `text`, `json`, `yaml` or `github`.

    `spots` is where `github` shows what happens to a workload.
    """
    if output in ("json", "yaml"):
        value = {**as_json(change), "findings": findings_as_json(findings)}
        print_json(console, value) if output == "json" else print_yaml(console, [value])
    elif output == "github":
        print_annotations(console, findings, root)
        for line in _annotations(change, spots or {}):
            console.print(line)
    else:
        print_findings(console, findings, root)
        for line in _lines(console, change):
            console.print(line)


def as_json(change: Change) -> dict[str, Any]:
    """Return the change as a JSON object: what `diff --output json` promises."""
    return {
        "workloads": [
            {
                **_named(item.key),
                "verb": item.verb,
                "effect": item.effect,
                "source": item.source,
                "fields": fields_as_json(item.fields),
            }
            for item in change.workloads
        ],
        "removals": [
            {
                "cluster": removal.cluster,
                **_named(removal.key),
                "cause": removal.cause,
                "to": removal.to,
                "rooms": removal.rooms,
            }
            for removal in change.removals
        ],
        "changeHash": change.change_hash,
        "refused": change.refused,
        "holds": holds_as_json(change.holds),
    }


def fields_as_json(fields: Iterable[FieldChange]) -> list[dict[str, object]]:
    """Return fields that differ as JSON objects."""
    return [{"path": each.path, "before": each.before, "after": each.after} for each in fields]


def holds_as_json(holds: Iterable[Hold]) -> list[dict[str, object]]:
    """Return holds as JSON objects; what holds a whole commit names no workload."""
    return [
        {
            "hold": hold.kind,
            **(_named(hold.key) if hold.key else {}),
            "reason": hold.reason,
            "changeHash": hold.change_hash,
        }
        for hold in holds
    ]


def field_line(field: FieldChange) -> str:
    """Return `path: before -> after`; of long values that begin alike, from where they differ."""
    before, after = _text(field.before), _text(field.after)
    start = 0
    if before != after and _shortened(before) == _shortened(after):
        pairs = enumerate(zip_longest(before, after))
        start = max(0, next(at for at, (one, other) in pairs if one != other) - _SHOWN_BEFORE)
    return f"{field.path}: {_shortened(before, start)} -> {_shortened(after, start)}"


def hold_lines(console: Console, holds: Iterable[Hold]) -> Iterator[str]:
    """Yield what is held, workloads of one reason together, and what lets it through."""
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for hold in holds:
        names = grouped.setdefault((hold.kind, hold.reason, hold.change_hash), [])
        names.append(str(hold.key) if hold.key else "")
    for (kind, reason, change_hash), names in grouped.items():
        about = f" {', '.join(filter(None, sorted(names)))}:" if any(names) else ""
        title = title_of(kind)
        word = console.paint(f"{title}:", "yellow" if title == NOTE else "red")
        yield f"{word}{about} {escaped(reason)} ({kind})"
        if way := way_through(kind, change_hash):
            yield f"    {way}"


def _named(key: WorkloadKey) -> dict[str, str]:
    return {"kind": key.kind, "namespace": key.namespace, "name": key.name}


def _lines(console: Console, change: Change) -> Iterator[str]:
    for item in change.workloads:
        sign, colour = SIGNS[item.verb]
        head = console.paint(f"{sign} {item.key}", colour)
        yield f"{head}  {console.paint(item.source, 'dim')}"
        yield f"    {item.effect}"
        for field in item.fields:
            yield f"    {field_line(field)}"
    yield from hold_lines(console, change.holds)
    if change.empty:
        if not change.holds:
            yield "Nothing to do."
        return
    yield ""
    yield _summary(change)
    if change.change_hash and not change.refused:
        yield f"change hash {change.change_hash}, within the budget: no approval is needed"


def _summary(change: Change) -> str:
    numbers = {verb: sum(item.verb is verb for item in change.workloads) for verb in Verb}
    return (
        f"{numbers[Verb.CREATE]} to create, {numbers[Verb.UPDATE]} to update, "
        f"{numbers[Verb.DELETE]} to delete"
    )


def _text(value: object) -> str:
    return "(absent)" if value is None else json.dumps(value, ensure_ascii=True)


def _shortened(text: str, start: int = 0) -> str:
    begin = "..." if start else ""
    text = begin + text[start:]
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def _annotations(change: Change, spots: Spots) -> Iterator[str]:
    for item in change.workloads:
        said = [f"{item.verb}: {item.effect}", *(field_line(field) for field in item.fields)]
        yield annotation("notice", spots.get(item.key), str(item.key), "; ".join(said))
    yield from hold_annotations(change.holds, spots)
