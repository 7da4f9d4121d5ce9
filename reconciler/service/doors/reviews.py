"""Questions about others to the API server: whose token is this, and may they do that."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from reconciler.model.errors import Denied, Misconfigured
from reconciler.model.refs import Json
from reconciler.ports import Cluster

log = logging.getLogger(__name__)

AT_ONCE = 16
"""Questions in flight: a crowd of strangers may not take the API server from the loop."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Remembered(Generic[K, V]):
    """Answers that are good for a while; the oldest goes first when there are too many."""

    def __init__(self, elapsed: Callable[[], float], most: int) -> None:
        self._elapsed = elapsed
        self._most = most
        self._answers: OrderedDict[K, tuple[V, float]] = OrderedDict()

    def get(self, key: K) -> V | None:
        """Return an answer that is still good."""
        found = self._answers.get(key)
        if found is None:
            return None
        if self._elapsed() < found[1]:
            return found[0]
        del self._answers[key]
        return None

    def put(self, key: K, answer: V, seconds: float) -> None:
        """Keep an answer for so long."""
        self._answers[key] = answer, self._elapsed() + seconds
        self._answers.move_to_end(key)
        if len(self._answers) > self._most:
            self._answers.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """Who a token is, as the API server says; `name` is "" for a token that it does not know."""

    name: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def first(self, name: str) -> str:
        """Return the first value of an extra, "" where it has none."""
        values = self.extra.get(name) or ()
        return values[0] if values else ""


class Reviews:
    """Asks the API server; raises Unavailable. No token ever stands in an error.

    A server that does not let us ask says nothing good of anybody.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._refused: set[str] = set()

    async def who(self, token: str, audience: str = "") -> Reviewed:
        """Ask whose token this is, for our audience, or for the API server's own where none is."""
        spec: Json = {"token": token, **({"audiences": [audience]} if audience else {})}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec}
        status = await self._status({**body, "metadata": {}})
        if not status.get("authenticated"):
            return Reviewed()
        if audience and audience not in (status.get("audiences") or ()):
            return Reviewed()  # a server that does not know audiences says nothing of ours
        user = status.get("user") or {}
        groups = tuple(user.get("groups") or ())
        return Reviewed(
            user.get("username", ""), user.get("uid", ""), groups, user.get("extra") or {}
        )

    async def may(self, who: Reviewed, verb: str, namespace: str) -> bool:
        """Ask whether somebody may `verb` rooms of gamekeeper.dev in a namespace, or in all."""
        attributes = {"group": "gamekeeper.dev", "resource": "rooms", "verb": verb}
        attributes |= {"namespace": namespace} if namespace else {}
        spec: Json = {"user": who.name, "uid": who.uid, "resourceAttributes": attributes}
        spec |= {"groups": list(who.groups), "extra": dict(who.extra)}
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
        status = await self._status({**body, "metadata": {}, "spec": spec})
        return bool(status.get("allowed"))

    async def _status(self, review: Json) -> Json:
        kind = review["kind"]
        try:
            async with self._turns:
                answer = await self._cluster.create(review)
        except (Denied, Misconfigured) as error:
            if kind not in self._refused:
                self._refused.add(kind)
                log.warning("nobody is let in by a %s: %s", kind, error)
            return {}
        self._refused.discard(kind)
        status: Json = answer.get("status") or {}
        return status
