"""Who speaks: the room that a request is about, once its voice was let in.

Admission comes before anything that a stranger wrote is parsed, and a room that is not there
costs and answers the same as a wrong credential.
"""

from dataclasses import dataclass

from reconciler.adapters.http.ask import Ask, shown_by
from reconciler.model.errors import Gone, NotFound, PortError
from reconciler.model.refs import WorkloadKey
from reconciler.room_ports import Desk, Door, NotAdmitted, RoomView, Verb

THE_ROOM = "the room itself"


@dataclass(frozen=True, slots=True)
class Voices:
    """The desk behind the door."""

    desk: Desk
    door: Door

    async def of_workload(self, ask: Ask, workload: str, room: str) -> RoomView:
        """Return the room of Maestro's paths. Raises NotAdmitted, NotFound, Gone, Unavailable."""
        try:
            found = self.desk.find(workload, room)
        except (NotFound, Gone) as missing:
            await self._admit_absent(ask, self._namespace(missing, workload), room)
            raise
        await self._admit(ask, found)
        return found

    async def of_namespace(self, ask: Ask, namespace: str, room: str) -> RoomView:
        """Return the room of that namespace. Raises NotAdmitted, NotFound, Gone, Unavailable."""
        try:
            found = self.desk.find_in(namespace, room)
        except (NotFound, Gone):
            await self._admit_absent(ask, namespace, room)
            raise
        await self._admit(ask, found)
        return found

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
            return await self.of_namespace(ask, namespace, room), THE_ROOM
        except NotAdmitted:
            return await self._as_person(ask, namespace, room, verb)

    async def _as_person(
        self, ask: Ask, namespace: str, room: str, verb: Verb
    ) -> tuple[RoomView, str]:
        try:
            found = self.desk.find_in(namespace, room)
        except (NotFound, Gone):
            # Only who may look everywhere is told that there is none.
            await self.door.admit_person(shown_by(ask), ask.peer, verb, None)
            raise
        who = await self.door.admit_person(shown_by(ask), ask.peer, verb, found.key)
        return found, who

    async def person(self, ask: Ask, verb: Verb, workload: WorkloadKey | None) -> str:
        """Return who it is. Raises NotAdmitted."""
        return await self.door.admit_person(shown_by(ask), ask.peer, verb, workload)

    async def reader(self, ask: Ask) -> None:
        """Let somebody read the collections' lists. Raises NotAdmitted."""
        await self.door.admit_reader(shown_by(ask), ask.peer)

    async def _admit(self, ask: Ask, room: RoomView) -> None:
        pod = room.pod
        await self.door.admit_room(pod.namespace, pod.name, pod, shown_by(ask), ask.peer)

    async def _admit_absent(self, ask: Ask, namespace: str, name: str) -> None:
        """Let pass whoever may hear that there is no such room: who would be let in as its voice.

        Raises as for a wrong credential, or Gone.
        """
        await self.door.admit_room(namespace, name, None, shown_by(ask), ask.peer)

    def _namespace(self, missing: PortError, workload: str) -> str:
        """Return where a room was: a Scheduler's namespace has its name, a Fleet's may not."""
        if isinstance(missing, NotFound):
            return workload
        named = [key.namespace for key in self.desk.workloads() if key.name == workload]
        return named[0] if len(named) == 1 else workload
