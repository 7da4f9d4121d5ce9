"""`gamekeeper drain`: ask rooms to leave, or take that back; nobody is thrown out of a match."""

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass

from reconciler.cli.console import Console
from reconciler.cli.drain_text import print_asked
from reconciler.cli.failures import Failure
from reconciler.cli.leavers import Asked, Course, ask, gone_by
from reconciler.cli.options import add_output, add_own, add_settings, own_of, settings_of
from reconciler.cli.progress import Progress
from reconciler.cli.room_names import (
    gone,
    guess,
    names_of,
    namespace_in,
    of_room,
    rooms_of,
    unknown,
)
from reconciler.cli.room_reading import Around, SeenRoom, read_around, read_pods, see
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import RoomState
from reconciler.ports import Cluster
from reconciler.setting_rows import Row
from reconciler.settings import Settings
from reconciler.wiring.clusters import make_dated_cluster

EXAMPLE = """\
gamekeeper drain arena-7 --instance main
gamekeeper drain node-12 --wait --instance main    # every room on that node
gamekeeper drain arena-7 --undo --instance main"""

WAIT = Row("wait", bool, False, "", "wait until the rooms are gone", command="drain")
TIMEOUT = Row(
    "timeout_seconds",
    float,
    0.0,
    "",
    "longest wait (0: as long as the matches take)",
    unit="s",
    least=0,
    command="drain",
    named="timeout",
    is_duration=True,
)
NODE = "node/"


@dataclass(frozen=True, slots=True)
class Target:
    """What is to leave: one room, or all of a node that takes new pods or not."""

    rooms: Sequence[SeenRoom]
    node: str = ""
    takes_pods: bool = False


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "target",
        metavar="ROOM|NODE",
        help="a room as NAMESPACE/NAME or NAME, or a node as NAME or node/NAME",
    )
    parser.add_argument(
        "--undo", action="store_true", help="take back what was asked for; they stay"
    )
    add_own(parser, WAIT, TIMEOUT)
    add_output(parser, "text", "json", "yaml")
    add_settings(parser, "identity", "cluster")


def run(arguments: Namespace, console: Console) -> int:
    """Ask; 0 once it stands on every room's pod (with --wait: once they are gone), else 1."""
    settings = settings_of(arguments, console.environment)
    waits = own_of(arguments, console.environment, WAIT)
    if waits and arguments.undo:
        raise Failure("--wait and --undo do not go together", fix="Leave one of them out")
    timeout_seconds = own_of(arguments, console.environment, TIMEOUT)
    return asyncio.run(_drain(arguments, settings, timeout_seconds if waits else None, console))


async def _drain(
    arguments: Namespace, settings: Settings, timeout_seconds: float | None, console: Console
) -> int:
    cluster, clock = make_dated_cluster(settings)
    try:
        async with Progress(console, "reading the cluster"):
            target, around = await _target(cluster, settings, arguments.target)
        for note in around.notes:
            console.note(note)
        async with Progress(console, "asking the rooms to leave"):
            leaves = not arguments.undo
            asked = await ask(cluster, target.rooms, around, leaves=leaves, now=clock.now)
        print_asked(console, arguments.output, asked, target.node)
        for key in _suspended(target, asked, around):
            console.note(f"{key} is suspended: its rooms go when that ends")
        if target.takes_pods and not arguments.undo:
            console.note(f"New rooms may come there. To prevent it: kubectl cordon {target.node}")
        done = all(each.done for each in asked)
        if timeout_seconds is None:
            return 0 if done else 1
        return 0 if await _gone(cluster, asked, timeout_seconds, console) and done else 1
    finally:
        await cluster.close()


async def _target(cluster: Cluster, settings: Settings, word: str) -> tuple[Target, Around]:
    """Return what a word means. Raises Failure where it means nothing, or two things."""
    namespace = "" if word.startswith(NODE) else namespace_in(word)
    name = word.removeprefix(NODE)
    # Before the pods, as `gone` wants it.
    around = await read_around(cluster, settings, f"whether {name} is one, and takes new rooms, is")
    pods = await read_pods(cluster, settings.instance, namespace)
    rooms = see(pods, around)
    named = rooms_of(word, rooms)
    if name not in around.nodes and not any(room.pod.node == name for room in rooms):
        numbers = {} if word.startswith(NODE) else around.numbers
        was = await gone(cluster, settings.instance, word, rooms, numbers)
        return Target([_room_of(word, rooms, around, was)]), around
    if named:
        raise Failure(
            f'"{word}" is a node and a room',
            fix=f"Write one of {', '.join([NODE + name, *(room.name for room in named)])}",
        )
    node = around.nodes.get(name)
    there = [
        room
        for room in rooms
        if room.pod.node == name and room.judged.state is not RoomState.TERMINATING
    ]
    return Target(there, name, node is None or not node.unschedulable), around


def _room_of(word: str, rooms: Sequence[SeenRoom], around: Around, was: Failure | None) -> SeenRoom:
    """Return the room that a word means which means no node. Raises Failure."""
    if word.startswith(NODE):
        name = word.removeprefix(NODE)
        raise Failure(
            f'no node "{name}" was found, and no room of this instance is on it',
            guess(name, around.nodes),
            "kubectl get nodes lists all",
        )
    if rooms_of(word, rooms) or any(word in names_of(room.key) for room in rooms):
        return of_room(word, rooms)
    known = [*(room.pod.name for room in rooms), *around.nodes] if rooms else []
    fix = "gamekeeper rooms lists all rooms with their nodes, kubectl get nodes all nodes"
    raise was or unknown("node and no room", word, known, "rooms", fix)


def _suspended(target: Target, asked: Sequence[Asked], around: Around) -> list[WorkloadKey]:
    """Return the workloads of which rooms are to leave, and none goes."""
    leaving = (Course.DRAINING, Course.WHEN_EMPTY)
    rooms = zip(target.rooms, asked, strict=True)
    keys = {room.key for room, each in rooms if each.course in leaving}
    return sorted(key for key in keys if around.is_suspended(key))


async def _gone(
    cluster: Cluster, asked: Sequence[Asked], timeout_seconds: float, console: Console
) -> bool:
    """Wait until the rooms are gone; False where time is up or somebody takes it back."""
    async with Progress(console, "waiting") as progress:
        left, stay = await gone_by(cluster, asked, timeout_seconds, progress)
    for each in stay:
        console.note(f"{each.name} stays: that it leaves was taken back meanwhile")
    if left:
        raise Failure(
            f"{len(left)} of {len(asked)} rooms are still there after {timeout_seconds:.0f} s: "
            + ", ".join(each.name for each in left[:5]),
            fix="They go on leaving. gamekeeper explain ROOM says what each waits for",
        )
    if not stay:
        console.note("All are gone.")
    return not stay
