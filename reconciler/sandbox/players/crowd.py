"""People who want to play, sent to rooms by a matchmaker that knows what everybody may ask."""

from __future__ import annotations

import asyncio
import random
import time

from reconciler.sandbox.players.demand import Demand
from reconciler.sandbox.players.matchmaker import Matchmaker
from reconciler.sandbox.players.troupe import Troupe
from reconciler.sandbox.players.wire import Wire

LOOK_SECONDS = 1.0
OLDEST_SECONDS = 4.0
"""How old the matchmaker's list may be: less than the quiet time of a removal."""
PARTY = 4
"""The most players who come together."""
RUSH_SECONDS = 15
"""A crowd comes within that time, not at once."""


async def send_players(troupe: Troupe, wire: Wire, demand: Demand, chance: random.Random) -> None:
    """Let players come while more want to play than do, until cancelled."""
    maker = Matchmaker(chance, OLDEST_SECONDS)
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        now = time.time()
        listed = await wire.listed()
        if listed:
            maker.listed(listed, now)
        lack = demand.players(now) - troupe.players
        for _ in range(-(-max(0, lack) // (PARTY * RUSH_SECONDS))):
            room = maker.choose(now)
            if room is not None:
                troupe.join(room, min(lack, chance.randint(1, PARTY)))
