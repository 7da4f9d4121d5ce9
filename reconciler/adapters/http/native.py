"""Our own paths, /v1: what rooms say, and what people and matchmakers see of them."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from reconciler.adapters.http.ask import Answer, Ask
from reconciler.adapters.http.lists import PIECE, Lists
from reconciler.adapters.http.refusals import malformed, quoted
from reconciler.adapters.http.sight import leaves, room_json, state_headers, takes_nobody, texted
from reconciler.adapters.http.strict_json import parsed_object
from reconciler.adapters.http.voices import Voices, who_speaks
from reconciler.core.hearing import MOST_PLAYERS
from reconciler.core.rollup import roll_up
from reconciler.model.holds import Hold
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.rooms import OPEN_STATES, Report, RoomState, Said, Why, players_told
from reconciler.room_ports import Happening, RoomView

Asked = Callable[[WorkloadKey], tuple[int, Collection[Hold]]]
"""How many rooms a workload is to have, and what is held of it."""
_SAID = {said.value: said for said in Said}
_STATES = {state.value: state for state in RoomState}


class Native:
    """What is asked and said under /v1."""

    def __init__(
        self, voices: Voices, lists: Lists, now: Callable[[], float], asked: Asked
    ) -> None:
        self._voices = voices
        self._lists = lists
        self._now = now
        self._asked = asked

    async def rooms(self, ask: Ask, _: tuple[str, ...]) -> Answer:
        """List rooms."""
        workload = workload_asked(ask)
        wanted = _filter(ask)
        await self._voices.person(ask, "read", workload)
        now, desk = self._now(), self._voices.desk

        def shown(room: RoomView) -> Json:
            return room_json(room, desk, now)

        return self._lists.answer(workload, wanted, shown, ('{"rooms":[', "]}"))

    async def room(self, ask: Ask, names: tuple[str, ...]) -> Answer:
        """Show one room, to itself or to people."""
        namespace, name = names
        room, _ = await self._voices.room_or_person(ask, namespace, name, "read")
        shown = room_json(room, self._voices.desk, self._now())
        return Answer(200, json.dumps(shown).encode(), headers=state_headers(room))

    async def report(self, ask: Ask, names: tuple[str, ...]) -> Answer:
        """Take in what a room says of itself."""
        room = await self._voices.of_namespace(ask, *names)
        report = _report_of(parsed_object(ask.body))
        return _standing(await self._voices.desk.report(room, report, ask.came))

    async def events(self, ask: Ask, names: tuple[str, ...]) -> Answer:
        """Pass on what happened in a room."""
        room = await self._voices.of_namespace(ask, *names)
        self._voices.desk.happened(room, self._happening(parsed_object(ask.body)))
        return _standing(room)

    async def drain(self, ask: Ask, names: tuple[str, ...]) -> Answer:
        """Let a room leave when it is empty."""
        return await self._leave(ask, names, leaves_now=True)

    async def undrain(self, ask: Ask, names: tuple[str, ...]) -> Answer:
        """Take that back."""
        return await self._leave(ask, names, leaves_now=False)

    async def workloads(self, ask: Ask, _: tuple[str, ...]) -> Answer:
        """Count the rooms of every workload, or of one, by their states."""
        workload = workload_asked(ask)
        await self._voices.person(ask, "read", workload)
        desk, found = self._voices.desk, []
        for key in sorted(key for key in desk.workloads() if workload in (None, key)):
            wanted, holds = self._asked(key)
            found.append(_counts(key, await _taken(desk.rooms(key)), wanted, holds))
            await asyncio.sleep(0)
        return Answer(200, json.dumps({"workloads": found}).encode())

    async def _leave(self, ask: Ask, names: tuple[str, ...], *, leaves_now: bool) -> Answer:
        namespace, name = names
        room, who = await self._voices.room_or_person(ask, namespace, name, "drain")
        own = who == who_speaks(ask)
        return _standing(await self._voices.desk.leave(room, leaves_now, who, own=own))

    def _happening(self, fields: Json) -> Happening:
        _check_names(fields, "kind", "name", "metadata")
        kind, name, metadata = fields.get("kind", "room"), fields.get("name"), _metadata(fields)
        if not isinstance(name, str) or not name:
            raise malformed("name is missing: write what happened, as a word")
        if kind == "room":
            return Happening("room", name, metadata, self._now())
        if kind == "player":
            return Happening("player", name, metadata, self._now())
        raise malformed("kind is neither room nor player")


def workload_asked(ask: Ask) -> WorkloadKey | None:
    """Return the workload that is asked for, None for all. Raises Refused (400)."""
    text = ask.asked("workload")
    if not text:
        return None
    parts = text.split("/")
    if len(parts) != 3 or not all(parts):
        raise malformed("workload is not written as kind/namespace/name")
    return WorkloadKey(*parts)


def _filter(ask: Ask) -> Callable[[RoomView], bool]:
    available = ask.asked("available")
    if available not in ("", "true", "false"):
        raise malformed("available is neither true nor false")
    names = [name for name in ask.asked("state").split(",") if name]
    if unknown := [name for name in names if name not in _STATES]:
        raise malformed(f"there is no state {quoted(unknown[0])}; there are {', '.join(_STATES)}")
    states = frozenset(_STATES[name] for name in names)

    def wanted(room: RoomView) -> bool:
        state = room.judged.state
        if available and (room.available and not takes_nobody(room)) is not (available == "true"):
            return False
        if not states:
            return True
        # A matchmaker asks for these two: it is told of no room there that takes nobody.
        return state in states and not (state in OPEN_STATES and takes_nobody(room))

    return wanted


def _report_of(fields: Json) -> Report:
    _check_names(fields, "state", "matches", "players")
    state = fields.get("state")
    said = _SAID.get(state) if isinstance(state, str) else None
    if state is not None and said is None:
        raise malformed(f"state is not one of {', '.join(_SAID)}")
    matches, players = _count(fields, "matches"), _count(fields, "players")
    if said is None and matches is None and players is None:
        raise malformed("the report says nothing: write state, matches or players")
    if said is Said.TERMINATED and (matches or players):
        # One of the two is wrong, and a room that is over is removed.
        raise malformed("who has terminated has no match and no player: leave them out, or send 0")
    return Report(periodic=True, said=said, matches=matches, players=players)


def _count(fields: Json, name: str) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_PLAYERS:
        raise malformed(f"{name} is no whole number from 0 to {MOST_PLAYERS}")
    return value


def _metadata(fields: Json) -> dict[str, str]:
    metadata: Any = fields.get("metadata")
    if metadata is None:
        return {}
    if not isinstance(metadata, dict):
        raise malformed("metadata is no object")
    return {name: texted(value) for name, value in metadata.items()}


def _check_names(fields: Json, *known: str) -> None:
    """Refuse what is not known: a misspelled `player` must not pass for an empty room."""
    unknown = [name for name in fields if name not in known]
    if unknown:
        raise malformed(f"{unknown[0][:40]!r} is not known here: write {', '.join(known)}")


def _standing(room: RoomView) -> Answer:
    """Tell a room how it stands, and whether it is to leave when it is empty."""
    pod = room.pod
    body = {
        "name": pod.name,
        "state": room.judged.state.value,
        "leave": leaves(pod),
        "leaving": pod.leaving.value if pod.leaving is not Why.STAYS else "",
    }
    return Answer(200, json.dumps(body).encode(), headers=state_headers(room))


async def _taken(rooms: Iterable[RoomView]) -> list[RoomView]:
    """Take rooms with a pause now and then: judging a thousand at once takes too long."""
    taken = []
    for room in rooms:
        taken.append(room)
        if len(taken) % PIECE == 0:
            await asyncio.sleep(0)
    return taken


def _counts(
    key: WorkloadKey, shown: Sequence[RoomView], wanted: int, holds: Collection[Hold]
) -> Json:
    """Count the rooms of a workload, beside its face as the collections show it."""
    heard = {room.pod.uid: room.heard for room in shown if room.heard is not None}
    states = Counter(room.judged.state.value for room in shown)
    face = roll_up([room.pod for room in shown], heard, holds, wanted=wanted)
    return {
        "workload": f"{key.kind}/{key.namespace}/{key.name}",
        "rooms": len(shown),
        "available": sum(room.available and not leaves(room.pod) for room in shown),
        "players": players_told(heard.values()),
        "matches": sum(said.matches for said in heard.values()),
        "states": dict(sorted(states.items())),
        "healthy": face.available,
        "health": face.health.value,
        "pods": face.pods.value,
    }
