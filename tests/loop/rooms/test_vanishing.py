"""What is wanted vanishes, in each way that we know of: no room goes, and it is told at once.

Some rooms are full and some are free: a free room would go at once if its spec were taken for
deleted. A process dies meanwhile, so that the next one begins with what is on record alone.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator

import pytest
import yaml

from reconciler.model.errors import Unavailable
from tests.loop.rooms.matches import PIECES, full, in_match, marks
from tests.loop.sweeps import part
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import CONFIG, World
from tests.scorecard import score

FREE = 1
ROOMS = sum(piece.rooms for piece in PIECES)
TICK_SECONDS = 65.0
"""How long a look at Git may be away: a poll of a minute, and the look itself."""
SPECS = {piece.file: piece.text(piece.rooms, 1) for piece in PIECES}
ARENA, LOBBY = "schedulers/arena.yaml", "schedulers/lobby.yaml"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 900\n".format("4d" * 32)
RECORDS = "/api/v1/namespaces/gamekeeper/configmaps"

Way = Callable[[World], object]


def _commit(**changes: str | bytes | None) -> Way:
    """Commit files: `arena`, `lobby` and `duel` are specs, `config` is the Config."""
    paths = {"config": "gamekeeper.yaml"}
    files = {paths.get(name, f"schedulers/{name}.yaml"): text for name, text in changes.items()}
    return lambda world: world.host.commit(files, now=world.time.at)


def _files(files: dict[str, str | bytes | None]) -> Way:
    return lambda world: world.host.commit(files, now=world.time.at)


def _config(**spec: object) -> str:
    return yaml.safe_dump({"apiVersion": "gamekeeper.dev/v1", "kind": "Config", "spec": spec})


def _arena(**changes: str) -> str:
    """The arena's spec with words replaced."""
    text = SPECS[ARENA]
    for before, after in changes.items():
        changed = text.replace(before.replace("_", ": "), after)
        assert changed != text, before
        text = changed
    return text


def _rewritten(files: dict[str, str]) -> Way:
    return lambda world: world.host.rewrite(files)


def _to_the_beginning(world: World) -> None:
    """Force-push the branch back to its first commit, which had no specs."""
    tip = world.host.branches["main"]
    first = next(each for each in world.host.ancestors(tip) if not world.host.commits[each].parents)
    world.host.branch("main", first)


def _branch_gone(world: World) -> None:
    del world.host.branches["main"]


def _records_gone(world: World) -> None:
    """Lose all that is on record, while all specs are gone too."""
    _files(dict.fromkeys(SPECS))(world)
    for each in world.objects(RECORDS):
        world.delete(f"{RECORDS}/{each['metadata']['name']}")


def _host_fails(world: World) -> None:
    world.host.fault = Unavailable("the Git host answers with a page of HTML")


def _one_a_commit(world: World) -> None:
    """Take the specs out in as many commits: who looks after all of them sees one difference."""
    for path in SPECS:
        world.host.commit({path: None}, now=world.time.at)


