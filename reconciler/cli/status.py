"""`gamekeeper status`: what the records and the pods say; no loop need run."""

import asyncio
from argparse import ArgumentParser, Namespace

from reconciler.cli.console import Console
from reconciler.cli.options import add_output, add_settings, settings_of
from reconciler.cli.output import print_json, print_yaml
from reconciler.cli.progress import Progress
from reconciler.cli.status_json import as_json
from reconciler.cli.status_text import print_text
from reconciler.cli.statuses import Status, status_of
from reconciler.model.errors import Denied, Misconfigured
from reconciler.service.lookout import Sighting, sighting_of
from reconciler.settings import Settings
from reconciler.wiring.clusters import OneCluster, make_one_cluster
from reconciler.wiring.leading import lease_ref

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
    status, now = asyncio.run(_read(settings, console))
    if arguments.output == "json":
        print_json(console, as_json(status, now))
    elif arguments.output == "yaml":
        print_yaml(console, [as_json(status, now)])
    else:
        print_text(console, status, now)
    return 0


async def _read(settings: Settings, console: Console) -> tuple[Status, float]:
    """Return the status, and when it was read: by the API server's clock, not this machine's."""
    one = make_one_cluster(settings)
    try:
        async with Progress(console, "reading the cluster"):
            seen, _, _ = await asyncio.gather(
                read_sighting(one, settings), one.view.read(), read_records(one)
            )
        now = one.clock.now()
        return status_of(one.lane, one.view.workloads(), seen, now), now
    finally:
        await one.cluster.close()


async def read_records(one: OneCluster) -> None:
    """Read the records; a repository record that cannot be read is shown, and is no failure."""
    try:
        await one.lane.store.load()
    except Misconfigured:
        if not one.lane.store.repository_problem:
            raise


async def read_sighting(one: OneCluster, settings: Settings) -> Sighting | None:
    """Return what the Lease says, None where we may not know."""
    try:
        return sighting_of(await one.cluster.get(lease_ref(settings)))
    except Denied:
        return None
