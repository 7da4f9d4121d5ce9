"""Which states people are told of, what each is known by, and whom it concerns.

A state is told once, not at each tick: the same place and identity are one state, however often
it is looked at, and whatever numbers move in its reason.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache

from reconciler.model.holds import Hold, HoldKind
from reconciler.model.notifications import News, Target, Topic
from reconciler.model.outbox import Outbox
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Workload

WRITE_BACK_SECONDS = 60.0
"""A host that is away for less is nothing to be told of: its commits wait as long anyway."""
APPLIED = "applied"
"""The place of that."""
HEAD = "head "
"""What places of the newest commit begin with: what is held of it ends at once, and for good."""
_COUNT = re.compile(r'"replicas":\d+')
_TOPICS: Mapping[HoldKind, Topic] = {
    HoldKind.OVER_BUDGET: Topic.REFUSED,
    HoldKind.CROWDED_PORTS: Topic.PORTS_EXHAUSTED,
    HoldKind.NEEDS_INTERVENTION: Topic.NEEDS_INTERVENTION,
}
_UNTOLD = frozenset(
    {
        HoldKind.INCOMPLETE_READ,
        HoldKind.SUSPENDED,
        HoldKind.OCCUPIED,
        HoldKind.UNSIGNED_COUNTS,
    }
)
"""One passes by itself, one a person asked for, one is how rooms with players leave, and one keeps
nothing from acting."""


def topic_of(kind: HoldKind) -> Topic | None:
    """Return what a hold is told as, None where nobody is told."""
    return None if kind in _UNTOLD else _TOPICS.get(kind, Topic.HELD)


def told_of(head: Iterable[Hold], plans: Iterable[Hold]) -> Iterator[News]:
    """Yield what is held now; what a plan repeats of the commit is told once."""
    first = tuple(of_head(head))
    yield from first
    there = {(each.hold, each.key) for each in first}
    yield from (each for each in of_plans(plans) if (each.hold, each.key) not in there)


def of_head(holds: Iterable[Hold]) -> Iterator[News]:
    """Yield what is held of the newest commit: another reason, or another ask, is another state.

    The hash of what is asked for is none: that is another one whenever more is held beside it.
    """
    for hold in holds:
        identity = digest(hold.line) if hold.line else hold.change_hash or digest(hold.reason)
        yield from _of(hold, HEAD, identity)


def of_plans(holds: Iterable[Hold]) -> Iterator[News]:
    """Yield what is held of running workloads, whose reasons count rooms and name nodes."""
    for hold in holds:
        yield from _of(hold, "", "")


def _of(hold: Hold, source: str, identity: str) -> Iterator[News]:
    topic = topic_of(hold.kind)
    if topic is None:
        return
    # Several of one kind may be held of no workload: files that cannot be read.
    place = f"{source}{topic} {hold.kind} {hold.key or digest(hold.reason)}"
    yield News(topic, hold.key, place, identity, hold.reason, str(hold.kind), hold.change_hash)


def of_write_back(outbox: Outbox, now: float) -> Iterator[News]:
    """Yield that counts do not come into Git, once that lasts, and those that never can."""
    topic = Topic.WRITE_BACK
    if outbox.error and now - outbox.failing_since >= WRITE_BACK_SECONDS:
        reason = f"counts act and are not committed yet: {outbox.error}"
        yield News(topic, None, str(topic), "", reason)
    for key, why in outbox.refused.items():
        reason = f"a count cannot be committed: {why}"
        yield News(topic, key, f"{topic} {key}", digest(why), reason)


def of_applied(marks: Mapping[WorkloadKey, str], target: Target, commit: str) -> News | None:
    """Return that all workloads of a target are as Git says; None where it has none.

    `marks` name what each is as. A commit that changes nothing of them is no news.
    """
    mine = sorted((key, mark) for key, mark in marks.items() if matches(key, target.workloads))
    if not mine:
        return None
    identity = digest(*(f"{key} {mark}" for key, mark in mine))
    which = "every workload" if not target.workloads else "every workload of this target"
    reason = f"commit {commit[:12]} is applied: {which} is as Git says"
    return News(Topic.APPLIED, None, APPLIED, identity, reason)


def mark_of(workload: Workload) -> str:
    """Return what names a spec: where a policy moves the count, without it."""
    moves = workload.autoscaling is not None and workload.autoscaling.enabled
    return digest(_COUNT.sub("", workload.spec_json) if moves else workload.spec_json)


def concerns(news: News, target: Target) -> bool:
    """Whether a target asked for this; what is of the repository concerns everybody."""
    if news.topic not in target.topics:
        return False
    return news.key is None or matches(news.key, target.workloads)


@lru_cache(maxsize=16_384)
def matches(key: WorkloadKey, patterns: tuple[str, ...]) -> bool:
    """Whether one of the patterns names a workload: `arena*`, or `Fleet/servers/*`."""
    if not patterns:
        return True
    whole = f"{key.kind}/{key.namespace}/{key.name}"
    named = (key.name, str(key), whole)
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in named)


def digest(*texts: str) -> str:
    """Return a short name of texts; a JSON list is not needed, for no text holds a NUL."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
