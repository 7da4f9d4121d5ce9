"""The label that the rooms' Service selects: on the pod of whoever leads, and on no other.

A process that runs in no pod, or does not know in which, does nothing here. A pod that lost the
lease and cannot take the label off itself answers 503 until its successor has taken it off.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress

from reconciler.model import labels
from reconciler.model.errors import Conflict, Denied, Misconfigured, PortError
from reconciler.model.refs import Json, ObjectRef
from reconciler.ports import Clock, Cluster

log = logging.getLogger(__name__)

LOOK_SECONDS = 10.0
OWN_APP = (labels.NAME, "app.kubernetes.io/instance")
"""Labels that the pods of one installation share."""
_PATH = "/metadata/labels/" + labels.LEADS.replace("/", "~1")


class LeaderLabel:
    """Moves the label. `pod` is the name of our own, "" where we run in none."""

    def __init__(
        self,
        cluster: Cluster,
        namespace: str,
        pod: str,
        clock: Clock,
        leading: Callable[[], bool],
    ) -> None:
        self._cluster = cluster
        self._own = ObjectRef("v1", "Pod", namespace, pod)
        self._clock = clock
        self._leading = leading
        self._wears = False
        self._problem = ""

    async def take(self) -> None:
        """Take the label off all others, then put it on: before a new leader's first decision.

        Raises what passes. Where the cluster does not allow it the rooms' Service leads nowhere,
        and everything else goes on: `run` tries again, for a repaired permission sends no event.
        """
        before, self._problem = self._problem, ""
        try:
            await self._take()
        except (Denied, Misconfigured) as error:
            self._problem = str(error)
            if self._problem != before:
                log.warning(
                    "rooms cannot be led to this process by their Service, so they are not heard: "
                    "%s. Give it the rights of deploy/ (get, list and patch of pods); it is tried "
                    "again every %.0f s",
                    *(error, LOOK_SECONDS),
                )

    async def drop(self) -> None:
        """Take the label off ourselves; where that fails, `run` tries again."""
        if self._wears:
            with suppress(PortError):
                await self._drop()

    async def run(self) -> None:
        """Keep the label where it belongs, whoever takes it away, until cancelled."""
        while self._own.name:
            await self._clock.sleep(LOOK_SECONDS)
            with suppress(PortError):
                if not self._leading():
                    await self.drop()
                elif self._wears:
                    await self._put_on(await self._cluster.get(self._own))
                else:
                    await self.take()

    async def _take(self) -> None:
        pod = await self._cluster.get(self._own) if self._own.name else None
        if pod is None:
            return
        shared = pod["metadata"].get("labels") or {}
        selector = [f"{name}={shared[name]}" for name in OWN_APP if name in shared]
        found = await self._cluster.list(
            "v1",
            "Pod",
            self._own.namespace,
            labels=",".join([*selector, labels.LEADS]),
        )
        for other in found.items:
            if other["metadata"]["name"] != self._own.name:
                await self._patch(other, [{"op": "remove", "path": _PATH}])
        await self._put_on(pod)

    async def _put_on(self, pod: Json | None) -> None:
        if pod is None:
            return
        self._wears = True
        if (pod["metadata"].get("labels") or {}).get(labels.LEADS) != "true":
            await self._patch(pod, [{"op": "add", "path": _PATH, "value": "true"}])

    async def _drop(self) -> None:
        pod = await self._cluster.get(self._own)
        if pod is not None and labels.LEADS in (pod["metadata"].get("labels") or {}):
            await self._patch(pod, [{"op": "remove", "path": _PATH}])
        self._wears = False

    async def _patch(self, pod: Json, operations: Sequence[Json]) -> None:
        """Change the label of exactly this pod; one that changed under us is looked at again."""
        metadata = pod["metadata"]
        ref = ObjectRef("v1", "Pod", self._own.namespace, metadata["name"])
        test = {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]}
        with suppress(Conflict):
            await self._cluster.json_patch(ref, [test, *operations])
