"""`gamekeeper validate`: every mistake at once, with its place and its fix."""

import asyncio
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import replace

from reconciler.assets import TimeZones
from reconciler.cli.console import Console
from reconciler.cli.options import add_output
from reconciler.cli.output import print_json, print_yaml
from reconciler.cli.reading import (
    Specs,
    add_place,
    counted,
    findings_as_json,
    opened,
    print_annotations,
    print_findings,
)
from reconciler.core import freeze_windows, suspension
from reconciler.core.messages import workflow_command
from reconciler.core.report_checks import lost_protection
from reconciler.model.readings import Reading

EXAMPLE = """\
gamekeeper validate                      # the directory here, committed or not
gamekeeper validate HEAD~1               # a revision
gamekeeper validate --output github      # annotations that a pull request shows in place"""


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_place(parser)
    add_output(parser, "text", "json", "yaml", "github")


def run(arguments: Namespace, console: Console) -> int:
    """Print all Findings; 1 where one of them is an error."""
    return asyncio.run(_validate(arguments, console))


async def _validate(arguments: Namespace, console: Console) -> int:
    async with opened(arguments, console) as specs:
        reading = _doubted(specs, time.time())
        specs = replace(specs, reading=reading)
        _print(specs, arguments.output, console)
        return 1 if specs.reading.errors else 0


def _doubted(specs: Specs, now: float) -> Reading:
    """Return a reading with what is no mistake of a spec alone: by its date, or by how it is put.

    A loop does not look for these at each head.
    """
    from reconciler.core import count_edits

    reading = specs.reading
    dated = suspension.doubt_ended(reading.workloads.values(), now)
    inexact = count_edits.doubt_exact(reading, specs.tree, specs.tracked)
    return replace(reading, findings=(*reading.findings, *dated, *inexact))


def _notes(reading: Reading) -> Iterator[str]:
    """Yield what is no mistake, and good to know: which protection is lost, what is frozen now."""
    if protection := lost_protection(reading.workloads.values()):
        yield protection
    windows = reading.config.freeze if reading.config else ()
    for freeze in freeze_windows.open_at(windows, TimeZones(), time.time()):
        yield f"{freeze_windows.sentence(freeze)}; what people change in Git waits until then"


def _print(specs: Specs, output: str, console: Console) -> None:
    findings = specs.reading.findings
    notes = list(_notes(specs.reading))
    if output in ("json", "yaml"):
        value = {
            "commit": specs.reading.commit,
            "workloads": len(specs.reading.workloads),
            "findings": findings_as_json(findings),
            "notes": notes,
        }
        if output == "json":
            print_json(console, value)
        else:
            print_yaml(console, [value])
    elif output == "github":
        print_annotations(console, findings, specs.root)
        for note in notes:
            console.print(workflow_command("notice", {"title": "note"}, note))
    else:
        print_findings(console, findings, specs.root)
        for note in notes:
            console.print(f"note: {note}.")
        console.print(_summary(specs, console))


def _summary(specs: Specs, console: Console) -> str:
    reading = specs.reading
    errors = len(reading.errors)
    warnings = len(reading.findings) - errors
    rooms = sum(workload.replicas for workload in reading.workloads.values())
    good = f"{counted(len(reading.workloads), 'workload')} with {counted(rooms, 'room')}"
    warned = f", {counted(warnings, 'warning')}" if warnings else ""
    if errors:
        return f"{console.paint(counted(errors, 'error'), 'red')}{warned}; valid: {good}"
    return f"{console.paint('valid', 'green')}: {good}{warned}"
