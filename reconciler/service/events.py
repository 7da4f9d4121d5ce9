"""Kubernetes Events on an object: one per object and reason in five minutes, and never an error.

Events are for people who look with kubectl; what the loop does must not depend on their fate. More
people may read them than logs: what they say is as plain as a notification.
"""

import logging
from datetime import UTC, datetime
from typing import Literal

from reconciler.core.news_text import plain
from reconciler.model.errors import PortError
from reconciler.model.refs import Json, ObjectRef
from reconciler.ports import Clock, Cluster

log = logging.getLogger(__name__)

SILENCE_SECONDS = 300.0
LONGEST_MESSAGE = 1024


class Events:
    """Writes Events as `instance`."""

    def __init__(self, cluster: Cluster, instance: str, clock: Clock) -> None:
        self._cluster = cluster
        self._instance = instance
        self._clock = clock
        self._told: dict[tuple[ObjectRef, str], float] = {}

    async def tell(
        self,
        ref: ObjectRef,
        uid: str,
        reason: str,
        message: str,
        type_: Literal["Normal", "Warning"] = "Normal",
    ) -> bool:
        """Write an Event; False when one of that reason was written lately, or it failed.

        `reason` is one CamelCase word. That of a namespace stands inside it, where people look.
        """
        now = self._clock.now()
        self._told = {key: at for key, at in self._told.items() if now - at < SILENCE_SECONDS}
        if (ref, reason) in self._told:
            return False
        self._told[(ref, reason)] = now
        try:
            await self._cluster.create(self._event(ref, uid, reason, message, type_))
        except PortError as error:
            log.info("the event %s on %s was not written: %s", reason, ref, error)
            return False
        return True

    def _event(self, ref: ObjectRef, uid: str, reason: str, message: str, type_: str) -> Json:
        now = self._clock.now()
        at = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        inside = ref.name if ref.kind == "Namespace" else ref.namespace or "default"
        involved = {"apiVersion": ref.api_version, "kind": ref.kind, "name": ref.name}
        if ref.namespace or ref.kind == "Namespace":
            involved["namespace"] = inside
        if uid:
            involved["uid"] = uid
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": f"{ref.name}.{int(now * 1e6):x}.{reason.lower()}",
                "namespace": inside,
            },
            "involvedObject": involved,
            "reason": reason,
            "message": plain(message, LONGEST_MESSAGE),
            "type": type_,
            "count": 1,
            "firstTimestamp": at,
            "lastTimestamp": at,
            "source": {"component": f"gamekeeper-{self._instance}"},
        }
