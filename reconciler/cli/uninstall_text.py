"""What `uninstall` prints: what would go, what went, and what is left with how to remove it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from reconciler.cli.console import Console
from reconciler.cli.reading import counted
from reconciler.loop.lane import Lane
from reconciler.loop.uninstall import OwnRecord, counted_rooms, without_rooms
from reconciler.model import labels
from reconciler.model.printable import escaped
from reconciler.model.reports import Outcome
from reconciler.settings import Settings

NAMES = {
    "approval": ("approval", "approvals"),
    "request": ("request to look", "requests to look"),
    "repository": ("record of the repository", "records of the repository"),
    "state": ("record of a workload", "records of workloads"),
    "ordinals": ("record of names", "records of names"),
}


def print_plan(
    console: Console,
    settings: Settings,
    records: Sequence[OwnRecord],
    lane: Lane,
    *,
    leased: bool,
    emptied: bool,
) -> None:
    """Say what would go and what would stay.

    `leased` is whether there is a Lease, `emptied` whether --remove-objects asks.
    """
    would = bool(records) or leased
    if records:
        console.print(f"Of instance {settings.instance} would go, with its Lease:")
        _print_counts(console, Counter(record.what for record in records))
    elif leased:
        console.print(f"Of instance {settings.instance} would go its Lease: it has no records.")
    else:
        console.print(f"Instance {settings.instance} has no records here.")
    empty = sorted(map(str, without_rooms(lane))) if emptied else []
    if empty:
        console.print(f"  all that was made for {', '.join(empty)}, where no room is")
    _print_rooms(console, counted_rooms(lane), "would run on" if would else "run on")
    if would:
        console.print("Nothing was written. --yes does it.")


def print_others(console: Console, installed: Mapping[str, Iterable[str]]) -> None:
    """Name instances, and the namespaces in which they have records."""
    for instance, namespaces in sorted(installed.items()):
        console.print(
            f"Instance {instance} has records in namespace {', '.join(sorted(namespaces))}."
        )


def print_removed(
    console: Console, removed: Mapping[str, int], outcomes: Iterable[Outcome]
) -> None:
    """Say what went."""
    for outcome in outcomes:
        if outcome.error:
            console.note(f"stays: {outcome.error}")
        elif outcome.verb in ("delete", "forget"):
            console.print(f"Removed {escaped(outcome.what)}.")
    if removed:
        console.print("Removed:")
        _print_counts(console, removed)


def print_left(
    console: Console, settings: Settings, lane: Lane, others: Mapping[str, Iterable[str]]
) -> None:
    """Say what is left, and how kubectl takes it away.

    `others` are the namespaces of other instances: what they share with this one stays.
    """
    beside = any(settings.namespace in spaces for spaces in others.values())
    _print_rooms(console, counted_rooms(lane), "run on")
    there = f"--all-namespaces --selector {labels.INSTANCE}={settings.instance}"
    spaces, given = _namespaces(settings, lane)
    codes = f"secret gamekeeper-room-codes --namespace {settings.namespace} --ignore-not-found"
    left = {
        "rooms, and whoever plays there": f"pods {there}",
        "what protects them": f"poddisruptionbudgets,serviceaccounts {there}",
        "namespaces, and all in them": f"namespaces {' '.join(sorted(spaces))}" if spaces else "",
        "the keys of rooms' codes": "" if beside else codes,
        "what you installed": "" if others else "--filename deploy/gamekeeper.yaml",
    }
    console.print("What is left goes with kubectl, when you want it to:")
    for what, words in left.items():
        if words:
            console.print(f"  {what:<30}  kubectl delete {words}")
    if others:
        console.print("What other instances share has no line here:")
        print_others(console, others)
    if given:
        console.print(f"Not ours, and no line for it: namespace {', '.join(sorted(given))}.")
    console.print("A loop of this instance, on the same repository, takes the rooms over again.")


def _namespaces(settings: Settings, lane: Lane) -> tuple[set[str], set[str]]:
    """Return the namespaces of our workloads: those that are ours, and those that people gave us.

    What else is in one that was given is theirs, and goes with no line of ours.
    """
    ours, given = set[str](), set[str]()
    for key in lane.view.workloads():
        for item in lane.view.of(key).objects:
            if item.ref.kind == "Namespace" and item.instance == settings.instance:
                notes = item.body["metadata"].get("annotations") or {}
                (given if labels.ADOPT in notes else ours).add(item.ref.name)
    return ours, given


def _print_counts(console: Console, counts: Mapping[str, int]) -> None:
    for what, number in counts.items():
        one, many = NAMES[what]
        console.print(f"  {number} {one if number == 1 else many}")


def _print_rooms(console: Console, rooms: Mapping[str, int], verb: str) -> None:
    if not rooms:
        console.print("There are no rooms.")
    for namespace, number in rooms.items():
        console.print(f"{counted(number, 'room')} in {namespace} {verb}, with all around them.")
