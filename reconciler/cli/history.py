"""`gamekeeper history`: how a workload's number came to be what it is, from the log of Git."""

import asyncio
import time
from argparse import ArgumentParser, Namespace
from functools import reduce

from reconciler.cli.console import Console
from reconciler.cli.history_text import Past, as_json, print_past
from reconciler.cli.log_reading import GitSide, Recorded, opened_git, read_recorded
from reconciler.cli.options import add_output, add_own, add_settings, own_of, settings_of
from reconciler.cli.output import print_json, print_yaml
from reconciler.cli.progress import Progress
from reconciler.core.pending import pending_of
from reconciler.loop.count_history import merged, of_branch
from reconciler.model.history import CountHistory
from reconciler.model.refs import WorkloadKey
from reconciler.setting_rows import Row
from reconciler.settings import Settings

EXAMPLE = """\
gamekeeper history arena                       # of the commit checked out here
gamekeeper history arena --instance main       # and what is decided and not in Git yet
gamekeeper history arena --repo https://git.example.com/studio/fleet.git --instance main"""

LIMIT = Row(
    "limit", int, 20, "", "most changes that are shown", unit="n", least=1, command="history"
)


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "word", metavar="WORKLOAD", help="a workload as NAME, NAMESPACE/NAME or KIND/NAME"
    )
    add_own(parser, LIMIT)
    add_output(parser, "text", "json", "yaml")
    add_settings(parser, "git", "identity", "cluster")


def run(arguments: Namespace, console: Console) -> int:
    """Tell the past; nothing is written."""
    settings = settings_of(arguments, console.environment)
    limit = own_of(arguments, console.environment, LIMIT)
    past = asyncio.run(_read(arguments.word, settings, limit, console))
    if arguments.output == "text":
        print_past(console, past, time.time())
    elif arguments.output == "json":
        print_json(console, as_json(past))
    else:
        print_yaml(console, [as_json(past)])
    return 0


async def _read(word: str, settings: Settings, limit: int, console: Console) -> Past:
    async with Progress(console, "reading the log"), opened_git(settings) as side:
        key = side.workload(word)
        # After Git: the id of a commit of ours is on record before it is pushed.
        return await _past(side, key, await read_recorded(settings), limit)


async def read_history(
    side: GitSide, key: WorkloadKey, recorded: Recorded, limit: int
) -> CountHistory:
    """Return the changes on the tracked branch and on that of counts, which left it once."""
    found = await _read_of(side, key, recorded, side.commit, limit)
    if not side.counts_branch:
        return found
    apart = await _read_of(side, key, recorded, side.reading.counts_commit, limit)
    return merged(found, of_branch(side.counts_branch, apart), limit)


async def _read_of(
    side: GitSide, key: WorkloadKey, recorded: Recorded, start: str, limit: int
) -> CountHistory:
    """Return the changes up to a commit, in each file that has a number of the workload."""
    found = await side.histories_of(key, recorded, start, limit)
    return reduce(lambda one, other: merged(one, other, limit), found)


async def _past(side: GitSide, key: WorkloadKey, recorded: Recorded, limit: int) -> Past:
    history = await read_history(side, key, recorded, limit)
    workload = side.reading.workloads.get(key)
    workload = None if key in side.reading.unnumbered else workload
    record = recorded.states.get(key)
    intent = record.scaling.intent if record else None
    pending = (
        pending_of(record.scaling, [each.logged.commit for each in history.changes])
        if record
        else ()
    )
    return Past(
        key=key,
        commit=side.commit,
        count=workload.replicas if workload else None,
        source=str(workload.replicas_source) if workload else "",
        changes=history.changes,
        cut=history.cut,
        ends_at=history.ends_at,
        pending=pending,
        acts=record.in_effect if record else None,
        unknown=recorded.problem,
        unfetched=side.unfetched,
        counts=(side.counts_branch, side.reading.counts_commit) if side.counts_branch else ("", ""),
        is_fetched=side.writable is None,
        is_bounded=bool(intent and intent.is_bounded),
        moves_git=bool(intent and intent.moves_git),
    )
