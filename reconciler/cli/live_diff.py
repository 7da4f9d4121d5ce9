"""`gamekeeper diff --live`: the loop's own plan, printed and not carried out."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from reconciler.cli.annotations import from_here
from reconciler.cli.console import Console
from reconciler.cli.lanes import Lanes, opened_lanes
from reconciler.cli.live_changes import LiveChange, print_live
from reconciler.cli.progress import Progress
from reconciler.loop import head
from reconciler.loop.preview import Preview, preview_plans
from reconciler.model.holds import Hold, HoldKind
from reconciler.settings import Settings

ASK_NOTHING = frozenset({HoldKind.SUSPENDED, HoldKind.CROWDED_PORTS})
"""Holds that are as somebody wants them, or that stop nothing: no change by themselves."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What was printed: at which commit, whether something would be written, and the exit code."""

    commit: str
    moving: bool
    code: int


async def show_live(settings: Settings, output: str, console: Console) -> int:
    """Print what the loop would do now; 0 nothing, 2 changes (also held ones), 1 Findings."""
    async with opened_lanes(settings) as lanes:
        return (await show(lanes, output, console)).code


async def show(lanes: Lanes, output: str, console: Console) -> Shown:
    """Read everything once and print the plans. Raises PortErrors."""
    async with Progress(console, "reading the cluster"):
        await lanes.read()
        wanted = await head.preview(lanes.head, time.time())
        plans = await preview_plans(lanes.one.lane, lanes.keys, time.time())
    holds = _all_holds(wanted.holds, plans)
    reading = lanes.head.reading
    findings = reading.findings if reading else ()
    asked = {key: each.workload for key, each in wanted.effective.items()}
    asked |= reading.workloads if reading else {}
    spots = {key: from_here(each.replicas_source, lanes.root) for key, each in asked.items()}
    change = LiveChange(wanted.commit, plans, holds, findings, spots)
    print_live(console, change, output, lanes.root)
    moving = any(item.moving for item in plans)
    waiting = any(hold.kind not in ASK_NOTHING for hold in holds)
    wrong = reading is not None and bool(reading.errors)
    return Shown(wanted.commit, moving, 1 if wrong else 2 if moving or waiting else 0)


def _all_holds(whole: Sequence[Hold], plans: Sequence[Preview]) -> tuple[Hold, ...]:
    """Return the holds of the commit and of single workloads, each once."""
    inner = (hold for item in plans for hold in item.holds)
    return tuple(dict.fromkeys((*whole, *inner)))
