"""Why a count does not follow its demand: what is told is absurd, sudden, or told by too few.

Rooms may always be added. They are taken away only on numbers that somebody attests.
"""

from dataclasses import replace

from reconciler.core.policies.policy import MOST_ROOMS, held, plural
from reconciler.model.decisions import Demand
from reconciler.model.scaling import Activity, Advice, Ground, Load, Look

DOUBTED_SECONDS = 900.0
"""How long a fall that nothing explains is not believed: players who lost a room come back."""
COMPARED_SECONDS = 300.0
"""Within how long a fall is sudden; in a longer time matches end."""
_FEWEST_LOST = 3
"""A small fleet halves as it should: one of two matches ends."""


def sound(advice: Advice, look: Look) -> Advice:
    """Return an advice that is a count; another one holds: policies of others say anything."""
    count: object = advice.replicas
    if type(count) is not int or not 0 <= count <= MOST_ROOMS:
        return held(look, f"the policy advised {_shown(count)}, which is no count of rooms")
    return advice


def _shown(count: object) -> str:
    try:
        return str(count)[:40]
    except Exception:
        return "what cannot be shown"  # a number of thousands of digits, say


def why_none_goes(load: Load, ground: Ground = "rooms") -> str:
    """Say why these numbers are no ground for taking rooms away, "" when they are.

    A count that rests on a time-table needs nobody to attest that no room is used: rooms that were
    never ready hold no player. Rooms that are not heard keep it up as they do any other.
    """
    if load.trouble:
        return load.trouble
    heard = load.ready + load.busy
    if heard == 0 and load.unheard:
        return f"none of the {plural(load.unheard, 'room')} that run is heard: nobody attests 0"
    if heard == 0 and load.replicas and ground != "clock":
        return f"no room is ready yet, {load.starting} start: nobody attests 0"
    few = max(1, load.replicas // 10)
    if load.unheard > few:
        return f"{load.unheard} of {plural(load.replicas, 'room')} are not heard, more than {few}"
    return ""


def believed(
    load: Load, activity: Activity, before: Demand | None, now: float
) -> tuple[Demand, str]:
    """Return the demand to measure the next one by, and why this one is not believed, "" if it is.

    Not believed is a fall to less than half within one decision, of rooms whose matches did not
    end, or of players while rooms are not heard.
    """
    serving = load.active + load.occupied
    told = Demand(now, serving, load.players)
    if before is None or now - before.at > COMPARED_SECONDS:
        return told, ""
    doubted_since = now if before.doubted_since is None else before.doubted_since
    if now - doubted_since >= DOUBTED_SECONDS:
        return told, ""
    # Those that ended are explained, and count no more at the next look either.
    left = max(0, before.serving - len(activity.ends))
    why = _fall(serving, left, before.serving) or _lost_players(load, before)
    if not why:
        return told, ""
    return replace(before, at=now, serving=left, doubted_since=doubted_since), why


def _fall(serving: int, left: int, before: int) -> str:
    lost = left - serving
    if 2 * serving >= before or lost < max(_FEWEST_LOST, before // 10):
        return ""
    return f"of {before} rooms with players {serving} are left, and {lost} did not end"


def _lost_players(load: Load, before: Demand) -> str:
    lost = before.players - load.players
    if not load.unheard or 2 * load.players >= before.players or lost < _FEWEST_LOST:
        return ""
    unheard = plural(load.unheard, "room")
    return f"of {before.players} players {load.players} are left, while {unheard} cannot be heard"
