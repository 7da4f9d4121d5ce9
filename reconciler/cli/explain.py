"""`gamekeeper explain`: why a room or a workload is as it is, and what happens to it next."""

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass

from reconciler.cli.console import Console
from reconciler.cli.count_reading import read_story
from reconciler.cli.explain_count import CountStory
from reconciler.cli.explain_room import room_json, room_lines
from reconciler.cli.explain_workload import workload_json, workload_lines
from reconciler.cli.explained import Explained
from reconciler.cli.failures import Failure
from reconciler.cli.options import add_output, add_settings, settings_of
from reconciler.cli.output import print_json, print_yaml
from reconciler.cli.progress import Progress
from reconciler.cli.room_names import (
    gone,
    names_of,
    of_room,
    of_workload,
    rooms_of,
    unknown,
)
from reconciler.cli.room_reading import SeenRoom, read_around, see, with_api
from reconciler.cli.rooms_api import add_api, api_of
from reconciler.cli.status import read_records, read_sighting
from reconciler.cli.statuses import status_of
from reconciler.loop import head
from reconciler.loop.preview import plan_stands
from reconciler.model.live import LivePod
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import NO_EARS, Ears, Heard
from reconciler.ports import Repository
from reconciler.service.lookout import Sighting
from reconciler.settings import Settings
from reconciler.wiring.clusters import OneCluster, make_one_cluster
from reconciler.wiring.compilers import make_compiler
from reconciler.wiring.permits import ceiling_of
from reconciler.wiring.repositories import make_checkout, make_head_lane

EXAMPLE = """\
gamekeeper explain arena --instance main
gamekeeper explain arena/arena-7 --instance main"""


@dataclass(frozen=True, slots=True)
class Known:
    """What rooms said, as far as this command can know it: `ports.Reports`."""

    ears: Mapping[WorkloadKey, Ears]

    def of(self, key: WorkloadKey) -> Ears:
        """Return what is heard of one workload."""
        return self.ears.get(key, NO_EARS)

    def of_room(self, key: WorkloadKey, uid: str) -> Ears:
        """Return the same: nobody is removed here."""
        return self.of(key)


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "word",
        metavar="ROOM|WORKLOAD",
        help="a room as NAMESPACE/NAME or NAME, or a workload as NAME, NAMESPACE/NAME or KIND/NAME",
    )
    add_output(parser, "text", "json", "yaml")
    add_api(parser)
    add_settings(parser, "identity", "cluster", "path")


def run(arguments: Namespace, console: Console) -> int:
    """Explain; nothing is written."""
    settings = settings_of(arguments, console.environment)
    api = api_of(arguments, console.environment)
    explained, room, now = asyncio.run(_read(arguments.word, settings, api, console))
    if arguments.output == "text":
        lines = room_lines(explained, room, now) if room else workload_lines(explained, now)
        for line in lines:
            console.print(line)
        return 0
    value = room_json(explained, room, now) if room else workload_json(explained, now)
    print_json(console, value) if arguments.output == "json" else print_yaml(console, [value])
    return 0


async def _read(
    word: str, settings: Settings, api: tuple[str, str], console: Console
) -> tuple[Explained, SeenRoom | None, float]:
    """Return what is explained, and when it was read (by the API server's clock)."""
    compiler = make_compiler()
    try:
        one = make_one_cluster(settings, may_write=lambda: False)
        repository = make_checkout(".", settings)
        try:
            async with Progress(console, "reading the cluster"):
                # Before the pods, as `gone` wants it.
                around = await read_around(one.cluster, settings)
                seen, _, _ = await asyncio.gather(
                    read_sighting(one, settings), one.view.read(), read_records(one)
                )
                keys = [*one.lane.store.states(), *one.view.workloads()]
                rooms = see(_pods(one), around)
                was = await gone(one.cluster, settings.instance, word, rooms, around.numbers)
                only, _ = _meant(word, rooms, keys, was)
                around = await with_api(around, api, only)
                rooms = see(_pods(one), around)
                key, room = _meant(word, rooms, keys, was)
                one.lane.reports = Known(_ears(rooms))
                # What stands on record is what the loop acts on: Git need not be asked.
                lane = make_head_lane(settings, one.lane, compiler, repository)
                now = one.clock.now()
                await head.resume(lane, now)
                plan = await plan_stands(one.lane, key, now)
                story = None if room else await _story(one, settings, key, repository, seen)
            status = status_of(one.lane, (key,), seen, now)
            mine = next(each for each in status.workloads if each.key == key)
            there = tuple(each for each in rooms if each.key == key)
            asked = bool(api[0])
            return Explained(mine, seen, there, around, plan, asked, story), room, now
        finally:
            await repository.close()
            await one.cluster.close()
    finally:
        await compiler.close()


async def _story(
    one: OneCluster, settings: Settings, key: WorkloadKey, here: Repository, seen: Sighting | None
) -> CountStory | None:
    now, ceiling = one.clock.now(), ceiling_of(settings)
    return await read_story(one.lane, one.lane.situation(key), here, seen, ceiling, now)


def _pods(one: OneCluster) -> list[tuple[WorkloadKey, LivePod]]:
    return [(key, pod) for key in one.view.workloads() for pod in one.view.of(key).pods]


def _ears(rooms: list[SeenRoom]) -> dict[WorkloadKey, Ears]:
    heard: dict[WorkloadKey, dict[str, Heard]] = {}
    for room in rooms:
        if room.heard is not None:
            heard.setdefault(room.key, {})[room.pod.uid] = room.heard
    return {key: Ears(said) for key, said in heard.items()}


def _meant(
    word: str, rooms: list[SeenRoom], keys: list[WorkloadKey], was: Failure | None
) -> tuple[WorkloadKey, SeenRoom | None]:
    """Return the workload that a word means, with the room where it means one.

    `was` is what `gone` tells of it.
    """
    of_rooms = rooms_of(word, rooms)
    of_keys = [key for key in set(keys) if word in names_of(key)]
    if of_rooms and of_keys:
        ways = [room.name for room in of_rooms] + [names_of(key)[-1] for key in of_keys]
        raise Failure(f'"{word}" is a room and a workload', fix=f"Write one of {', '.join(ways)}")
    if of_keys:
        return of_workload(word, keys), None
    if not of_rooms:
        names = [*(key.name for key in keys), *(room.pod.name for room in rooms)]
        fix = "gamekeeper status lists the workloads, gamekeeper rooms their rooms"
        raise was or unknown("workload and no room", word, names, "workloads", fix)
    room = of_room(word, rooms)
    return room.key, room
