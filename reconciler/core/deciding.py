"""A policy's decision for one workload: held by people, slowed by the budget, then remembered.

What `scaling.decide` comes to is not yet what acts: a human's number holds the policy, and an
autoscaler takes no more from a workload in ten minutes than DESIGN section 6 lets it.
"""

from dataclasses import dataclass, replace

from reconciler.core import budget, intents, scaling
from reconciler.core.policies.nested import Policies
from reconciler.model.decisions import GIVEN_UP, Decision, Past
from reconciler.model.intents import Scaling, Step
from reconciler.model.records import LedgerEntry
from reconciler.model.scaling import Autoscaling, Bounds, Look
from reconciler.model.specs import Budgets

LAST_CHARACTERS = 600
"""So much of what shaped the last decision stays on record."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What was remembered before a decision and is after it, and the decision as it acts."""

    before: Scaling
    scaling: Scaling
    decision: Decision

    def moves(self, replicas: int) -> bool:
        """Whether the count changes, so that the record must be written before it acts."""
        return self.decision.replicas != replicas

    @property
    def watched(self) -> Past:
        """What is remembered where the count did not move after all: no cool-down begins."""
        return _unmoved(self.decision, self.before)


def decide(
    autoscaling: Autoscaling,
    in_git: int,
    before: Scaling,
    look: Look,
    policies: Policies,
    budgets: Budgets,
) -> Decided:
    """Decide the count of one workload; `in_git` is the head's number.

    `look.load.replicas` is the count that is effective now. The budgets are those of one workload.
    """
    count, now = look.load.replicas, look.now
    decision = scaling.decide(autoscaling, look, before.past, policies)
    if now < before.held_until:
        held = _held(decision, before, count, now)
        return Decided(before, replace(before, past=held.past), held)
    decision = _slowed(decision, before, look, autoscaling.bounds, budgets)
    after = replace(before, past=decision.past)
    if decision.replicas == count:
        return Decided(before, after, decision)
    if decision.replicas < count:
        entry = LedgerEntry(look.spent_at, count)
        lowered = budget.enter(_ledger(before), entry, budgets.window_seconds)
        after = replace(after, lowered=tuple((entry.at, entry.count) for entry in lowered))
    step = Step(now, count, decision.replicas, autoscaling.policy.name, decision.reason)
    shaped = "; ".join(decision.steps or (decision.reason,))[:LAST_CHARACTERS]
    after = replace(after, last=replace(step, reason=shaped))
    return Decided(before, intents.decided(after, in_git, step), decision)


def given_up(before: Scaling, in_git: int) -> Decided:
    """Return the end of whatever was decided: the operator lets no policy change a count."""
    after = replace(before, intent=None, landings=())
    return Decided(before, after, Decision(in_git, GIVEN_UP, before.past, (GIVEN_UP,), GIVEN_UP))


def _held(decision: Decision, before: Scaling, count: int, now: float) -> Decision:
    """Return a decision that changes nothing: a human's number stands for a while."""
    left = before.held_until - now
    why = f"{before.held_why}: the policy waits {left:.0f} s"
    # It goes on watching: what it learns meanwhile is not lost.
    return replace(
        decision,
        replicas=count,
        reason=why,
        past=_unmoved(decision, before),
        steps=(*decision.steps, why),
        hold=why,
        again_in_seconds=left,
    )


def _slowed(
    decision: Decision, before: Scaling, look: Look, bounds: Bounds, budgets: Budgets
) -> Decision:
    """Return the decision with no more rooms taken than the budget of the window lets it.

    What is above `max` is not counted: the human who wrote that bound has asked for it to go.
    """
    count = look.load.replicas
    if decision.replicas >= count:
        return decision
    known = budget.recent(_ledger(before), budgets.window_seconds, look.spent_at)
    spent = [LedgerEntry(entry.at, bounds.clamp(entry.count)) for entry in known]
    floor, frees_in = budget.floor(bounds.clamp(count), spent, budgets, look.spent_at)
    reached = min(count, max(decision.replicas, floor))
    if reached == decision.replicas:
        return decision
    most = max([bounds.clamp(count), *(entry.count for entry in spent)])
    step = f"at most {most - floor} of {most} rooms go in {budgets.window_seconds} s: {reached}"
    steps = (*decision.steps, step)
    # A count that does not move has not moved: no cool-down begins.
    past = decision.past if reached < count else _unmoved(decision, before)
    return replace(
        decision,
        replicas=reached,
        reason=f"{decision.reason}; {step}",
        past=past,
        steps=steps,
        again_in_seconds=frees_in,
    )


def _unmoved(decision: Decision, before: Scaling) -> Past:
    was = before.past
    return replace(
        decision.past,
        raised_at=was.raised_at,
        lowered_at=was.lowered_at,
        went=was.went,
        turned_at=was.turned_at,
    )


def _ledger(scaling: Scaling) -> tuple[LedgerEntry, ...]:
    return tuple(LedgerEntry(at, count) for at, count in scaling.lowered)
