"""Two processes lead by turns, and their watches are late by chance: what a game told last stands.

A game repeats itself on one path and tells its players on change on another. It says that it is
over, its container begins anew, and the next one speaks: of all that each desk saw a part, and the
rest stands on the pod. Some words come twice, slowly, or to who does not lead. Nobody who plays
may be taken for gone, and nobody who has gone for there.
"""

import asyncio
import random
from contextlib import suppress

import pytest

from reconciler.model.errors import Unavailable
from reconciler.model.rooms import GameState, Health, Report
from reconciler.room_ports import AT_ONCE, Came
from tests.loop.virtual_time import elapsed
from tests.unit.core.making import a_key
from tests.unit.service_rooms.stage import READY, Stage, another, on_stage, players
from tests.unit.service_rooms.test_other_terms import game, restarts
from tests.unit.service_rooms.test_over_and_after import OVER

SEEDS = 160
SETTLED_SECONDS = 120.0
WORDS = {
    "health": Report(periodic=False, health=Health.HEALTHY),
    "state": Report(periodic=False, game_state=GameState.RUNNING),
}
COURSE = (
    *("nobody", "over", "wait", "blind", "change", "restart", "somebody", "change"),
    *("health", "wait", "see", "wait"),
)
"""Near which trouble is: each seed leaves some of it out, and puts other steps in between."""
STEPS = (
    *("somebody", "nobody", "over", "over", "ready", "health", "state", "wait"),
    *("change", "change", "restart", "flow", "again", "vain", "slow"),
)


class Play:
    """One seed. `players` is what the process that runs told last, None where it told nothing."""

    def __init__(self, one: Stage, two: Stage, chance: random.Random) -> None:
        self.both = one, two
        self.leads = one
        self.chance = chance
        self.ping = READY
        self.players: int | None = None

    async def run(self) -> None:
        """Play it, and let everything be seen and heard in the end."""
        chance = self.chance
        await self._say(self.ping)
        steps = [step for each in COURSE if chance.random() < 0.85 for step in self._beside(each)]
        while len(steps) < 14:
            steps.append(chance.choice(STEPS))
        for step in steps:
            await self._step(step)
            await asyncio.sleep(chance.choice((0.0, 0.2, 1.0)))
            self._plans()
        for each in self.both:
            each.flows.set()
            await each.seen()
        for _ in range(12):
            await asyncio.sleep(SETTLED_SECONDS / 12)
            await self._say(self.ping)
            self.leads.desk.book.of(a_key())

    def _beside(self, step: str) -> list[str]:
        return [step, self.chance.choice(STEPS)] if self.chance.random() < 0.25 else [step]

    async def _step(self, step: str) -> None:
        match step:
            case "change":
                await self._change()
            case "restart" if game(self.both[0])["restartCount"] < 3:
                await self._restart()
            case "blind" | "see" | "flow":
                await self._see(step)
            case _:
                await self._speak(step)

    async def _speak(self, step: str) -> None:
        match step:
            case "somebody" if self.ping is not OVER:
                await self._count(self.chance.randint(1, 4))
            case "nobody":
                await self._count(0)
            case "over":
                if self.players:
                    await self._count(0)
                self.ping = OVER
                await self._say(OVER)
            case "health" | "state":
                await self._say(WORDS[step])
            case "again" if self.ping is READY and game(self.both[0])["restartCount"]:
                await self._say(OVER)  # of the process before: whoever stands in between repeats it
                await asyncio.sleep(self.chance.choice((0.1, 1.0, 4.0)))
                await self._say(self.ping)
            case "vain" if self.ping is not OVER:
                await self._tell_in_vain()
            case "slow" if self.ping is not OVER:
                await self._tell_slowly()
            case "ready" | "wait":
                await asyncio.sleep(self.chance.choice((1.0, 3.0, 10.0)))
                await self._say(self.ping)

    async def _see(self, step: str) -> None:
        """Let watches go on or be late: of who leads, of both, of one or the other."""
        for each in (self.leads,) if step == "blind" else self.both:
            sees = step == "see" or (step == "flow" and self.chance.random() < 0.5)
            each.flows.set() if sees else each.flows.clear()
        await asyncio.sleep(self.chance.choice((0.0, 0.5, 1.5)))

    async def _say(self, report: Report) -> None:
        """Say it until somebody takes it in, as games do."""
        for _ in range(20):
            try:
                await self.leads.say(report)
            except Unavailable:
                await asyncio.sleep(1.0)
            else:
                return

    async def _count(self, number: int) -> None:
        self.players = number
        await self._say(players(number))

    async def _tell_in_vain(self) -> None:
        """Tell players to who does not lead, and leads next; its game gives up."""
        self.players = self.chance.randint(1, 4)
        other = self.both[self.leads is self.both[0]]
        other.desk.turned_away(other.live(), self.players, AT_ONCE)
        await self._change()

    async def _tell_slowly(self) -> None:
        """Begin to tell that nobody is there, tell players, and end it, perhaps to another."""
        begun = elapsed()
        await asyncio.sleep(self.chance.choice((0.2, 1.0, 3.0)))
        await self._count(self.chance.randint(1, 4))
        if self.chance.random() < 0.7:
            await self._change()
        with suppress(Unavailable):
            desk = self.leads.desk
            await desk.report(desk.find("arena", "arena-0"), players(0), Came(begun, begun))

    async def _change(self) -> None:
        await asyncio.sleep(self.chance.choice((0.5, 6.0, 12.0)))
        line = self.leads.desk.book.pages.find(self.leads.live().uid)
        if line is not None and line.untaken:
            self.players = None  # it alone was told, and led too shortly to see what else was
        self.leads.leads = False
        self.leads.desk.forget()
        self.leads = self.both[self.leads is self.both[0]]
        self.leads.leads = True
        self.leads.listen()
        await asyncio.sleep(self.chance.choice((0.2, 1.5, 2.5)))

    async def _restart(self) -> None:
        one = self.both[0]
        await restarts(one)
        self.players, self.ping = None, READY

    def _plans(self) -> None:
        """Let the lane look at the rooms, as before a plan."""
        if self.chance.random() < 0.6:
            self.leads.desk.book.of(a_key())


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_a_game_told_last_stands_whoever_heard_it(seed: int) -> None:
    async def act(it: Stage) -> None:
        async with another(it) as other:
            play = Play(it, other, random.Random(seed))
            await play.run()
            judged = play.leads.desk.find("arena", "arena-0").judged
            stands = judged.protected != "", it.label() == "busy"
            if play.players is not None:
                assert stands == ((True, True) if play.players else (False, False)), judged

    on_stage(act)
