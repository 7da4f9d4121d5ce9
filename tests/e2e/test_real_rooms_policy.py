"""What deploy/rooms-policy.yaml refuses on a real control plane, and how that is told."""

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.controlplane.cluster import ControlPlane, Parts
from tests.controlplane.programs import kubectl
from tests.e2e.test_real_copies import applied
from tests.e2e.test_real_objects import conditions, rooms, until
from tests.e2e.test_real_story import ROOT, deployed, installed, running
from tests.gitservers.repositories import BareRepository
from tests.loop.world import CONFIG, spec

pytestmark = pytest.mark.real

POLICY = ROOT / "deploy/rooms-policy.yaml"
USER = "system:serviceaccount:gamekeeper:gamekeeper"
NO_TOKEN = {"automountServiceAccountToken": False}
PRIORITY = "rooms take no places of the system's pods (priorityClassName)"
PLACES = "rooms tolerate no taint of control-plane nodes, and none that they do not name"
TOKEN = "rooms get no token of their account (automountServiceAccountToken)"
MOUNTED = "rooms get no token of their account (a projected serviceAccountToken)"
CONTROL = {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}
GAMES = {"key": "games", "operator": "Exists"}


def token_volume(source: dict[str, Any]) -> dict[str, Any]:
    projected = {"sources": [{"serviceAccountToken": source}]}
    return {"volumes": [{"name": "token", "projected": projected}]}


REFUSED: dict[str, dict[str, Any]] = {
    PRIORITY: {**NO_TOKEN, "priorityClassName": "system-node-critical"},
    PLACES: {**NO_TOKEN, "tolerations": [{"operator": "Exists"}]},
    TOKEN: {},
    MOUNTED: {**NO_TOKEN, **token_volume({"path": "token"})},
}
ALSO_REFUSED: list[tuple[str, dict[str, Any]]] = [
    (PLACES, {**NO_TOKEN, "tolerations": [CONTROL]}),
    (PLACES, {**NO_TOKEN, "tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}]}),
    (TOKEN, {"automountServiceAccountToken": True}),
    (MOUNTED, {**NO_TOKEN, **token_volume({"path": "token", "audience": "https://api"})}),
]
TAKEN: list[dict[str, Any]] = [
    {**NO_TOKEN, "tolerations": [GAMES], "priorityClassName": "rooms"},
    {**NO_TOKEN, **token_volume({"path": "token", "audience": "gamekeeper.dev/main"})},
]


def answer(cluster: ControlPlane, extra: dict[str, Any], *words: str) -> str:
    """What the API server says to a pod with `extra` in its spec: nothing where it takes it."""
    made = {"containers": [{"name": "game", "image": "game:1"}], **extra}
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": made}
    create = ["create", "-n", "arena", "--dry-run=server", "-f", "-", *words]
    command = [str(kubectl("1.36")), "--kubeconfig", str(cluster.kubeconfig), *create]
    given = yaml.safe_dump(document)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    return done.stderr


def test_what_rooms_may_not_take_is_refused_to_gamekeeper_alone(tmp_path: Path) -> None:
    git = BareRepository.create(tmp_path / "git", "fleet.git")
    git.commit({"gamekeeper.yaml": CONFIG, "schedulers/arena.yaml": spec("arena", 2)}, "two rooms")
    with installed(Parts()) as cluster, running(deployed(cluster, str(git.path), tmp_path)):
        until("two rooms", lambda: len(rooms(cluster)) == 2)
        before = rooms(cluster)
        applied(cluster, "apply", "-f", str(POLICY))
        own = ("--as", USER)
        until("it acts", lambda: PRIORITY in answer(cluster, REFUSED[PRIORITY], *own))
        for message, extra in REFUSED.items():
            assert message in answer(cluster, extra, *own)
            assert answer(cluster, extra) == "", "others are not judged"
        for message, extra in ALSO_REFUSED:
            assert message in answer(cluster, extra, *own)
        applied(cluster, "create", "priorityclass", "rooms", "--value", "10")
        for extra in TAKEN:
            assert answer(cluster, extra, *own) == ""

        # What Gamekeeper itself writes passes, and what a repository adds to it does not.
        git.commit({"schedulers/arena.yaml": spec("arena", 3)}, "a third")
        until("a third room", lambda: len(rooms(cluster)) == 3)
        asks = yaml.safe_load(spec("arena", 4))
        asks["spec"]["template"]["spec"]["priorityClassName"] = "system-node-critical"
        git.commit({"schedulers/arena.yaml": yaml.safe_dump(asks)}, "grabbing")
        until("the refusal is told", lambda: PRIORITY in conditions(cluster))
        for _ in range(5):
            time.sleep(1.0)
            assert before.items() <= rooms(cluster).items()
