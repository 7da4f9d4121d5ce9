"""Check what a spec wants of reports, and say what is lost where rooms do not report."""

from collections.abc import Iterable, Iterator
from typing import Any

from reconciler.core.mistakes import Mistake
from reconciler.core.pod_parts import child, text
from reconciler.model.findings import Severity
from reconciler.model.refs import Json
from reconciler.model.specs import Timeouts, Workload

_NEEDS_REPORTS = (
    ("matches", "max"),
    ("timeouts", "pingSeconds"),
    ("timeouts", "silentBusySeconds"),
    ("removal", "drainDeadlineSeconds"),
    ("disruption", "intervalSeconds"),
)
"""What nothing acts on while rooms do not report."""
_MOST_NAMED = 3


def check_reports(spec: Json) -> Iterator[Mistake]:
    """Yield the mistakes of what a spec wants of reports."""
    if text(spec, "reports") == "none":
        yield from _without_reports(spec)
    else:
        yield from _deadline_of_pods(spec)
    timeouts = child(spec, "timeouts")
    ping = timeouts.get("pingSeconds", Timeouts().ping_seconds)
    silent = timeouts.get("silentBusySeconds")
    if _is_count(silent) and _is_count(ping) and silent < ping:
        at = ("spec", "timeouts", "silentBusySeconds")
        message = f"{silent} s is below pingSeconds, {ping:g} s: a room is not silent before that"
        yield Mistake(at, message, f"write {ping:g} or more, or take it out", "timeouts")


def _without_reports(spec: Json) -> Iterator[Mistake]:
    if text(child(spec, "disruption"), "mode") == "occupied":
        message = "with reports: none nobody knows which rooms are occupied: none would be kept"
        fix = "write mode: count, or reports: required"
        yield Mistake(("spec", "disruption", "mode"), message, fix, "reports")
    for group, name in _NEEDS_REPORTS:
        if child(spec, group).get(name) is not None:
            message = "has no effect with reports: none: the rooms are not heard"
            fix = "take it out, or write reports: required"
            at = ("spec", group, name)
            yield Mistake(at, message, fix, "reports", True, Severity.WARNING)


def _deadline_of_pods(spec: Json) -> Iterator[Mistake]:
    """Tell of a deadline that the kubelet keeps: it asks nobody who plays, and it is a failure."""
    limit = child(child(spec, "template"), "spec").get("activeDeadlineSeconds")
    if not _is_count(limit):
        return
    at = ("spec", "template", "spec", "activeDeadlineSeconds")
    message = f"Kubernetes ends each room {limit} s after its start, whoever plays there"
    fix = "take it out: a room that shall end asks to be drained, and goes when it is empty"
    yield Mistake(at, message, fix, "reports", True, Severity.WARNING)


def lost_protection(workloads: Iterable[Workload]) -> str:
    """Say which protection is lost, and of which workloads, where rooms do not report; "" if none.

    It is no mistake: a game that tells nothing may be run like that on purpose.
    """
    names = [str(each.key) for each in workloads if not each.hears]
    if not names:
        return ""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return (
        f"reports: none ({', '.join(names[:_MOST_NAMED])}{more}): which rooms are occupied is not "
        "known. A scale-in, a roll-out and a deletion may end matches; an eviction may take any "
        "room, as many as disruption.safetyPercentage lets go"
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
