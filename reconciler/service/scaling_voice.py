"""What is said of scaling: each count that moves, each commit, and why one was not taken."""

import asyncio
import logging
from typing import Literal

from reconciler.loop.landing import Landed
from reconciler.model.decisions import Decision
from reconciler.model.errors import PortError, Unavailable
from reconciler.model.pauses import Pause
from reconciler.model.refs import ObjectRef, WorkloadKey
from reconciler.service.events import Events
from reconciler.service.reactions import Stage

log = logging.getLogger("gamekeeper")


class ScalingVoice:
    """Tells the log, where a trouble that lasts stands once, and in Events what a person can mend.

    Events of one workload go on its namespace, those of the branch on `record`, our own.
    """

    def __init__(self, events: Events | None = None, record: ObjectRef | None = None) -> None:
        self._events = events
        self._record = record
        self._trouble = ""
        self._refused: dict[WorkloadKey, str] = {}
        self._telling: set[asyncio.Task[bool]] = set()

    def decided(self, key: WorkloadKey, decision: Decision) -> None:
        """A policy moved a count: it is on record, and acts."""
        fields = {"workload": str(key), "replicas": decision.replicas}
        log.info("%s", decision.reason, extra={"fields": fields})

    def undecided(self, key: WorkloadKey, error: PortError) -> None:
        """A count could not be put on record, so it does not act yet."""
        log.warning("a count is not on record yet: %s", error, extra=_of(key))

    def paused(self, key: WorkloadKey, pause: Pause | None) -> None:
        """A policy stands still, or goes on."""
        if pause is None:
            log.info("the policy goes on", extra=_of(key))
            return
        log.warning("the policy waits: %s", pause.message, extra=_of(key))
        if pause.reason == "HumanHold":
            self._tell(_place(key), pause.reason, f"the policy waits: {pause.message}", "Normal")

    def reacted(self, stage: Stage, seconds: float) -> None:
        """Metrics tell how soon."""

    def landed(self, landed: Landed) -> None:
        """A commit of ours stands there, edits were refused, or nothing is to be written."""
        self._trouble = ""
        if landed.commit:
            fields = {"commit": landed.commit[:12], "workloads": len(landed.intents)}
            log.info("counts committed", extra={"fields": fields})
        for refusal in landed.refused:
            key = refusal.edit.where
            line = f"line {refusal.line}: " if refusal.line else ""
            said = f"a count cannot be committed: {line}{refusal.reason}"
            if self._refused.get(key) != refusal.reason:
                log.warning("%s", said, extra=_of(key))
            self._tell(_place(key), "CountNotCommitted", said)
        # Each try has all of them: what is missing was mended, by whomever.
        self._refused = {each.edit.where: each.reason for each in landed.refused}

    def raced(self) -> None:
        """Somebody else's commit came first."""
        log.debug("another commit came first: what is still wanted is laid over it")

    def unrecorded(self, error: PortError) -> None:
        """A record of ours did not take what became of a commit: it is decided anew from there."""
        log.warning("what became of a commit is not on record yet: %s", error)

    def unlanded(self, error: PortError) -> None:
        """The host took no commit; what was decided acts all the same."""
        said = f"counts act and are not committed yet: {error}"
        if str(error) != self._trouble:
            self._trouble = str(error)
            log.warning("%s", said)
        # A host that is down comes back by itself; a branch or a token waits for a person.
        if not isinstance(error, Unavailable) and self._record is not None:
            self._tell(self._record, "CountsNotCommitted", said)

    def _tell(
        self,
        ref: ObjectRef,
        reason: str,
        message: str,
        type_: Literal["Normal", "Warning"] = "Warning",
    ) -> None:
        """Write a Kubernetes Event beside the loop; `Events` lets one of a reason through."""
        if self._events is None:
            return
        task = asyncio.create_task(self._events.tell(ref, "", reason, message, type_))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)


def _place(key: WorkloadKey) -> ObjectRef:
    return ObjectRef("v1", "Namespace", "", key.namespace)


def _of(key: WorkloadKey) -> dict[str, dict[str, str]]:
    return {"fields": {"workload": str(key)}}
