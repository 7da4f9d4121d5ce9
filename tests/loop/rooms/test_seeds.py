"""One seed is one run, wherever and after whatever it is played."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaign.pieces import MOST_SEEDS
from tests.loop.rooms import seeds
from tests.loop.rooms.seeds import replays, seeds_of
from tests.loop.rooms.test_rooms_weather import play
from tests.loop.shares import share
from tests.loop.taming import tame
from tests.loop.virtual_time import in_virtual_time
from tests.scorecard import score

SEED, ANOTHER = 3, 4
REPLAYED = 100
ALONE = """
import json, sys, pytest
from tests.loop.rooms.test_seeds import played
with pytest.MonkeyPatch.context() as patch:
    json.dump(played(patch, int(sys.argv[1])), sys.stdout)
"""


def played(patch: pytest.MonkeyPatch, seed: int) -> list[str]:
    """Play one seed; return its trace."""
    tame(patch)
    return in_virtual_time(play(seed))


def _alone(seed: int) -> list[str]:
    """Play it in a process of its own, in which hashes of texts are others."""
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    done = subprocess.run(
        (sys.executable, "-c", ALONE, str(seed)),
        cwd=Path(__file__).parents[3],
        env=environment,
        capture_output=True,
        check=True,
    )
    trace: list[str] = json.loads(done.stdout)
    return trace


@pytest.mark.long
@pytest.mark.parametrize("seed", share(range(REPLAYED), "replays"), ids=lambda seed: f"seed-{seed}")
def test_a_seed_is_the_same_run_alone_and_after_others(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    score(6, replays=1, replays_that_differ=1)
    played(monkeypatch, ANOTHER)
    assert played(monkeypatch, seed) == _alone(seed)
    score(6, replays_that_differ=-1)


@pytest.mark.long
def test_two_seeds_are_two_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert played(monkeypatch, SEED) != played(monkeypatch, ANOTHER)


def test_a_group_of_tasks_ends_in_the_order_in_which_they_were_made() -> None:
    ended: list[int] = []

    async def wait(number: int) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(number)

    async def main() -> None:
        async with asyncio.timeout(1.0), asyncio.TaskGroup() as group:
            for number in range(50):
                group.create_task(wait(number))

    with pytest.raises(TimeoutError):
        in_virtual_time(main())
    assert ended == list(range(50))


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("3", [0, 1, 2]), ("150-152", [150, 151, 152]), ("240-240", [240])],
)
def test_seeds_are_as_many_as_are_asked_for_or_the_ones_that_are_named(
    text: str, seeds: list[int]
) -> None:
    assert list(seeds_of(text)) == seeds


def test_fresh_seeds_are_those_of_the_program_and_none_of_the_campaign(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = seeds_of("0-2+3")
    assert drawn == seeds_of("0-2+3")
    assert drawn[:3] == [0, 1, 2]
    assert drawn[3] >= MOST_SEEDS
    assert drawn[3:] == [drawn[3], drawn[3] + 1, drawn[3] + 2]
    monkeypatch.setattr(seeds, "seed_of_the_program", lambda below: 7)
    assert seeds_of("1-1+2") == [1, seeds.FRESH[7], seeds.FRESH[8]]


def test_a_seed_that_failed_is_named_with_what_plays_it_again() -> None:
    failed = [
        "tests/loop/rooms/test_rooms_weather.py::test_nobody[seed-240]",
        "tests/loop/test_watch_faults.py::test_another[seed-7]",
    ]
    (command,) = replays(failed)
    assert command.startswith("GAMEKEEPER_SEEDS=240-240 ")
    assert command.endswith("test_rooms_weather.py -k seed-240")
