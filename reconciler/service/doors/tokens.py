"""Tokens of rooms: projected service-account tokens, bound to a pod and made for us alone.

They are verified here with the cluster's public keys, which costs the API server nothing; a token
that was verified is known again by its hash until it runs out. Where the cluster does not tell its
keys, each token is asked about at the API server, once a minute.
"""

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jwt

from reconciler.ports import Clock, Cluster
from reconciler.service.doors.issuer import Issuer, NoKeys
from reconciler.service.doors.reviews import Remembered, Reviewed, Reviews

log = logging.getLogger("gamekeeper")

LEEWAY_SECONDS = 60.0
TOLD_EVERY_SECONDS = 60.0
REVIEWED_SECONDS = 60.0
MOST_KNOWN = 65_536
MOST_REVIEWED = 65_536
LONGEST_TOKEN = 8192
ACCOUNT = "system:serviceaccount:"
POD_NAME = "authentication.kubernetes.io/pod-name"
POD_UID = "authentication.kubernetes.io/pod-uid"


def audience_of(instance: str) -> str:
    """Return for whom tokens of an instance's rooms are made."""
    return f"gamekeeper.dev/{instance}"


@dataclass(frozen=True, slots=True)
class Speaker:
    """The pod that a token was made for."""

    namespace: str
    pod: str
    uid: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.pod}"


@dataclass(frozen=True, slots=True)
class _Known:
    speaker: Speaker
    begins_at: float
    ends_at: float

    def is_good(self, now: float) -> bool:
        return self.begins_at - LEEWAY_SECONDS <= now < self.ends_at + LEEWAY_SECONDS


class RoomTokens:
    """Says which pod a token speaks for. `elapsed` is a monotonic clock in seconds."""

    def __init__(
        self, cluster: Cluster, instance: str, clock: Clock, elapsed: Callable[[], float]
    ) -> None:
        self._audience = audience_of(instance)
        self._clock = clock
        self._elapsed = elapsed
        self._tell_at = 0.0
        self._issuer = Issuer(cluster, elapsed)
        self._reviews = Reviews(cluster)
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._reviewed: Remembered[bytes, Reviewed] = Remembered(elapsed, MOST_REVIEWED)

    async def speaker(self, token: str, *, ask: bool = True) -> Speaker | None:
        """Return the pod that a token was made for, None where it is no good token of a room.

        Without `ask` the API server is not asked about it. Raises Unavailable.
        """
        if len(token) > LONGEST_TOKEN:
            return None
        name = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        known = self._known.get(name)
        if known is not None:
            if known.is_good(self._clock.now()):
                return known.speaker
            del self._known[name]
        try:
            known = await self._verified(token)
        except NoKeys:
            return await self._asked(token, name, ask)
        if known is None or not self._is_now(known, f"room {known.speaker}"):
            return None
        self._known[name] = known
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return known.speaker

    def _is_now(self, known: _Known, who: str) -> bool:
        """Whether a token is good now; where its time is not ours that is told, once a minute.

        A clock that was set mutes every room at once, and nothing else would say why.
        """
        now = self._clock.now()
        if known.is_good(now):
            return True
        if self._elapsed() >= self._tell_at:
            self._tell_at = self._elapsed() + TOLD_EVERY_SECONDS
            log.warning("%s is refused with 401: %s", who, _untimely(known, now))
        return False

    async def _verified(self, token: str) -> _Known | None:
        kid = _kid(token)
        found = await self._issuer.key(kid) if kid else None
        if found is None:
            return None
        issuer, key = found
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],  # what the key is for, not what the token says
                audience=self._audience,
                issuer=issuer,
                # Times are judged by `_Known`, on the clock of this service and at every use.
                options={
                    "require": ["exp", "iss", "aud"],
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except jwt.PyJWTError:
            return None
        return _known_of(claims)

    async def _asked(self, token: str, name: bytes, ask: bool) -> Speaker | None:
        reviewed = self._reviewed.get(name)
        if reviewed is None:
            if not ask or not self._may_be_ours(token):
                return None
            reviewed = await self._reviews.who(token, self._audience)
            self._reviewed.put(name, reviewed, REVIEWED_SECONDS)
        account = reviewed.name.removeprefix(ACCOUNT)
        pod, uid = reviewed.first(POD_NAME), reviewed.first(POD_UID)
        if account == reviewed.name or not pod or not uid:
            return None
        return Speaker(account.partition(":")[0], pod, uid)

    def _may_be_ours(self, token: str) -> bool:
        """Tell whether it looks like one of ours: what does not is worth no request."""
        try:
            claims = jwt.decode(token, options={"verify_signature": False})
        except (jwt.PyJWTError, ValueError):
            return False
        audience = claims.get("aud")
        listed = audience if isinstance(audience, list) else [audience]
        known = _known_of(claims)
        # Nobody vouches for its names yet: they are not told.
        ours = self._audience in listed and known is not None
        return ours and known is not None and self._is_now(known, "a room")


def _untimely(known: _Known, now: float) -> str:
    """Say what is wrong with the time of a token, and what to do about it."""
    if now < known.begins_at:
        return (
            f"its token is good only in {known.begins_at - now:.0f} s, by the clock of this "
            "machine, which is behind the API server's: set it right (look at NTP)"
        )
    return (
        f"its token ran out {now - known.ends_at:.0f} s ago: a game reads the file that "
        "GAMEKEEPER_TOKEN_FILE names anew for each report. Where all rooms are refused the clock "
        "of this machine is ahead: set it right (look at NTP)"
    )


def _kid(token: str) -> str:
    """Return which key a token says it is signed with, "" where it says nothing that can be."""
    try:
        kid = jwt.get_unverified_header(token).get("kid")
    except (jwt.PyJWTError, ValueError):
        return ""
    return kid if isinstance(kid, str) else ""


def _known_of(claims: dict[str, Any]) -> _Known | None:
    """Read what Kubernetes says of a bound token; None where it is bound to no pod."""
    ours = claims.get("kubernetes.io")
    pod = ours.get("pod") if isinstance(ours, dict) else None
    if not isinstance(ours, dict) or not isinstance(pod, dict):
        return None
    named = (ours.get("namespace"), pod.get("name"), pod.get("uid"))
    times = (claims.get("nbf", 0), claims.get("exp"))
    if not all(isinstance(text, str) and text for text in named):
        return None
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in times):
        return None
    return _Known(Speaker(*(str(text) for text in named)), float(times[0]), float(times[1] or 0))
