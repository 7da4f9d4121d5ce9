"""Check spec `autoscaling`: its bounds, the count beside them, and the policy with its parts."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from reconciler.core.egress import allowed_of, is_allowed, never_allowed, place_of
from reconciler.core.mistakes import Mistake, below
from reconciler.core.pod_parts import child, text
from reconciler.core.policies.nested import Policies, asks_of, check_policy
from reconciler.core.policies.policy import Ask, Facts
from reconciler.model.findings import Severity
from reconciler.model.refs import Json

_AT = ("spec", "autoscaling")
MOST_ASKS = 10
"""How many webhooks and queries a workload may ask: each is a call, every half minute or so."""
MOST_POLICIES = 30
"""How many policies a workload may have inside one another: all are heard at every look."""


def check_autoscaling(
    spec: Json, policies: Policies, egress: Sequence[str] | None = None
) -> Iterator[Mistake]:
    """Yield the mistakes of a spec's autoscaling; the shape of each part is the schema's.

    `egress` are those whom webhooks may ask, None where that is not known.
    """
    written = child(spec, "autoscaling")
    least, most = _count(written.get("min")), _count(written.get("max"))
    if least is not None and most is not None:
        yield from _bounds(least, most, written, spec)
    policy = written.get("policy")
    if isinstance(policy, dict):
        facts = Facts(text(spec, "reports") != "none", least or 0, most or 0)
        at = (*_AT, "policy")
        count = _policies_in(policy, policies)
        if count > MOST_POLICIES:
            message = f"holds {count} policies; at most {MOST_POLICIES} are heard"
            yield Mistake(at, message, "take some out", "policy")
            return
        found = list(check_policy(policy, at, policies, facts))
        yield from found
        sound = not any(mistake.severity is Severity.ERROR for mistake in found)
        asks = asks_of([policy], policies) if sound else ()
        if len(asks) > MOST_ASKS:
            message = f"asks {len(asks)} webhooks and queries; at most {MOST_ASKS} are asked"
            yield Mistake(at, message, "take some out", "policy")
        else:
            yield from (below(at, one) for one in _not_asked(asks, egress))


def _policies_in(written: Any, policies: Policies) -> int:
    """Return how many policies are written, wherever they stand in each other."""
    if isinstance(written, list):
        return sum(_policies_in(one, policies) for one in written)
    if not isinstance(written, dict):
        return 0
    here = len(written) == 1 and next(iter(written)) in policies
    return here + sum(_policies_in(one, policies) for one in written.values())


def _not_asked(asks: Iterable[Ask], egress: Sequence[str] | None) -> Iterator[Mistake]:
    """Yield who is asked in vain: a setting decides, but for an address that nobody is led to."""
    entries = [entry for entry in map(allowed_of, egress or ()) if entry is not None]
    places = (place_of(ask.what) for ask in asks if ask.kind == "webhook")
    for who in dict.fromkeys(place.origin for place in places if place is not None):
        refusal = never_allowed(who)
        if refusal:
            message = f"asks {who.written}, {refusal}, which is asked for nobody: the count stays"
            fix = "write the host that the webhook stands on"
            yield Mistake((), message, fix, "egress", severity=Severity.WARNING)
        elif egress is not None and not is_allowed(who, entries):
            message = f"asks {who.written}, which the process may not: the count stays"
            fix = f"the operator sets --egress-hosts {who.written}"
            yield Mistake((), message, fix, "egress", severity=Severity.WARNING)


def _bounds(least: int, most: int, written: Json, spec: Json) -> Iterator[Mistake]:
    if least > most:
        message = f"min {least} is above max {most}"
        yield Mistake((*_AT, "min"), message, f"write {most} or less", "range")
        return
    count = _count(spec.get("replicas"))
    if count is None or least <= count <= most or written.get("enabled", True) is not True:
        return
    if count < 0:
        return  # the schema tells: it never acts, so nothing brings it anywhere
    # No error: min and max are what people review, as with an HPA, and the count follows them.
    side, bound = ("below min", least) if count < least else ("above max", most)
    message = f"{count} is {side}, {bound}: autoscaling brings it to {bound} in the end"
    yield Mistake(
        ("spec", "replicas"),
        message,
        f"write {bound}, or change the bound",
        "range",
        severity=Severity.WARNING,
    )


def _count(value: Any) -> int | None:
    return value if type(value) is int else None
