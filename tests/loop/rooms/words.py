"""What games say beside how many play there: that a match is given to them, that they end, leave.

Their clients send it at moments of their own, once, and nobody says it again.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from reconciler.model.refs import Json
from reconciler.sandbox.players import sayings
from reconciler.sandbox.players.games import OK, Game
from reconciler.sandbox.players.natures import ON_CHANGE, Voice
from reconciler.sandbox.players.sayings import COUNT, Saying

STATE, HEALTH, LEAVE = "/setdgsstate", "/setsdgshealth", "/setdgsmarkedfordeletion"
FAILED = "Failed"
COMING = ("Assigned", "Running")
OFTEN, SELDOM = 0.5, 0.06


@dataclass(slots=True)
class Tongue:
    """One game's. `is_calm` from when on it says nothing that ends a room.

    `is_ending` is whether it says that it ends when its match does, instead of how it is.
    """

    game: Game
    chance: random.Random
    is_calm: bool = False
    is_ending: bool = False
    _matches: int = 0
    _is_to_end: bool = False
    _leaves: bool = False
    _began: bool = False

    def says(self, usual: list[Saying], now: float) -> list[Saying]:
        """Return all that is said now, given what is said of players."""
        game = self.game
        if game.over or game.hung:
            return usual
        before, self._matches = self._matches, len(game.matches)
        beside = [*self._as_it_begins(now)]
        if self._matches > before:
            beside += self._as_a_match_begins()
        elif self._matches < before:
            beside += self._as_a_match_ends()
        # One that ends after its match says that instead of how it is.
        usual = [self._instead(each, now) for each in usual] if self.is_ending else usual
        is_over = self.is_ending or (self._matches < before and self._is_last())
        if is_over and not game.matches:
            # Everybody has gone: it says so once more, and its process ends.
            usual = [*usual, self._terminated()]
            game.stop(now)
        return [*beside, *usual]

    def answered(self, saying: Saying, status: int) -> None:
        """Hear the answer; it tells of its match before it tells that it ends after that."""
        self.is_ending |= self._is_to_end and status == OK and bool(saying.players)

    @property
    def _speaks_on_change(self) -> bool:
        return self.game.nature.voice in ON_CHANGE

    def _as_it_begins(self, now: float) -> Iterator[Saying]:
        if self._began or not self._speaks_on_change or now < self.game.up_at:
            return
        self._began = True
        if self._happens(OFTEN):
            yield self._named(HEALTH, health="Creating")

    def _as_a_match_begins(self) -> Iterator[Saying]:
        game = self.game
        if self._speaks_on_change:
            for state in COMING:
                if self._happens(OFTEN):
                    yield self._named(STATE, state=state)
        elif self._happens(OFTEN) and game.nature.voice is Voice.MAESTRO:
            yield self._status("occupied")
        if game.nature.voice is not Voice.COLLECTIONS and self._happens(SELDOM):
            self._is_to_end = not self.is_calm

    def _as_a_match_ends(self) -> Iterator[Saying]:
        if self._speaks_on_change and self._happens(OFTEN):
            yield self._named(STATE, state=self.chance.choice(("PostMatch", "Idle")))
        elif self._happens(OFTEN) and self.game.nature.voice is Voice.MAESTRO:
            yield self._status("ready")
        if self.is_calm:
            return
        if self._leaves and self._happens(OFTEN):
            self._leaves = False
            yield self._leaving(False)
        elif self._happens(SELDOM):
            self._leaves = True
            yield self._leaving(True)
        if self._speaks_on_change and self._happens(SELDOM):
            yield self._named(HEALTH, health=FAILED)

    def _is_last(self) -> bool:
        on_change = self.game.nature.voice is Voice.COLLECTIONS
        return not on_change and not self.is_calm and self._happens(SELDOM)

    def _instead(self, saying: Saying, now: float) -> Saying:
        if saying.path in (COUNT, HEALTH):
            return saying
        return sayings.ends(self.game.where, self.game.nature, now) or saying

    def _leaving(self, leaves: bool) -> Saying:
        where = self.game.where
        if self.game.nature.voice is Voice.NATIVE:
            path = f"/v1/rooms/{where.namespace}/{where.room}/drain"
            return Saying("POST" if leaves else "DELETE", path, b"")
        return self._named(LEAVE, markedForDeletion=str(leaves).lower())

    def _terminated(self) -> Saying:
        where = self.game.where
        said = self._to_maestro("ping", {"status": "terminated"})
        if self.game.nature.voice is Voice.NATIVE:
            path = f"/v1/rooms/{where.namespace}/{where.room}/report"
            said = Saying("PUT", path, json.dumps({"state": "terminated"}).encode())
        # Nobody is there, by its own word.
        return replace(said, players=0)

    def _status(self, state: str) -> Saying:
        return self._to_maestro("status", {"status": state, "metadata": {"match": "7"}})

    def _to_maestro(self, path: str, body: Json) -> Saying:
        where = self.game.where
        path = f"/scheduler/{where.workload}/rooms/{where.room}/{path}"
        return Saying("PUT", path, json.dumps(body).encode())

    def _named(self, path: str, **fields: str) -> Saying:
        where = self.game.where
        body = {"serverName": where.room, "namespace": where.namespace, **fields}
        return Saying("POST", path, json.dumps(body).encode())

    def _happens(self, probability: float) -> bool:
        return self.chance.random() < probability


def tells_of_a_match(saying: Saying) -> bool:
    """Whether it is said that a match is given to a room."""
    return saying.path == STATE and json.loads(saying.body).get("state") in COMING


def tells_of_failure(saying: Saying) -> bool:
    """Whether it is said that a room has failed: it may go, unless it tells of players."""
    return saying.path == HEALTH and json.loads(saying.body).get("health") == FAILED
