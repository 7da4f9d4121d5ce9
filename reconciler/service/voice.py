"""What the service says about itself: one place from which logs and Kubernetes Events go out."""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from reconciler.core.conditions import STEP_FAILED
from reconciler.model.changes import key_of_line
from reconciler.model.errors import PortError
from reconciler.model.holds import WHOLE_HEADS, Hold, HoldKind
from reconciler.model.plans import Plan
from reconciler.model.readings import Reading
from reconciler.model.records import Approved
from reconciler.model.refs import ObjectRef, WorkloadKey
from reconciler.model.reports import Outcome, Report, Settled
from reconciler.model.wanted import Wanted
from reconciler.service.events import Events

log = logging.getLogger("gamekeeper")

_FOUND = frozenset({HoldKind.DRIFTED, HoldKind.NOT_COPIED})
MOST_LINES = 20
"""So many steps of one plan that are alike get a line each; more are said in one."""


class LogVoice:
    """Says what happens, once: a hold or a failure that goes on is not repeated."""

    def __init__(self, events: Events | None = None) -> None:
        self._events = events
        self._held: Mapping[tuple[str, HoldKind, str], Hold] = {}
        self._approved: tuple[Approved, ...] = ()
        self._failing: dict[WorkloadKey, str] = {}
        self._found: dict[WorkloadKey, Mapping[HoldKind, Hold]] = {}
        self._met: dict[WorkloadKey, frozenset[Hold]] = {}
        self._blind = ""
        self._head = "", False
        self._telling: set[asyncio.Task[bool]] = set()

    def looked(self, wanted: Wanted, reading: Reading | None, seconds: float) -> None:
        """A head was read, and taken in where nothing holds the whole of it."""
        if self._blind:
            log.info("over: %s", self._blind)
        self._blind = ""
        whole = any(hold.kind in WHOLE_HEADS for hold in wanted.holds)
        if (wanted.commit, whole) != self._head:
            self._head = wanted.commit, whole
            log.info(
                "commit read: nothing of it acts" if whole else "commit taken in",
                extra=_fields(commit=wanted.commit[:12], workloads=len(wanted.effective)),
            )
            for dropped in wanted.dropped:
                log.info("%s", dropped, extra=_fields(workload=str(dropped.key)))
        held = {_place_of(hold): hold for hold in wanted.holds}
        for place, hold in self._held.items():
            if place not in held:
                log.info("no longer held", extra=_fields(workload=place[0], hold=hold.kind))
        for place, hold in held.items():
            if self._held.get(place) != hold:
                self._say_held(hold)
        self._held = held
        for entry in wanted.approved:
            if entry not in self._approved:
                self._say_approved(entry)
        self._approved = wanted.approved

    def blind(self, error: PortError) -> None:
        """Git, or what stands behind it, did not answer; what was wanted stays wanted."""
        if str(error) != self._blind:
            self._blind = str(error)
            log.warning("what was accepted stays wanted: %s", error)

    def planned(self, cluster: str, plan: Plan) -> None:
        """A workload was planned: what is found of its objects is said once."""
        before = self._found.get(plan.key, {})
        found = {hold.kind: hold for hold in plan.holds if hold.kind in _FOUND}
        for kind, hold in found.items():
            if before.get(kind) != hold:
                self._say_held(hold)
        if found or before:
            self._found[plan.key] = found

    def settled(self, report: Report) -> None:
        """A workload's plan was carried out."""
        for item in report.settled:
            self._say_done(item.outcomes)
            self._say_failure(item.plan.key, item.failure)
            self._say_met(item)

    def crashed(self, cluster: str, key: WorkloadKey, error: Exception) -> None:
        """Settling a workload met a defect."""
        log.error("a defect of Gamekeeper's own", exc_info=error, extra=_fields(workload=str(key)))

    def stumbled(self, error: Exception) -> None:
        """Taking a head in met a defect."""
        log.error("a defect of Gamekeeper's own: what was accepted stays wanted", exc_info=error)

    def gone(self, cluster: str, key: WorkloadKey) -> None:
        """What failed of a workload that is gone fails no more."""
        self._failing.pop(key, None)
        self._found.pop(key, None)
        self._met.pop(key, None)

    def passed(self, cluster: str, keys: int, seconds: float) -> None:
        """All keys that were dirty have been planned."""
        log.debug("planned", extra=_fields(cluster=cluster, keys=keys, seconds=round(seconds, 4)))

    def _say_done(self, outcomes: Iterable[Outcome]) -> None:
        alike: dict[tuple[str, str], list[Outcome]] = {}
        for outcome in outcomes:
            if outcome.done:
                alike.setdefault((outcome.verb, outcome.reason), []).append(outcome)
        for (verb, reason), done in alike.items():
            # A line costs 50 us: of a thousand rooms they would hold up the event loop.
            each = [item.what for item in done]
            said = each if len(each) <= MOST_LINES else [f"{each[0]} and {len(each) - 1:,} more"]
            fields = _fields(workload=str(done[0].key), reason=reason)
            for what in said:
                log.info("%s %s", verb, what, extra=fields)

    def _say_failure(self, key: WorkloadKey, failure: str) -> None:
        if failure and self._failing.get(key) != failure:
            log.warning("%s", failure, extra=_fields(workload=str(key)))
            self._tell(key, STEP_FAILED, failure)
        if failure:
            self._failing[key] = failure
        else:
            self._failing.pop(key, None)

    def _say_met(self, item: Settled) -> None:
        """Say what a plan was held by when it was carried out, while that stands once.

        It is asked for again and again; in between the plan itself knows it.
        """
        key, before = item.plan.key, self._met.pop(item.plan.key, frozenset())
        for hold in item.holds:
            if hold not in before:
                fields = _fields(workload=str(hold.key), hold=hold.kind)
                log.warning("held: %s", hold.reason, extra=fields)
        standing = before.intersection(item.plan.holds).union(item.holds)
        if standing:
            self._met[key] = standing

    def _say_held(self, hold: Hold) -> None:
        fields = _fields(workload=str(hold.key or ""), hold=hold.kind)
        if hold.change_hash:
            fields["fields"]["approve"] = hold.change_hash
        log.warning("held: %s", hold.reason, extra=fields)
        if hold.key is not None:
            self._tell(hold.key, f"Held{hold.kind.title().replace('-', '')}", hold.reason)

    def _say_approved(self, entry: Approved) -> None:
        key = key_of_line(entry.line)
        said = f"{entry.line} is approved by {entry.by}"
        log.info("%s", said, extra=_fields(workload=str(key)))
        self._tell(key, "Approved", said, "Normal")

    def _tell(
        self,
        key: WorkloadKey,
        reason: str,
        message: str,
        type_: Literal["Normal", "Warning"] = "Warning",
    ) -> None:
        """Write a Kubernetes Event beside the loop, on the workload's namespace."""
        if self._events is None:
            return
        ref = ObjectRef("v1", "Namespace", "", key.namespace)
        task = asyncio.create_task(self._events.tell(ref, "", reason, message, type_))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)


def _place_of(hold: Hold) -> tuple[str, HoldKind, str]:
    """Return what a hold is known by: a head may have several of one kind and of no workload."""
    return str(hold.key or ""), hold.kind, "" if hold.key else hold.reason


def _fields(**fields: Any) -> dict[str, dict[str, Any]]:
    """Return the `extra` of a log record; `service.logs` prints it."""
    return {"fields": fields}
