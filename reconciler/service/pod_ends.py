"""Why a pod ended, or the game in it, and when; and which of its containers is the game."""

from collections.abc import Sequence
from sys import intern

from reconciler.model.live import ENDED_PHASES
from reconciler.model.refs import Json


def end_of(status: Json, disrupted: Json | None, game_ends: Sequence[Json]) -> str:
    """Return why a pod ended, or its game did for good, as Kubernetes tells it; "" where not.

    `disrupted` is its condition of that name, `game_ends` what `game_ends_of` returns of it.
    """
    if status.get("phase") not in ENDED_PHASES:
        return _worst(game_ends, "Ended") if game_ends else ""
    if status.get("reason"):
        return intern(str(status["reason"]))
    if disrupted is not None and disrupted.get("status") == "True":
        return intern(disrupted.get("reason") or "DisruptionTarget")
    ends = [
        (one.get("state") or {}).get("terminated") or {}
        for one in status.get("containerStatuses") or ()
    ]
    return _worst(ends, status["phase"])


def public_of(spec: Json) -> set[str]:
    """Return the containers with host ports: players are in these; none where nobody can tell.

    In its node's network a game may be reached by a port that it does not declare.
    """
    if spec.get("hostNetwork"):
        return set()
    return {
        each["name"]
        for each in spec.get("containers") or ()
        if any(port.get("hostPort") for port in each.get("ports") or ())
    }


def game_ends_of(spec: Json, status: Json) -> list[Json]:
    """Return how a room's game ended for good while a container beside it runs on, [] if not.

    Only where each other container declares no port at all, for else it may be the game.
    """
    containers, public = spec.get("containers") or (), public_of(spec)
    told = {one.get("name", ""): one for one in status.get("containerStatuses") or ()}
    ends = [
        _end_for_good(spec, each, told.get(each["name"]) or {})
        for each in containers
        if each["name"] in public or each.get("ports")
    ]
    return ends if public and all(ends) else []


def _end_for_good(spec: Json, container: Json, told: Json) -> Json:
    """Return how a container ended that is not started anew; {} where it is, or was not."""
    end: Json = (told.get("state") or {}).get("terminated") or {}
    policy = container.get("restartPolicy") or spec.get("restartPolicy")
    stays = policy == "Never" or (policy == "OnFailure" and end.get("exitCode") == 0)
    return end if stays and not container.get("restartPolicyRules") else {}


def _worst(ends: Sequence[Json], otherwise: str) -> str:
    """Tell the one of several containers' ends that went wrong, if any did."""
    worst = max(ends, key=lambda end: bool(end.get("exitCode")), default={})
    reason = str(worst.get("reason") or otherwise)
    code = worst.get("exitCode")
    return intern(f"{reason} (exit code {code})" if code else reason)
