"""Safety budgets: how much a commit may take away before somebody has to say yes (DESIGN §6).

Counted over a sliding window, net for each workload: from the largest count in the window down
to the count asked for. So what was added minutes ago is no credit for taking all of it away,
and going down and up again counts once. What is over is refused as a whole, never in part.
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


def settled(ledger: tuple[LedgerEntry, ...], now: float) -> tuple[LedgerEntry, ...]:
    """Return the ledger without a future: where a clock was set back, all of it was just now."""
    if all(entry.at <= now for entry in ledger):
        return ledger
    return tuple(LedgerEntry(min(entry.at, now), entry.count) for entry in ledger)


def enter(
    ledger: Sequence[LedgerEntry], entry: LedgerEntry, window_seconds: int
) -> tuple[LedgerEntry, ...]:
    """Return the ledger with one more entry, without those that count no longer.

    Only the largest count in the window matters, so smaller ones before this one go too:
    whatever the number of commits, the record that holds the ledger stays small.
    """
    kept = recent(ledger, window_seconds, entry.at)
    return (*(older for older in kept if older.count > entry.count), entry)


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
    net = {key: largest[key] - (counts.get(key, 0) - asked.get(key, 0)) for key in keys}
    for removal in sorted(removals):
        key = removal.key
        allowed = _allowed(budgets.workload_rooms, budgets.workload_percent, largest[key])
        if net[key] > allowed:
            return (
                f"{key} would lose {net[key]} of {largest[key]} rooms within "
                f"{budgets.window_seconds} s; {allowed} may go without approval"
            )
    total = sum(net.values())
    everything = sum(largest.values())
    allowed = _allowed(budgets.total_rooms, budgets.total_percent, everything)
    if removals and total > allowed:
        return (
            f"all workloads together would lose {total} of {everything} rooms within "
            f"{budgets.window_seconds} s; {allowed} may go without approval"
        )
    return ""


def floor(
    count: int, spent: Sequence[LedgerEntry], budgets: Budgets, now: float
) -> tuple[int, float | None]:
    """Return how few rooms an autoscaler may leave of `count`, and in how many seconds fewer.

    `spent` are the counts that it left in the window. It is slowed, never refused; None where
    nothing frees any budget.
    """
    largest = _largest(count, spent)
    lowest = max(0, largest - _allowed(budgets.workload_rooms, budgets.workload_percent, largest))
    first = min((entry.at for entry in spent), default=None)
    return lowest, None if first is None else max(0.0, first + budgets.window_seconds - now)


def _largest(count: int, ledger: Sequence[LedgerEntry]) -> int:
    return max([count, *(entry.count for entry in ledger)])


def _allowed(rooms: int, percent: float, largest: int) -> int:
    # Rounded at 9 digits first: 50 * 1.16 is 57.99999999999999 in binary.
    return max(rooms, int(round(largest * percent / 100, 9)))
