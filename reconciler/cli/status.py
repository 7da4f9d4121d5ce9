"""`gamekeeper status`: what the records and the pods say; no loop need run."""

import asyncio
from argparse import ArgumentParser, Namespace

from reconciler.cli.console import Console
from reconciler.cli.options import add_output, add_settings, settings_of
from reconciler.cli.output import print_json, print_yaml
from reconciler.cli.progress import Progress
from reconciler.cli.status_text import print_text
from reconciler.cli.statuses import Status, as_json, status_of
from reconciler.model.errors import Denied
from reconciler.settings import Settings
from reconciler.wiring import OneCluster, lease_ref, make_one_cluster

EXAMPLE = """\
gamekeeper status --instance main
gamekeeper status --instance main --output json"""


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_output(parser, "text", "json", "yaml")
    add_settings(parser, "identity", "cluster")


def run(arguments: Namespace, console: Console) -> int:
    """Print the state of the fleet."""
    settings = settings_of(arguments, console.environment)
    status = asyncio.run(_read(settings, console))
    if arguments.output == "json":
        print_json(console, as_json(status))
    elif arguments.output == "yaml":
        print_yaml(console, [as_json(status)])
    else:
        print_text(console, status)
    return 0


async def _read(settings: Settings, console: Console) -> Status:
    one = make_one_cluster(settings)
    try:
        async with Progress(console, "reading the cluster"):
            holder, _, _ = await asyncio.gather(
                _holder(one, settings), one.view.read(), one.lane.store.load()
            )
        return status_of(one.lane, one.view.workloads(), holder)
    finally:
        await one.cluster.close()


async def _holder(one: OneCluster, settings: Settings) -> str | None:
    """Return who holds the Lease, "" for nobody, None where we may not know."""
    try:
        lease = await one.cluster.get(lease_ref(settings))
    except Denied:
        return None
    return str((lease or {}).get("spec", {}).get("holderIdentity") or "")
