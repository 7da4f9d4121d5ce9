"""`gamekeeper uninstall`: our records go, and rooms run on, protected as they stand."""

import asyncio
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure, paragraph_of
from reconciler.cli.leading import Leading
from reconciler.cli.options import add_settings, settings_of
from reconciler.cli.progress import Progress
from reconciler.cli.status import read_records
from reconciler.cli.uninstall_text import print_left, print_others, print_plan, print_removed
from reconciler.loop.uninstall import (
    INSTALLED,
    OwnRecord,
    Removal,
    counted_rooms,
    installed,
    own_records,
    remove_empty,
)
from reconciler.model.errors import Conflict, PortError
from reconciler.model.reports import Outcome
from reconciler.settings import Settings
from reconciler.wiring.clusters import OneCluster, make_one_cluster
from reconciler.wiring.leading import lease_ref

EXAMPLE = """\
gamekeeper uninstall --instance main          # what would go, and what would stay
gamekeeper uninstall --yes --instance main"""

EMPTYING = "removing; what a loop asked for last may come for a minute yet"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--yes", action="store_true", help="do it; without, it is only shown")
    parser.add_argument(
        "--remove-objects",
        action="store_true",
        help="take the objects of workloads without any room away too, and their namespaces; "
        "without, all stay",
    )
    add_settings(parser, "identity", "cluster", "safety", "lease")


def run(arguments: Namespace, console: Console) -> int:
    """Go away: 0 done, or nothing to do; 1 an error; without --yes 2 where something would go."""
    settings = settings_of(arguments, console.environment)
    asked = Asked(arguments.yes, arguments.remove_objects)
    return asyncio.run(_uninstall(asked, settings, console))


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks for."""

    yes: bool
    remove_objects: bool


async def _uninstall(asked: Asked, settings: Settings, console: Console) -> int:
    leaders: list[Leading] = []
    one = make_one_cluster(settings, may_write=lambda: any(each.may_write() for each in leaders))
    try:
        async with Progress(console, "reading the cluster"):
            records, _, _ = await asyncio.gather(
                _records(one, settings), one.view.read(), read_records(one)
            )
        others = await others_installed(one, settings, records)
        lease = await one.cluster.get(lease_ref(settings))
        if not asked.yes or not (records or lease):
            emptied, leased = asked.remove_objects, lease is not None
            print_plan(console, settings, records, one.lane, leased=leased, emptied=emptied)
            if records or lease:
                return 2
            print_others(console, others)
            return 0
        async with Leading(one, settings, console) as leading:
            leaders.append(leading)
            await leading.take()
            outcomes = await _remove(one, asked, settings, console)
        await drop_lease(one, settings)
        await one.view.read()
        there = await installed(one.cluster)
        left = {each: there[each] for each in there if each != settings.instance}
        print_left(console, settings, one.lane, left)
        return 1 if any(outcome.error for outcome in outcomes) else 0
    finally:
        await one.cluster.close()


async def _records(one: OneCluster, settings: Settings) -> list[OwnRecord]:
    return await own_records(one.cluster, settings.namespace, settings.instance)


async def others_installed(
    one: OneCluster, settings: Settings, records: Sequence[OwnRecord]
) -> Mapping[str, frozenset[str]]:
    """Return where other instances are installed, looked for where this one is not installed here.

    Records of names say nothing of that: they are found from any namespace of ours, also while a
    loop leads in another one, whose Lease is not the one that we would take. Nor do a request and
    an approval, which whoever mistook the namespace before left here. Raises Failure where this
    instance is installed elsewhere.
    """
    if any(record.what in INSTALLED for record in records):
        return {}
    found = dict(await installed(one.cluster))
    elsewhere = sorted(found.pop(settings.instance, frozenset()) - {settings.namespace})
    if elsewhere:
        raise Failure(
            f"instance {settings.instance} is installed in namespace {', '.join(elsewhere)}, "
            f"and not in {settings.namespace}",
            "Whether a loop leads is seen there alone",
            # Others may write what looks like records in their own: which is ours people know.
            "Pass the one that its loop runs in as --namespace"
            if elsewhere[1:]
            else f"Pass --namespace {elsewhere[0]}",
        )
    return found


async def _remove(
    one: OneCluster, asked: Asked, settings: Settings, console: Console
) -> Sequence[Outcome]:
    """Take away what is asked for. Raises Failure, which says how far it came."""
    removal, outcomes = Removal(one.lane.cluster), list[Outcome]()
    try:
        async with Progress(console, EMPTYING if asked.remove_objects else "removing"):
            if asked.remove_objects:
                outcomes = await remove_empty(one.lane, one.view.read, time.time())
            await removal.of(await _records(one, settings))
    except PortError as error:
        print_removed(console, removal.removed, outcomes)
        raise Failure(
            paragraph_of(error),
            f"Rooms run on ({sum(counted_rooms(one.lane).values())} of them), and what was not "
            "removed is as it was",
            "Run the command again: it goes on from here",
        ) from error
    print_removed(console, removal.removed, outcomes)
    return outcomes


async def drop_lease(one: OneCluster, settings: Settings) -> None:
    """Delete the Lease that we gave back. Raises Failure where somebody took it since."""
    ref = lease_ref(settings)
    there = await one.cluster.get(ref)
    if there is None:
        return
    holder = (there.get("spec") or {}).get("holderIdentity") or ""
    if not holder:
        metadata = there["metadata"]
        try:
            await one.cluster.delete(ref, metadata["uid"], metadata["resourceVersion"])
        except Conflict:
            holder = "another process"
    if holder:
        raise Failure(
            f"{holder} has taken {ref} since",
            "It is another process of this instance, and makes its records anew",
            "Stop it, and run the command again",
        )
