"""Safety budgets: how much a commit may take away before somebody has to say yes (DESIGN §6).

Counted over a sliding window, net for each workload (removed less created), per cent of the
largest count in the window. What is over is refused as a whole, never in part.
"""

from collections.abc import Mapping, Sequence

from reconciler.model.changes import Removal
from reconciler.model.records import LedgerEntry
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Budgets


def stricter(one: Budgets, other: Budgets) -> Budgets:
    """Return the smaller allowance of each kind, over the longer window."""
    return Budgets(
        workload_rooms=min(one.workload_rooms, other.workload_rooms),
        workload_percent=min(one.workload_percent, other.workload_percent),
        total_rooms=min(one.total_rooms, other.total_rooms),
        total_percent=min(one.total_percent, other.total_percent),
        window_seconds=max(one.window_seconds, other.window_seconds),
    )


def recent(
    ledger: Sequence[LedgerEntry], window_seconds: int, now: float
) -> tuple[LedgerEntry, ...]:
    """Return the entries that still count.

    An entry from the future (a clock that was set back) counts: it was made by us, recently.
    """
    return tuple(entry for entry in ledger if entry.at > now - window_seconds)


def refusal(
    removals: Sequence[Removal],
    counts: Mapping[WorkloadKey, int],
    ledgers: Mapping[WorkloadKey, Sequence[LedgerEntry]],
    budgets: Budgets,
) -> str:
    """Return why these removals are over budget, "" when they are within.

    `counts` are the accepted counts of all workloads, `ledgers` their recent entries.
    """
    asked = {removal.key: removal.rooms for removal in removals}
    keys = set(counts) | set(ledgers) | set(asked)
    largest = {key: _largest(counts.get(key, 0), ledgers.get(key, ())) for key in keys}
    net = {
        key: sum(entry.rooms for entry in ledgers.get(key, ())) + asked.get(key, 0) for key in keys
    }
    for removal in sorted(removals):
        key = removal.key
        allowed = _allowed(budgets.workload_rooms, budgets.workload_percent, largest[key])
        if net[key] > allowed:
            return (
                f"{key} would lose {net[key]} of {largest[key]} rooms within "
                f"{budgets.window_seconds} s; {allowed} may go without approval"
            )
    total = sum(max(0, number) for number in net.values())
    everything = sum(largest.values())
    allowed = _allowed(budgets.total_rooms, budgets.total_percent, everything)
    if removals and total > allowed:
        return (
            f"all workloads together would lose {total} of {everything} rooms within "
            f"{budgets.window_seconds} s; {allowed} may go without approval"
        )
    return ""


def _largest(count: int, ledger: Sequence[LedgerEntry]) -> int:
    return max([count, *(entry.count for entry in ledger)])


def _allowed(rooms: int, percent: float, largest: int) -> int:
    return max(rooms, int(largest * percent / 100))
