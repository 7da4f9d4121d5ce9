"""`gamekeeper sandbox`: a small cluster in this process, and what lives in it, until Ctrl-C."""

import asyncio
import os
import shlex
import signal
import tempfile
from argparse import ArgumentParser, Namespace
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.cli.faults_file import FaultsFile
from reconciler.cli.options import add_own, own_of
from reconciler.cli.sandbox_rooms import INSTANCE, Living, living
from reconciler.setting_rows import Row
from reconciler.wiring.clusters import make_sandbox

if TYPE_CHECKING:
    from reconciler.sandbox.http import SandboxServer

EXAMPLE = """\
gamekeeper sandbox                       # in one terminal; it prints what to type in another
gamekeeper sandbox --nodes 10 --port 6443
gamekeeper sandbox --faults storm.yaml   # refusals, delays, lost answers, as the file says
gamekeeper sandbox --repo my-fleet --room-command "python3 game.py"   # a fleet that lives
gamekeeper sandbox --repo my-fleet --players 200 --odd-rooms 5   # simulated games, and people"""

OURS = '"current-context": "sandbox"'
"""What the kubeconfig of a sandbox holds; one that was killed has left its own."""

DIRECTORY = "gamekeeper-sandbox-"
NODES = Row("nodes", int, 3, "", "simulated nodes", least=0, most=10_000, command="sandbox")
PORT = Row("port", int, 0, "", "port to serve at (0: any)", least=0, most=65_535, command="sandbox")
HOST = Row("host", str, "127.0.0.1", "", "address to serve at", command="sandbox")
KUBECONFIG = Row(
    "kubeconfig",
    str,
    "",
    "",
    "where to write the kubeconfig, which goes with the sandbox (none: a new directory)",
    command="sandbox",
)
FAULTS = Row(
    "faults",
    str,
    "",
    "",
    "YAML list of rules for what goes wrong, read again when it changes (none: nothing does)",
    command="sandbox",
)
REPO = Row(
    "repo",
    str,
    "",
    "",
    "keep the rooms that this repository asks for: the whole service, in this process",
    command="sandbox",
)
BRANCH = Row("branch", str, "main", "", "the branch that says what is wanted", command="sandbox")
ROOM_COMMAND = Row(
    "room_command",
    str,
    "",
    "",
    "what to run for each running pod, with the environment of its first container (none: nothing)",
    command="sandbox",
)
ROOMS_LISTEN = Row(
    "rooms_listen",
    str,
    "127.0.0.1:8090",
    "",
    "with --repo: where rooms of this machine report, without a token",
    command="sandbox",
)
ROOMS_URL = Row(
    "rooms_url",
    str,
    "",
    "",
    "where the processes of rooms are told to report (none: --rooms-listen)",
    command="sandbox",
)
PLAYERS = Row(
    "players",
    int,
    0,
    "",
    "simulated games in the rooms, and so many players at the fullest hour (0: none)",
    least=0,
    most=1_000_000,
    command="sandbox",
)
PLAYERS_TRACE = Row(
    "players_trace",
    str,
    "",
    "",
    "CSV of time,players by which players come and go (none: more by day than by night)",
    command="sandbox",
)
PLAYERS_SPEED = Row(
    "players_speed",
    int,
    60,
    "",
    "how many times faster than outside their days pass (60: a day in 24 minutes)",
    least=1,
    most=10_000,
    command="sandbox",
)
ODD_ROOMS = Row(
    "odd_rooms",
    int,
    0,
    "",
    "with --players: per cent of the rooms that crash, hang or lie",
    least=0,
    most=100,
    command="sandbox",
)
SEED = Row(
    "seed", int, 0, "", "with --players: draws the same games and players", command="sandbox"
)
OWN = (
    *(NODES, PORT, HOST, KUBECONFIG, FAULTS, REPO, BRANCH, ROOM_COMMAND, ROOMS_LISTEN, ROOMS_URL),
    *(PLAYERS, PLAYERS_TRACE, PLAYERS_SPEED, ODD_ROOMS, SEED),
)


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_own(parser, *OWN)


def run(arguments: Namespace, console: Console) -> int:
    """Serve until SIGINT or SIGTERM."""
    nodes, port, host, chosen, faults, *more = (
        own_of(arguments, console.environment, row) for row in OWN
    )
    wanted = Living(*more)
    wanted.check()
    with tempfile.TemporaryDirectory(prefix=DIRECTORY) as folder:
        kubeconfig = Path(chosen or os.path.join(folder, "kubeconfig")).absolute()
        _check(kubeconfig)
        server = make_sandbox(nodes, host, port, wanted.reached_at)
        faults_file = FaultsFile.open(faults, server.faults, console) if faults else None
        try:
            scene = _Scene(server, nodes, Path(folder), kubeconfig, faults_file, wanted)
            asyncio.run(_serve(scene, f"{host}:{port}", console))
        finally:
            kubeconfig.unlink(missing_ok=True)
    return 0


def _check(kubeconfig: Path) -> None:
    """Raise Failure rather than write over, and in the end remove, what is not ours."""
    if not kubeconfig.parent.is_dir():
        raise Failure(f"there is no directory {kubeconfig.parent}", fix="Make it first")
    there = kubeconfig.read_text("utf-8", errors="replace") if kubeconfig.exists() else ""
    if there and OURS not in there:
        raise Failure(
            f"{kubeconfig} is there already, and no sandbox wrote it",
            "It would be written over now and removed in the end",
            "Name another --kubeconfig",
        )


@dataclass(frozen=True, slots=True)
class _Scene:
    """What is served, and what lives in it."""

    server: "SandboxServer"
    nodes: int
    folder: Path
    kubeconfig: Path
    faults_file: FaultsFile | None
    wanted: Living


async def _serve(scene: _Scene, place: str, console: Console) -> None:
    server, kubeconfig = scene.server, scene.kubeconfig
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(server)
        except OSError as error:
            why = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
            fix = "Choose another --host or --port"
            raise Failure(f"cannot serve at {place}", why, fix) from error
        server.write_kubeconfig(kubeconfig)
        console.note(f"A cluster of {scene.nodes} nodes at {server.url}; Ctrl-C ends it.")
        console.print(f"export KUBECONFIG={shlex.quote(str(kubeconfig))}")
        if scene.wanted.repo:
            console.print(f"export GAMEKEEPER_INSTANCE={INSTANCE}")
        console.out.flush()
        if scene.faults_file is not None:
            followed = asyncio.create_task(scene.faults_file.follow())
            stack.callback(followed.cancel)
        service = await stack.enter_async_context(
            living(scene.wanted, server, scene.folder, kubeconfig, console)
        )
        await _until_stopped(stopped, service)


async def _until_stopped(stopped: asyncio.Event, service: "asyncio.Task[None] | None") -> None:
    """Wait for the signal; a service that ends by itself ends the sandbox, with its error."""
    waiting = asyncio.create_task(stopped.wait())
    await asyncio.wait(
        {waiting, service} if service else {waiting}, return_when=asyncio.FIRST_COMPLETED
    )
    waiting.cancel()
    if service is not None and service.done():
        service.result()
