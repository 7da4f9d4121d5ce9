"""Why a workload has the count that it has: what was decided, and what would be now.

The decision is made here anew, by the functions that the loop itself decides with, from the rooms
and from what is on record. What only the memory of the loop knows is said to be missing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reconciler.cli.ages import age
from reconciler.cli.history_text import step_json
from reconciler.cli.scaling_status import intent_json, look_json
from reconciler.core import pauses
from reconciler.core.policies.policy import plural
from reconciler.core.standing import Standing, standing_of
from reconciler.model.decisions import Decision
from reconciler.model.last_looks import LastLook
from reconciler.model.outbox import Outbox
from reconciler.model.records import StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.scaling import Bounds, Load
from reconciler.model.specs import WriteBack
from reconciler.service.lookout import written

MISSING = (
    "what the loop alone remembers: which matches began and ended lately, and what was advised "
    "since the record was written last"
)


@dataclass(frozen=True, slots=True)
class CountStory:
    """What a count rests on: `place` is where Git says it, "" where nobody here knows.

    `outbox` is how our commits fare, `decision` what would be decided now from `load`; `asked` are
    the kinds of things that the policy asks of others, which the loop alone does: then it is no
    decision, and `last_look` is what whoever leads came to by their answers, None where that is not
    told. `off` says why the spec lets none act, "" where it does.
    """

    key: WorkloadKey
    record: StateRecord
    place: str
    outbox: Outbox
    back: WriteBack
    load: Load
    decision: Decision
    bounds: Bounds
    asked: tuple[str, ...] = ()
    off: str = ""
    last_look: LastLook | None = None

    @property
    def in_git(self) -> int:
        """The number in Git."""
        return self.record.accepted.replicas if self.record.accepted else 0

    def standing(self, now: float) -> Standing | None:
        """Return where the intent stands, None where there is none."""
        return standing_of(self.key, self.record, self.outbox, self.back, now)

    def held_until(self, now: float) -> float | None:
        """Return until when a human's number holds, None where none does."""
        until = self.record.scaling.held_until
        return until if until > now else None


def count_lines(story: CountStory, now: float) -> Iterator[tuple[str, str]]:
    """Yield what shaped the count, each with its head; `now` is Unix seconds."""
    yield "in Git", f"{story.in_git}{_place(story)}"
    intent, standing = story.record.scaling.intent, story.standing(now)
    if intent is not None and standing is not None:
        since, policy = age(now - intent.decided_at), intent.steps[-1].policy
        yield "decided", f"{intent.value} since {since}, by {policy}: {intent.reason}"
        yield "", standing.why
    last = story.record.scaling.last
    if intent is None and last is not None:
        since, moved = age(now - last.at), f"{last.before} -> {last.after}"
        yield "decided", f"last {moved}, {since} ago, by {last.policy}: {last.reason}"
    until = story.held_until(now)
    if until is not None:
        why, left = story.record.scaling.held_why, age(until - now)
        yield "held", f"{why}: no policy until {written(until)} ({left})"
    pause = pauses.on_record(story.record.conditions)
    if pause is not None and until is None:
        yield "paused", f"{pause.message}, since {age(now - pause.since)}"
    if story.off:
        yield "off", story.off
    yield "its load", _load(story.load)
    if story.asked:
        yield from _asked_lines(story, now)
        return
    first, *others = story.decision.steps or (story.decision.reason,)
    yield "its policy", first
    yield from (("then", each) for each in others)
    yield "comes to", f"{plural(story.decision.replicas, 'room')}, not knowing {MISSING}"


def _asked_lines(story: CountStory, now: float) -> Iterator[tuple[str, str]]:
    """Yield what a policy that asks others came to, as far as whoever leads has told it."""
    others, look = ", ".join(story.asked), story.last_look
    if look is None or not look.steps:
        yield "its policy", f"asks others ({others}), and the loop alone does that"
        yield "then", f"no fewer than {story.bounds.minimum}, no more than {story.bounds.maximum}"
        return
    answered = f", answered {age(now - look.answered_at)} ago" if look.answered_at else ""
    yield "its policy", f"asks others ({others}{answered}): {look.steps[0]}"
    yield from (("then", each) for each in look.steps[1:])
    again = f"; more may be allowed in {age(look.again_at - now)}" if look.again_at > now else ""
    reckoned = f"as the loop reckoned {age(now - look.at)} ago"
    yield "comes to", f"{plural(look.replicas, 'room')}, {reckoned}{again}"


def _place(story: CountStory) -> str:
    """Say where the number stands; a record knows no line but that of its spec."""
    accepted = story.record.accepted
    if story.place or accepted is None:
        return f" by {story.place}"
    branch = f" with its branch {story.back.branch}" if story.back.branch else ""
    return (
        f", for the spec at {accepted.file}:{accepted.line}: the line of the number itself is told "
        f"in a checkout of its repository{branch}"
    )


def count_json(story: CountStory, now: float) -> dict[str, Any]:
    """Return the same as a JSON object.

    Times are Unix seconds; `intent` and `lastLook` are as `status` has them, with times as text.
    """
    scaling, load, decision = story.record.scaling, story.load, story.decision
    until, standing = story.held_until(now), story.standing(now)
    return {
        "inGit": story.in_git,
        "source": story.place or None,
        "intent": intent_json(scaling.intent),
        "steps": [step_json(step) for step in scaling.intent.steps] if scaling.intent else [],
        "standing": {"stands": standing.where, "why": standing.why} if standing else None,
        "heldBy": scaling.held_by if until else None,
        "heldUntil": until,
        "lastDecision": step_json(scaling.last) if scaling.last else None,
        "bounds": {"min": story.bounds.minimum, "max": story.bounds.maximum},
        "off": story.off or None,
        "load": {
            "replicas": load.replicas,
            "ready": load.ready,
            "active": load.active,
            "occupied": load.occupied,
            "allocated": load.allocated,
            "starting": load.starting,
            "unheard": load.unheard,
            "matches": load.matches,
            "players": load.told_players,
            "trouble": load.trouble or None,
        },
        "lastLook": look_json(story.last_look) if story.last_look else None,
        "decision": None
        if story.asked
        else {
            "replicas": decision.replicas,
            "advised": decision.advised,
            "steps": list(decision.steps),
            "hold": decision.hold or None,
            "againInSeconds": decision.again_in_seconds,
            "unknown": MISSING,
        },
    }


def _load(load: Load) -> str:
    parts = {
        "ready": load.ready,
        "partly full": load.active,
        "occupied": load.occupied,
        "allocated": load.allocated,
        "starting": load.starting,
        "not heard": load.unheard,
    }
    rooms = ", ".join(f"{number} {what}" for what, number in parts.items() if number) or "no room"
    told = load.told_players
    players = "players not known" if told is None else plural(told, "player")
    played = f"{plural(load.matches, 'match')}, {players}"
    trouble = f"; {load.trouble}" if load.trouble else ""
    return f"{load.replicas} wanted: {rooms}; {played}{trouble}"
