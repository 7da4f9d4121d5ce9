"""The paths of the Azure game-server collections: their sample games run unchanged.

The name of the room stands in the body, so that is read before anybody is let in: it is small,
and nothing of it is used before. Its `code` is that room's own, in the query.
"""

from collections.abc import Callable
from typing import Any

from reconciler.adapters.http.ask import TEXT, Answer, Ask, shown_by
from reconciler.adapters.http.refusals import Refused, malformed
from reconciler.adapters.http.sight import state_headers
from reconciler.adapters.http.strict_json import first_object, parsed_object
from reconciler.adapters.http.voices import Voices, who_speaks
from reconciler.core.hearing import MOST_PLAYERS
from reconciler.kube import names
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.rooms import GameState, Health, Report
from reconciler.room_ports import Fleets, NotAdmitted, RoomView, Unmade

_HEALTHS = {health.value: health for health in Health}
_STATES = {state.value: state for state in GameState}
_TRUTHS = {"true": True, "false": False}
_GIT_WAY = (
    "Servers are made and removed by a commit: write, or delete, a document of kind Fleet in the "
    "repository that Gamekeeper follows; an administrator whose credential is good for `commit` "
    "may have it written here. See `gamekeeper init` and docs/rooms-api.md.\n"
)
_TOO_MANY_GUESSES = 429
_NO_FLEET = WorkloadKey("Fleet", "", "")


class Collections:
    """What a game written for the collections says."""

    def __init__(self, voices: Voices, fleets: Fleets | None = None) -> None:
        """Listen to `voices`; without `fleets` nothing is made or removed here."""
        self._voices = voices
        self._fleets = fleets

    async def players(self, ask: Ask, _: tuple[str, ...]) -> Answer:
        """Take in how many players are there. Raises Refused where the body does not say it."""

        def report(fields: Json) -> Report:
            return Report(periodic=False, players=_players(fields))

        return await self._reported(ask, report)

    async def turned_away(self, ask: Ask) -> None:
        """Note the players of whom a server tells while nothing is taken in: it may give up.

        Raises Refused where the body does not say it.
        """
        fields = _folded(first_object(ask.body))
        place = _text(fields, "namespace"), _text(fields, "servername")
        await self._voices.turned_away(ask, *place, _players(fields))

    async def state(self, ask: Ask, _: tuple[str, ...]) -> Answer:
        """Take in the state of the game: it is no count, and may keep a room a while."""

        def report(fields: Json) -> Report:
            return Report(periodic=False, game_state=_one_of(fields, "state", _STATES))

        return await self._reported(ask, report)

    async def health(self, ask: Ask, _: tuple[str, ...]) -> Answer:
        """Take in the health of a server."""

        def report(fields: Json) -> Report:
            return Report(periodic=False, health=_one_of(fields, "health", _HEALTHS))

        return await self._reported(ask, report)

    async def marked_for_deletion(self, ask: Ask, _: tuple[str, ...]) -> Answer:
        """Let a server leave when it is empty, or take that back."""
        fields, room = await self._room(ask)
        value = fields.get("markedfordeletion")
        # The sample game sends a string.
        marked = _TRUTHS.get(value.lower()) if isinstance(value, str) else value
        if not isinstance(marked, bool):
            raise malformed("markedForDeletion is neither true nor false")
        room = await self._voices.desk.leave(room, marked, who_speaks(ask), own=True)
        return _done(ask, room)

    async def create(self, ask: Ask, _: tuple[str, ...]) -> Answer:
        """Have a Fleet written into Git, for who may; others hear how it is done."""
        if self._fleets is None or shown_by(ask).kind == "none":
            return _git_way()
        self._check_open()
        try:
            collection = parsed_object(ask.body)
            fleet = self._fleets.wanted(collection)
        except (Refused, Unmade):
            # What is wrong with it is told to who may have it written.
            if not await self._committer(ask, _NO_FLEET):
                return _git_way()
            raise
        who = await self._committer(ask, fleet)
        if not who:
            return _git_way()
        commit = await self._fleets.make(collection, who)
        return _committed(
            f"DedicatedGameServerCollection {fleet.name} was created",
            commit,
            f"Its servers run in the namespace {fleet.namespace}.\n",
        )

    async def delete(self, ask: Ask, _: tuple[str, ...]) -> Answer:
        """Have a Fleet taken out of Git, for who may; others hear how it is done."""
        name = ask.asked("name")
        if self._fleets is None or shown_by(ask).kind == "none":
            return _git_way()
        self._check_open()
        if names.label_problem(name):
            raise malformed("name names no collection of servers")
        try:
            fleet = self._fleets.known(name)
        except Unmade:
            # Which Fleets have that name is told to who may have one removed.
            if not await self._committer(ask, _NO_FLEET):
                return _git_way()
            raise
        who = await self._committer(ask, fleet)
        if not who:
            return _git_way()
        commit = await self._fleets.remove(fleet, who)
        return _committed(
            f"{name} was deleted",
            commit,
            "Servers with players stay to the end of their matches. What removes more than the "
            "budgets of gamekeeper.yaml allow waits for `gamekeeper approve`.\n",
        )

    async def _committer(self, ask: Ask, fleet: WorkloadKey) -> str:
        """Return who may have this committed, "" for others. Raises NotAdmitted for guesses."""
        try:
            return await self._voices.committer(ask, fleet)
        except NotAdmitted as error:
            if error.status == _TOO_MANY_GUESSES:
                raise
            return ""

    def _check_open(self) -> None:
        """Raises Refused where another process decides: only one commits."""
        closed = self._voices.desk.closed()
        if closed:
            raise Refused(503, closed)

    async def alive(self, _ask: Ask, _: tuple[str, ...]) -> Answer:
        """Say that the server answers."""
        return Answer(200, b"", TEXT)

    async def _reported(self, ask: Ask, read: Callable[[Json], Report]) -> Answer:
        fields, room = await self._room(ask)
        room = await self._voices.desk.report(room, read(fields), ask.came)
        return _done(ask, room)

    async def _room(self, ask: Ask) -> tuple[Json, RoomView]:
        """Return what was said, and the room whose voice it is. Raises as `Voices` does."""
        try:
            fields = _folded(first_object(ask.body))
            namespace, name = _text(fields, "namespace"), _text(fields, "servername")
        except Refused:
            await self._voices.of_nobody(ask)
            raise
        return fields, await self._voices.of_namespace(ask, namespace, name)


