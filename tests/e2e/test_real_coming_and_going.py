"""An environment of its own, adoption and uninstall on a real control plane, under deploy/ alone.

One installation lives through it all: it reads one folder with its values, adds to our own objects,
takes the pods of a real Deployment over, is uninstalled beside its rooms, takes them back, and is
removed by the lines that it prints. What the pages show of it is typed with real kubectl.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from reconciler.model.refs import Json
from tests.controlplane.cluster import ControlPlane, Parts
from tests.e2e.commands import gamekeeper, git
from tests.e2e.real_removals import forbidden, removals
from tests.e2e.test_adoption import blocks
from tests.e2e.test_commands_page import typed
from tests.e2e.test_real_objects import until
from tests.e2e.test_real_story import ACCOUNT, ROOT, installed, running
from tests.loop.world import CONFIG, spec

pytestmark = pytest.mark.real

EU = "environments/eu"
VALUES = f"{EU}/values.yaml"
ALLOWED = "ConfigMap,Namespace,ServiceAccount,PodDisruptionBudget"
OURS = "gamekeeper.dev/instance=main"
OBJECTS = f"{EU}/objects/lobby"
NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata:
  name: {{ workload.namespace }}
  labels: {example.com/cost-center: games}
"""
ACCOUNT_OF_ROOMS = """\
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ workload.name }}
  annotations: {iam.example.com/role: {{ workload.game ~ "-rooms" }}}
imagePullSecrets:
  - name: registry
"""
BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ workload.name }}
  annotations: {example.com/runbook: rooms}
