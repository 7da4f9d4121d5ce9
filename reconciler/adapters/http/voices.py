"""Who speaks: the room that a request is about, once its voice was let in.

Admission comes before anything that a stranger wrote is parsed, and a room that is not there
costs and answers the same as a wrong credential.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from reconciler.adapters.http.ask import Ask, shown_by
from reconciler.model.errors import Gone, NotFound, PortError
from reconciler.model.refs import WorkloadKey
from reconciler.room_ports import (
    Credential,
    Desk,
    Door,
    Namesakes,
    NotAdmitted,
    RoomView,
    Verb,
)

THE_ROOM = "the room itself"
LONGEST_ADMISSION_SECONDS = 1.0
"""Who is turned away anyway does not wait for a cluster that may be away."""


def who_speaks(ask: Ask) -> str:
    """Return who acts as a room: itself, or an address that is believed and showed nothing."""
    if shown_by(ask).kind == "none":
        return f"{ask.peer}, which showed no token"
    return THE_ROOM


@dataclass(frozen=True, slots=True)
class Voices:
    """The desk behind the door."""

    desk: Desk
    door: Door

    async def of_workload(self, ask: Ask, workload: str, room: str) -> RoomView:
        """Return the room of Maestro's paths. Raises NotAdmitted, NotFound, Gone, Unavailable."""
        try:
            found = self.desk.find(workload, room)
        except Namesakes as several:
            return await self._of_several(ask, several, room)
        except (NotFound, Gone) as missing:
            await self._admit_absent(ask, self._namespace(missing, workload), room)
            raise
        await self._admit(ask, found)
        return found

    async def _of_several(self, ask: Ask, several: Namesakes, room: str) -> RoomView:
        """Return the room of one of several workloads of a name: what its game shows tells which.

        It is a room that is alive whose game asks: 410 would end a match for another's name.
        """
        namespace = await self.door.whose(several.namespaces, room, shown_by(ask), ask.peer)
        if namespace:
            return await self.of_namespace(ask, namespace, room)
        await self._admit_absent(ask, several.namespaces[0], room)
        raise several

    async def of_namespace(self, ask: Ask, namespace: str, room: str) -> RoomView:
        """Return the room of that namespace. Raises NotAdmitted, NotFound, Gone, Unavailable."""
        try:
            found = self.desk.find_in(namespace, room)
        except (NotFound, Gone):
            await self._admit_absent(ask, namespace, room)
            raise
        await self._admit(ask, found)
        return found

    async def turned_away(self, ask: Ask, namespace: str, room: str, players: int) -> None:
        """Note the players of whom a room tells while nothing is taken in.

        Only where what it shows, or its address, can be told for its own now.
        """
        pod = self.desk.last_seen(namespace, room)
        if pod is None:
            return
        with suppress(NotAdmitted, PortError, TimeoutError):
            async with asyncio.timeout(LONGEST_ADMISSION_SECONDS):
                await self.door.admit_room(namespace, room, pod, shown_by(ask), ask.peer)
            self.desk.turned_away(pod, players, ask.came)

    async def of_nobody(self, ask: Ask) -> None:
        """Refuse whoever shows nothing, where it cannot be told which room is meant.

        Raises NotAdmitted, or returns where nobody has to show anything.
        """
        credential = shown_by(ask)
        if credential.kind == "none":
            await self.door.admit_room("", "", None, credential, ask.peer)

    async def room_or_person(
        self, ask: Ask, namespace: str, room: str, verb: Verb
    ) -> tuple[RoomView, str]:
        """Return a room and who acts for it: itself, or somebody who may.

        Raises NotAdmitted, NotFound, Gone, Unavailable.
        """
        try:
            return await self.of_namespace(ask, namespace, room), who_speaks(ask)
        except NotAdmitted:
            return await self._as_person(ask, namespace, room, verb)

    async def _as_person(
        self, ask: Ask, namespace: str, room: str, verb: Verb
    ) -> tuple[RoomView, str]:
        try:
            found = self.desk.find_in(namespace, room)
        except (NotFound, Gone):
            # Who may not look there is not told that there is none.
            await self.door.admit_person(
                shown_by(ask), ask.peer, verb, self._whose(namespace, room)
            )
            raise
        who = await self.door.admit_person(shown_by(ask), ask.peer, verb, found.key)
        return found, who

    async def person(self, ask: Ask, verb: Verb, workload: WorkloadKey | None) -> str:
        """Return who it is. Raises NotAdmitted."""
        return await self.door.admit_person(shown_by(ask), ask.peer, verb, workload)

    async def committer(self, ask: Ask, fleet: WorkloadKey) -> str:
        """Return who may have a Fleet made or removed. Raises NotAdmitted.

        The collections' clients show what they have as `code`.
        """
        shown = Credential("bearer", shown_by(ask).secret)
        return await self.door.admit_person(shown, ask.peer, "commit", fleet)

    async def reader(self, ask: Ask) -> bool:
        """Let somebody read the collections' lists; return whether it is known who it is.

        Raises NotAdmitted.
        """
        return await self.door.admit_reader(shown_by(ask), ask.peer)

    async def _admit(self, ask: Ask, room: RoomView) -> None:
        pod = room.pod
        await self.door.admit_room(pod.namespace, pod.name, pod, shown_by(ask), ask.peer)

    async def _admit_absent(self, ask: Ask, namespace: str, name: str) -> None:
        """Let pass whoever may hear that there is no such room: who would be let in as its voice.

        Raises as for a wrong credential, or Gone.
        """
        await self.door.admit_room(namespace, name, None, shown_by(ask), ask.peer)

    def _whose(self, namespace: str, room: str) -> WorkloadKey | None:
        """Return the workload that a room of this name would be of, None where there is none."""
        name = room.rpartition("-")[0]
        there = (key for key in self.desk.workloads() if key.namespace == namespace)
        return next((key for key in there if key.name == name), None)

    def _namespace(self, missing: PortError, workload: str) -> str:
        """Return where a room was: a Scheduler's namespace has its name, a Fleet's may not."""
        if isinstance(missing, NotFound):
            return workload
        named = [key.namespace for key in self.desk.workloads() if key.name == workload]
        return named[0] if len(named) == 1 else workload
