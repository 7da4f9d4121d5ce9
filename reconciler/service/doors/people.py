"""Who may administer rooms: a token of our file, or one that the API server vouches for."""

import hashlib
from collections.abc import Callable

import jwt

from reconciler.model.refs import WorkloadKey
from reconciler.ports import Cluster
from reconciler.room_ports import NotAdmitted, Verb
from reconciler.service.doors.admins import Admin, Admins
from reconciler.service.doors.reviews import Remembered, Reviewed, Reviews
from reconciler.service.doors.tokens import LONGEST_TOKEN, audience_of

REMEMBERED_SECONDS = 30.0
MOST_REMEMBERED = 10_000
VERBS = {"read": "get", "drain": "update", "commit": "create"}
"""What an access review is asked about resource `rooms` of gamekeeper.dev."""


class People:
    """Says who shows a token, and whether they may; `elapsed` is a monotonic clock in seconds."""

    def __init__(
        self, cluster: Cluster, instance: str, admins: Admins, elapsed: Callable[[], float]
    ) -> None:
        self._audience = audience_of(instance)
        self._admins = admins
        self._reviews = Reviews(cluster)
        self._who: Remembered[bytes, Reviewed] = Remembered(elapsed, MOST_REMEMBERED)
        self._may: Remembered[tuple[bytes, str, str], bool] = Remembered(elapsed, MOST_REMEMBERED)

    async def admit(
        self, token: str, verb: Verb, workload: WorkloadKey | None, *, ask: bool = True
    ) -> str:
        """Return who it is; "" for a token that nobody knows.

        Without `ask` the API server is not asked about a token that is new to us.
        Raises NotAdmitted (403) for somebody who may not, and Unavailable.
        """
        admin = self._admins.find(token)
        if admin is not None:
            return _in_scope(admin, verb, workload)
        if len(token) > LONGEST_TOKEN:
            return ""
        name = _digest(token)
        who = self._who.get(name)
        if who is None and not ask:
            return ""
        if who is None:
            who = await self._reviews.who(token, self._wanted(token))
            self._who.put(name, who, REMEMBERED_SECONDS)
        if not who.name:
            return ""
        namespace = workload.namespace if workload is not None else ""
        question = (name, VERBS[verb], namespace)
        may = self._may.get(question)
        if may is None:
            may = await self._reviews.may(who, VERBS[verb], namespace)
            self._may.put(question, may, REMEMBERED_SECONDS)
        if not may:
            where = f"in the namespace {namespace}" if namespace else "in all namespaces"
            raise NotAdmitted(
                403,
                f"{who.name} may not {VERBS[verb]} rooms of gamekeeper.dev {where}: ask for a "
                "role that allows it",
            )
        return who.name

    def known_reader(self, token: str) -> str:
        """Return who it is that may read everything, "" where only the API server could tell.

        Nothing is waited for, whoever it is. Raises NotAdmitted (403).
        """
        admin = self._admins.find(token)
        if admin is not None:
            return _in_scope(admin, "read", None)
        if len(token) > LONGEST_TOKEN:
            return ""
        name = _digest(token)
        who, may = self._who.get(name), self._may.get((name, VERBS["read"], ""))
        return who.name if who is not None and may else ""

    def _wanted(self, token: str) -> str:
        """Return for whom to have a token reviewed: for us where it says so, else as the API's."""
        try:
            audience = jwt.decode(token, options={"verify_signature": False}).get("aud")
        except (jwt.PyJWTError, ValueError):
            return ""
        listed = audience if isinstance(audience, list) else [audience]
        return self._audience if self._audience in listed else ""


def _digest(token: str) -> bytes:
    """Return by what a token is remembered: never by itself."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _in_scope(admin: Admin, verb: Verb, workload: WorkloadKey | None) -> str:
    """Return the admin's name. Raises NotAdmitted (403)."""
    if verb not in admin.verbs:
        raise NotAdmitted(403, f"{admin.name} may not {verb}: the tokens file does not say so")
    if admin.workloads is not None and not (workload and _names(workload) & admin.workloads):
        named = ", ".join(sorted(admin.workloads)) or "nothing"
        raise NotAdmitted(403, f"{admin.name} may {verb} {named} only: name one of these")
    return admin.name


def _names(workload: WorkloadKey) -> set[str]:
    """Return how the file may name a workload.

    By its name alone where its namespace has the same, as every Scheduler's has: other names are
    unique in their namespace only.
    """
    names = {f"{workload.kind}/{workload.namespace}/{workload.name}"}
    return names | {workload.name} if workload.namespace == workload.name else names
