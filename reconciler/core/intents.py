"""What becomes of an intent when the head moves, and how a decision becomes one (DESIGN §5).

The head of the branch always wins over an intent that did not expect it; what we pushed ourselves
is known by object ids and by the numbers that were pushed, never by a message or an author.
"""

from collections.abc import Iterable
from dataclasses import replace

from reconciler.core import step_keeping
from reconciler.model.intents import (
    BY_A_PERSON,
    Fate,
    HeadCount,
    Intent,
    Landing,
    Passage,
    Scaling,
    Step,
)

LANDINGS_KEPT = 20
UNANSWERED_SECONDS = 600.0
"""A push without an answer for so long does not reach the branch any more. If it does all the
same, its number acts as any of ours, and is decided over."""


def settle(
    scaling: Scaling,
    head: HeadCount,
    now: float,
    hold_seconds: float,
    shared_now: float | None = None,
) -> tuple[Scaling, Fate]:
    """Return what is remembered once a head is known, and what became of the intent.

    `now` is Unix seconds; a human's change holds the policy for `hold_seconds` from now on, by
    `shared_now` of the clock that all replicas share, where that is another.
    """
    shared = now if shared_now is None else shared_now
    after, fate = _settled(scaling, head, now, hold_seconds, shared)
    return (after if after.own == head.own else replace(after, own=head.own)), fate


def _settled(
    scaling: Scaling, head: HeadCount, now: float, hold_seconds: float, shared_now: float
) -> tuple[Scaling, Fate]:
    if head.human and not _is_heard(scaling, head):
        heard = replace(scaling, intent=_asked(head, now), landings=(), undone=())
        by, back = head.human, head.went_back
        return with_hold(heard, by, shared_now, hold_seconds, went_back=back), "human"
    scaling = _in_time(scaling, shared_now, shared_now + hold_seconds)
    intent = scaling.intent
    # What a policy decided ends with a suspension; what a person's act left to land goes on after.
    goes_on = head.acts or (head.is_moved and intent is not None and intent.is_persons)
    if not goes_on or head.autoscaling is None:
        if intent is None and not scaling.landings:
            return scaling, "none"
        return replace(scaling, intent=None, landings=()), "off" if intent else "none"
    later, told_at = _after(scaling.landings, head.replicas)
    if later is None and head.foreign and head.accepted not in (None, head.replicas):
        # Theirs, though no commit tells: an approval let it in, or a file that is mended.
        heard = replace(scaling, intent=None, landings=(), undone=())
        fate: Fate = "overruled" if intent else "none"
        by, back = head.foreign, head.went_back
        return with_hold(heard, by, shared_now, hold_seconds, went_back=back), fate
    if intent is None:
        return scaling if later is None else replace(scaling, landings=later), "none"
    # What a person wrote stands as it is while it holds, outside the bounds, too (ADR 19): nobody
    # else decides then.
    held = shared_now < scaling.held_until
    value = intent.value if held else head.autoscaling.bounds.clamp(intent.value)
    kept = intent if value == intent.value else replace(intent, value=value)
    # A number of ours that is on its way would be the head's next: then this one is needed yet.
    if head.replicas == value and not (scaling.landings if later is None else later):
        return replace(scaling, intent=None, landings=()), "landed"
    if later is not None:
        # The commit that holds the head's number told its steps, also where its push was in doubt.
        rebased = replace(kept, base=head.replicas, told_at=max(kept.told_at, told_at))
        return replace(scaling, intent=rebased, landings=later), "rebased"
    if head.replicas == intent.base:
        if value == intent.base and abs(now - intent.decided_at) > UNANSWERED_SECONDS:
            return replace(scaling, intent=None, landings=()), "landed"
        return replace(scaling, intent=untold(kept, scaling.landings)), "kept"
    return replace(scaling, intent=None, landings=()), "overruled"


def with_hold(
    scaling: Scaling, by: str, now: float, hold_seconds: float, *, went_back: bool
) -> Scaling:
    """Return it with a hold that begins now (Unix seconds), by the word of the commit `by`.

    `went_back` is whether the branch came to that commit other than forward.
    """
    return replace(
        scaling,
        held_until=now + hold_seconds,
        held_by=by,
        held_at=now,
        held_seconds=hold_seconds,
        went_back=went_back,
    )


def _in_time(scaling: Scaling, now: float, latest: float) -> Scaling:
    """Return it without a future: a clock that was set back lengthens no hold and no budget.

    No hold ends after `latest`. It is the same value where it has no future, as almost always: of
    a thousand workloads each is asked once a head.
    """
    lowered = scaling.lowered
    if any(at > now for at, _ in lowered):
        lowered = tuple((min(at, now), count) for at, count in lowered)
    held_until = min(scaling.held_until, latest)
    if lowered is scaling.lowered and held_until == scaling.held_until:
        return scaling
    return replace(scaling, held_until=held_until, lowered=lowered)


def _is_heard(scaling: Scaling, head: HeadCount) -> bool:
    """Whether the human's word was taken in before: a span that is judged again holds nothing anew.

    The same commit may be one again, where somebody sets the branch back to it. What tells is the
    number that was taken in, and no intent: a policy may want the person's number by itself.
    """
    if head.human != scaling.held_by:
        return False
    if head.asked is None:
        return head.accepted in (None, head.replicas)
    known = scaling.intent.value if scaling.intent else head.accepted
    return known in (None, head.asked)


