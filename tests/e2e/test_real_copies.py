"""Copies, fields of others and told drift on a real control plane, under the accounts of deploy."""

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reconciler.model.refs import Json
from tests.canaries.places import canary
from tests.controlplane.cluster import ControlPlane, Parts
from tests.controlplane.programs import kubectl
from tests.e2e.test_real_objects import conditions, rooms, until
from tests.e2e.test_real_story import ACCOUNT, PROGRAM, deployed, installed, running
from tests.gitservers.repositories import BareRepository
from tests.loop.world import CONFIG, spec

pytestmark = pytest.mark.real

FLAGS = ["--rooms-listen", "0.0.0.0:8090", "--allow-kinds", "ConfigMap"]
SHARED, ARENA = "/api/v1/namespaces/shared", "/api/v1/namespaces/arena"
SETTINGS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {motd: hi, level: "
FILE = "objects/arena/configmap.yaml.j2"
ASKED: dict[str, Any] = {
    "objects": "objects/arena",
    "ignore": [{"kind": "ConfigMap", "paths": ["/data/motd"]}],
    "drift": {"mode": "warn"},
}
PULL: dict[str, Any] = {"copyFrom": [{"kind": "Secret", "namespace": "shared", "name": "pull"}]}


def source(text: str) -> Json:
    config = json.dumps({"auths": {"registry.example": {"auth": text}}})
    data = {".dockerconfigjson": base64.b64encode(config.encode()).decode()}
    kind = "kubernetes.io/dockerconfigjson"
    return {"metadata": {"name": "pull"}, "type": kind, "data": data}


def copied(cluster: ControlPlane) -> Json:
    answer = cluster.api.ask("GET", f"{ARENA}/secrets/pull")
    return dict(answer.body["data"]) if answer.status == 200 else {}


def settings(cluster: ControlPlane) -> Json:
    answer = cluster.api.ask("GET", f"{ARENA}/configmaps/settings")
    return dict(answer.body["data"]) if answer.status == 200 else {}


def owners(cluster: ControlPlane, entry: str) -> set[str]:
    """Who owns an entry of the ConfigMap."""
    there = cluster.api.demand("GET", f"{ARENA}/configmaps/settings")
    return {
        each["manager"]
        for each in there["metadata"]["managedFields"]
        if f"f:{entry}" in each["fieldsV1"].get("f:data", {})
    }


def greeted(cluster: ControlPlane, text: str, *more: str) -> None:
    """Let the community team apply its greeting server-side; without a flag it meets nobody."""
    metadata = {"name": "settings", "namespace": "arena"}
    kinds = {"apiVersion": "v1", "kind": "ConfigMap"}
    body = json.dumps({**kinds, "metadata": metadata, "data": {"motd": text}}).encode()
    words = ["apply", "--server-side", "--field-manager", "community", *more, "-f", "-"]
    applied(cluster, *words, stdin=body)


def written(cluster: ControlPlane, path: str, **changes: str) -> None:
    """Let somebody write over data, as who edits an object does."""
    there = cluster.api.demand("GET", path)
    cluster.api.demand("PUT", path, {**there, "data": {**there["data"], **changes}})


def granted(*more: str) -> bytes:
    words = [str(PROGRAM), "rbac", *FLAGS, *more]
    return subprocess.run(words, check=True, capture_output=True).stdout


def applied(cluster: ControlPlane, *words: str, stdin: bytes = b"") -> None:
    command = [str(kubectl("1.36")), "--kubeconfig", str(cluster.kubeconfig), *words]
    subprocess.run(command, input=stdin, check=True, capture_output=True)


def can(cluster: ControlPlane, verb: str, what: str, namespace: str) -> bool:
    """Ask kubectl whether the account of the loop may do that."""
    who = f"system:serviceaccount:{ACCOUNT.replace('/', ':')}"
    asked = ["auth", "can-i", verb, what, "--namespace", namespace, "--as", who]
    command = [str(kubectl("1.36")), "--kubeconfig", str(cluster.kubeconfig), *asked]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def refused(cluster: ControlPlane) -> list[str]:
    decision = "authorization.k8s.io/decision"
    return [
        f"{event['verb']} {event['objectRef']}"
        for event in cluster.audit(ACCOUNT)
        if "objectRef" in event and event.get("annotations", {}).get(decision) == "forbid"
    ]


def test_copies_follow_their_source_and_fields_of_others_stay(tmp_path: Path) -> None:
    first, second = (source(canary("object Secret", which)) for which in ("real", "real later"))
    git = BareRepository.create(tmp_path / "git", "fleet.git")
    start = {"gamekeeper.yaml": CONFIG, "schedulers/lobby.yaml": spec("lobby", 1)}
    arena = {"schedulers/arena.yaml": spec("arena", 2, **ASKED, **PULL)}
    git.commit({**start, **arena, FILE: SETTINGS + "hard}\n"}, "change")
    with installed(Parts(audited=True)) as cluster:
        cluster.api.demand("POST", "/api/v1/namespaces", {"metadata": {"name": "shared"}})
        cluster.api.demand("POST", f"{SHARED}/secrets", first)
        applied(cluster, "apply", "-f", "-", stdin=granted("--copy-from-namespaces", "shared"))
        process = {
            **deployed(cluster, str(git.path), tmp_path),
            "ALLOW_KINDS": "ConfigMap",
            "COPY_FROM_NAMESPACES": "shared",
        }
        with running(process):
            until("it is copied", lambda: copied(cluster) == first["data"])
            until("two rooms", lambda: len(rooms(cluster)) == 2)
            before = rooms(cluster)
            known = '"applied":[["v1","ConfigMap","arena","settings"'
            until("it is on record as Git says", lambda: known in conditions(cluster))

            written(cluster, f"{ARENA}/configmaps/settings", motd="theirs", level="easy")
            until("it is told", lambda: "somebody changed ConfigMap" in conditions(cluster))
            assert settings(cluster) == {"motd": "theirs", "level": "easy"}
            git.commit({FILE: SETTINGS + "medium}\n"}, "change")
            until("Git's word is there", lambda: settings(cluster)["level"] == "medium")
            assert settings(cluster) == {"motd": "theirs", "level": "medium"}
            assert "gamekeeper-main" not in owners(cluster, "motd")
            greeted(cluster, "later", "--force-conflicts")
            git.commit({FILE: SETTINGS + "hard}\n"}, "change")
            until("Git's word is there again", lambda: settings(cluster)["level"] == "hard")
            greeted(cluster, "last")
            assert settings(cluster) == {"motd": "last", "level": "hard"}

            written(cluster, f"{SHARED}/secrets/pull", **second["data"])
            until("the change is copied", lambda: copied(cluster) == second["data"])
            assert not refused(cluster)

            applied(cluster, "apply", "-f", "-", stdin=granted())
            until("it may not be read", lambda: "may not be copied" in conditions(cluster))
            assert copied(cluster) == second["data"]
            assert all("'secrets'" in one for one in refused(cluster))
            by_name = granted("--copy-from-namespaces", "shared/pull")
            applied(cluster, "apply", "-f", "-", stdin=by_name)
            until("it may again", lambda: "may not be copied" not in conditions(cluster))
            before_names = len(refused(cluster))
            assert can(cluster, "get", "secret/pull", "shared")
            for verb in ("get", "patch", "delete"):
                assert not can(cluster, verb, "secret/other", "shared")
            applied(cluster, "delete", "secret", "pull", "--namespace", "arena")
            written(cluster, f"{SHARED}/secrets/pull", **first["data"])
            until("it is made again", lambda: copied(cluster) == first["data"])

            git.commit({"schedulers/arena.yaml": spec("arena", 2, **ASKED)}, "change")
            until("the copy is gone", lambda: copied(cluster) == {})
            assert rooms(cluster) == before
            assert len(refused(cluster)) == before_names, "names are enough"