WAYS: dict[str, Way] = {
    "every spec is deleted": _files(dict.fromkeys(SPECS)),
    "every spec is deleted, one a commit": _one_a_commit,
    "every file is deleted": _files({**dict.fromkeys(SPECS), "gamekeeper.yaml": None}),
    "the last commit empties every file": _files(dict.fromkeys([*SPECS, "gamekeeper.yaml"], "")),
    "the Config is deleted with the specs": _commit(arena=None, lobby=None, config=None),
    "paths name a directory that is not there": _commit(config=_config(paths=["fleets"])),
    "paths name a directory of other things": _files(
        {"gamekeeper.yaml": _config(paths=["docs"]), "docs/fleet.yaml": "# to be written\n"}
    ),
    "the directory is renamed, and paths are not": _files(
        dict.fromkeys(SPECS) | {f"fleets/{path}": text for path, text in SPECS.items()}
    ),
    "the Config is broken while a spec goes": _commit(config="spec: [", arena=None),
    "the Config becomes a spec of another kind": _commit(
        config=CONFIG.replace("Config", "ConfigMap"), arena=None
    ),
    "a spec is saved empty": _commit(arena=""),
    "a spec is all comments": _commit(
        arena="".join(f"# {line}\n" for line in SPECS[ARENA].splitlines())
    ),
    "a spec is cut off in the middle": _commit(arena=SPECS[ARENA][: len(SPECS[ARENA]) // 2]),
    "a spec has marks of a merge": _commit(
        arena=f"<<<<<<< HEAD\n{SPECS[ARENA]}=======\n{SPECS[LOBBY]}>>>>>>> fleet\n"
    ),
    "a spec is a pointer of LFS": _commit(arena=POINTER),
    "every spec is a pointer of LFS": _commit(arena=POINTER, lobby=POINTER, duel=POINTER),
    "a spec is saved as UTF-16": _commit(arena=SPECS[ARENA].encode("utf-16")),
    "a spec is bytes": _commit(arena=bytes(range(256)) * 8),
    "a spec is one of a later version": _commit(
        arena=_arena(apiVersion_gamekeeper="apiVersion: x")
    ),
    "every spec is of a kind that is not known": _files(
        {path: text.replace("\nkind: ", "\nkind: Old") for path, text in SPECS.items()}
    ),
    "a name is mistyped": _commit(arena=_arena(name_arena="name: arenna")),
    "a kind is mistaken": _commit(
        arena=_arena(kind_Scheduler="kind: Fleet", **{"  matches:\n    max: 1\n": ""})
    ),
    "a spec loses its name": _commit(arena=_arena(name_arena="title: arena")),
    "a file gets another ending": _files({ARENA: None, "schedulers/arena.txt": SPECS[ARENA]}),
    "a file moves out of the paths": _files({ARENA: None, "arena.yaml": SPECS[ARENA]}),
    "all specs in a List": _files(
        dict.fromkeys(SPECS)
        | {
            "schedulers/all.yaml": yaml.safe_dump(
                {
                    "apiVersion": "v1",
                    "kind": "List",
                    "items": [yaml.safe_load(text) for text in SPECS.values()],
                }
            )
        }
    ),
    "a count becomes 0": _commit(arena=_arena(replicas_5="replicas: 0")),
    "a count becomes 1": _commit(arena=_arena(replicas_5="replicas: 1")),
    "a count becomes nothing": _commit(arena=_arena(replicas_5="replicas:")),
    "a forced push of another project": _rewritten({"README.md": "another project\n"}),
    "a forced push of nothing": _rewritten({}),
    "a forced push without one spec": _rewritten(
        {"gamekeeper.yaml": CONFIG, **{path: SPECS[path] for path in (ARENA, LOBBY)}}
    ),
    "a forced push back to the beginning": _to_the_beginning,
    "the branch is deleted": _branch_gone,
    "the repository is gone": lambda world: world.host.vanish(),
    "the credentials are refused": lambda world: world.host.denied(),
    "the host does not answer": lambda world: world.host.down(),
    "the host answers with something else": _host_fails,
    "what is on record is lost, and the specs": _records_gone,
}


def _warnings(caplog: pytest.LogCaptureFixture) -> Iterator[str]:
    for each in caplog.records:
        if each.name.startswith("gamekeeper") and each.levelno >= logging.WARNING:
            yield each.getMessage()


@pytest.mark.long
@pytest.mark.parametrize("way", part(list(WAYS), 10))
def test_what_vanishes_takes_no_room_along_and_is_told(
    way: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with in_match(free=FREE) as (there, _):
            before, playing = set(marks(there)), full(there)
            assert len(before) == ROOMS
            assert playing < before
            caplog.clear()
            WAYS[way](there.world)
            await asyncio.sleep(TICK_SECONDS)
            untold = not list(_warnings(caplog))
            await asyncio.sleep(120.0)
            await there.services[-1].kill()
            there.start("process-1")
            await asyncio.sleep(300.0)
            gone = before - set(marks(there))
            leaving = [mark for mark in marks(there).values() if mark == "draining"]
            score(11, ways=1, rooms_lost=len(gone), rooms_leaving=len(leaving), untold=untold)
            assert not gone
            assert not leaving
            assert playing <= full(there)
            assert not untold, "nobody was told within a tick"

    in_virtual_time(main())


def test_there_are_ways_enough() -> None:
    assert len(WAYS) >= 20
