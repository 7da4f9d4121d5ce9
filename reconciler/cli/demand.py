"""`gamekeeper demand`: the demand of a workload, as a table into the state record and out of it."""

import asyncio
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.cli.options import add_settings, settings_of
from reconciler.cli.progress import Progress
from reconciler.cli.reading import counted
from reconciler.cli.room_names import of_record
from reconciler.core import demand
from reconciler.core.demand_rows import Rows, from_csv, from_prometheus, to_csv, told
from reconciler.loop.store import RecordStore
from reconciler.model.errors import Conflict
from reconciler.model.records import StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.settings import Settings
from reconciler.wiring.clusters import make_cluster

EXAMPLE = """\
gamekeeper demand import arena --csv starts.csv --instance main
gamekeeper demand export arena --instance main > starts.csv"""

MOST_TABLE_BYTES = 64 * 1024 * 1024
MOST_ANSWER_BYTES = 4 * 1024 * 1024
"""Prometheus answers with 11,000 points at most: that is a tenth of it."""
LONGEST_LINE_BYTES = 1000
TRIES = 5
"""The loop may write the record at the same time."""


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("what", choices=("import", "export"), help="which way")
    parser.add_argument("workload", metavar="WORKLOAD", help="as status prints it, or its name")
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--csv",
        metavar="FILE",
        help="a table of time,starts: when (Unix seconds or ISO 8601), and how many rooms turned "
        "occupied then; - is the standard input",
    )
    source.add_argument(
        "--prometheus-json",
        metavar="FILE",
        help="the answer of /api/v1/query_range to an increase(...[15m]) with step=900",
    )
    parser.add_argument(
        "--replace", action="store_true", help="let the file be right where demand is known already"
    )
    add_settings(parser, "instance", "namespace", "cluster")


def run(arguments: Namespace, console: Console) -> int:
    """Import, or print; the API server's RBAC says who may."""
    settings, now = settings_of(arguments, console.environment), time.time()
    if arguments.what == "export":
        return asyncio.run(_export(settings, arguments.workload, console))
    counts = _read(arguments, now, console)
    return asyncio.run(_import(settings, arguments, counts, console))


def _read(arguments: Namespace, now: float, console: Console) -> dict[int, int]:
    """Return what a file says of the last 28 days. Raises Failure, and prints what is wrong."""
    file = arguments.csv or arguments.prometheus_json
    if file is None:
        raise Failure("nothing to import", fix="Write --csv FILE or --prometheus-json FILE")
    # As it comes: it may be a pipe, a device that never ends, or larger than the memory.
    with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
        if arguments.csv:
            rows: Rows = from_csv(_lines(stream, file), now)
        else:
            rows = from_prometheus(_whole(stream, file), now)
    if rows.problems:
        for line in told(rows, file):
            console.print(line)
        raise Failure(f"{file} has {counted(rows.problem_count, 'mistake')}: nothing was imported")
    if not rows.counts:
        raise Failure(f"{file} says nothing of the last 28 days")
    return rows.counts


def _lines(stream: BinaryIO, file: str) -> Iterator[str]:
    """Yield the lines of a table. Raises Failure for what is none, and OSError."""
    number, left = 0, MOST_TABLE_BYTES
    while data := stream.readline(LONGEST_LINE_BYTES + 1):
        number, left = number + 1, left - len(data)
        if len(data) > LONGEST_LINE_BYTES:
            why = f"the line is longer than {LONGEST_LINE_BYTES} bytes, as no row of a table is"
            raise Failure(f"{file}:{number}: {why}")
        if left < 0:
            raise _too_large(f"{file}:{number}", MOST_TABLE_BYTES)
        yield _text(data, f"{file}:{number}")


def _whole(stream: BinaryIO, file: str) -> str:
    """Return an answer. Raises Failure for one that is too large or no text, and OSError."""
    data = stream.read(MOST_ANSWER_BYTES + 1)
    if len(data) > MOST_ANSWER_BYTES:
        raise _too_large(file, MOST_ANSWER_BYTES)
    return _text(data, file)


def _too_large(where: str, bytes_: int) -> Failure:
    why = f"the file is larger than {bytes_ // 2**20} MiB"
    return Failure(f"{where}: {why}", fix="Only the last 28 days are kept: leave out the others")


def _text(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        why = f"{error.reason} at byte {error.start + 1}"
        raise Failure(f"{where} is no UTF-8 text: {why}") from error


async def _import(
    settings: Settings, arguments: Namespace, counts: dict[int, int], console: Console
) -> int:
    cluster = make_cluster(settings)
    try:
        store = RecordStore(cluster, settings.namespace, settings.instance)
        async with Progress(console, "writing the record"):
            await store.load()
            key = of_record(arguments.workload, store)
            before = await put(store, key, counts, replaces=arguments.replace)
    finally:
        await cluster.close()
    new = len(counts if arguments.replace else counts.keys() - before.keys())
    console.print(f"{key}: {counted(new, 'quarter')} of an hour imported.")
    if new < len(counts):
        console.print(
            f"{len(counts) - new} were known already and stay; --replace overwrites them."
        )
    return 0


async def put(
    store: RecordStore, key: WorkloadKey, counts: dict[int, int], *, replaces: bool
) -> dict[int, int]:
    """Put counts on record and return what was there. Raises Conflict and the cluster's errors."""
    found: dict[int, int] = {}

    def change(newest: StateRecord) -> StateRecord:
        found.clear()
        found.update(demand.decode(newest.demand))
        known, read = newest.demand, demand.encode(counts)
        both = demand.merge(read, known) if replaces else demand.merge(known, read)
        return replace(newest, demand=both)

    for left in reversed(range(TRIES)):
        try:
            await store.change_state(key, change)
        except Conflict:
            if not left:
                raise
        else:
            break
    return found


async def _export(settings: Settings, word: str, console: Console) -> int:
    cluster = make_cluster(settings)
    try:
        store = RecordStore(cluster, settings.namespace, settings.instance)
        async with Progress(console, "reading the records"):
            await store.load()
    finally:
        await cluster.close()
    for line in to_csv(demand.decode(store.state(of_record(word, store)).demand)):
        console.print(line)
    return 0