"""
PLAIN_ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: {{ workload.name }}\n"
PAGE_OF_OPERATIONS = ROOT / "docs" / "operations.md"


def values(lobby: object) -> str:
    game = {"name": "game", "env": [{"name": "REGION", "value": "eu"}]}
    over = {"replicas": lobby, "template": {"spec": {"containers": [game]}}}
    document = {"apiVersion": "gamekeeper.dev/v1", "kind": "Values"}
    return yaml.safe_dump({**document, "spec": {"workloads": {"Scheduler/lobby": over}}})


class Studio:
    """A checkout with two environments, and the words that a person types in it."""

    def __init__(self, cluster: ControlPlane, folder: Path) -> None:
        self.cluster, self.repository = cluster, folder / "fleet"
        self.settings = {
            "GAMEKEEPER_INSTANCE": "main",
            "GAMEKEEPER_PATH": EU,
            "GAMEKEEPER_VALUES": "values.yaml",
            "GAMEKEEPER_ALLOW_KINDS": ALLOWED,
            "XDG_CACHE_HOME": str(folder / "cache"),
        }
        self.repository.mkdir()
        git(self.repository, "init", "-q", "-b", "main")

    def commit(self, files: dict[str, str | None]) -> None:
        for name, text in files.items():
            path = self.repository / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        git(self.repository, "add", "--all")
        git(self.repository, "commit", "-q", "-m", "change")

    def commit_and_wait(self, files: dict[str, str | None]) -> None:
        self.commit(files)
        assert self.run("reconcile", "--wait").returncode == 0

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        more = {**self.settings, "KUBECONFIG": str(self.cluster.kubeconfig)}
        return gamekeeper(*words, cwd=self.repository, more=more)

    def typed(self, lines: list[str], folder: Path | None = None) -> str:
        more = {**self.settings, "KUBECONFIG": str(self.cluster.kubeconfig)}
        return typed(lines, folder or self.repository, **more)

    @contextmanager
    def loop(self) -> Iterator[None]:
        """`gamekeeper run` under the account of deploy/; it looks when the block begins."""
        mine = {
            name.removeprefix("GAMEKEEPER_"): text
            for name, text in self.settings.items()
            if name.startswith("GAMEKEEPER_")
        }
        with running(
            {
                **mine,
                "REPO": str(self.repository),
                "KUBECONFIG": str(self.cluster.kubeconfig_for(ACCOUNT)),
                "POLL_SECONDS": "1",
                "CACHE_DIR": self.settings["XDG_CACHE_HOME"],
                "LISTEN": "127.0.0.1:0",
            }
        ):
            until("it looks", lambda: self.run("reconcile", "--wait").returncode == 0)
            yield

    def get(self, path: str) -> Json:
        answer: Json = self.cluster.api.demand("GET", path)
        return answer

    def pods(self, namespace: str) -> dict[str, Json]:
        """The pods of a namespace that are not on their way out, by name."""
        items = self.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
        return {
            item["metadata"]["name"]: item
            for item in items
            if "deletionTimestamp" not in item["metadata"]
        }

    def uids(self, namespace: str) -> set[str]:
        return {pod["metadata"]["uid"] for pod in self.pods(namespace).values()}

    def ready(self, namespace: str, count: int) -> bool:
        pods = self.pods(namespace).values()
        return len(pods) == count and all(is_ready(pod) for pod in pods)


def is_ready(pod: Json) -> bool:
    conditions: list[Any] = pod["status"].get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def test_an_installation_comes_takes_over_leaves_comes_back_and_goes(tmp_path: Path) -> None:
    with installed(Parts(audited=True)) as cluster:
        studio = Studio(cluster, tmp_path)
        granted = ["gamekeeper rbac --rooms-listen 0.0.0.0:8090 | kubectl apply -f -"]
        studio.typed(granted)
        studio.commit({f"{EU}/gamekeeper.yaml": CONFIG, VALUES: values(3)})
        with studio.loop():
            an_environment_has_its_own_values_and_adds_to_objects_of_ours(studio)
            a_folder_that_is_gone_takes_nothing_along(studio)
            start_deployment(studio)
            the_pods_of_a_deployment_become_rooms(studio)
        there = {name: studio.uids(name) for name in ("arena", "lobby")}
        it_is_uninstalled_beside_its_rooms(studio)
        assert {name: studio.uids(name) for name in there} == there
        with studio.loop():
            it_takes_them_back(studio, there)
        assert forbidden(cluster, ACCOUNT) == []
        assert not removals(cluster, "arena")
        what_is_left_goes_by_the_lines_that_it_prints(studio)


def an_environment_has_its_own_values_and_adds_to_objects_of_ours(studio: Studio) -> None:
    studio.commit_and_wait(
        {
            "environments/dev/gamekeeper.yaml": "}{",
            "environments/dev/schedulers/lobby.yaml": spec("lobby", 9),
            f"{EU}/schedulers/lobby.yaml": spec("lobby", 1, objects="objects/lobby"),
            f"{OBJECTS}/namespace.yaml.j2": NAMESPACE,
            f"{OBJECTS}/serviceaccount.yaml.j2": ACCOUNT_OF_ROOMS,
            f"{OBJECTS}/poddisruptionbudget.yaml.j2": BUDGET,
        }
    )
    until("as many rooms as the values say", lambda: studio.ready("lobby", 3))
    for pod in studio.pods("lobby").values():
        (game,) = pod["spec"]["containers"]
        assert {"name": "REGION", "value": "eu"} in game["env"]
        assert game["image"] == "registry.example/game:1"
        assert pod["spec"]["imagePullSecrets"] == [{"name": "registry"}], "by their account"
    rooms = studio.uids("lobby")
    namespace = studio.get("/api/v1/namespaces/lobby")["metadata"]["labels"]
    assert namespace["example.com/cost-center"] == "games"
    assert namespace["pod-security.kubernetes.io/enforce"] == "privileged"
    account = "/api/v1/namespaces/lobby/serviceaccounts/lobby"
    assert studio.get(account)["metadata"]["annotations"]["iam.example.com/role"] == "lobby-rooms"
    budget = studio.get("/apis/policy/v1/namespaces/lobby/poddisruptionbudgets/lobby")
    assert budget["metadata"]["annotations"]["example.com/runbook"] == "rooms"
    assert budget["spec"]["selector"]

    studio.typed(
        [
            "kubectl label namespace lobby example.com/cost-center=mine --overwrite",
            "kubectl annotate serviceaccount lobby --namespace lobby example.com/theirs=stays",
        ]
    )
    labels = "/api/v1/namespaces/lobby"
    until(
        "it is set back",
        lambda: studio.get(labels)["metadata"]["labels"]["example.com/cost-center"] == "games",
    )
    studio.commit_and_wait({f"{OBJECTS}/serviceaccount.yaml.j2": PLAIN_ACCOUNT})
    until("it is plain", lambda: "imagePullSecrets" not in studio.get(account))
    plain = studio.get(account)
    assert "iam.example.com/role" not in plain["metadata"]["annotations"]
    assert plain["metadata"]["annotations"]["example.com/theirs"] == "stays"
    assert studio.uids("lobby") == rooms

    studio.commit_and_wait({VALUES: values("many")})
    until("the line is told", lambda: "values.yaml:" in studio.run("status").stdout)
    studio.commit_and_wait({VALUES: values(4)})
    until("one more", lambda: studio.ready("lobby", 4))
    assert rooms < studio.uids("lobby")


def a_folder_that_is_gone_takes_nothing_along(studio: Studio) -> None:
    rooms = studio.uids("lobby")
    git(studio.repository, "mv", EU, "environments/moved")
    studio.commit_and_wait({})
    missing = f'there is no folder "{EU}"'
    until("it is told", lambda: missing in studio.run("status").stdout)
    assert studio.uids("lobby") == rooms
    git(studio.repository, "mv", "environments/moved", EU)
    studio.commit_and_wait({})
    assert studio.uids("lobby") == rooms


def start_deployment(studio: Studio) -> None:
    """Make what docs/adoption.md begins with, and a Service that leads to it."""
    meta = {"name": "web", "namespace": "arena"}
    marks = {"app": "arena"}
    container = {"name": "game", "image": "registry.example/game:0"}
    template = {"metadata": {"labels": marks}, "spec": {"containers": [container]}}
    documents: list[Json] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "arena"}},
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": meta,
            "spec": {"replicas": 2, "selector": {"matchLabels": marks}, "template": template},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": meta,
            "spec": {"selector": marks, "ports": [{"port": 7777}]},
        },
    ]
    file = studio.repository.parent / "web.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    studio.typed([f"kubectl apply -f {file}"])
    until("two pods that others keep", lambda: studio.ready("arena", 2))


def led_to(studio: Studio) -> set[str]:
    path = "/apis/discovery.k8s.io/v1/namespaces/arena/endpointslices"
    return {
        end["targetRef"]["uid"]
        for each in studio.get(path)["items"]
        for end in each.get("endpoints") or ()
    }


def the_pods_of_a_deployment_become_rooms(studio: Studio) -> None:
    """Type docs/adoption.md from its first line to its last."""
    say, free, take, give = blocks()
    before = studio.uids("arena")
    nodes = {pod["spec"]["nodeName"] for pod in studio.pods("arena").values()}
    until("the Service leads to both", lambda: led_to(studio) == before)
    asked = spec("arena", 2).replace("reports: none", "reports: required")
    studio.commit_and_wait({f"{EU}/schedulers/arena.yaml": asked})
    given = "kubectl annotate namespace arena gamekeeper.dev/adopt=main"
    until("it waits", lambda: given in studio.run("status").stdout)
    assert given in studio.typed(say)
    kept = studio.run("adopt", "arena", "--selector", "app=arena", "--yes")
    assert kept.returncode == 1
    assert kept.stdout.count("is controlled by ReplicaSet web-") == 2
    assert studio.uids("arena") == before, "nothing of ours is there yet"
    studio.typed(free)
    assert studio.uids("arena") == before
    assert "2 pods adopted. Nothing was restarted." in studio.typed(take)
    names = set(studio.pods("arena"))
    rooms = studio.typed(give)
    assert all(name in rooms for name in names)
    until("one beside them, as maxSurge lets", lambda: studio.ready("arena", 3))
    assert before < studio.uids("arena")
    adopted = [one for one in studio.pods("arena").values() if one["metadata"]["uid"] in before]
    assert {pod["spec"]["nodeName"] for pod in adopted} == nodes
    assert all(one["status"]["containerStatuses"][0]["restartCount"] == 0 for one in adopted)
    assert before <= led_to(studio), "Services find them as before"
    for pod in adopted:
        until("who plays there is protected", partial(is_refused, studio, pod))
    assert studio.run("adopt", "arena", "--selector", "app=arena", "--yes").returncode == 0


def is_refused(studio: Studio, pod: Json) -> bool:
    """Whether an eviction of a pod is refused for its budget, were it not a dry run."""
    metadata = pod["metadata"]
    place = {name: metadata[name] for name in ("name", "namespace")}
    body: Json = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": place}
    body["deleteOptions"] = {"dryRun": ["All"]}
    path = f"/api/v1/namespaces/arena/pods/{metadata['name']}/eviction"
    return studio.cluster.api.ask("POST", path, body).status == 429


def it_is_uninstalled_beside_its_rooms(studio: Studio) -> None:
    """Type what docs/operations.md shows, beside the Deployment of deploy/."""
    studio.typed([f"kubectl apply -f {ROOT / 'deploy' / 'gamekeeper.yaml'}"])
    page = PAGE_OF_OPERATIONS.read_text().partition("\n## Uninstall\n")[2]
    (lines, *_) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    said = studio.typed(lines.splitlines())
    assert "3 rooms in arena run on, with all around them." in said
    assert "4 rooms in lobby run on, with all around them." in said
    home = "/api/v1/namespaces/gamekeeper"
    ours = studio.get(f"{home}/configmaps?labelSelector={OURS.replace('=', '%3D')}")
    assert ours["items"] == []
    leases = "/apis/coordination.k8s.io/v1/namespaces/gamekeeper/leases"
    assert studio.get(leases)["items"] == []


def it_takes_them_back(studio: Studio, there: dict[str, set[str]]) -> None:
    assert {name: studio.uids(name) for name in there} == there
    shown = json.loads(studio.run("status", "--output", "json").stdout)["workloads"]
    assert {each["name"] for each in shown} == {"arena", "lobby"}
    names = set(studio.pods("lobby"))
    studio.commit_and_wait({VALUES: values(5)})
    until("one more", lambda: studio.ready("lobby", 5))
    assert there["lobby"] < studio.uids("lobby")
    (new,) = set(studio.pods("lobby")) - names
    assert int(new.rpartition("-")[2]) > 1_700_000_000, "no name comes back"
    assert studio.uids("arena") == there["arena"]


def what_is_left_goes_by_the_lines_that_it_prints(studio: Studio) -> None:
    done = studio.run("uninstall", "--yes")
    assert done.returncode == 0, done.stderr
    lines = re.findall(r"kubectl delete .*", done.stdout)
    assert len(lines) == 5
    assert "Not ours, and no line for it: namespace arena." in done.stdout
    studio.typed(lines, folder=ROOT)
    spaces = {item["metadata"]["name"] for item in studio.get("/api/v1/namespaces")["items"]}
    assert not spaces & {"lobby", "gamekeeper"}
    assert "arena" in spaces, "which is somebody else's"
    until("the Service leads to nobody", lambda: led_to(studio) == set())
    roles = studio.get("/apis/rbac.authorization.k8s.io/v1/clusterroles")["items"]
    assert not [one for one in roles if "gamekeeper" in one["metadata"]["name"]]