def _asked(head: HeadCount, now: float) -> Intent | None:
    """Return the number that a person wrote where another branch's lies over it, as an intent."""
    if head.asked is None or head.asked == head.replicas or not head.is_moved:
        return None
    told = f"commit {head.human[:12]} writes it on the tracked branch"
    step = Step(now, head.replicas, head.asked, BY_A_PERSON, told)
    return Intent(head.replicas, head.asked, (step,))


def effective(scaling: Scaling, head: HeadCount) -> int:
    """Return the count that is wanted now, of what `settle` returned for this very head."""
    return head.replicas if scaling.intent is None else scaling.intent.value


def decided(scaling: Scaling, in_git: int, step: Step) -> Scaling:
    """Return what is remembered after a decision; `in_git` is the head's number.

    An intent that was there keeps its base: the head is still to come to it. One that leads back
    to the number in Git is none any more, unless a commit of ours is on its way there; rooms came
    and went by it all the same, so the next commit tells its steps.
    """
    intent = scaling.intent or _begun(scaling, in_git)
    # What an answered push told may be forced off the branch before it is taken in.
    told = intent.told_at
    known = intent.steps if scaling.landings else intent.untold
    if step.at <= told:
        told = 0.0  # the clock was set back; what was told is left out already
    steps = step_keeping.kept((*known, step), told)
    if step.after == intent.base and not scaling.landings:
        # A person's is not carried over: what a policy decides next would pass for theirs.
        return replace(scaling, intent=None, undone=() if intent.is_persons else steps)
    return replace(scaling, intent=Intent(intent.base, step.after, steps, told), undone=())


def _begun(scaling: Scaling, in_git: int) -> Intent:
    """Return the intent that a decision begins, with what led back to that number before it."""
    undone = scaling.undone
    return Intent(in_git, in_git, undone if undone and undone[-1].after == in_git else ())


def pushing(scaling: Scaling, commit: str, landed: Intent) -> Scaling:
    """Return what is put on record before `commit`, which holds the number of `landed`, is pushed.

    Another count may have been decided since the commit was written. One that led back to the
    number in Git was none any more: with another number on its way there it is one again, of the
    steps that lead on from there. A number whose push lost a race is on record already: nothing is
    written again before the next one.
    """
    intent = scaling.intent
    if intent is None:
        intent = replace(landed, value=landed.base, steps=landed.untold or landed.steps)
    landings = scaling.landings
    if not (landings and _is_of(landings[-1], landed)):
        landing = Landing(commit, landed.value, landed.decided_at)
        landings = (*landings, landing)[-LANDINGS_KEPT:]
    return replace(scaling, intent=intent, landings=landings)


def pushed_as(scaling: Scaling, landed: Intent) -> str:
    """Return the commit with which `landed` is on record as pushed, "" where it is not."""
    return next((each.commit for each in scaling.landings if _is_of(each, landed)), "")


def not_pushed(scaling: Scaling, landed: Intent) -> Scaling:
    """Return what is on record once it is certain that no push of `landed` reached the branch."""
    landings = tuple(each for each in scaling.landings if not _is_of(each, landed))
    return replace(scaling, landings=landings)


def pushed(scaling: Scaling, commit: str, landed: Intent) -> Scaling:
    """Return what is on record once `commit` stands on the branch: its steps are told there."""
    if scaling.intent is None or not any(_is_of(each, landed) for each in scaling.landings):
        return scaling
    known = min(scaling.intent.told_at, landed.told_at)
    landings = tuple(
        replace(each, commit=commit, told_before=known) if _is_of(each, landed) else each
        for each in scaling.landings
    )
    intent = replace(scaling.intent, told_at=landed.decided_at)
    return replace(scaling, intent=intent, landings=landings)


def untold(intent: Intent, landings: tuple[Landing, ...]) -> Intent:
    """Return the intent at its base: what later commits told is told again, one may be forced off.

    Where the head is only older than they are, they tell it when they come.
    """
    befores = (each.told_before for each in landings if each.told_before is not None)
    return replace(intent, told_at=min((intent.told_at, *befores)))


def human_commit(passages: Iterable[Passage]) -> str:
    """Return the newest commit of somebody else that changed the number, "" where none did.

    `passages` go from the oldest to the newest. A merge changes the number only where it is that
    of none of its parents: it may bring in ours from either side.
    """
    found = ""
    for passage in passages:
        if passage.after is not None and passage.before:
            known = [number for number in passage.before if number is not None]
            if known and passage.after not in known:
                found = passage.commit
    return found


def bringing_commit(passages: Iterable[Passage]) -> str:
    """Return the newest commit with a number that none of its parents had, "" where none is."""
    found = ""
    for passage in passages:
        if passage.after is not None and all(number is None for number in passage.before):
            found = passage.commit
    return found


def _is_of(landing: Landing, landed: Intent) -> bool:
    """Whether a landing is that of this very decision."""
    return (landing.value, landing.decided_at) == (landed.value, landed.decided_at)


def _after(landings: tuple[Landing, ...], number: int) -> tuple[tuple[Landing, ...] | None, float]:
    """Return the landings that are newer than the newest of `number`, and when that was decided.

    None, and 0, where the number is not ours.
    """
    for place in range(len(landings) - 1, -1, -1):
        if landings[place].value == number:
            return landings[place + 1 :], landings[place].decided_at
    return None, 0.0
