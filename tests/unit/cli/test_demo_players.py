"""Whether a match of the demo had to wait is told as it was: a slow machine may be late."""

import asyncio
from typing import Any, cast

import pytest

from reconciler.cli import demo_players
from reconciler.cli.demo_players import Players
from reconciler.cli.demo_stage import Stage
from reconciler.model import labels
from reconciler.model.rooms import Mark


def room(number: int, state: Mark = Mark.IDLE) -> dict[str, Any]:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    return {
        "metadata": {"name": f"harbor-{number}", "labels": {labels.STATE: state}},
        "status": ready,
    }


class Looks:
    """Shows the players one row of rooms after the other, and then ends them."""

    def __init__(self, *rows: list[dict[str, Any]]) -> None:
        self._rows = iter(rows)

    async def ready_rooms(self, namespace: str) -> list[dict[str, Any]]:
        row = next(self._rows, None)
        if row is None:
            raise asyncio.CancelledError
        return row


@pytest.mark.parametrize(
    ("rows", "waited"),
    [
        pytest.param([[room(0), room(1)]], False, id="a room for each"),
        pytest.param([[room(0)], [room(0), room(1)]], True, id="one came too late"),
        pytest.param([[room(0), room(1, Mark.BUSY)]], True, id="others play there"),
    ],
)
def test_a_match_waits_where_no_room_is_free_when_it_comes(
    monkeypatch: pytest.MonkeyPatch, rows: list[list[dict[str, Any]]], waited: bool
) -> None:
    monkeypatch.setattr(demo_players, "PING_SECONDS", 0.0)

    async def play() -> bool:
        stage = cast(Stage, Looks(*rows))
        players = Players(stage, "http://127.0.0.1:9", "harbor")  # no room is heard there
        players.matches = 2
        with pytest.raises(asyncio.CancelledError):
            await players.run()
        return players.waited

    assert asyncio.run(play()) is waited
