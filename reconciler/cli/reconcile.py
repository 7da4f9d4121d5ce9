"""`gamekeeper reconcile`: ask the running loop to look at Git now, and wait until it has."""

import asyncio
import secrets
import time
from argparse import ArgumentParser, Namespace

from reconciler.cli.changes import hold_lines
from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.cli.options import add_own, add_settings, own_of, settings_of
from reconciler.cli.progress import Progress
from reconciler.cli.statuses import notices_of
from reconciler.loop import requests
from reconciler.loop.store import RecordStore
from reconciler.model.errors import Denied, Unavailable
from reconciler.model.refs import ObjectRef
from reconciler.ports import Clock, Cluster
from reconciler.service.lookout import sighting_of
from reconciler.setting_rows import Row
from reconciler.settings import Settings
from reconciler.wiring.clusters import make_dated_cluster
from reconciler.wiring.leading import lease_ref

EXAMPLE = """\
gamekeeper reconcile --wait --instance main"""

WAIT = Row("wait", bool, False, "", "wait until the loop has looked", command="reconcile")
TIMEOUT = Row(
    "timeout_seconds",
    float,
    60.0,
    "",
    "longest wait",
    unit="s",
    least=0,
    command="reconcile",
    named="timeout",
    is_duration=True,
)
NONE_TAKEN = "The loop has looked; no commit was taken in yet."
LOOK_SECONDS = 0.2


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_own(parser, WAIT, TIMEOUT)
    add_settings(parser, "instance", "namespace", "cluster")


def run(arguments: Namespace, console: Console) -> int:
    """Ask; with --wait, 0 once the loop has looked."""
    settings = settings_of(arguments, console.environment)
    waits = own_of(arguments, console.environment, WAIT)
    timeout_seconds = own_of(arguments, console.environment, TIMEOUT)
    return asyncio.run(_reconcile(settings, timeout_seconds if waits else None, console))


async def _reconcile(settings: Settings, timeout_seconds: float | None, console: Console) -> int:
    cluster, clock = make_dated_cluster(settings)
    ref = requests.request_ref(settings.namespace, settings.instance)
    try:
        if timeout_seconds is None:
            await _ask(cluster, ref, settings)
            console.print("Asked. gamekeeper status shows what comes of it.")
            return 0
        deadline = time.monotonic() + timeout_seconds
        async with Progress(console, "waiting for the loop to look"):
            await _asked(cluster, ref, settings, deadline)
            await _answered(cluster, clock, ref, timeout_seconds, deadline, settings)
        store = RecordStore(cluster, settings.namespace, settings.instance)
        record = await store.load_repository()
        taken = f"The loop has taken commit {record.commit} in." if record.commit else NONE_TAKEN
        console.print(taken)
        for line in hold_lines(console, notices_of(record)):
            console.print(line)
    finally:
        await cluster.close()
    return 0


async def _ask(cluster: Cluster, ref: ObjectRef, settings: Settings) -> None:
    request = f"{time.time():.3f}-{secrets.token_hex(4)}"
    await requests.ask(cluster, ref, settings.instance, request)


async def _asked(cluster: Cluster, ref: ObjectRef, settings: Settings, deadline: float) -> None:
    """Ask, once our namespace is there: in a new cluster the loop that starts now makes it."""
    there = False
    while True:
        try:
            return await _ask(cluster, ref, settings)
        except Unavailable:
            # One that is there now may not have been when it was asked for.
            if there or time.monotonic() > deadline:
                raise
            space = ObjectRef("v1", "Namespace", "", settings.namespace)
            there = await cluster.get(space) is not None
        await asyncio.sleep(LOOK_SECONDS)


async def _answered(
    cluster: Cluster,
    clock: Clock,
    ref: ObjectRef,
    timeout_seconds: float,
    deadline: float,
    settings: Settings,
) -> None:
    """Wait until the loop has answered. Raises Failure naming who should have."""
    while await requests.pending(cluster, ref):
        if time.monotonic() > deadline:
            raise Failure(
                f"the loop did not look within {timeout_seconds:.0f} s",
                await _who_leads(cluster, clock, settings),
                "gamekeeper status and the log of gamekeeper run say more",
            )
        await asyncio.sleep(LOOK_SECONDS)


async def _who_leads(cluster: Cluster, clock: Clock, settings: Settings) -> str:
    try:
        seen = sighting_of(await cluster.get(lease_ref(settings)))
    except Denied:
        return ""
    if not seen.holder:
        return "No process holds the Lease: is one running?"
    if seen.is_over(clock.now()):
        return f"{seen.holder} led, and is silent: is it running?"
    return f"{seen.holder} leads" + (f", and its looks fail: {seen.error}" if seen.error else "")
