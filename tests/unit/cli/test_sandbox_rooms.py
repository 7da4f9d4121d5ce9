"""What `gamekeeper sandbox` lets its games be, from the flags to the games of its pods."""

import io
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reconciler.cli import sandbox
from reconciler.cli.console import Console
from reconciler.cli.sandbox_rooms import HERE, living
from reconciler.sandbox.players.games import CRASHED, Game
from reconciler.sandbox.players.natures import Lie
from reconciler.sandbox.players.troupe import Troupe
from reconciler.service.doors.guesses import address_of
from reconciler.service.doors.networks import Silent

ROOMS = 400
START = 1_800_000_000.0
LATEST_SECONDS = 300.0
"""By then whoever is odd is so."""


def games_of(odd: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Game]:
    """Return the games of that many pods by the command's flags; none has begun to be played."""
    games: list[Game] = []

    async def served(scene: Any, _: str, console: Console) -> None:
        troupes: list[Troupe] = []
        inside = SimpleNamespace(run_with=troupes.append)
        server: Any = SimpleNamespace(sandbox=inside, notice=lambda space, name: None)
        async with living(scene.wanted, server, tmp_path, scene.kubeconfig, console):
            (troupe,) = troupes
            for number in range(ROOMS):
                metadata = {"namespace": "arena", "name": f"arena-{number}", "uid": f"uid-{number}"}
                troupe.start({"metadata": metadata}, START)
            games.extend(room.game for room in troupe._rooms.values())

    monkeypatch.setattr(sandbox, "_serve", served)
    parser = ArgumentParser()
    sandbox.configure(parser)
    words = ["--players", "40", "--rooms-url", "http://127.0.0.1:1", "--odd-rooms", str(odd)]
    words += ["--kubeconfig", str(tmp_path / "kubeconfig")]
    assert sandbox.run(parser.parse_args(words), Console(io.StringIO(), io.StringIO())) == 0
    return games


def end_of(game: Game) -> str:
    """Play a game until all that is odd in it has shown, and say what it is."""
    while (due := game.due) is not None and due <= START + LATEST_SECONDS:
        for saying in game.step(due):
            game.answered(saying, 200, due)
    if game.exit_code is not None:
        return "crashed" if game.exit_code == CRASHED else "ended"
    return "hangs" if game.hung else "well" if game.nature.honest else "lies"


def test_half_of_the_rooms_crash_hang_or_lie_where_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = games_of(50, tmp_path, monkeypatch)
    ends = Counter(map(end_of, games))

    assert ends.keys() == {"well", "crashed", "hangs", "lies"}
    assert ROOMS * 0.4 <= ends["well"] <= ROOMS * 0.6
    assert min(ends.values()) >= ROOMS * 0.1, "each about as often as the others"
    assert {game.nature.lie for game in games} == set(Lie)


@pytest.mark.parametrize(("odd", "well"), [(0, ROOMS), (100, 0)])
def test_none_is_odd_or_all_are(
    odd: int, well: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = Counter(map(end_of, games_of(odd, tmp_path, monkeypatch)))
    assert ends["well"] == well


@pytest.mark.parametrize(
    ("address", "believed"),
    [("127.0.0.1", True), ("127.255.0.9", True), ("126.255.255.255", False), ("10.0.0.1", False)],
)
def test_who_shows_no_token_is_believed_from_this_machine_alone(
    address: str, believed: bool
) -> None:
    networks, peer = Silent.read(HERE).networks, address_of(address)
    assert any(peer in network for network in networks) is believed