def _git_way() -> Answer:
    """Say how servers are made and removed."""
    return Answer(403, _GIT_WAY.encode(), TEXT)


def _committed(said: str, commit: str, more: str = "") -> Answer:
    """Answer as the original did, and name the commit."""
    text = f"{said}\nIt stands in Git as commit {commit[:12]}.\n{more}"
    return Answer(200, text.encode(), TEXT, {"X-Gamekeeper-Commit": commit})


def _folded(fields: Json) -> Json:
    """Return the fields by their names in lower case: the original did not mind the case."""
    folded = {name.lower(): value for name, value in fields.items()}
    if len(folded) != len(fields):
        raise malformed("the same name is there twice, in upper and in lower case")
    return folded


def _players(fields: Json) -> int:
    count = fields.get("playercount")
    # No count is no zero: an empty room may be removed.
    number = count if isinstance(count, int) and not isinstance(count, bool) else -1
    if not 0 <= number <= MOST_PLAYERS:
        raise malformed(f"playerCount is no whole number from 0 to {MOST_PLAYERS}")
    return number


def _text(fields: Json, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise malformed("serverName and namespace do not both name a server")
    return value


def _one_of(fields: Json, name: str, known: dict[str, Any]) -> Any:
    value = fields.get(name)
    found = known.get(value) if isinstance(value, str) else None
    if found is None:
        raise malformed(f"{name} is not one of {', '.join(known)}")
    return found


def _done(ask: Ask, room: RoomView) -> Answer:
    return Answer(200, b"Set values %s OK\n" % ask.body.strip(), TEXT, state_headers(room))
