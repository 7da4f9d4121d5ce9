"""`gamekeeper sandbox`: a small cluster in this process, until Ctrl-C."""

import asyncio
import os
import shlex
import signal
import tempfile
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from contextlib import AsyncExitStack
from pathlib import Path

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.wiring import make_sandbox

EXAMPLE = """\
gamekeeper sandbox                       # in one terminal; it prints what to type in another
gamekeeper sandbox --nodes 10 --port 6443"""

DIRECTORY = "gamekeeper-sandbox-"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--nodes", type=_count, default=3, help="simulated nodes (default 3)")
    parser.add_argument("--port", type=_port, default=0, help="port to serve at (default: any)")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to serve at (default loopback)"
    )
    parser.add_argument(
        "--kubeconfig", default="", help="where to write the kubeconfig (default: a new directory)"
    )


def run(arguments: Namespace, console: Console) -> int:
    """Serve until SIGINT or SIGTERM."""
    with tempfile.TemporaryDirectory(prefix=DIRECTORY) as folder:
        chosen = arguments.kubeconfig or os.path.join(folder, "kubeconfig")
        kubeconfig = Path(chosen).absolute()
        try:
            asyncio.run(_serve(arguments, kubeconfig, console))
        finally:
            kubeconfig.unlink(missing_ok=True)
    return 0


async def _serve(arguments: Namespace, kubeconfig: Path, console: Console) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    server = make_sandbox(arguments.nodes, arguments.host, arguments.port)
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(server)
        except OSError as error:
            place = f"{arguments.host}:{arguments.port}"
            why = os.strerror(error.errno or 0)
            raise Failure(f"cannot serve at {place}", why, "Choose another --port") from error
        server.write_kubeconfig(kubeconfig)
        console.note(f"A cluster of {arguments.nodes} nodes at {server.url}; Ctrl-C ends it.")
        console.print(f"export KUBECONFIG={shlex.quote(str(kubeconfig))}")
        console.out.flush()
        await stopped.wait()


def _count(text: str) -> int:
    return _bounded(text, 10_000)


def _port(text: str) -> int:
    return _bounded(text, 65_535)


def _bounded(text: str, most: int) -> int:
    if not text.isdecimal() or int(text) > most:
        raise ArgumentTypeError(f'"{text}" is no number from 0 to {most}')
    return int(text)
