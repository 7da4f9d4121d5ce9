"""Where a decided count is on its way into Git: a word for programs, a sentence for people."""

from dataclasses import dataclass
from typing import Literal

from reconciler.core.conditions import held_by
from reconciler.model.holds import HoldKind
from reconciler.model.intents import Intent
from reconciler.model.outbox import Outbox
from reconciler.model.records import StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import WriteBack

OVERDUE_SECONDS = 60.0
"""A commit that may be made is made by then, where the host takes it."""
Where = Literal["off", "held", "refused", "pushed", "failing", "pushing", "waiting"]


_KEPT_BACK = {
    HoldKind.UNSIGNED: "the newest commit is held",
    HoldKind.CONFIG: "gamekeeper.yaml is to be mended first",
    HoldKind.SUSPENDED: "nothing is committed for now",
    HoldKind.FINDING: "its spec in Git is to be mended first",
}
"""What of the newest commit keeps ours from being built upon it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """`why` is a sentence without its full stop."""

    where: Where
    why: str


def standing_of(
    key: WorkloadKey, record: StateRecord, outbox: Outbox, write_back: WriteBack, now: float
) -> Standing | None:
    """Return where the intent on record is, None where there is none; `now` is Unix seconds.

    The first of these that is true, in the order in which a person can do something about it.
    """
    intent = record.scaling.intent
    if intent is None:
        return None
    if write_back.mode == "off":
        return Standing("off", "it acts, and Git keeps its own number: writeBack.mode is off")
    kept = _kept_back(key, record)
    if kept:
        return Standing("held", kept)
    if key in outbox.refused:
        return Standing("refused", f"it cannot be written: {outbox.refused[key]}")
    landing = record.scaling.landings[-1] if record.scaling.landings else None
    if landing is not None and not intent.untold:
        return Standing("pushed", f"committed as {landing.commit[:12]}, and not taken in yet")
    if not intent.moves_git:
        why = "Git has that number, and a push of another one that failed may still arrive"
        return Standing("waiting", why if landing else "Git has that number")
    if outbox.error:
        return Standing("failing", f"no commit comes into Git: {outbox.error}")
    if landing is not None and landing.decided_at == intent.decided_at:
        # Its id may be of a commit that another leader made, whose disk is lost with it.
        # One that leads with --no-lease may push at this moment, beside an old Lease.
        ended = "its commit was being pushed when the last process that led ended"
        over = f"{ended}, as far as the Lease tells"
        return Standing("pushing", over if outbox.is_over else "its commit is being pushed")
    left = due_at(intent, outbox, write_back) - now
    frozen = [hold for hold in held_by(key, record.conditions) if hold.kind is HoldKind.FROZEN]
    if frozen and left < -OVERDUE_SECONDS:
        why = "no commit of ours goes against what waits for the end of a freeze"
        return Standing("held", f"{why}: {frozen[0].reason}")
    return Standing("waiting", _waits(left))


def _kept_back(key: WorkloadKey, record: StateRecord) -> str:
    """Say for what a count is not committed though its quiet time is over, "" where it is."""
    if record.held is not None:
        return f"the newest commit is held: {record.held.told}"
    told = {hold.kind: hold.reason for hold in held_by(key, record.conditions)}
    for kind, why in _KEPT_BACK.items():
        if kind in told:
            return f"{why}: {told[kind]}"
    if HoldKind.FROZEN in told and record.scaling.waits_by:
        by = record.scaling.waits_by[:12]
        return f"the number of commit {by} waits for the end of a freeze: {told[HoldKind.FROZEN]}"
    return ""


def due_at(intent: Intent, outbox: Outbox, write_back: WriteBack) -> float:
    """Return when the quiet time of an intent ends, in Unix seconds."""
    return max(intent.waits_since, outbox.pushed_at) + write_back.quiet_seconds


def _waits(left_seconds: float) -> str:
    if left_seconds < 1:
        return "to be committed now"
    return f"to be committed in {left_seconds:.0f} s, with what is decided until then"
