"""The door of the rooms' API: `room_ports.Door` over tokens, codes, networks and people.

Why it is built so stands in ADR 11. What is shown decides alone: whoever shows something wrong is
not let in by their address. A valid credential passes however often its address guessed wrong,
since many rooms may stand behind one address.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reconciler.model.errors import Gone
from reconciler.model.live import LivePod
from reconciler.model.refs import WorkloadKey
from reconciler.ports import Clock, Cluster, LiveView
from reconciler.room_ports import Credential, NotAdmitted, Verb
from reconciler.service.doors.admins import Admins
from reconciler.service.doors.codes import RoomCodes
from reconciler.service.doors.guesses import Guesses
from reconciler.service.doors.networks import NOBODY, Neighbours, Silent, speaks_silently
from reconciler.service.doors.people import People
from reconciler.service.doors.tokens import RoomTokens

log = logging.getLogger("gamekeeper")

UNKNOWN_VOICE = (
    "this is no credential of that room: send the room's own token as `Authorization: Bearer` (it "
    "stands in the file that GAMEKEEPER_TOKEN_FILE names), or its own code (API_SERVER_CODE)"
)
ANOTHERS_VOICE = "this token is not that room's: a room speaks for itself only"
UNKNOWN_PERSON = (
    "nobody is known by this: send a token of the tokens file, or one of the cluster, as "
    "`Authorization: Bearer`"
)
CODE_WANTED = "the list is shown to who has a code: add ?code=, or `Authorization: Bearer`"


@dataclass(frozen=True, slots=True)
class Rules:
    """What the operator decided; `instance` names the audience of tokens."""

    instance: str
    silent: Silent = NOBODY
    list_needs_code: bool = False


class RoomDoor:
    """Keeps the door of one cluster's rooms."""

    def __init__(
        self,
        rules: Rules,
        codes: RoomCodes,
        tokens: RoomTokens,
        neighbours: Neighbours,
        people: People,
        guesses: Guesses,
    ) -> None:
        self._rules = rules
        self._codes = codes
        self._tokens = tokens
        self._neighbours = neighbours
        self._people = people
        self._guesses = guesses
        self._told: set[tuple[str, str]] = set()

    async def admit_room(
        self, namespace: str, name: str, pod: LivePod | None, shown: Credential, peer: str
    ) -> None:
        """Let a room's own voice in.

        Raises NotAdmitted, Gone for the voice of a room that is no more, Unavailable.
        """
        if shown.kind == "none" or not shown.secret:
            # Who shows nothing guesses nothing: this is not counted.
            if not speaks_silently(self._rules.silent, self._neighbours, pod, peer):
                self._tell_silent(pod, peer)
                raise NotAdmitted(401, UNKNOWN_VOICE)
        elif shown.kind == "bearer":
            await self._hear_token(namespace, name, pod, shown.secret, peer)
        elif not await self._codes.fits(namespace, name, shown.secret):
            raise self._refusal(peer, shown.secret, 401, UNKNOWN_VOICE)
        elif pod is None:
            raise _gone(name)

    def _tell_silent(self, pod: LivePod | None, peer: str) -> None:
        """Log once a workload that its game shows nothing: else it is never heard, without a word.

        Of rooms that are there alone: what strangers make up fills no log.
        """
        if pod is None or (pod.namespace, pod.workload) in self._told:
            return
        self._told.add((pod.namespace, pod.workload))
        log.warning(
            "somebody at %s speaks for room %s/%s without a token, and is refused with 401: if it "
            "is the game itself, let --rooms-without-token believe it",
            peer or "an address that is not known",
            pod.namespace,
            pod.name,
            extra={"fields": {"workload": f"{pod.namespace}/{pod.workload}"}},
        )

    async def _hear_token(
        self, namespace: str, name: str, pod: LivePod | None, token: str, peer: str
    ) -> None:
        speaker = await self._tokens.speaker(token, ask=not self._guesses.wait_seconds(peer))
        if speaker is None:
            raise self._refusal(peer, token, 401, UNKNOWN_VOICE)
        if (speaker.namespace, speaker.pod) != (namespace, name):
            raise self._refusal(peer, token, 403, ANOTHERS_VOICE)
        if pod is None or pod.uid != speaker.uid:
            raise _gone(name)

    async def whose(
        self, namespaces: Sequence[str], name: str, shown: Credential, peer: str
    ) -> str:
        """Return in which of some namespaces the room `name` is that speaks, "" if nothing tells.

        A token names its namespace, a code fits in one only, an address is one pod's. Raises
        Unavailable.
        """
        if shown.kind == "none" or not shown.secret:
            return self._neighbours.home(namespaces, name, peer)
        if shown.kind == "bearer":
            ask = not self._guesses.wait_seconds(peer)
            speaker = await self._tokens.speaker(shown.secret, ask=ask)
            homes = [each for each in namespaces if speaker and speaker.namespace == each]
        else:
            homes = [
                each for each in namespaces if await self._codes.fits(each, name, shown.secret)
            ]
        return homes[0] if homes else ""

    async def admit_reader(self, shown: Credential, peer: str) -> bool:
        """Let somebody read the collections' lists, which are open unless a code is asked for.

        Then it is a token of the tokens file, shown either way, one of a person, or a room's own
        token. Returns whether it is somebody known, and no room. Raises NotAdmitted, Unavailable.
        """
        if not self._rules.list_needs_code:
            return self._is_known_reader(shown.secret)
        if shown.kind == "none" or not shown.secret:
            raise NotAdmitted(401, CODE_WANTED)
        ask = not self._guesses.wait_seconds(peer)
        if shown.kind == "bearer" and await self._tokens.speaker(shown.secret, ask=ask):
            return False
        if not await self._people.admit(shown.secret, "read", None, ask=ask):
            raise self._refusal(peer, shown.secret, 401, CODE_WANTED)
        return True

    def _is_known_reader(self, secret: str) -> bool:
        """Whether a token is one of the file, or of somebody who read everything a moment ago.

        Where nothing has to be shown no word costs a question to the API server, or waits for it.
        """
        try:
            return bool(secret and self._people.known_reader(secret))
        except NotAdmitted:
            return False

    async def admit_person(
        self, shown: Credential, peer: str, verb: Verb, workload: WorkloadKey | None
    ) -> str:
        """Let somebody administer; return who it is. Raises NotAdmitted, Unavailable."""
        if shown.kind != "bearer" or not shown.secret:
            raise NotAdmitted(401, UNKNOWN_PERSON)
        ask = not self._guesses.wait_seconds(peer)
        try:
            who = await self._people.admit(shown.secret, verb, workload, ask=ask)
        except NotAdmitted:
            # Known, and not allowed: that is no guess either.
            self._guesses.forgive(peer, shown.secret)
            raise
        if not who:
            raise self._refusal(peer, shown.secret, 401, UNKNOWN_PERSON)
        # It may have been tried as a room's own voice first: that was no guess.
        self._guesses.forgive(peer, shown.secret)
        return who

    def _refusal(self, peer: str, secret: str, status: int, message: str) -> NotAdmitted:
        """Count a wrong guess and return what it is answered."""
        wait = self._guesses.failed(peer, secret)
        if wait:
            return NotAdmitted(429, "too many wrong credentials from this address: wait", wait)
        return NotAdmitted(status, message)


def open_door(
    cluster: Cluster,
    view: LiveView,
    clock: Clock,
    elapsed: Callable[[], float],
    rules: Rules,
    codes: RoomCodes,
    admins: Admins | None = None,
) -> RoomDoor:
    """Return the door of a cluster; `elapsed` is a monotonic clock in seconds."""
    _warn_of_everybody(rules.silent)
    return RoomDoor(
        rules,
        codes,
        RoomTokens(cluster, rules.instance, clock, elapsed),
        Neighbours(view, elapsed),
        People(cluster, rules.instance, admins or Admins(""), elapsed),
        Guesses(elapsed),
    )


def _warn_of_everybody(silent: Silent) -> None:
    if silent.of_everybody:
        log.warning(
            "--rooms-without-token %s is everybody: who reaches the address where rooms report may "
            "say of any room that it is empty, whoever plays there; write pod-address, or the "
            "networks of your pods or nodes, as 10.1.0.0/16",
            ",".join(map(str, silent.of_everybody)),
        )


def _gone(name: str) -> Gone:
    return Gone(f"the room {name} that this was given to is no more: its name never comes back")
