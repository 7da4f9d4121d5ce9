"""`gamekeeper run`: the loop, until it is told to stop."""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
from argparse import ArgumentParser, Namespace

from reconciler.adapters.core_dumps import refuse_core_dumps
from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.cli.options import add_settings, settings_of
from reconciler.settings import Settings

EXAMPLE = """\
gamekeeper run --repo https://git.example.com/studio/fleet.git --branch main --instance main
gamekeeper run --repo ./my-fleet --instance laptop --kubeconfig ./kubeconfig"""


log = logging.getLogger("gamekeeper")

COLLECTED_AFTER = (5_000, 1, 5_000)
"""Few young objects at a time: a look through fifteen thousand of them (the third round) holds the
loop for milliseconds, one through a hundred thousand for twenty, and in all it costs the same.
Through everything: as seldom as can be."""
THREADS_TURN_SECONDS = 0.001
"""A plan of a big workload is made in a thread. With Python's own 5 ms the event loop would wait
as long for its turn after every system call that let go of the interpreter."""


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    groups = ("git", "identity", "cluster", "loop", "safety", "scaling", "serving", "telling")
    add_settings(parser, *groups, "rooms", "log")


def run(arguments: Namespace, console: Console) -> int:
    """Serve until SIGTERM or SIGINT; then finish the writes in hand and leave."""
    # Late: the whole service is a third of a second, and `run --help` needs none of it.
    import uvloop

    from reconciler.service import logs

    refuse_core_dumps()
    settings = settings_of(arguments, console.environment)
    _check(settings)
    logs.configure(settings.log_level, settings.log_format, console.err)
    sys.setswitchinterval(THREADS_TURN_SECONDS)
    uvloop.run(_serve(settings))
    return 0


def _check(settings: Settings) -> None:
    """Find what can be found before anything starts. Raises Failure, Misconfigured."""
    from reconciler.service.faces import address_of

    address_of(settings.listen)
    if settings.rooms_listen:
        address_of(settings.rooms_listen, "--rooms-listen")
    path = settings.repo
    # A URL that does not answer may answer later; a path that is typed wrong never will.
    if path and ":" not in path and not os.path.isdir(path):
        raise Failure(
            f"--repo {path}: there is no such directory on this machine",
            fix="Name a repository that is there, or its URL",
        )


async def _serve(settings: Settings) -> None:
    from reconciler.service.faces import serving
    from reconciler.wiring.listening import hearing_rooms
    from reconciler.wiring.serving import opened_app

    async with (
        opened_app(settings) as service,
        serving(service.faces(), settings.listen) as at,
        hearing_rooms(service) as rooms_at,
    ):
        # Port 0 takes any: nothing else says which one.
        log.info("listening at %s%s", at, f", and to rooms at {rooms_at}" if rooms_at else "")
        _collect_rarely()
        task = asyncio.create_task(service.run())
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, task.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _collect_rarely() -> None:
    """Look for circular garbage rarely, and never among what stays for good.

    Parsed JSON holds no circles, yet each thousand rooms of it would be looked through a hundred
    times: a seventh of the CPU of making them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTED_AFTER)
