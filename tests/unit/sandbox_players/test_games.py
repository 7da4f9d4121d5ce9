"""Simulated rooms: what they say, to whom, and what is true meanwhile."""

import json
import math
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from reconciler.sandbox.players.games import CRASHED, Game
from reconciler.sandbox.players.natures import Lie, Nature, Voice
from reconciler.sandbox.players.sayings import Saying, Where

WHERE = Where("arena", "arena", "arena-0")
START = 1_800_000_000.0
MATCH = Nature(match_seconds=(60.0, 60.0))
SERVER = replace(MATCH, voice=Voice.COLLECTIONS)


def game(nature: Nature = MATCH) -> Game:
    return Game(WHERE, nature, random.Random(1), START, Where("lobby", "lobby", "lobby-7"))


def played(
    one: Game, seconds: float, status: Callable[[float], int] = lambda at: 200
) -> list[tuple[float, Saying]]:
    """Drive a game; return all that it said, with the seconds since its start."""
    said: list[tuple[float, Saying]] = []
    while (due := one.due) is not None and due <= START + seconds:
        for saying in one.step(due):
            said.append((due - START, saying))
            one.answered(saying, status(due - START), due)
    return said


def body(saying: Saying) -> dict[str, object]:
    value: dict[str, object] = json.loads(saying.body)
    return value


def test_a_maestro_game_pings_every_few_seconds_once_it_is_up() -> None:
    said = played(game(), 13)
    assert [at for at, _ in said] == [2, 7, 12]
    assert {saying.path for _, saying in said} == {"/scheduler/arena/rooms/arena-0/ping"}
    assert {body(saying)["status"] for _, saying in said} == {"ready"}


def test_players_that_come_and_go_are_told_at_once() -> None:
    one = game()
    played(one, 3)
    assert one.join(5, START + 4) == 5
    assert one.occupied_since == START + 4
    said = [(at, body(saying)["status"]) for at, saying in played(one, 66)]
    assert said[0] == (4, "occupied")
    assert (64, "ready") in said
    assert {status for at, status in said if 4 <= at < 64} == {"occupied"}
    assert one.players == 0
    assert one.occupied_since is None


def test_a_room_takes_as_many_players_as_its_matches_have_seats() -> None:
    one = game(replace(MATCH, matches=2, seats=8))
    assert one.join(3, START) == 0, "it is not up yet"
    played(one, 3)
    assert one.join(3, START + 3) == 3
    assert one.join(20, START + 3) == 13
    assert (one.players, len(one.matches)) == (16, 2)


def test_a_game_of_the_collections_reports_on_change_only() -> None:
    one = game(SERVER)
    said = played(one, 600)
    assert [saying.path for _, saying in said] == ["/setsdgshealth", "/setactiveplayers"]
    one.join(3, START + 601)
    said = played(one, 2000)
    assert [(at, saying.players) for at, saying in said] == [(601, 3), (661, 0)]


def test_a_game_that_speaks_both_ways_pings_and_tells_its_changes() -> None:
    one = game(replace(MATCH, voice=Voice.BOTH))
    ping = "/scheduler/arena/rooms/arena-0/ping"
    said = [(at, saying.path) for at, saying in played(one, 8)]
    assert said == [(2, ping), (2, "/setsdgshealth"), (2, "/setactiveplayers"), (4, ping)]
    one.join(3, START + 8.5)
    told = [(at, saying.path, saying.players) for at, saying in played(one, 12)]
    assert told == [(8.5, ping, 3), (8.5, "/setactiveplayers", 3), (10.5, ping, 3)]


def test_a_game_of_the_collections_repeats_what_was_not_taken_in() -> None:
    one = game(SERVER)
    played(one, 10)
    one.join(3, START + 11)
    said = played(one, 30, lambda at: 503 if at < 15 else 200)
    assert [(at, saying.players) for at, saying in said] == [(11, 3), (13, 3), (15, 3)]


