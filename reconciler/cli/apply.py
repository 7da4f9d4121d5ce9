"""`gamekeeper apply`: one convergence, through the loop's own guard, under the loop's Lease."""

import asyncio
import time
from argparse import ArgumentParser, Namespace

from reconciler.cli.apply_result import print_result
from reconciler.cli.console import Console
from reconciler.cli.convergence import Convergence
from reconciler.cli.failures import Failure
from reconciler.cli.lanes import Lanes
from reconciler.cli.leading import opened_leading
from reconciler.cli.live_diff import show
from reconciler.cli.options import add_own, add_settings, own_of, settings_of
from reconciler.cli.progress import Progress
from reconciler.cli.prompts import confirm
from reconciler.loop import head
from reconciler.setting_rows import Row
from reconciler.settings import Settings

EXAMPLE = """\
gamekeeper apply --dry-run --instance main     # the plan, and nothing else
gamekeeper apply --instance main               # HEAD of the repository here, after a question
gamekeeper apply --yes --repo https://git.example.com/studio/fleet.git --instance main"""

TIMEOUT = Row(
    "timeout_seconds",
    float,
    300.0,
    "",
    "longest wait until everything is as wanted",
    unit="s",
    least=0,
    command="apply",
    named="timeout",
    is_duration=True,
)


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--dry-run", action="store_true", help="print the plan and write nothing")
    parser.add_argument(
        "--yes", action="store_true", help="agree to the plan beforehand; approves no held removal"
    )
    add_own(parser, TIMEOUT)
    add_settings(parser, "git", "identity", "cluster", "safety", "lease")


def run(arguments: Namespace, console: Console) -> int:
    """Converge once: 0 as wanted, 1 a step failed or time is up; --dry-run exits as diff does."""
    return asyncio.run(_apply(arguments, settings_of(arguments, console.environment), console))


async def _apply(arguments: Namespace, settings: Settings, console: Console) -> int:
    timeout_seconds = own_of(arguments, console.environment, TIMEOUT)
    convergence = Convergence()
    async with opened_leading(settings, console, convergence.touched) as (lanes, leading):
        if arguments.dry_run:
            return (await show(lanes, "text", console)).code
        await leading.take_from_others()
        shown = await show(lanes, "text", console)
        if shown.moving and not confirm(console, "Apply this?", yes=arguments.yes):
            console.print("Nothing was written.")
            return 1
        await leading.take()
        await _look(lanes)
        # Also where nothing is to be written: conditions say what is held.
        async with Progress(console, "applying") as progress:
            await convergence.run(lanes, leading, progress, timeout_seconds)
        done = print_result(console, lanes, convergence)
        # What has a Finding was held; the rest acted, and yet the commit is not what it should be.
        return 0 if done and shown.code != 1 else 1


async def _look(lanes: Lanes) -> None:
    """Take the head in that was shown. Raises Failure where it moved since."""
    shown = lanes.one.lane.wanted.head
    await lanes.begin_term()
    newest = (await head.read(lanes.head, time.time())).head
    for before, after in zip(shown, newest, strict=True):
        if before != after:
            raise Failure(
                f"the branch moved from {before[:12]} to {after[:12]} since the plan was shown",
                fix="Run the command again",
            )
    await head.look(lanes.head, time.time())
