"""The envelope around every policy: what it advises becomes a count, and each step is told.

In this order: the policy's advice; holds; stabilisation windows; turns and cool-downs; the step;
the bounds, always last. Below `min` a count rises at once, whatever is held. Above `max` it falls
at once, unless what the rooms tell is in doubt. That an autoscaler takes only so many rooms in ten
minutes is a budget (DESIGN §6) and no matter of this file.
"""

from dataclasses import dataclass, replace

from reconciler.core import scaling_holds, scaling_pace
from reconciler.core.policies.nested import Policies, advise_by, wanted
from reconciler.core.policies.policy import plural
from reconciler.model.decisions import Advised, Decision, Past
from reconciler.model.last_looks import MINIMUM
from reconciler.model.scaling import Advice, Autoscaling, Direction, Look, Pace


@dataclass(frozen=True, slots=True)
class _Course:
    """A count on its way from the advice to the decision."""

    replicas: int
    steps: tuple[str, ...]
    hold: str = ""
    again_in_seconds: float | None = None

    def to(self, replicas: int, step: str, wait_seconds: float | None = None) -> "_Course":
        """Return the course with another count, and why."""
        waits = self.again_in_seconds if wait_seconds is None else wait_seconds
        steps = (*self.steps, step)
        return replace(self, replicas=replicas, steps=steps, again_in_seconds=waits)


def decide(autoscaling: Autoscaling, look: Look, past: Past, policies: Policies) -> Decision:
    """Return how many rooms there shall be, why, and what to remember of it.

    A spec that switched autoscaling off is answered too: what would be done is shown. Windows,
    turns and cool-downs go by the clock that all replicas share, as budgets do: the next leader's
    own may be ahead, and would end them. What rooms did is known by the clock of who heard it.
    """
    past = _settled(past, look)
    look = replace(look, bounds=autoscaling.bounds, memory=past.memory)
    advice = advise_by(autoscaling.policy, look, policies)
    demand, doubt = scaling_holds.believed(look.load, look.activity, past.demand, look.now)
    doubt = scaling_holds.why_none_goes(look.load, advice.ground) or doubt
    course = _held(advice, look, doubt)
    past = _remembered(replace(past, demand=demand), course.replicas, autoscaling, look)
    course = _paced(course, autoscaling, look, past)
    course = _bounded(course, look, doubt)
    return Decision(
        course.replicas,
        "; ".join(_committed(course, advice, look)),
        replace(_moved(past, look, course.replicas), memory=advice.memory),
        _shown(course.steps, advice.said),
        course.hold,
        None if advice.hold else advice.replicas,
        course.again_in_seconds,
        advice.missing,
    )


def _committed(course: _Course, advice: Advice, look: Look) -> tuple[str, ...]:
    """Return the steps as a commit may tell them: why a policy holds may be in others' words."""
    if not advice.hold or course.replicas == look.load.replicas:
        return course.steps
    return ("held: the policy cannot tell", *course.steps[1:])


def _shown(steps: tuple[str, ...], said: str) -> tuple[str, ...]:
    """Return the steps with what others said of the first."""
    if not said or not steps:
        return steps
    return (f"{steps[0]} (in their words: {said})", *steps[1:])


def _held(advice: Advice, look: Look, doubt: str) -> _Course:
    count = look.load.replicas
    if advice.hold:
        return _Course(count, (f"held: {advice.hold}",), advice.hold)
    course = _Course(wanted(advice, look), (advice.reason,))
    if course.replicas >= count or not doubt:
        return course
    return replace(course.to(count, f"held, no room goes: {doubt}"), hold=doubt)


def _remembered(past: Past, advised: int, autoscaling: Autoscaling, look: Look) -> Past:
    """Return the past with this advice; where nothing is known the count there is counts as one."""
    now, first = look.spent_at, (Advised(look.spent_at, look.load.replicas),)
    up, down = autoscaling.scale_up, autoscaling.scale_down
    highs = scaling_pace.remember(
        past.highs or first, advised, now, down.stabilization_seconds, max
    )
    lows = scaling_pace.remember(past.lows or first, advised, now, up.stabilization_seconds, min)
    return replace(past, highs=highs, lows=lows)


