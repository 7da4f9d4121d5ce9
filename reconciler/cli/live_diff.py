"""`gamekeeper diff --live`: the loop's own plan, printed and not carried out."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reconciler.cli.annotations import from_here
from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.cli.lanes import Lanes, opened_lanes
from reconciler.cli.live_changes import LiveChange, print_live
from reconciler.cli.progress import Progress
from reconciler.core import counts_in_git
from reconciler.loop import head
from reconciler.loop.config import config_in_force
from reconciler.loop.preview import Preview, asked_by_git, preview_plans
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.intents import Intent
from reconciler.model.refs import WorkloadKey
from reconciler.model.wanted import Wanted
from reconciler.settings import Settings

ASK_NOTHING = frozenset(
    {
        *(HoldKind.SUSPENDED, HoldKind.CROWDED_PORTS, HoldKind.UNSIGNED_COUNTS),
        HoldKind.NEVER_HEARD,
    }
)
"""Holds that are as somebody wants them, or that stop nothing: no change by themselves."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What was printed: at which commit, whether something would be written, and the exit code.

    What only a decided count asks for is written, too, and is no difference from Git.
    """

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
        if lanes.root:
            await _check_fetched(lanes)
        wanted = await head.preview(lanes.head, time.time())
        plans = await preview_plans(lanes.one.lane, lanes.keys, time.time())
    holds = _all_holds(wanted.holds, plans)
    reading = lanes.head.reading
    findings = reading.findings if reading else ()
    asked = {key: each.workload for key, each in wanted.effective.items()}
    asked |= reading.workloads if reading else {}
    spots = {key: from_here(each.replicas_source, lanes.root) for key, each in asked.items()}
    intents = _intents(lanes, wanted)
    config = config_in_force(reading, lanes.one.lane.store.repository)
    is_written = config.write_back.mode != "off"
    change = LiveChange(wanted.commit, plans, holds, findings, spots, intents, is_written)
    print_live(console, change, output, lanes.root)
    moving = any(item.moving for item in plans)
    due = any(_is_asked(item, wanted, intents) for item in plans)
    waiting = any(hold.kind not in ASK_NOTHING for hold in holds)
    wrong = reading is not None and bool(reading.errors)
    return Shown(wanted.commit, moving, 1 if wrong else 2 if due or waiting else 0)


async def _check_fetched(lanes: Lanes) -> None:
    """See that a checkout has the branch of counts (ADR 17). Raises Failure, PortErrors."""
    reading, record = await head.read(lanes.head, time.time()), lanes.one.lane.store.repository
    branch = counts_in_git.unfetched(reading, record, lanes.head.branch)
    if branch:
        raise Failure(
            f"counts stand on branch {branch!r}, which was not fetched here",
            fix=f"git fetch origin {branch}:refs/remotes/origin/{branch}, or name --repo",
        )


def _intents(lanes: Lanes, wanted: Wanted) -> dict[WorkloadKey, Intent]:
    """Return the counts that act at this commit and do not stand in it."""
    found = {key: lanes.one.lane.scaling(key).intent for key in sorted(wanted.effective)}
    return {key: intent for key, intent in found.items() if intent is not None}


def _is_asked(item: Preview, wanted: Wanted, intents: Mapping[WorkloadKey, Intent]) -> bool:
    """Whether Git asks for what a workload's next step does."""
    key = item.plan.key
    if key not in intents:
        return item.moving
    return asked_by_git(item, wanted.effective[key].workload.replicas).moving


def _all_holds(whole: Sequence[Hold], plans: Sequence[Preview]) -> tuple[Hold, ...]:
    """Return the holds of the commit and of single workloads, each once."""
    inner = (hold for item in plans for hold in item.holds)
    return tuple(dict.fromkeys((*whole, *inner)))