def test_a_crash_throws_everybody_out_and_says_nothing() -> None:
    one = game(replace(MATCH, crash_after_seconds=20.0))
    played(one, 10)
    one.join(3, START + 10)
    said = played(one, 100)
    assert max(at for at, _ in said) < 20
    assert (one.exit_code, one.players, one.due) == (CRASHED, 0, None)


def test_a_game_that_hangs_is_silent_with_its_players_inside() -> None:
    one = game(replace(MATCH, hang_after_seconds=20.0))
    played(one, 18)
    one.join(3, START + 18)
    assert max(at for at, _ in played(one, 60)) < 20
    assert one.players == 3
    one.recover(START + 61)
    assert body(played(one, 61)[0][1])["status"] == "occupied"


def test_a_game_that_is_stopped_says_so_and_ends() -> None:
    one = game()
    played(one, 10)
    one.stop(START + 10)
    one.stop(START + 10.5)
    said = played(one, 30)
    assert [(at, body(saying)["status"]) for at, saying in said] == [(10, "terminating")]
    assert one.exit_code == 0
    assert one.join(1, START + 12) == 0


def _number(saying: Saying) -> float:
    return float(str(body(saying)["runningMatches"]))


@pytest.mark.parametrize(
    ("lie", "shows"),
    [
        pytest.param(Lie.NAN, lambda said: math.isnan(_number(said[0])), id="NaN"),
        pytest.param(Lie.NEGATIVE, lambda said: _number(said[0]) < 0, id="negative"),
        pytest.param(Lie.HUGE, lambda said: _number(said[0]) > 1e29, id="huge"),
        pytest.param(Lie.EMPTY, lambda said: body(said[0])["status"] == "ready", id="empty"),
        pytest.param(Lie.OTHER_ROOM, lambda said: "lobby-7" in said[0].path, id="another's name"),
        pytest.param(Lie.GARBAGE, lambda said: said[0].body.endswith(b"rea"), id="garbage"),
        pytest.param(
            Lie.FLIPPING,
            lambda said: len({body(each)["status"] for each in said[:2]}) == 2,
            id="flipping",
        ),
    ],
)
def test_a_liar_lies(lie: Lie, shows: Callable[[list[Saying]], bool]) -> None:
    one = game(replace(MATCH, lie=lie))
    one.join(3, START + 2)
    assert one.players == 3
    assert shows([saying for _, saying in played(one, 10)])


@pytest.mark.parametrize("voice", Voice)
def test_a_seed_is_the_same_game_each_time(voice: Voice) -> None:
    def told() -> list[tuple[float, bytes]]:
        one = game(Nature(voice=voice))
        played(one, 5)
        one.join(4, START + 5)
        return [(at, saying.body) for at, saying in played(one, 400)]

    assert told() == told()
    assert told()


def test_a_game_that_loads_its_map_says_nothing_until_it_is_loaded() -> None:
    one = game(replace(MATCH, loads_seconds=12.0))
    played(one, 3)
    assert one.join(5, START + 4) == 5
    said = [(at, body(saying)["status"]) for at, saying in played(one, 22)]
    assert said == [(16, "occupied"), (21, "occupied")]


def test_a_game_gives_up_a_count_after_so_many_tries_and_says_the_next_one() -> None:
    one = game(replace(SERVER, gives_up_after=3, retry_seconds=5.0))
    played(one, 3)
    assert one.join(5, START + 4) == 5
    said = played(one, 60, lambda at: 503)
    assert [at for at, _ in said] == [4, 9, 14]
    assert one.gave_up
    assert [(at, saying.players) for at, saying in played(one, 80)] == [(64, 0)]
    assert not one.gave_up


def test_a_game_that_was_never_heard_does_not_give_up() -> None:
    one = game(replace(SERVER, gives_up_after=3))
    assert len(played(one, 20, lambda at: 503)) > 3
    assert not one.gave_up