def _paced(course: _Course, autoscaling: Autoscaling, look: Look, past: Past) -> _Course:
    count = look.load.replicas
    if course.replicas == count:
        return course
    way: Direction = "up" if course.replicas > count else "down"
    pace = autoscaling.scale_up if way == "up" else autoscaling.scale_down
    course = _stabilised(course, count, pace, past, look.spent_at)
    if course.replicas == count:
        return course
    turn = scaling_pace.turn_left(past, look.spent_at) if way == "down" else 0.0
    if turn:
        return course.to(count, f"turned up a while ago: no room goes for {turn:.0f} s", turn)
    cooldown = scaling_pace.cooldown_left(past, way, pace, look.spent_at)
    if cooldown:
        return course.to(count, f"cool-down: nothing goes {way} for {cooldown:.0f} s", cooldown)
    reached = scaling_pace.limited(count, course.replicas, pace.step)
    if reached == course.replicas:
        return course
    step = f"at most {pace.step} at once: {reached}, not {course.replicas}"
    return course.to(reached, step, max(1.0, pace.cooldown_seconds))


def _stabilised(course: _Course, count: int, pace: Pace, past: Past, now: float) -> _Course:
    window, going_up = pace.stabilization_seconds, course.replicas > count
    spans = past.lows if going_up else past.highs
    if window <= 0 or not spans:
        return course
    if going_up:
        reached = max(count, min(span.replicas for span in spans))
        bound = "least"
    else:
        reached = min(count, max(span.replicas for span in spans))
        bound = "most"
    if reached == course.replicas:
        return course
    step = f"{reached} is the {bound} that was wanted within {window:g} s"
    return course.to(reached, step, scaling_pace.leaves_in(spans, now, window))


def _bounded(course: _Course, look: Look, doubt: str) -> _Course:
    bounds, count = look.bounds, look.load.replicas
    if course.replicas < bounds.minimum:
        return course.to(bounds.minimum, f"{MINIMUM}{plural(bounds.minimum, 'room')}")
    if course.replicas <= bounds.maximum:
        return course
    hold = course.hold or doubt
    if hold and count > bounds.maximum:
        # Also where the policy wants more than there are.
        step = f"above max, {bounds.maximum}, as long as it is held"
        return replace(course.to(min(course.replicas, count), step), hold=hold)
    return course.to(bounds.maximum, f"max: {plural(bounds.maximum, 'room')}")


def _moved(past: Past, look: Look, replicas: int) -> Past:
    now = look.spent_at
    if replicas > look.load.replicas:
        turned_at = now if past.went == "down" else past.turned_at
        return replace(past, raised_at=now, went="up", turned_at=turned_at)
    if replicas < look.load.replicas:
        return replace(past, lowered_at=now, went="down")
    return past


def _settled(past: Past, look: Look) -> Past:
    """Return the past without a future: where a clock was set back, all of it was just now."""
    now, demand = look.spent_at, past.demand
    if demand is not None and demand.at > look.now:
        doubted_since = demand.doubted_since
        doubted_since = None if doubted_since is None else min(doubted_since, look.now)
        past = replace(past, demand=replace(demand, at=look.now, doubted_since=doubted_since))
    known = [past.raised_at, past.lowered_at, past.turned_at]
    known += [span.since for span in (*past.highs[-1:], *past.lows[-1:])]
    if all(time is None or time <= now for time in known):
        return past

    def at(time: float | None) -> float | None:
        return None if time is None else min(time, now)

    def spans(found: tuple[Advised, ...]) -> tuple[Advised, ...]:
        return tuple(Advised(min(span.since, now), span.replicas) for span in found)

    return replace(
        past,
        raised_at=at(past.raised_at),
        lowered_at=at(past.lowered_at),
        turned_at=at(past.turned_at),
        highs=spans(past.highs),
        lows=spans(past.lows),
    )
