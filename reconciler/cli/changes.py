"""A `Change` for people, for programs and for a pull request's page."""

import json
from collections.abc import Iterator
from typing import Any

from reconciler.cli.console import Console
from reconciler.cli.output import print_json, print_yaml
from reconciler.model.changes import Change, FieldChange, Verb, WorkloadChange

SIGNS = {Verb.CREATE: ("+", "green"), Verb.UPDATE: ("~", "yellow"), Verb.DELETE: ("-", "red")}
LONGEST_VALUE = 60


def print_change(console: Console, change: Change, output: str) -> None:
    """Print a change as `text`, `json`, `yaml` or `github`."""
    if output == "json":
        print_json(console, as_json(change))
    elif output == "yaml":
        print_yaml(console, [as_json(change)])
    elif output == "github":
        for line in _annotations(change):
            console.print(line)
    else:
        for line in _lines(console, change):
            console.print(line)


def as_json(change: Change) -> dict[str, Any]:
    """Return the change as a JSON object: what `diff --output json` promises."""
    return {
        "workloads": [
            {
                "kind": item.key.kind,
                "namespace": item.key.namespace,
                "name": item.key.name,
                "verb": item.verb,
                "effect": item.effect,
                "source": item.source,
                "fields": [
                    {"path": field.path, "before": field.before, "after": field.after}
                    for field in item.fields
                ],
            }
            for item in change.workloads
        ],
        "removals": [
            {
                "cluster": removal.cluster,
                "kind": removal.key.kind,
                "namespace": removal.key.namespace,
                "name": removal.key.name,
                "cause": removal.cause,
                "to": removal.to,
                "rooms": removal.rooms,
            }
            for removal in change.removals
        ],
        "changeHash": change.change_hash,
        "refused": change.refused,
    }


def _lines(console: Console, change: Change) -> Iterator[str]:
    if change.empty:
        yield "Nothing to do."
        return
    for item in change.workloads:
        sign, colour = SIGNS[item.verb]
        head = console.paint(f"{sign} {item.key}", colour)
        yield f"{head}  {console.paint(item.source, 'dim')}"
        yield f"    {item.effect}"
        for field in item.fields:
            yield f"    {field.path}: {_value(field.before)} -> {_value(field.after)}"
    yield ""
    yield _summary(change)
    if change.refused:
        yield console.paint("refused: ", "red") + change.refused
        yield f"    to let it through once it is merged: gamekeeper approve {change.change_hash}"
    elif change.change_hash:
        yield f"change hash {change.change_hash}, within the budget: no approval is needed"


def _summary(change: Change) -> str:
    numbers = {verb: sum(item.verb is verb for item in change.workloads) for verb in Verb}
    return (
        f"{numbers[Verb.CREATE]} to create, {numbers[Verb.UPDATE]} to update, "
        f"{numbers[Verb.DELETE]} to delete"
    )


def _value(value: object) -> str:
    if value is None:
        return "(absent)"
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def _annotations(change: Change) -> Iterator[str]:
    """Yield GitHub workflow commands: one on each spec's first line, so a review shows them."""
    for item in change.workloads:
        yield _annotation("notice", item, f"{item.verb}: {item.effect}")
    if change.refused:
        title = f"refused until approved: {change.change_hash}"
        yield f"::warning title={_property(title)}::{_message(change.refused)}"


def _annotation(level: str, item: WorkloadChange, text: str) -> str:
    file, _, line = item.source.rpartition(":")
    said = "; ".join([text, *(_short(field) for field in item.fields)])
    place = f"file={_property(file)},line={line},title={_property(str(item.key))}"
    return f"::{level} {place}::{_message(said)}"


def _short(field: FieldChange) -> str:
    return f"{field.path}: {_value(field.before)} -> {_value(field.after)}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
