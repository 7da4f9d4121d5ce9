"""The state of a fleet as a person reads it."""

from reconciler.cli.changes import hold_lines
from reconciler.cli.console import Console
from reconciler.cli.output import print_table
from reconciler.cli.statuses import Status
from reconciler.core.conditions import READY

HEADS = (
    "workload", "wanted", "ready", "unready", "old", "leaving", "state", "commit", "spec",
)  # fmt: skip


def print_text(console: Console, status: Status) -> None:
    """Print where the fleet comes from, a line a workload, and what is held or failing."""
    record = status.repository
    if not record.commit:
        console.print("No commit was taken in yet.")
    else:
        console.print(f"commit {record.commit} of {record.branch} at {record.repository}")
    if status.holder is not None:
        console.print(f"led by {status.holder}" if status.holder else "No process leads.")
    for line in hold_lines(console, status.notices):
        console.print(line)
    if not status.workloads:
        return
    console.print()
    print_table(
        console,
        HEADS,
        (
            (
                each.key, each.counts.desired, each.counts.ready, each.counts.unready,
                each.counts.old, each.counts.terminating, each.state, each.commit[:12] or "-",
                each.source or "-",
            )
            for each in status.workloads
        ),
    )  # fmt: skip
    for line in hold_lines(console, (hold for each in status.workloads for hold in each.holds)):
        console.print(line)
    for each in status.workloads:
        failing = [c for c in each.conditions if c.type == READY and c.reason == "StepFailed"]
        for condition in failing:
            console.print(f"{console.paint('failing:', 'red')} {each.key}: {condition.message}")
