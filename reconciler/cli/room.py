"""`gamekeeper room`: all that is known of one room."""

import asyncio
import time
from argparse import ArgumentParser, Namespace

from reconciler.cli.console import Console
from reconciler.cli.options import add_output, add_settings, settings_of
from reconciler.cli.output import print_json, print_yaml
from reconciler.cli.progress import Progress
from reconciler.cli.room_detail import detail_json, detail_lines
from reconciler.cli.room_names import gone, namespace_in, of_room
from reconciler.cli.room_reading import Around, SeenRoom, read_around, read_pods, see, with_api
from reconciler.cli.rooms_api import add_api, api_of
from reconciler.settings import Settings
from reconciler.wiring.clusters import make_cluster

EXAMPLE = """\
gamekeeper room arena-7 --instance main
gamekeeper room arena/arena-7 --instance main --output yaml"""


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_room(parser)
    add_output(parser, "text", "json", "yaml")
    add_api(parser)
    add_settings(parser, "identity", "cluster")


def add_room(parser: ArgumentParser) -> None:
    """Add `ROOM`."""
    parser.add_argument(
        "room", metavar="ROOM", help="NAMESPACE/NAME, or NAME where only one room has it"
    )


def run(arguments: Namespace, console: Console) -> int:
    """Print one room."""
    settings = settings_of(arguments, console.environment)
    api = api_of(arguments, console.environment)
    now = time.time()
    room, around = asyncio.run(_read(arguments.room, settings, api, console))
    if arguments.output == "json":
        print_json(console, detail_json(room, around, now))
    elif arguments.output == "yaml":
        print_yaml(console, [detail_json(room, around, now)])
    else:
        for note in around.notes:
            console.note(note)
        for line in detail_lines(room, around, now):
            console.print(line)
    return 0


async def _read(
    word: str, settings: Settings, api: tuple[str, str], console: Console
) -> tuple[SeenRoom, Around]:
    cluster = make_cluster(settings)
    try:
        async with Progress(console, "reading the cluster"):
            # Before the pods, as `gone` wants it.
            around = await read_around(cluster, settings)
            pods = await read_pods(cluster, settings.instance, namespace_in(word))
            rooms = see(pods, around)
            was = await gone(cluster, settings.instance, word, rooms, around.numbers)
            known = of_room(word, rooms, was)
            around = await with_api(around, api, known.key)
        return of_room(word, see(pods, around)), around
    finally:
        await cluster.close()
