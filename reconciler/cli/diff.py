"""`gamekeeper diff`: what a change would do, from two commits alone or against the cluster."""

import asyncio
import os
import time
from argparse import ArgumentParser, Namespace
from dataclasses import replace

from reconciler.assets import TimeZones
from reconciler.cli.annotations import spots_of
from reconciler.cli.changes import print_change
from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.cli.options import add_output, add_settings, settings_of
from reconciler.cli.progress import Progress
from reconciler.cli.reading import counted
from reconciler.core import change, trailers, vouching
from reconciler.core.change import Terms
from reconciler.model.changes import Change
from reconciler.model.readings import Reading
from reconciler.model.signatures import NOBODY_ASKS, SigningRules, Span, Vouched
from reconciler.model.specs import Permissions
from reconciler.model.trees import Tree
from reconciler.ports import Compiler, Repository
from reconciler.wiring.compilers import make_compiler
from reconciler.wiring.permits import ceiling_of, permissions_of
from reconciler.wiring.repositories import make_checkout, rules_of

EXAMPLE = """\
gamekeeper diff origin/main                    # what merging HEAD into main would do
gamekeeper diff main my-branch --output github # the same, as a pull request shows it
gamekeeper diff --live --instance main         # HEAD against the cluster"""

NOTHING, ERROR, CHANGES = 0, 1, 2
EXIT_CODES = "Exit codes: 0 nothing to do, 2 changes (also refused or held ones), 1 an error."


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = f"{parser.description}\n{EXIT_CODES}"
    parser.add_argument("base", metavar="BASE", nargs="?", help="the commit to merge into")
    parser.add_argument(
        "head", metavar="HEAD", nargs="?", default="HEAD", help="the commit to merge (default HEAD)"
    )
    parser.add_argument(
        "--live", action="store_true", help="compare the cluster with HEAD, or with --repo's branch"
    )
    add_output(parser, "text", "json", "yaml", "github")
    add_settings(parser, "git", "identity", "cluster", "safety")


def run(arguments: Namespace, console: Console) -> int:
    """Print the change: 0 nothing to do, 2 changes (also held ones), 1 a Finding or an error."""
    if arguments.live:
        # Late: only this half needs the cluster.
        from reconciler.cli.live_diff import show_live

        if arguments.base:
            raise Failure(
                "diff --live takes no commit: it compares the cluster with HEAD",
                fix="Leave BASE and HEAD out, or name what is tracked with --repo and --branch",
            )
        settings = settings_of(arguments, console.environment)
        return asyncio.run(show_live(settings, arguments.output, console))
    if not arguments.base:
        raise Failure(
            "diff needs a commit to compare with",
            fix="Name one (gamekeeper diff origin/main), or compare with the cluster: --live",
        )
    return asyncio.run(_diff(arguments, console))


async def _diff(arguments: Namespace, console: Console) -> int:
    settings = settings_of(arguments, console.environment)
    compiler = make_compiler()
    checkout = make_checkout(".", settings)
    try:
        async with Progress(console, f"comparing {arguments.base} and {arguments.head}"):
            before = await checkout.tree(arguments.base)
            merged = await checkout.merge(arguments.base, arguments.head)
            if merged.tree is None:
                raise _conflict(arguments, merged.conflicts)
            permissions = permissions_of(settings)
            base, head = await _read(compiler, before, merged.tree, permissions)
            rules = rules_of(settings)
            vouched = await _vouched(checkout, before.commit, arguments.head, rules)
            head = replace(head, vouched=vouched)
            terms = Terms(ceiling_of(settings), time.time(), TimeZones())
            compared = change.compare(base, head, settings.cluster_name, terms)
        # An unsigned head is held by a hash of its own, which no trailer approves.
        waits = any(hold.line and hold.change_hash for hold in compared.holds)
        if settings.approval_signers and waits:
            hint = trailers.invitation(compared.change_hash)
            compared = replace(compared, holds=(*compared.holds, hint))
        root = await checkout.root()
    finally:
        await checkout.close()
        await compiler.close()
    if base.errors:
        console.note(
            f"{arguments.base} has {counted(len(base.errors), 'error')} of its own "
            f"(gamekeeper validate {arguments.base}): what they hold is not compared"
        )
    github = arguments.output == "github"
    spots = spots_of(compared, head, merged.tree, root) if github else {}
    shown = _from_here(compared, root)
    print_change(console, shown, arguments.output, head.findings, root, spots)
    if head.errors:
        return ERROR
    return NOTHING if compared.empty and not compared.holds else CHANGES


async def _read(
    compiler: Compiler, before: Tree, after: Tree, permissions: Permissions
) -> tuple[Reading, Reading]:
    base, head = await asyncio.gather(
        compiler.read(before, permissions), compiler.read(after, permissions)
    )
    return base, head


async def _vouched(
    repository: Repository, base: str, head: str, rules: SigningRules | None
) -> Vouched:
    """Return whose word the commits are that the base has not, as the loop would ask of them."""
    if rules is None:
        return NOBODY_ASKS
    found = await repository.verify(Span(head, (base,)), rules, time.time())
    return vouching.vouched(found, head, rules, base)


def _conflict(arguments: Namespace, paths: tuple[str, ...]) -> Failure:
    return Failure(
        f"merging {arguments.head} into {arguments.base} conflicts in {', '.join(paths)}",
        fix=f"Merge or rebase onto {arguments.base}, and compare again",
    )


def _from_here(compared: Change, root: str) -> Change:
    """Return the change with its sources as they are from the directory we are in."""
    return replace(
        compared,
        workloads=tuple(
            replace(item, source=os.path.relpath(os.path.join(root, item.source)))
            for item in compared.workloads
        ),
    )
