"""`gamekeeper adopt`: running pods become rooms of a workload, without a restart."""

import asyncio
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from dataclasses import replace

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.cli.options import add_settings, settings_of
from reconciler.cli.progress import Progress
from reconciler.cli.reading import counted
from reconciler.cli.room_names import of_record
from reconciler.core.adopting import Adoption
from reconciler.core.departing import last_workload
from reconciler.core.reporting import HAS_REPORTED
from reconciler.kube.selectors import BadSelector, LabelSelector
from reconciler.loop.adopt import Candidates, adopt, candidates
from reconciler.loop.store import RecordStore
from reconciler.model import labels
from reconciler.model.printable import escaped
from reconciler.model.refs import Json
from reconciler.model.rooms import BUSY_MARKS
from reconciler.ports import Cluster
from reconciler.settings import Settings
from reconciler.wiring.clusters import make_cluster

EXAMPLE = """\
gamekeeper adopt arena --selector app=arena --instance main          # what would become a room
gamekeeper adopt arena --selector app=arena --yes --instance main"""

LABELS_SHOWN = 5


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("workload", metavar="WORKLOAD", help="as status prints it, or its name")
    parser.add_argument(
        "--selector",
        required=True,
        metavar="SELECTOR",
        help="the labels of the pods, as kubectl takes them, in the workload's namespace",
    )
    parser.add_argument(
        "--as-current",
        action="store_true",
        help="take them as made from the spec's template: nothing replaces them until it changes",
    )
    parser.add_argument("--yes", action="store_true", help="do it; without, it is only shown")
    add_settings(parser, "identity", "cluster")


def run(arguments: Namespace, console: Console) -> int:
    """Adopt: 0 done, or nothing left to do; 1 if it cannot be; without --yes 2 for pods."""
    try:
        selects_all = not LabelSelector.parse_labels(arguments.selector).terms
    except BadSelector as error:
        raise Failure(f'"{arguments.selector}" is no label selector', str(error)) from error
    if selects_all:
        raise Failure("--selector selects everything", fix="Name the labels that these pods have")
    settings = settings_of(arguments, console.environment)
    return asyncio.run(_adopt(arguments, settings, console))


async def _adopt(arguments: Namespace, settings: Settings, console: Console) -> int:
    cluster = make_cluster(settings)
    try:
        store = RecordStore(cluster, settings.namespace, settings.instance)
        async with Progress(console, "reading the cluster"):
            await store.load()
            adoption = _adoption(arguments, settings, store)
            selector, ours = arguments.selector, settings.namespace
            found = await candidates(cluster, adoption, selector, ours)
            if not (found.pods or found.known or found.over):
                raise await nothing_selected(cluster, adoption.workload.key.namespace, selector)
        _print_found(console, found, adoption)
        if found.obstacles:
            raise Failure(
                f"{counted(len(found.obstacles), 'thing')} in the way: nothing was written"
            )
        if not found.pods:
            return 0
        if not arguments.yes:
            console.print("Nothing was written. --yes does it.")
            return 2
        return await _take(store, cluster, adoption, found, console)
    finally:
        await cluster.close()


def _adoption(arguments: Namespace, settings: Settings, store: RecordStore) -> Adoption:
    key = of_record(arguments.workload, store)
    record = store.state(key)
    if record.accepted is None or record.deleting:
        raise Failure(
            f"no spec of {key} is accepted",
            fix="Commit it, and see gamekeeper status until the loop has taken it in",
        )
    workload = replace(last_workload(key, record, ()), replicas=record.in_effect)
    return Adoption(workload, settings.instance, as_current=arguments.as_current)


async def nothing_selected(cluster: Cluster, namespace: str, selector: str) -> Failure:
    """Return the failure of a selector that selects nothing: what labels there are."""
    there = await cluster.list_metadata("v1", "Pod", namespace)
    found = Counter(
        f"{name}={value}"
        for pod in there.items
        for name, value in (pod["metadata"].get("labels") or {}).items()
    )
    usual = ", ".join(f"{escaped(each)} ({pods})" for each, pods in found.most_common(LABELS_SHOWN))
    no_labels = "No pod there has a label" if there.items else "No pod is there at all"
    return Failure(
        f'"{selector}" selects no pod in the namespace {namespace}',
        f"What there is has {usual}" if usual else no_labels,
        f"kubectl get pods --namespace {namespace} --show-labels lists all",
    )


async def _take(
    store: RecordStore, cluster: Cluster, adoption: Adoption, found: Candidates, console: Console
) -> int:
    async with Progress(console, "adopting"):
        told = await adopt(store, cluster, adoption, found.pods, time.time())
    for name, problem in told.items():
        if problem:
            console.note(f"{escaped(name)} is none: {problem}")
    done = sum(not problem for problem in told.values())
    console.print(f"{counted(done, 'pod')} adopted. Nothing was restarted.")
    return 0 if done == len(told) else 1


def _print_found(console: Console, found: Candidates, adoption: Adoption) -> None:
    key = adoption.workload.key
    for obstacle in found.obstacles:
        console.print(f"{escaped(obstacle.what)}. {escaped(obstacle.fix)}.")
    if found.over:
        console.print(f"{counted(len(found.over), 'pod')} ended, or on the way out: left alone.")
    if found.known:
        console.print(f"{counted(len(found.known), 'room')} of {key} already.")
    if not found.pods:
        console.print(f"No pod in {key.namespace} to adopt.")
    elif not found.obstacles:
        for line in as_rooms(found, adoption):
            console.print(line)


def as_rooms(found: Candidates, adoption: Adoption) -> list[str]:
    """Return the lines that say of each pod how long it stays once it is a room."""
    workload = adoption.workload
    lines = [f"Rooms of {workload.key}, as they run:"]
    for pod in found.pods:
        lines.append(
            f"  {escaped(pod['metadata']['name'])}  stays until {_end_of(pod, found, adoption)}"
        )
    if found.above:
        above = f"{found.above} more than the {workload.replicas} rooms that are wanted"
        lines.append(f"With them there are {above}: as many go, each once it is empty.")
    return lines


def _end_of(pod: Json, found: Candidates, adoption: Adoption) -> str:
    """Say until when a room stays.

    A label that says that it has reported is kept, and where rooms do not report nobody says more:
    no roll-out and no scale-in takes that room, but for the limits that the user wrote. Those are
    for rooms with players: one that was idle has none.
    """
    workload = adoption.workload
    state = (pod["metadata"].get("labels") or {}).get(labels.STATE)
    if not workload.hears and state in HAS_REPORTED:
        end = "it ends"
        if state in BUSY_MARKS and workload.timeouts.silent_busy_seconds is not None:
            end += ", or silentBusySeconds are over"
        if state in BUSY_MARKS and workload.departure.drain_deadline_seconds is not None:
            end += ", or drainDeadlineSeconds are over since it was told to leave"
        return f'{end}: its label says "{state}"'
    stays = adoption.revision_for(pod) == workload.revision and not found.above
    return "the template changes, or fewer are wanted" if stays else "it is known to be empty"
