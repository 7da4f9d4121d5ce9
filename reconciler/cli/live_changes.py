"""Plans for people, for programs and for a pull request's page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reconciler.cli.annotations import Spots, annotation, hold_annotations
from reconciler.cli.changes import (
    SIGNS,
    field_line,
    fields_as_json,
    hold_lines,
    holds_as_json,
)
from reconciler.cli.console import Console
from reconciler.cli.output import print_json, print_yaml
from reconciler.cli.reading import (
    counted,
    findings_as_json,
    print_annotations,
    print_findings,
)
from reconciler.cli.scaling_status import intent_json
from reconciler.loop.preview import Preview
from reconciler.model.changes import ObjectChange, Verb
from reconciler.model.findings import Finding
from reconciler.model.holds import Hold
from reconciler.model.intents import Intent
from reconciler.model.plans import Counts, CreateRooms, DeleteRoom, MarkRoom, PatchRoom, Plan
from reconciler.model.printable import escaped
from reconciler.model.refs import WorkloadKey

ROOMS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class LiveChange:
    """What the next ticks do at a commit; `spots` is where `github` shows it of a workload.

    `intents` are counts that act already: no change of its own. Those of another number than Git's
    are on their way into it, if that `is_written`.
    """

    commit: str
    plans: Sequence[Preview]
    holds: Sequence[Hold]
    findings: Sequence[Finding]
    spots: Spots
    intents: Mapping[WorkloadKey, Intent] = field(default_factory=dict)
    is_written: bool = True

    @property
    def decided(self) -> Mapping[WorkloadKey, Intent]:
        """The counts that Git has not: one that it has is kept while a late push may arrive."""
        return {key: intent for key, intent in self.intents.items() if intent.moves_git}


def print_live(console: Console, change: LiveChange, output: str, root: str) -> None:
    """Print Findings, plans and holds as `text`, `json`, `yaml` or `github`."""
    if output in ("json", "yaml"):
        value = {
            "commit": change.commit,
            "workloads": [_as_json(item) for item in change.plans if item.moving],
            "holds": holds_as_json(change.holds),
            "intents": [
                {**_named(key), **(intent_json(intent) or {})}
                for key, intent in change.decided.items()
            ],
            "findings": findings_as_json(change.findings),
        }
        print_json(console, value) if output == "json" else print_yaml(console, [value])
        return
    github = output == "github"
    (print_annotations if github else print_findings)(console, change.findings, root)
    for line in _annotations(change) if github else _lines(console, change):
        console.print(line)


def counts_as_json(counts: Counts) -> dict[str, int]:
    """Return the rooms of a workload as a JSON object."""
    return {
        "desired": counts.desired,
        "ready": counts.ready,
        "unready": counts.unready,
        "old": counts.old,
        "ended": counts.ended,
        "terminating": counts.terminating,
    }


def _as_json(item: Preview) -> dict[str, Any]:
    plan, key = item.plan, item.plan.key
    return {
        **_named(key),
        "rooms": counts_as_json(plan.counts),
        "objects": [
            {
                "object": str(each.ref),
                "verb": each.verb,
                "reason": each.reason,
                "fields": fields_as_json(each.fields),
            }
            for each in item.objects
        ],
        "creates": {"rooms": len(plan.creates.seats), "reason": plan.creates.reason}
        if plan.creates
        else None,
        "removals": [
            {"room": each.pod.name, "cause": each.cause, "reason": each.reason}
            for each in plan.removals
        ],
        "marks": [
            {"room": each.pod.name, "verb": each.verb, "reason": each.reason} for each in plan.marks
        ],
        "spare": item.spare,
        "patches": [{"room": each.pod.name, "reason": each.reason} for each in plan.patches],
    }


def _lines(console: Console, change: LiveChange) -> Iterator[str]:
    yield f"commit {change.commit[:12]}"
    moving = [item for item in change.plans if item.moving]
    for item in moving:
        yield f"{console.paint(str(item.plan.key), 'bold')}  {_counts(item.plan.counts)}"
        for each in item.objects:
            yield from _object_lines(console, each)
        if item.plan.creates:
            yield _create_line(console, item.plan.creates)
        draining, told = _marks(item.plan)
        yield from _room_lines(console, Verb.DELETE, [*item.plan.removals, *draining])
        yield from _room_lines(console, Verb.UPDATE, told)
        yield from _room_lines(console, Verb.UPDATE, item.plan.patches)
        if item.plan.counts.old:
            rooms = counted(item.plan.counts.old, "room")
            yield f"  {rooms} of another revision: replaced step by step"
        if item.spare:
            yield f"  {_spare(item)}"
    yield from hold_lines(console, change.holds)
    for key, intent in change.decided.items():
        yield f"{console.paint('decided:', 'yellow')} {key} {_intent(change, intent)}"
    if moving:
        yield ""
        yield _summary(moving)
    elif not change.holds:
        yield "Nothing else to do." if change.decided else "Nothing to do."


def _spare(item: Preview) -> str:
    rooms = counted(item.spare, "room")
    return f"{rooms} more than wanted: `gamekeeper run` hears them, and lets empty ones go"


def _intent(change: LiveChange, intent: Intent) -> str:
    goes = "on its way into Git" if change.is_written else "and Git keeps its own number"
    why = f"{intent.steps[-1].policy}: {escaped(intent.reason)}"
    return f"{intent.base} -> {intent.value}, {goes} ({why})"


def _named(key: WorkloadKey) -> dict[str, str]:
    return {"kind": key.kind, "namespace": key.namespace, "name": key.name}


def _counts(counts: Counts) -> str:
    said = [f"{counts.desired} wanted", f"{counts.ready} ready"]
    rest = (
        (counts.unready, "not ready"),
        (counts.busy, "busy"),
        (counts.leaving, "leaving"),
        (counts.ended, "ended"),
        (counts.terminating, "terminating"),
    )
    return ", ".join([*said, *(f"{number} {word}" for number, word in rest if number)])


def _object_lines(console: Console, change: ObjectChange) -> Iterator[str]:
    sign, colour = SIGNS[change.verb]
    yield f"  {console.paint(f'{sign} {change.ref}', colour)}  {change.reason}"
    for each in change.fields:
        yield f"      {field_line(each)}"


def _create_line(console: Console, creates: CreateRooms) -> str:
    sign, colour = SIGNS[Verb.CREATE]
    rooms = f"{sign} {counted(len(creates.seats), 'room')}"
    return f"  {console.paint(rooms, colour)}  {creates.reason}"


def _room_lines(
    console: Console, verb: Verb, steps: Sequence[DeleteRoom | MarkRoom | PatchRoom]
) -> Iterator[str]:
    sign, colour = SIGNS[verb]
    for step in steps[:ROOMS_SHOWN]:
        yield f"  {console.paint(f'{sign} room {step.pod.name}', colour)}  {step.reason}"
    if len(steps) > ROOMS_SHOWN:
        yield f"  {sign} {counted(len(steps) - ROOMS_SHOWN, 'room')} more"


def _marks(plan: Plan) -> tuple[list[MarkRoom], list[MarkRoom]]:
    """Return the rooms that begin to leave now, and those of which something else is written."""
    draining = [each for each in plan.marks if each.verb == "drain"]
    return draining, [each for each in plan.marks if each.verb != "drain"]


def _summary(moving: Sequence[Preview]) -> str:
    created = sum(len(item.plan.creates.seats) for item in moving if item.plan.creates)
    removed = sum(len(item.plan.removals) + len(_marks(item.plan)[0]) for item in moving)
    objects = sum(len(item.objects) for item in moving)
    return (
        f"now: {counted(objects, 'object')} to write, {counted(created, 'room')} to create, "
        f"{counted(removed, 'room')} to remove"
    )


def _annotations(change: LiveChange) -> Iterator[str]:
    for item in change.plans:
        if item.moving:
            key, said = item.plan.key, f"{_counts(item.plan.counts)}; {_summary([item])}"
            said += f"; {_spare(item)}" if item.spare else ""
            yield annotation("notice", change.spots.get(key), str(key), said)
    for key, intent in change.decided.items():
        said = f"decided: {_intent(change, intent)}"
        yield annotation("notice", change.spots.get(key), str(key), said)
    yield from hold_annotations(change.holds, change.spots)
