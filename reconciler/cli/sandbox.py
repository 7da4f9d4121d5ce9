"""`gamekeeper sandbox`: a small cluster in this process, until Ctrl-C."""

import asyncio
import os
import shlex
import signal
import tempfile
from argparse import ArgumentParser, Namespace
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.cli.faults_file import FaultsFile
from reconciler.cli.options import add_own, own_of
from reconciler.setting_rows import Row
from reconciler.wiring.clusters import make_sandbox

if TYPE_CHECKING:
    from reconciler.sandbox.http import SandboxServer

EXAMPLE = """\
gamekeeper sandbox                       # in one terminal; it prints what to type in another
gamekeeper sandbox --nodes 10 --port 6443
gamekeeper sandbox --faults storm.yaml   # refusals, delays, lost answers, as the file says"""

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


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_own(parser, NODES, PORT, HOST, KUBECONFIG, FAULTS)


def run(arguments: Namespace, console: Console) -> int:
    """Serve until SIGINT or SIGTERM."""
    nodes, port, host, chosen, faults = (
        own_of(arguments, console.environment, row)
        for row in (NODES, PORT, HOST, KUBECONFIG, FAULTS)
    )
    with tempfile.TemporaryDirectory(prefix=DIRECTORY) as folder:
        kubeconfig = Path(chosen or os.path.join(folder, "kubeconfig")).absolute()
        _check(kubeconfig)
        server = make_sandbox(nodes, host, port)
        faults_file = FaultsFile.open(faults, server.faults, console) if faults else None
        try:
            serving = _serve(server, f"{host}:{port}", nodes, kubeconfig, faults_file, console)
            asyncio.run(serving)
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


async def _serve(
    server: "SandboxServer",
    place: str,
    nodes: int,
    kubeconfig: Path,
    faults_file: FaultsFile | None,
    console: Console,
) -> None:
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
        console.note(f"A cluster of {nodes} nodes at {server.url}; Ctrl-C ends it.")
        console.print(f"export KUBECONFIG={shlex.quote(str(kubeconfig))}")
        console.out.flush()
        if faults_file is not None:
            followed = asyncio.create_task(faults_file.follow())
            stack.callback(followed.cancel)
        await stopped.wait()
