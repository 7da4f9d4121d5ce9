"""`gamekeeper logs`: what a room prints."""

import asyncio
import codecs
from argparse import ArgumentParser, Namespace

from reconciler.cli.console import Console
from reconciler.cli.options import add_own, add_settings, own_of, settings_of
from reconciler.cli.progress import Progress
from reconciler.cli.room import add_room
from reconciler.cli.room_names import namespace_in, of_room
from reconciler.cli.room_reading import Around, read_pods, see
from reconciler.model.refs import Json, ObjectRef
from reconciler.ports import Cluster
from reconciler.setting_rows import Row
from reconciler.settings import Settings
from reconciler.wiring.clusters import make_cluster

EXAMPLE = """\
gamekeeper logs arena-7 --instance main
gamekeeper logs arena/arena-7 --follow --tail 20 --container game --instance main"""

FOLLOW = Row(
    "follow", bool, False, "", "go on until the container ends", command="logs", short="-f"
)
TAIL = Row(
    "tail", int, -1, "", "only so many of the last lines (-1: all)", least=-1, command="logs"
)
CONTAINER = Row(
    "container", str, "", "", "whose log (default: the first)", command="logs", short="-c"
)
DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_room(parser)
    add_own(parser, FOLLOW, TAIL, CONTAINER)
    add_settings(parser, "instance", "cluster")


def run(arguments: Namespace, console: Console) -> int:
    """Print the log."""
    settings = settings_of(arguments, console.environment)
    return asyncio.run(_logs(arguments, settings, console))


async def _logs(arguments: Namespace, settings: Settings, console: Console) -> int:
    environment = console.environment
    tail = own_of(arguments, environment, TAIL)
    cluster = make_cluster(settings)
    try:
        async with Progress(console, "looking for the room"):
            ref = await _ref(cluster, settings, arguments.room)
            container = own_of(arguments, environment, CONTAINER)
            container = container or await _first(cluster, ref, console)
        chunks = cluster.logs(
            ref,
            container,
            follow=own_of(arguments, environment, FOLLOW),
            tail=None if tail < 0 else tail,
        )
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        line = ""
        try:
            async for chunk in chunks:
                *lines, line = (line + decoder.decode(chunk)).split("\n")
                for each in lines:
                    console.print(each)
                console.out.flush()
        finally:  # also of a log that breaks off, or that nobody waits for any more
            if line:
                console.print(line)
    finally:
        await cluster.close()
    return 0


async def _ref(cluster: Cluster, settings: Settings, word: str) -> ObjectRef:
    pods = await read_pods(cluster, settings.instance, namespace_in(word))
    pod = of_room(word, see(pods, Around())).pod
    return ObjectRef("v1", "Pod", pod.namespace, pod.name)


async def _first(cluster: Cluster, ref: ObjectRef, console: Console) -> str:
    """Return the container that is meant where none is named, and say so where it has others."""
    pod: Json = await cluster.get(ref) or {}
    names = [each["name"] for each in pod.get("spec", {}).get("containers", ())]
    if len(names) < 2:
        return ""
    notes = pod["metadata"].get("annotations") or {}
    chosen = notes.get(DEFAULT_CONTAINER, names[0])
    others = ", ".join(name for name in names if name != chosen)
    console.note(f"container {chosen}; --container names another one: {others}")
    return str(chosen)
