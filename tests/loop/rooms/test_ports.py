"""No two rooms get one host port of a node, though the scheduler does not look at host ports.

One that does keeps every clash from the nodes, whatever we ask for: here our choice alone does.
"""

import asyncio
import re
from collections import Counter
from dataclasses import replace

import pytest

from reconciler.core import creations, grounds, host_ports
from reconciler.sandbox.controllers.rooms import Room
from reconciler.sandbox.kinds import POD
from tests.loop.planting import Plant, caught
from tests.loop.rooms.matches import PIECES, in_match, marks
from tests.loop.rooms.wishes import CONFIG
from tests.loop.virtual_time import in_virtual_time

WIDE = tuple(replace(piece, more={"portRange": {"end": 7199}}) for piece in PIECES)
"""Never so many rooms that a port must be asked for twice."""
ROOMS = 7


async def _grow_roll_out_and_follow() -> None:
    """Scale out, give every free room another image, and let another process make the last."""
    async with in_match(WIDE, free=2, config=CONFIG) as (there, wish):
        for image in (1, 2):
            for piece in WIDE:
                wish.change(piece.name, ROOMS, image)
            await there.until("rooms", lambda: len(marks(there)) >= ROOMS * len(WIDE), 120.0)
            await asyncio.sleep(60.0)
        await there.services[0].kill()
        there.start("another")
        for piece in WIDE:
            wish.change(piece.name, ROOMS + 2, 2)
        more = (ROOMS + 2) * len(WIDE)
        await there.until("more rooms", lambda: len(marks(there)) >= more, 120.0)
        pods = there.world.sandbox.world.store.shelves[POD].objects.values()
        nodes = {pod.fields[0] for pod in pods if pod.fields[0]}
        assert len(nodes) < more, "no two rooms share a node"


def _one_for_all(patch: pytest.MonkeyPatch) -> None:
    first = host_ports.choose_for
    patch.setattr(
        host_ports,
        "choose_for",
        lambda workload, rooms, ground: first(workload, 1, ground) * rooms,
    )


def _nobody_uses_any(patch: pytest.MonkeyPatch) -> None:
    ground_of = grounds.ground_of
    patch.setattr(
        creations,
        "ground_of",
        lambda situation, workload: replace(ground_of(situation, workload), in_use=Counter()),
    )


PLANTED = [
    pytest.param(_one_for_all, id="all rooms of a batch get one port"),
    pytest.param(_nobody_uses_any, id="ports in use are not looked at"),
]


def test_rooms_that_come_and_go_never_share_a_port_of_a_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Room, "clashes", lambda self, need: False)
    in_virtual_time(_grow_roll_out_and_follow())


@pytest.mark.parametrize("plant", PLANTED)
def test_two_rooms_with_one_port_are_caught(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Room, "clashes", lambda self, need: False)
    said = ""
    with caught(plant, monkeypatch):
        try:
            in_virtual_time(_grow_roll_out_and_follow())
        except AssertionError as error:
            said = str(error)
            raise
    assert re.search(r" and \S+ have 7\d\d\d/UDP on ", said), said
