"""`gamekeeper undo`: take back what a commit did to a number, as a commit of your own."""

import asyncio
import time
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass

from reconciler.assets import TimeZones
from reconciler.cli.ages import age
from reconciler.cli.console import Console
from reconciler.cli.identity import identity_of, is_to_sign, signing_of
from reconciler.cli.log_reading import GitSide, opened_git, read_recorded, tracked
from reconciler.cli.options import add_own, add_settings, is_written, own_of, settings_of
from reconciler.cli.progress import Progress
from reconciler.cli.prompts import confirm
from reconciler.cli.undo_diff import Edited, edited, print_diff, remarks_on
from reconciler.cli.undo_push import push_undo
from reconciler.cli.undo_search import found_undos
from reconciler.core.freeze_windows import open_at, sentence
from reconciler.model.pushes import Person, Pushed, SigningKey
from reconciler.model.specs import Config
from reconciler.setting_rows import Row
from reconciler.settings import Settings

EXAMPLE = """\
gamekeeper undo arena --instance main             # Gamekeeper's newest change of its number
gamekeeper undo 0a1b2c3d4e5f --instance main      # what that commit did to numbers
gamekeeper undo arena --dry-run --instance main   # the diff, and nothing else"""

AUTHOR = Row(
    "author",
    str,
    "",
    "",
    "whose commit it is, as Ada <ada@example.com> (default: as git here knows you)",
    command="undo",
)
CHANGES = 2
UNSIGNED = (
    "{branch} stands at {base}, which is signed, and this commit will not be, as git here signs "
    "none. A loop with --verify-commits then takes nothing of the branch in: with head until a "
    "signed commit follows, with strict until it is signed anew or approved. To sign it: "
    "git config commit.gpgsign true, and user.signingKey."
)


@dataclass(frozen=True, slots=True)
class Ask:
    """What was asked for, and by whom."""

    word: str
    settings: Settings
    author: Person
    signing: SigningKey | None


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "word",
        metavar="WORKLOAD|COMMIT",
        help="a workload as NAME, NAMESPACE/NAME or KIND/NAME, or the id of a commit",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the diff and push nothing")
    parser.add_argument("--yes", action="store_true", help="agree to the diff beforehand")
    add_own(parser, AUTHOR)
    add_settings(parser, "git", "identity", "cluster")


def run(arguments: Namespace, console: Console) -> int:
    """Undo: 0 pushed, 1 refused; --dry-run exits as diff does, with 2."""
    settings = settings_of(arguments, console.environment)
    author = identity_of(own_of(arguments, console.environment, AUTHOR))
    signing = None if arguments.dry_run else signing_of(author)
    ask = Ask(arguments.word, settings, author, signing)
    return asyncio.run(_undo(ask, arguments, console))


async def _undo(ask: Ask, arguments: Namespace, console: Console) -> int:
    settings = ask.settings
    if not settings.repo:
        written = is_written(arguments, console.environment, "branch")
        settings = tracked(settings, await read_recorded(settings), keep_branch=written)
    async with opened_git(settings) as side:

        async def again() -> Edited:
            # After Git: the id of a commit of ours is on record before it is pushed.
            recorded = await read_recorded(settings)
            undos = await found_undos(side, ask.word, recorded)
            return await edited(side, undos)

        async with Progress(console, "reading the log"):
            change = await again()
        print_diff(console, change)
        for remark in remarks_on(side, change.undos):
            console.print(remark)
        unsigned = change.signed and not is_to_sign()
        if unsigned:
            console.print(UNSIGNED.format(branch=change.branch, base=change.base[:12]))
        if arguments.dry_run:
            return CHANGES
        if not confirm(console, "Commit and push this?", yes=arguments.yes):
            console.print("Nothing was written.")
            return 1
        async with Progress(console, "pushing"):
            pushed = await push_undo(side, change, again, ask.author, ask.signing)
        _say(console, side, change, pushed, unsigned=unsigned)
    return 0


def _say(
    console: Console, side: GitSide, change: Edited, pushed: Pushed, *, unsigned: bool
) -> None:
    console.print(f"Pushed {pushed.commit[:12]} to {change.branch}.")
    windows = side.reading.config.freeze if side.reading.config else ()
    for freeze in open_at(windows, TimeZones(), time.time()):
        console.print(
            f"It waits, {sentence(freeze)}. gamekeeper status shows what lets it through."
        )
    workloads = side.reading.workloads
    specs = [workloads[each.key] for each in change.undos if each.key in workloads]
    if any(spec.autoscaling and spec.autoscaling.enabled for spec in specs):
        back = (side.reading.config or Config()).write_back
        held = age(float(back.human_hold_seconds))
        seen = "has taken it in, unsigned as it is" if unsigned else "has seen it"
        console.print(f"Once the loop {seen} (gamekeeper reconcile), policies wait {held}.")
