"""Who leads: a Lease in the cluster, judged by how long it has not changed on our own clock.

Clocks of machines differ, so times written by others are never compared with ours. Whoever leads
stops acting well before another may begin; preconditions of writes are the fence beyond that.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from reconciler.model import labels
from reconciler.model.errors import AlreadyExists, Conflict, PortError
from reconciler.model.refs import Json, ObjectRef
from reconciler.ports import Clock, Cluster
from reconciler.service.shelves import is_older

log = logging.getLogger(__name__)

API_VERSION = "coordination.k8s.io/v1"
DURATION_SECONDS = 15.0
RENEW_DEADLINE_SECONDS = 10.0
RETRY_SECONDS = 2.0
RELEASE_SECONDS = 3.0


def elapsed() -> float:
    """Return seconds that go on while the machine sleeps, unlike those of time.monotonic."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@dataclass(frozen=True, slots=True)
class Leading:
    """What a part asks that acts only while this process leads.

    `may_act` says whether it does, and knows what is on record; `look` sees who leads now.
    """

    may_act: Callable[[], bool]
    look: Callable[[], Awaitable[None]]


class NoLease:
    """Always leads: for one process alone, and for tests of what two of them do."""

    leading = True
    rival = ""

    def __init__(self, identity: str) -> None:
        self.holder = identity

    async def run(self) -> None:
        """Do nothing until cancelled."""
        await asyncio.Event().wait()

    async def look(self) -> None:
        """See nobody else."""


class Lease:
    """Holds or waits for one Lease for as long as `run` runs; `identity` is unique to a process.

    `notes` are written on it as annotations whenever it is renewed. `changed` is called
    whenever leading begins or ends.
    """

    def __init__(
        self,
        cluster: Cluster,
        ref: ObjectRef,
        identity: str,
        clock: Clock,
        *,
        changed: Callable[[], None] = lambda: None,
        elapsed: Callable[[], float] = elapsed,
        notes: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self.holder = ""
        self.rival = ""
        """Who was seen to renew the lease while we wait: alive, so waiting may take for ever."""
        self._cluster = cluster
        self._ref = ref
        self._identity = identity
        self._clock = clock
        self._changed = changed
        self._elapsed = elapsed
        self._notes = notes
        self._lease: Json | None = None
        self._changed_at = 0.0
        self._leads_until = 0.0
        self._was_leading = False
        self._awaited = ""
        self._looking = asyncio.Lock()
        self._looks_begun = self._looks_ended = 0

    @property
    def leading(self) -> bool:
        """Whether we may write now. Ask right before each write."""
        return self._elapsed() < self._leads_until

    async def run(self) -> None:
        """Hold or wait for the lease until cancelled, then give it back."""
        try:
            while True:
                await self.attempt()
                await self._clock.sleep(RETRY_SECONDS)
        finally:
            await self._release()

    async def attempt(self) -> None:
        """Renew the lease, or take it if it may be taken; errors leave it as it is."""
        asked_at = self._elapsed()
        try:
            async with asyncio.timeout(RENEW_DEADLINE_SECONDS / 2):
                if self._lease is None:
                    self._observe(await self._cluster.get(self._ref))
                if self._may_take():
                    await self._take()
                    # From before the request: the others count from when they saw its effect.
                    self._leads_until = asked_at + RENEW_DEADLINE_SECONDS
                else:
                    self._observe(await self._cluster.get(self._ref))
        except (AlreadyExists, Conflict):
            self._lease = None
            await self.look()
        except (PortError, TimeoutError) as error:
            self._tell_unreached(error)
        self._tell()

    async def look(self) -> None:
        """See now who holds the lease; of all who ask at once one looks, once they have asked.

        Who stood still, and its clock with it, believes to lead as it did before. Each look goes
        the way of the renewals, which may not wait behind those for thousands of rooms.
        """
        asked_after = self._looks_begun
        async with self._looking:
            if self._looks_ended <= asked_after:
                self._looks_begun += 1
                await self._see()
                self._looks_ended = self._looks_begun

    async def _see(self) -> None:
        try:
            async with asyncio.timeout(RENEW_DEADLINE_SECONDS / 2):
                lease = await self._cluster.get(self._ref)
        except (PortError, TimeoutError) as error:
            self._tell_unreached(error)
            return
        known = self._lease["metadata"]["resourceVersion"] if self._lease else ""
        if lease is None or not is_older(lease["metadata"]["resourceVersion"], known):
            self._observe(lease)
        self._tell()

    def _may_take(self) -> bool:
        if self.holder in ("", self._identity):
            return True
        # Whose lease was deleted leads on, and makes it again.
        spec = self._lease.get("spec", {}) if self._lease else {}
        asked = spec.get("leaseDurationSeconds") or DURATION_SECONDS
        return self._elapsed() - self._changed_at > asked

    def _observe(self, lease: Json | None) -> None:
        if lease is None:
            self._lease = None
            if self.holder == self._identity:
                self.holder = ""
            return
        version = lease["metadata"]["resourceVersion"]
        if self._lease is None or version != self._lease["metadata"]["resourceVersion"]:
            self._changed_at = self._elapsed()
        holder = lease.get("spec", {}).get("holderIdentity") or ""
        if holder == self._identity:
            self.rival = ""
        elif self._lease is not None and version != self._lease["metadata"]["resourceVersion"]:
            self.rival = holder
        self._lease = lease
        self.holder = holder
        if self.holder != self._identity:
            self._leads_until = 0.0

    async def _take(self) -> None:
        now = datetime.fromtimestamp(self._clock.now(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = dict(self._lease.get("spec") or {}) if self._lease else {}
        if self.holder != self._identity:
            spec["leaseTransitions"] = spec.get("leaseTransitions", -1) + 1
            spec["acquireTime"] = now
        spec |= {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": int(DURATION_SECONDS),
            "renewTime": now,
        }
        self._observe(await self._write(spec))

    async def _write(self, spec: Json) -> Json:
        if self._lease is not None:
            metadata = {**self._lease["metadata"], **self._annotations(self._lease)}
            return await self._cluster.replace({**self._lease, "metadata": metadata, "spec": spec})
        metadata = {"name": self._ref.name, "namespace": self._ref.namespace}
        body = {"apiVersion": API_VERSION, "kind": "Lease", "metadata": metadata, "spec": spec}
        return await self._cluster.create(body)

    def _annotations(self, lease: Json) -> Json:
        """Return our notes among the annotations of others; before the first look, those there."""
        notes = self._notes()
        if not notes:
            return {}
        there = lease["metadata"].get("annotations") or {}
        others = {name: text for name, text in there.items() if name not in labels.ON_LEASE}
        return {"annotations": {**others, **notes}}

    async def _release(self) -> None:
        held = self.leading
        self._leads_until = 0.0
        if not held or self._lease is None:
            return
        spec = {**self._lease["spec"], "holderIdentity": "", "leaseDurationSeconds": 1}
        with suppress(PortError, TimeoutError):
            async with asyncio.timeout(RELEASE_SECONDS):
                await self._write(spec)
        self._tell()

    def _tell_unreached(self, error: Exception) -> None:
        log.warning("the lease %s is not reached: %s", self._ref, str(error) or "time-out")

    def _tell(self) -> None:
        if self.leading != self._was_leading:
            self._was_leading = self.leading
            log.info("%s: %s", self._ref, "we lead" if self.leading else "we do not lead")
            self._changed()
        awaited = "" if self.leading else self.holder
        if awaited not in (self._awaited, self._identity):
            if awaited:
                log.info("waits for %s, held by %s", self._ref, awaited)
            self._awaited = awaited
