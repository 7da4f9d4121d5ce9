"""What is remembered of decisions, as JSON for the state record, and back.

A field that is missing, or is none, takes its default: a past that was lost takes no room away.
"""

import base64
from collections.abc import Sequence
from typing import Any

from reconciler.core.policies.signals import sound_number
from reconciler.model.decisions import Advised, Demand, Past
from reconciler.model.refs import Json


def past_to_json(past: Past) -> Json:
    """Return a past as JSON values; at most some 3 KiB beside what the policy remembers."""
    demand = past.demand
    return {
        "raisedAt": past.raised_at,
        "loweredAt": past.lowered_at,
        "went": past.went,
        "turnedAt": past.turned_at,
        "highs": [[span.since, span.replicas] for span in past.highs],
        "lows": [[span.since, span.replicas] for span in past.lows],
        "demand": demand and [demand.at, demand.serving, demand.players, demand.doubted_since],
        "memory": base64.b64encode(past.memory).decode(),
    }


def past_from_json(value: Any) -> Past:
    """Return the past that `past_to_json` wrote; what cannot be read of it was never there."""
    found: Json = value if isinstance(value, dict) else {}
    went = found.get("went")
    return Past(
        raised_at=sound_number(found.get("raisedAt")),
        lowered_at=sound_number(found.get("loweredAt")),
        went="up" if went == "up" else "down" if went == "down" else None,
        turned_at=sound_number(found.get("turnedAt")),
        highs=_spans(found.get("highs")),
        lows=_spans(found.get("lows")),
        demand=_demand(found.get("demand")),
        memory=_memory(found.get("memory")),
    )


def _spans(value: Any) -> tuple[Advised, ...]:
    """Return spans; none of them where one is damaged, since a gap would let rooms go."""
    found = [_numbers(each, 2) for each in value] if isinstance(value, list) else []
    spans = [Advised(each[0], int(each[1])) for each in found if each]
    return tuple(spans) if len(spans) == len(found) else ()


def _demand(value: Any) -> Demand | None:
    numbers = _numbers(value[:3], 3) if isinstance(value, list) and len(value) == 4 else ()
    if not numbers:
        return None
    at, serving, players = numbers
    return Demand(at, int(serving), int(players), sound_number(value[3]))


def _numbers(value: Any, count: int) -> Sequence[float]:
    found = [sound_number(each) for each in value] if isinstance(value, list) else []
    numbers = [each for each in found if each is not None]
    return numbers if len(numbers) == len(found) == count else ()


def _memory(value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else b""
    except ValueError:
        return b""
