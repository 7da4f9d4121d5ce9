"""What `[PATH|REV]` names, read and checked; and how what is wrong there is printed."""

import asyncio
import os
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.cli.options import add_settings, own_of, settings_of
from reconciler.cli.progress import Progress
from reconciler.core.messages import as_github, as_text
from reconciler.model.errors import Misconfigured
from reconciler.model.findings import Finding, Severity
from reconciler.model.readings import Reading
from reconciler.model.trees import Tree
from reconciler.ports import Compiler
from reconciler.settings import rows
from reconciler.wiring.compilers import make_compiler
from reconciler.wiring.permits import permissions_of
from reconciler.wiring.repositories import make_checkout

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


@dataclass(frozen=True, slots=True)
class Specs:
    """Everything a place says; paths of Findings are relative to `root`.

    `tracked` is the branch as which it was read.
    """

    root: str
    reading: Reading
    compiler: Compiler
    tree: Tree
    tracked: str


def add_place(parser: ArgumentParser) -> None:
    """Add `[PATH|REV]` and what decides how it is judged."""
    parser.add_argument(
        "place",
        metavar="PATH|REV",
        nargs="?",
        default=".",
        help="a directory (default: this one, with what is not committed yet), or a revision "
        "of the repository here",
    )
    without = ["namespace_content_kinds", "approval_signers"]
    without += ["verify_commits", "commit_signers", "commit_keys"]
    add_settings(parser, "safety", "namespace", "branch", "path", "values", without=without)


@asynccontextmanager
async def opened(arguments: Namespace, console: Console) -> AsyncIterator[Specs]:
    """Read the place that the arguments name. Raises Failure and what ports raise."""
    settings = settings_of(arguments, console.environment)
    permissions = permissions_of(settings)
    place = arguments.place
    is_path = await asyncio.to_thread(os.path.exists, place)
    compiler = make_compiler()
    checkout = make_checkout(place if is_path else ".", settings)
    try:
        async with Progress(console, f"reading {place}"):
            try:
                tree = await checkout.tree("" if is_path else place)
            except Misconfigured as error:
                if is_path:
                    raise
                raise Failure(f'"{place}" is neither a path nor a revision: {error}') from error
            tracked = _named(arguments, console) or await checkout.branch()
            reading = await compiler.read(tree, replace(permissions, tracked=tracked))
        yield Specs(await checkout.root(), reading, compiler, tree, tracked)
    finally:
        await checkout.close()
        await compiler.close()


def _named(arguments: Namespace, console: Console) -> str:
    """Return the tracked branch where it is named: a fork or a clone may call it otherwise."""
    (row,) = (row for row in rows() if row.name == "branch")
    return str(own_of(arguments, console.environment, replace(row, default="")))


def print_findings(console: Console, findings: Iterable[Finding], root: str) -> None:
    """Print Findings by file and line, paths as they are from here."""
    for finding in ordered(findings):
        text = as_text(_from_here(finding, root))
        word = f" {finding.severity}: "
        painted = f" {console.paint(finding.severity, COLOURS[finding.severity], 'bold')}: "
        console.print(text.replace(word, painted, 1))


def print_annotations(console: Console, findings: Iterable[Finding], root: str) -> None:
    """Print Findings as a pull request on GitHub shows them in place."""
    for finding in ordered(findings):
        console.print(as_github(_from_here(finding, root)))


def findings_as_json(findings: Iterable[Finding]) -> list[dict[str, object]]:
    """Return Findings as JSON objects."""
    return [asdict(finding) for finding in ordered(findings)]


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Sort Findings by place."""
    return sorted(findings, key=lambda item: (item.file, item.line, item.column, item.path))


def counted(number: int, word: str) -> str:
    """Return `1 error`, `2 errors`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _from_here(finding: Finding, root: str) -> Finding:
    return replace(finding, file=os.path.relpath(os.path.join(root, finding.file)))
