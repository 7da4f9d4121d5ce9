"""Mistakes that people make in a spec: each is a change of a sound one, and none may act."""

from collections.abc import Callable
from typing import Any

from reconciler.model.refs import Json

Path = tuple[str | int, ...]
Mistake = Callable[[Json], None]

GONE = object()
POD: Path = ("spec", "template", "spec")
GAME: Path = (*POD, "containers", 0)
NUMBERS: tuple[Any, ...] = (-1, 1.5, "3", None, True, 10_001, [])
VALUES: tuple[tuple[Path, tuple[Any, ...]], ...] = (
    (("apiVersion",), ("gamekeeper.dev/v2", 1, GONE)),
    (("kind",), ("Schedulers", None)),
    (("metadata", "name"), ("Arena", "a" * 53, "arena_1", "-arena", 7, "kube-system")),
    (("spec", "game"), (5, GONE, [])),
    (("spec", "replicas"), (*NUMBERS, GONE)),
    (("spec", "replica"), (3,)),
    (("spec", "reports"), ("sometimes", GONE)),
    (("spec", "scheduling"), ("dense", 1)),
    (("spec", "suspend"), ("yes", {"reason": 7}, {"until": "tomorrow"})),
    (("spec", "rollout"), ({"maxSurge": 0, "maxUnavailable": 0}, {"maxSurge": -1}, "fast")),
    (("spec", "removal"), ({"quietSeconds": 301}, {"drainDeadlineSeconds": 59}, {"quiet": 1})),
    (("spec", "matches"), ({"max": 0}, {"max": "two"})),
    (("spec", "timeouts"), ({"pingSeconds": 0}, {"ping": 60})),
    (("spec", "disruption"), ({"mode": "most"}, {"mode": "count", "safetyPercentage": -1})),
    (("spec", "portRange"), ({"start": 9, "end": 1}, {"start": 1}, {"start": 0, "end": 70_000})),
    (("spec", "objects"), ("../elsewhere", "objects/nowhere", 3)),
    (("spec", "template"), (GONE, {}, {"spec": {"containers": []}})),
    (("spec", "autoscaling"), ({"min": 5, "max": 2, "policy": {"nothing": {}}}, {"min": -1})),
    ((*POD, "restartPolicy"), ("Sometimes",)),
    ((*POD, "hostNetwork"), (True,)),
    ((*POD, "volumes"), ([{"name": "root", "hostPath": {"path": "/"}}],)),
    ((*POD, "unknown"), (1,)),
    ((*GAME, "name"), (GONE, "Game!")),
    ((*GAME, "image"), (5,)),
    ((*GAME, "imagePullPolicy"), ("Often",)),
    ((*GAME, "env"), ([{"name": "A", "value": 1}], [{"value": "x"}])),
    ((*GAME, "ports"), ([{"containerPort": 70_000}],)),
    ((*GAME, "resources"), ({"requests": {"cpu": "lots"}}, {"limits": {"cpu": -1}})),
    ((*GAME, "resources", "limits"), ({"cpu": "1m"},)),
    ((*GAME, "securityContext"), ({"privileged": True},)),
    ((*GAME, "volumeMounts"), ([{"name": "nowhere", "mountPath": "/data"}],)),
)


def _put(path: Path, value: Any) -> Mistake:
    def mistake(document: Json) -> None:
        at: Any = document
        for part in path[:-1]:
            at = at[part]
        if value is GONE:
            del at[path[-1]]
        else:
            at[path[-1]] = value

    return mistake


def _told(path: Path, value: Any) -> str:
    said = "left out" if value is GONE else repr(value)[:60]
    return f"{'.'.join(map(str, path))} {said}"


MISTAKES: dict[str, Mistake] = {
    _told(path, value): _put(path, value) for path, values in VALUES for value in values
}
"""By what they are, each changes a sound Scheduler that requests 100m of cpu."""
