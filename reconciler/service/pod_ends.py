"""Why a pod ended, or the game in it, and when."""

from collections.abc import Sequence
from sys import intern

from reconciler.model.live import ENDED_PHASES
from reconciler.model.refs import Json
from reconciler.service.pod_games import Games


def end_of(spec: Json, status: Json, disrupted: Json | None, games: Games) -> str:
    """Return why a pod ended, or its game did for good, as Kubernetes tells it; "" where not.

    `disrupted` is its condition of that name.
    """
    if status.get("phase") not in ENDED_PHASES:
        ends = game_ends_of(spec, status, games)
        return _worst(ends, "Ended") if ends else ""
    if status.get("reason"):
        return intern(str(status["reason"]))
    if disrupted is not None and disrupted.get("status") == "True":
        return intern(disrupted.get("reason") or "DisruptionTarget")
    ends = [
        (one.get("state") or {}).get("terminated") or {}
        for one in status.get("containerStatuses") or ()
    ]
    return _worst(ends, status["phase"])


def game_ends_of(spec: Json, status: Json, games: Games) -> list[Json]:
    """Return how a room's game ended for good while a container beside it runs on, [] if not."""
    if not games.sure:
        return []
    told = {one.get("name", ""): one for one in games.told(status)}
    ends = [
        _end_for_good(spec, each, told.get(each["name"]) or {})
        for each in games.candidates
        if each["name"] in games.sure
    ]
    return ends if all(ends) else []


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
