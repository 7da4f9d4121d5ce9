"""activePlayers: servers for the players that are there, as the collections reckon, or by a target.

    load = players / (maxPlayersPerServer * servers)
    load > scaleOutThreshold / 100:  `step` servers more;   load < scaleInThreshold / 100:  fewer

Both strictly, and only while every server is healthy: what is being made is waited for. With
`targetPercent` the count is reckoned at once: ceil(players / (maxPlayersPerServer * target)).

Beyond the collections: no server goes when the rest would be above scaleOutThreshold without it,
and at least one is always wanted, since where there is none no player ever counts. Of a server
that tells more players than it holds only so many count: one that lies fills itself alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from reconciler.core.mistakes import Mistake
from reconciler.core.policies.policy import Ask, Facts, hears_nothing, held, plural
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Load, Look

_THRESHOLDS = ("scaleInThreshold", "scaleOutThreshold")


@dataclass(frozen=True, slots=True)
class ActivePlayers:
    """The policy `activePlayers {maxPlayersPerServer, …Thresholds, step | targetPercent}`."""

    schema: Json
    name: str = "activePlayers"

    def problems(self, parameters: Json, facts: Facts) -> Iterable[Mistake]:
        """Return that it needs reports, one of its two forms, and thresholds in their order."""
        yield from hears_nothing(self.name, facts)
        written = [name for name in _THRESHOLDS if name in parameters]
        if "targetPercent" in parameters:
            for name in (*written, *(["step"] if "step" in parameters else [])):
                message = "has no effect beside targetPercent"
                yield Mistake((name,), message, "take one of them out", "thresholds")
        elif len(written) < len(_THRESHOLDS):
            message = "scaleInThreshold and scaleOutThreshold are both needed, or targetPercent"
            yield Mistake((), message, "write targetPercent: 70", "thresholds", at_key=True)
        elif parameters["scaleInThreshold"] >= parameters["scaleOutThreshold"]:
            message = "scaleInThreshold must be below scaleOutThreshold, or it never rests"
            yield Mistake(("scaleInThreshold",), message, "write 60 and 80", "thresholds")

    def asks(self, parameters: Json) -> tuple[Ask, ...]:
        """Return nothing: it reckons with what rooms report."""
        return ()

    def advise(self, parameters: Json, look: Look) -> Advice:
        """Return the servers that the players want."""
        per_server = int(parameters["maxPlayersPerServer"])
        if "targetPercent" in parameters:
            return _by_target(look, per_server, int(parameters["targetPercent"]))
        if look.load.members == 0:
            desired = max(1, look.load.replicas)
            return Advice(desired, f"no server is there yet: {plural(desired, 'server')}")
        if not look.load.healthy:
            return held(look, "not every server is healthy: the count stays until all are")
        return _by_thresholds(parameters, look, per_server)


def _counted(load: Load, per_server: int) -> tuple[int, str]:
    """Return the players that count, and what to say of those that do not."""
    beyond = [told - per_server for told in load.crowds if told > per_server]
    if not beyond:
        return load.players, ""
    over = plural(len(beyond), "server")
    return load.players - sum(beyond), f" ({over} told more than {per_server}: so many count)"


def _by_target(look: Look, per_server: int, percent: int) -> Advice:
    players, clipped = _counted(look.load, per_server)
    desired = max(1, -(-players * 100 // (per_server * percent)))
    reason = (
        f"{plural(players, 'player')}{clipped}, {percent}% of {per_server} a server: "
        f"{plural(desired, 'server')}"
    )
    if not look.load.healthy and desired < look.load.replicas:
        reason += "; none goes while not every server is healthy"
    return Advice(desired, reason, may_remove=look.load.healthy)


def _by_thresholds(parameters: Json, look: Look, per_server: int) -> Advice:
    players, clipped = _counted(look.load, per_server)
    servers, count = look.load.members, look.load.replicas
    low, high = (int(parameters[name]) for name in _THRESHOLDS)
    step = int(parameters.get("step", 1))
    capacity = per_server * servers
    share = f"{100 * players / capacity:.4g}%"
    told = f"{plural(players, 'player')} of {capacity} ({share}){clipped}"
    if 100 * players > high * capacity:
        return Advice(count + step, f"{told}, above {high}%: {step} more")
    if 100 * players >= low * capacity:
        return Advice(max(1, count), f"{told}, not above {high}% and not below {low}%: as many")
    fewer = min(step, count - 1, servers - 1)
    if fewer < 1:
        return Advice(max(1, count), f"{told}, below {low}%, and the last one stays: as many")
    while fewer and 100 * players > high * per_server * (servers - fewer):
        fewer -= 1
    if not fewer:
        reason = f"{told}, below {low}%, yet above {high}% with one server fewer: as many"
        return Advice(count, reason)
    return Advice(count - fewer, f"{told}, below {low}%: {fewer} fewer")
