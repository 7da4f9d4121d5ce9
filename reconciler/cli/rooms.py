"""`gamekeeper rooms`: every room, what it is, where it runs, and whether it leaves."""

import asyncio
import json
import time
from argparse import ArgumentParser, Namespace

from reconciler.cli.console import Console
from reconciler.cli.options import add_output, add_settings, settings_of
from reconciler.cli.output import print_json, print_yaml
from reconciler.cli.progress import Progress
from reconciler.cli.room_follow import follow
from reconciler.cli.room_names import namespace_in, of_workload
from reconciler.cli.room_reading import SeenRoom, read_around, read_pods, see, with_api
from reconciler.cli.room_text import Table, as_json
from reconciler.cli.rooms_api import add_api, api_of
from reconciler.model.refs import WorkloadKey
from reconciler.settings import Settings
from reconciler.wiring.clusters import make_cluster

EXAMPLE = """\
gamekeeper rooms --instance main
gamekeeper rooms arena --watch --instance main
gamekeeper rooms --instance main --output json"""


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "workload",
        metavar="WORKLOAD",
        nargs="?",
        default="",
        help="only rooms of this one: NAME, NAMESPACE/NAME or KIND/NAME",
    )
    parser.add_argument(
        "-w", "--watch", action="store_true", help="go on, and print each room that changes"
    )
    add_output(parser, "text", "json", "yaml")
    add_api(parser)
    add_settings(parser, "identity", "cluster")


def run(arguments: Namespace, console: Console) -> int:
    """Print the rooms."""
    settings = settings_of(arguments, console.environment)
    return asyncio.run(_rooms(arguments, settings, console))


async def _rooms(arguments: Namespace, settings: Settings, console: Console) -> int:
    api = api_of(arguments, console.environment)
    cluster = make_cluster(settings)
    try:
        async with Progress(console, "reading the cluster"):
            namespace = namespace_in(arguments.workload)
            pods, around = await asyncio.gather(
                read_pods(cluster, settings.instance, namespace), read_around(cluster, settings)
            )
            keys = {key for key, _ in pods} | around.states.keys()
            only = of_workload(arguments.workload, keys) if arguments.workload else None
            around = await with_api(around, api, only)
        for note in around.notes:
            console.note(note)
        rooms = _only(see(pods, around), only)
        table = Table(console, grows=arguments.watch)
        _show(console, arguments.output, rooms, table, watch=arguments.watch)
        if arguments.watch:
            seen = {room.name: room for room in rooms}
            async for room, gone in follow(cluster, settings, around, api, seen, only):
                if only in (None, room.key):
                    _show_one(console, arguments.output, room, table, gone=gone)
    finally:
        await cluster.close()
    return 0


def _only(rooms: list[SeenRoom], key: WorkloadKey | None) -> list[SeenRoom]:
    return [room for room in rooms if key in (None, room.key)]


def _show(
    console: Console, output: str, rooms: list[SeenRoom], table: Table, *, watch: bool
) -> None:
    if output == "text":
        table.print(rooms, time.time())
    elif watch:
        for room in rooms:
            _show_one(console, output, room, table, gone=False)
    else:
        value = {"rooms": [as_json(room, time.time()) for room in rooms]}
        print_json(console, value) if output == "json" else print_yaml(console, [value])


def _show_one(console: Console, output: str, room: SeenRoom, table: Table, *, gone: bool) -> None:
    """Print one room of a watch: a row, a line of JSON, or a YAML document."""
    if output == "text":
        table.add(room, time.time(), gone=gone)
    else:
        value = {"type": "gone" if gone else "room", "room": as_json(room, time.time())}
        if output == "json":
            console.print(json.dumps(value, ensure_ascii=False))
        else:
            print_yaml(console, [value])
    console.out.flush()
