"""Whatever way a fleet came to its specs, it stands as one that began with them (row 8).

Chains of edits are played, each from where the last one left off, with mistakes and specs of which
no room ever stands in between; after each transition all objects are compared with those of a fresh
cluster that got the same files.
"""

import difflib
import random

import pytest
import yaml

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model import labels
from reconciler.model.findings import Severity
from reconciler.model.refs import Json
from tests.loop.shares import share
from tests.loop.spec_mistakes import MISTAKES
from tests.loop.sweeps import part
from tests.loop.transitions import (
    HOPELESS,
    TURNS,
    Chain,
    file_of,
    first_files,
    open_world,
    standing,
)
from tests.loop.world import Process, World, spec
from tests.scorecard import score

CHAINS, TRANSITIONS = 50, 12
"""All chains are 600 transitions."""
ROW = 8
HOPELESS_TURNS = (1, 3, 8, 30)
"""Of two seconds each: until it is seen, begun, failed, failed over and over."""
_FRESH: dict[str, list[str]] = {}


async def _fresh(files: dict[str, str]) -> list[str]:
    """Return what stands where a cluster began with these files."""
    key = yaml.safe_dump(files)
    if key not in _FRESH:
        world, _ = await open_world({**files})
        _FRESH[key] = standing(world)
    return _FRESH[key]


async def _compare(world: World, files: dict[str, str]) -> None:
    wanted, found = await _fresh(files), standing(world)
    if found != wanted:
        texts = ("\n".join(wanted).splitlines(), "\n".join(found).splitlines())
        told = difflib.unified_diff(*texts, "from scratch", "chained", lineterm="", n=4)
        raise AssertionError("\n".join(list(told)[:60]))


def _rooms(world: World) -> set[str]:
    return {pod["metadata"]["uid"] for pod in world.objects("/api/v1/pods")}


def _acts(process: Process, since: int) -> list[str]:
    """Return what a process wrote since then but for its own records."""
    return [call.what for call in process.transport.writes[since:] if not _is_record(call)]


def _is_record(call: Call) -> bool:
    return call.kind == "ConfigMap" and "/namespaces/gamekeeper/" in call.path


async def _refused(world: World, process: Process, path: str, text: str) -> None:
    """Commit a mistake, look at it, and take it back: nothing is written for it but records."""
    known = world.host.branches["main"]
    sound = world.host.commits[known].files.get(path)
    since, rooms = len(process.transport.writes), _rooms(world)
    for step in (text, None if sound is None else sound.decode()):
        world.commit({path: step})
        for _ in range(3):
            await process.turn()
            world.pass_time(2.0)
        if step == text:
            assert _is_told(process, path), f"nothing is told of {path}:\n{text}"
    assert _acts(process, since) == []
    assert _rooms(world) == rooms


async def _hopeless(world: World, process: Process, chain: Chain) -> dict[str, str | None]:
    """Commit a spec of which no room stands, and go on for a while; return what takes it back."""
    chance = chain.chance
    name, what = chance.choice(chain.names()), chance.choice(sorted(HOPELESS))
    world.commit({**chain.hopeless(name, what)})
    for _ in range(chance.choice(HOPELESS_TURNS)):
        await process.turn()
        world.pass_time(2.0)
    score(ROW, specs_that_nothing_fulfils=1)
    return {file_of(name): chain.files[file_of(name)]}


def _is_told(process: Process, path: str) -> bool:
    reading = process.head.reading
    found = reading.findings if reading is not None else ()
    return any(each.file == path and each.severity is Severity.ERROR for each in found)


def _mistaken(text: str, chance: random.Random) -> str:
    document: Json = yaml.safe_load(text)
    MISTAKES[chance.choice(sorted(MISTAKES))](document)
    return yaml.safe_dump(document, sort_keys=False)


@pytest.mark.long
@pytest.mark.parametrize("number", share(range(CHAINS), "transitions"))
async def test_a_fleet_stands_as_one_that_began_with_its_specs(number: int) -> None:
    chance = random.Random(number)
    chain = Chain(chance)
    world, process = await open_world({**chain.files})
    for step in range(TRANSITIONS):
        score(ROW, transitions=1, differ=1)
        if chance.random() < 0.3:
            name = chance.choice(chain.names())
            await _refused(world, process, file_of(name), _mistaken(spec(name, 2), chance))
        before = await _hopeless(world, process, chain) if chance.random() < 0.3 else {}
        # At once with another edit, which may be one of the same spec, or take it away.
        world.commit(before | chain.edit())
        try:
            await world.settle(process, TURNS)
            await _compare(world, chain.files)
        except AssertionError as error:
            files = yaml.safe_dump(chain.files, sort_keys=True)
            raise AssertionError(f"chain {number}, step {step}: {error}\n{files}") from None
        score(ROW, differ=-1)


async def test_a_spec_with_a_mistake_is_refused_before_anything_is_written_for_it() -> None:
    files = first_files()
    world, process = await open_world({**files})
    names = part(sorted(MISTAKES), 12)
    for name in names:
        document: Json = yaml.safe_load(spec("arena", 2))
        MISTAKES[name](document)
        text = yaml.safe_dump(document, sort_keys=False)
        # Of one that stands, and of one that is new.
        for path in (file_of("arena"), file_of("lobby")):
            score(ROW, refused_specs=path == file_of("arena"))
            new = text.replace("name: arena", "name: lobby") if path != file_of("arena") else text
            await _refused(world, process, path, new)
        await _compare(world, files)


def test_there_are_mistakes_enough() -> None:
    assert len(MISTAKES) >= 60


async def test_a_difference_is_seen() -> None:
    files = first_files()
    world, _ = await open_world({**files})
    marks = {"metadata": {"labels": {labels.WORKLOAD: "arena", labels.INSTANCE: "main"}}}
    name = {"metadata": {**marks["metadata"], "name": "left-over"}}
    world.create("/api/v1/namespaces/arena/configmaps", {"apiVersion": "v1", **name})
    with pytest.raises(AssertionError, match="left-over"):
        await _compare(world, files)
