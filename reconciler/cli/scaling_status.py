"""What `status` tells of scaling: counts on their way into Git, and why a policy stands still."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reconciler.cli.ages import age
from reconciler.cli.console import Console
from reconciler.cli.reading import counted
from reconciler.core import pauses
from reconciler.core.policies.policy import plural
from reconciler.core.standing import standing_of
from reconciler.model.intents import Intent
from reconciler.model.last_looks import LastLook
from reconciler.model.outbox import EMPTY_OUTBOX, Outbox
from reconciler.model.printable import escaped
from reconciler.model.records import StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import WriteBack
from reconciler.service.lookout import written


@dataclass(frozen=True, slots=True)
class ScalingFace:
    """The branch as write-back sees it: every workload's record, and how our commits fare."""

    records: Sequence[tuple[WorkloadKey, StateRecord]] = ()
    outbox: Outbox = EMPTY_OUTBOX
    write_back: WriteBack = field(default_factory=WriteBack)
    last_looks: Mapping[WorkloadKey, LastLook] = field(default_factory=dict)
    """What policies that ask others came to, where somebody leads who tells it."""

    @property
    def intents(self) -> tuple[tuple[WorkloadKey, Intent], ...]:
        """The counts that are to stand in Git and do not: none where it keeps its own numbers."""
        if self.write_back.mode == "off":
            return ()
        found = ((key, record.scaling.intent) for key, record in self.records)
        return tuple((key, each) for key, each in found if each is not None and each.moves_git)

    @property
    def oldest_at(self) -> float:
        """Since when the oldest of them waits (Unix seconds), 0 where none does."""
        return min((intent.waits_since for _, intent in self.intents), default=0.0)


def face_lines(console: Console, face: ScalingFace, now: float) -> Iterator[str]:
    """Say what of the branch waits to be written, and how the last commits fared."""
    outbox, intents = face.outbox, face.intents
    if intents:
        are = "count is" if len(intents) == 1 else "counts are"
        oldest = age(now - face.oldest_at)
        yield f"{len(intents)} {are} on the way into Git, the oldest for {oldest}"
    if outbox.error and intents:
        failing = console.paint("no commit comes into Git", "red")
        since = f"since {written(outbox.failing_since)} ({age(now - outbox.failing_since)})"
        yield f"{failing} {since}: {outbox.error}"
        yield "    What was decided acts all the same; one commit catches up when Git takes it."
    if outbox.pushed_at:
        yield (
            f"last commit of ours {outbox.commit[:12]}, {age(now - outbox.pushed_at)} ago; "
            f"{counted(outbox.pushes, 'commit')} and "
            f"{counted(outbox.races, 'lost race')} since this process leads"
        )
    if outbox.unrecorded:
        notes = counted(outbox.unrecorded, "note")
        yield f"{notes} of commits not taken by our own records: the log says why"


def workload_lines(
    console: Console, face: ScalingFace, key: WorkloadKey, record: StateRecord, now: float
) -> Iterator[str]:
    """Say what was decided of one workload, where that stands, and why its policy stands still."""
    intent = record.scaling.intent
    standing = standing_of(key, record, face.outbox, face.write_back, now)
    if intent is not None and standing is not None:
        last = intent.steps[-1]
        # The host's words stand above, once for all.
        why = "no commit comes into Git" if standing.where == "failing" else standing.why
        word = console.paint("decided:", "yellow")
        yield (
            f"{word} {key} {intent.base} -> {intent.value} by {last.policy} "
            f"{age(now - last.at)} ago: {why}"
        )
        yield f"    {intent.reason}"
    holds = tuple(_holds(record, now))
    for hold in holds:
        word = console.paint("paused:", "yellow")
        since, until = hold["since"], hold["until"]
        when = f"; since {written(since)} ({age(now - since)})" if since else ""
        left = f"; its policy waits until {written(until)} ({age(until - now)})" if until else ""
        yield f"{word} {key}: {hold['reason']}{left or when}"
    look = face.last_looks.get(key)
    if look is not None and look.is_limited and not holds:
        word, wants = console.paint("limited:", "yellow"), plural(look.advised or 0, "room")
        why = escaped("; ".join(look.steps[1:] or look.steps) or "why is not told")
        ago = f"{age(now - look.at)} ago"
        yield f"{word} {key}: its policy wanted {wants} {ago}, {look.replicas} decided: {why}"


def face_json(face: ScalingFace, now: float) -> dict[str, Any]:
    """Return write-back as a JSON object."""
    outbox, oldest_at = face.outbox, face.oldest_at
    return {
        "mode": face.write_back.mode,
        "branch": face.write_back.branch or None,
        "waiting": len(face.intents),
        "oldestSince": _time(oldest_at),
        "oldestSeconds": round(max(0.0, now - oldest_at), 1) if oldest_at else None,
        "lastCommit": outbox.commit or None,
        "pushedAt": _time(outbox.pushed_at),
        "pushes": outbox.pushes,
        "races": outbox.races,
        "unrecorded": outbox.unrecorded,
        "failingSince": _time(outbox.failing_since),
        "error": outbox.error,
    }


def workload_json(
    face: ScalingFace, key: WorkloadKey, record: StateRecord, now: float
) -> dict[str, Any]:
    """Return what was decided of one workload as a JSON object."""
    standing = standing_of(key, record, face.outbox, face.write_back, now)
    intent = intent_json(record.scaling.intent)
    if intent is not None and standing is not None:
        intent |= {"stands": standing.where, "why": standing.why}
    holds = [
        {**hold, "since": _time(hold["since"]), "until": _time(hold["until"])}
        for hold in _holds(record, now)
    ]
    look = face.last_looks.get(key)
    return {"intent": intent, "holds": holds, "lastLook": look_json(look) if look else None}


def look_json(look: LastLook) -> dict[str, Any]:
    """Return what a policy that asks others came to last as a JSON object."""
    return {
        "at": _time(look.at),
        "answeredAt": _time(look.answered_at),
        "advised": look.advised,
        "replicas": look.replicas,
        "steps": list(look.steps),
        "againAt": _time(look.again_at),
    }


def intent_json(intent: Intent | None) -> dict[str, Any] | None:
    """Return an intent as a JSON object."""
    if intent is None:
        return None
    last = intent.steps[-1]
    return {
        "from": intent.base,
        "to": intent.value,
        "policy": last.policy,
        "reason": intent.reason,
        "since": written(intent.waits_since),
        "decidedAt": written(last.at),
    }


def _holds(record: StateRecord, now: float) -> Iterator[dict[str, Any]]:
    """Yield what keeps a policy from moving the count; times are 0 where nobody knows them."""
    scaling, pause = record.scaling, pauses.on_record(record.conditions)
    if now < scaling.held_until:
        yield {
            "hold": "HumanHold",
            "reason": scaling.held_why,
            "commit": scaling.held_by,
            "since": pause.since if pause is not None and pause.reason == "HumanHold" else 0.0,
            "until": scaling.held_until,
        }
    if pause is not None and pause.reason != "HumanHold":
        yield {
            "hold": pause.reason,
            "reason": pause.message,
            "commit": None,
            "since": pause.since,
            "until": 0.0,
        }


def _time(at: float) -> str | None:
    return written(at) if at else None
