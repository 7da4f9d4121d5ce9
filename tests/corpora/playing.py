"""A story played: real git, the real compiler in its workers, and the loop over the sandbox.

All rooms are full while it is: whoever loses one was thrown out of a match. No virtual time
crosses into git or a worker: it stands still while they are asked.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from reconciler import assets
from reconciler.adapters.compiler.compiler import WorkerCompiler
from reconciler.adapters.compiler.zygote import Zygote
from reconciler.adapters.git.memory import MemoryRepository
from reconciler.adapters.git.memory_host import Files
from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from reconciler.loop import head
from reconciler.loop.tick import tick
from reconciler.model.errors import PortError
from reconciler.model.printable import escaped
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Ears, Heard, Said
from reconciler.ports import Repository
from tests.corpora.stories import Host, content_of
from tests.corpora.used import Gits
from tests.golden.telling import tell
from tests.loop.world import CONFIG, Process, World, spec, turn_as_served

EXPECTED, MADE = "expected.txt", "made.yaml"
CANARY = "canary-5f1d8c02"
"""Stands in files outside every repository; what is told may never hold it."""
STEADY, ARENA = "steady", "arena"
TEMPLATE = "objects/arena/configmap.yaml.j2"
BASE: dict[str, str | None] = {
    "gamekeeper.yaml": CONFIG,
    "schedulers/arena.yaml": spec(ARENA, 3, reports="required"),
    "schedulers/steady.yaml": spec(STEADY, 2, reports="required"),
}
WITH_OBJECTS = BASE | {
    "schedulers/arena.yaml": spec(ARENA, 3, reports="required", objects="objects/arena"),
    TEMPLATE: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: maps}\ndata: {map: canyon}\n",
}
TURNS_TO_LEAVE = 8
"""In so many, of two seconds each, a free room that is not wanted any more is gone."""
NOTHING = Reading("", None, {}, {}, (), (), ())

Look = Callable[[], AbstractContextManager[None]]
"""What surrounds a look at Git."""

UPDATE = os.environ.get("GAMEKEEPER_UPDATE_GOLDEN") == "1"


class FullHouse:
    """Reports of all rooms that there are: they are ready, and once `playing`, full."""

    def __init__(self, world: World) -> None:
        self.world, self.playing = world, False

    def of(self, key: WorkloadKey) -> Ears:
        """Return what the rooms of one workload say."""
        now = self.world.time.now()
        if self.playing:
            heard = Heard(now, said=Said.OCCUPIED, matches=1, players=2, confirmed_at=now)
        else:
            heard = Heard(now, said=Said.READY, confirmed_at=now)
        return Ears(dict.fromkeys(_uids(self.world, key.namespace), heard))

    def of_room(self, key: WorkloadKey, uid: str) -> Ears:
        """Return what all of them say, for they are few."""
        return self.of(key)


def folders(corpus: str) -> list[Path]:
    """Return the folders of a corpus."""
    root = Path(__file__).with_name(corpus)
    return [path for path in sorted(root.iterdir()) if path.is_dir()]


def data_of(case: Path, name: str) -> bytes:
    """Return the file of a case: as it stands, or as `made.yaml` says how to make it."""
    file = case / name
    if file.exists():
        return file.read_bytes()
    return content_of(yaml.safe_load((case / MADE).read_text(encoding="utf-8")))


def held_to(expected: Path, said: str) -> None:
    """Compare what is told with what stands in a file, or write that anew where it is asked for."""
    if UPDATE:
        expected.write_text(said, encoding="utf-8")
    assert said == expected.read_text(encoding="utf-8")


async def told_of_file(path: str, data: bytes, zygote: Zygote, *, full: bool = True) -> str:
    """Let a fleet stand, commit one file, and tell what the loop makes of it."""
    return await _told_of_commit(World(), BASE, {path: data}, zygote, full=full)


async def told_of_template(data: bytes, zygote: Zygote) -> str:
    """Let a fleet stand that has a ConfigMap of its own, commit its template, and tell the same."""
    world = World(kinds=("ConfigMap",))
    return await _told_of_commit(world, WITH_OBJECTS, {TEMPLATE: data}, zygote)


async def _told_of_commit(
    world: World, base: dict[str, str | None], files: Files, zygote: Zygote, *, full: bool = True
) -> str:
    world.commit(base)
    process = await _process(world, MemoryRepository(world.host), zygote)

    def commit() -> None:
        world.host.commit(files, now=world.time.at)

    return await _told(world, process, [("commit", commit)], full=full)


async def told_of_story(story: Iterable[Mapping[str, Any]], folder: Path, zygote: Zygote) -> str:
    """Let a fleet stand, play a story in a real repository, and tell what the loop makes of it."""
    (folder / "canary").write_text(CANARY)
    host, world = Host(folder / "srv", BASE), World()
    gits = Gits(16)
    mirror = Mirror(Source(f"file://{host.bare.path}"), str(folder / "cache"))
    process = await _process(world, mirror, zygote)
    steps = [
        (what, partial(host.play, what, about)) for step in story for what, about in step.items()
    ]
    try:
        with gits:
            said = await _told(world, process, steps, look=gits.look)
    finally:
        await mirror.close()
    gits.judge()
    assert CANARY not in said
    return said.replace(str(folder), "<host>")


async def _told(
    world: World,
    process: Process,
    steps: Iterable[tuple[str, Callable[[], None]]],
    *,
    full: bool = True,
    look: Look = nullcontext,
) -> str:
    house = process.lane.reports = FullHouse(world)
    await world.settle(process)
    house.playing = full
    await process.turn()
    before, steady = {*_uids(world, ARENA), *_uids(world, STEADY)}, _uids(world, STEADY)
    lines = []
    for what, happen in steps:
        happen()
        lines += [f"== {what}", *await _looked(world, process, look)]
        same = "the same" if _uids(world, STEADY) == steady else "NOT THE SAME"
        lines.append(f"{len(world.pods(ARENA))} rooms of {ARENA}; of {STEADY} {same}")
    for _ in range(TURNS_TO_LEAVE):
        await turn_as_served(world, process)
    assert before.issubset({*_uids(world, ARENA), *_uids(world, STEADY)}), "players were thrown out"
    return "\n".join(lines) + "\n"


async def _process(world: World, repository: Repository, zygote: Zygote) -> Process:
    process = Process(world)
    process.head.repository = repository
    process.head.compiler = WorkerCompiler(zygote, assets.templates())
    await process.start()
    return process


async def _looked(world: World, process: Process, look: Look) -> list[str]:
    lines = []
    await process.view.read()
    try:
        with look():
            await head.look(process.head, world.time.now())
    except PortError as error:
        lines.append(f"{type(error).__name__}: {escaped(str(error))}")
    keys = sorted({*process.lane.wanted.keys, *process.view.workloads()})
    report = await tick(process.lane, keys, world.time.now())
    lines += tell(report, process.lane.wanted.holds, process.head.reading)
    lines += _read_as(process)
    world.pass_time(2.0)
    return lines


def _read_as(process: Process) -> Iterator[str]:
    """Yield the values of a new spec by whose types YAML 1.1 and 1.2 differ."""
    for key, workload in (process.head.reading or NOTHING).workloads.items():
        room = workload.template["spec"]["containers"][0]
        if key.name != STEADY and "env" in room:
            labels = workload.template.get("metadata", {}).get("labels")
            values = [each.get("value") for each in room["env"]]
            told = {"game": workload.game, "labels": labels, "values": values}
            yield f"{key.name} reads: {_short(json.dumps(told))}"


def _short(text: str) -> str:
    return text if len(text) <= 400 else f"{text[:200]}… of {len(text)}"


def _uids(world: World, namespace: str) -> list[str]:
    return sorted(pod["metadata"]["uid"] for pod in world.pods(namespace))
