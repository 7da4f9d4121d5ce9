"""`gamekeeper render`: the manifests, objects first, then a pod for each room.

A pod that is applied by hand is nobody's room: the label that a loop knows its own by is left
out, and its name is none that a room ever has. Else a running loop would count it, players of a
real room might go in its stead, and `kubectl delete` of these manifests would end live rooms.
"""

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import replace

from reconciler.cli.console import Console
from reconciler.cli.options import add_output, add_settings, settings_of
from reconciler.cli.output import print_json, print_yaml
from reconciler.cli.progress import Progress
from reconciler.cli.reading import add_place, opened, print_findings
from reconciler.core import desired, host_ports
from reconciler.core.grounds import NO_GROUND
from reconciler.core.reach import Reach
from reconciler.core.stamp import stamp_room
from reconciler.model import additional, labels
from reconciler.model.plans import Desired, RoomSeat
from reconciler.model.refs import Json
from reconciler.model.specs import Workload
from reconciler.wiring.clusters import rooms_url
from reconciler.wiring.permits import NO_INSTANCE

EXAMPLE = """\
gamekeeper render > manifests.yaml
gamekeeper render my-fleet | kubectl diff -f -"""


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_place(parser)
    add_settings(parser, "instance")
    add_output(parser, "yaml", "json")


def run(arguments: Namespace, console: Console) -> int:
    """Print the manifests; 1 and no manifest where the specs have an error."""
    return asyncio.run(_render(arguments, console))


async def _render(arguments: Namespace, console: Console) -> int:
    settings = settings_of(arguments, console.environment)
    instance, url = settings.instance or NO_INSTANCE, rooms_url(settings)
    async with opened(arguments, console) as specs:
        if specs.reading.errors:
            aside = Console(console.err, console.err, console.environment)
            print_findings(aside, specs.reading.errors, specs.root)
            return 1
        workloads = [specs.reading.workloads[key] for key in sorted(specs.reading.workloads)]
        async with Progress(console, f"rendering {len(workloads)} workloads"):
            rendered = await specs.compiler.render(workloads, instance)
        # What is not allowed was refused when it was read.
        wanted = [
            desired.build(workload, rendered[workload.key], additional.ALLOWABLE)
            for workload in workloads
        ]
        if arguments.output == "json":
            items = list(_manifests(wanted, url))
            print_json(console, {"apiVersion": "v1", "kind": "List", "items": items})
        else:
            print_yaml(console, _manifests(wanted, url))
    return 0


def _manifests(wanted: list[Desired], url: str) -> Iterator[Json]:
    """List what a new cluster would be given; rooms are numbered from 1, their codes masked."""
    for fleet in wanted:
        yield from (item.body for item in fleet.objects)
    for fleet in wanted:
        workload = _set_apart(fleet.workload)
        seats = host_ports.choose_for(workload, workload.replicas, NO_GROUND)
        for ordinal, chosen in enumerate(seats, start=1):
            pod = stamp_room(fleet.room, workload, RoomSeat(ordinal, chosen), Reach(url))
            marks = {k: v for k, v in pod["metadata"]["labels"].items() if k != labels.INSTANCE}
            yield {**pod, "metadata": {**pod["metadata"], "labels": marks}}


def _set_apart(workload: Workload) -> Workload:
    """Return a workload of whose name no room is: its pods are `<name>-render-<n>`."""
    return replace(workload, key=workload.key._replace(name=f"{workload.key.name}-{NO_INSTANCE}"))
