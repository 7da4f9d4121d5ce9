"""Additional objects on a real control plane, under the accounts of deploy/ and no other."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from reconciler.model.additional import KINDS
from tests.controlplane.cluster import ControlPlane, Parts
from tests.controlplane.programs import kubectl
from tests.e2e.test_real_story import ACCOUNT, PROGRAM, ROOT, deployed, installed, running
from tests.gitservers.repositories import BareRepository
from tests.loop.world import CONFIG, spec

pytestmark = pytest.mark.real

RBAC = "rbac.authorization.k8s.io/v1"
HEAD = "apiVersion: {api}\nkind: {kind}\nmetadata:\n  name: {{{{ workload.name ~ '-own' }}}}\n"
REST = {
    "LimitRange": "spec: {limits: [{type: Container, max: {cpu: '2'}}]}\n",
    "ResourceQuota": "spec: {hard: {pods: '50', requests.cpu: 20}}\n",
    "NetworkPolicy": "spec: {podSelector: {matchLabels: {{ selector }}}, policyTypes: [Ingress]}\n",
    "ConfigMap": "data: {motd: welcome}\n",
    "Role": "rules: [{apiGroups: [''], resources: [configmaps], verbs: [get]}]\n",
    "RoleBinding": "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: arena-own}\n"
    "subjects: [{kind: ServiceAccount, name: {{ workload.name }}}]\n",
    "Service": "spec: {selector: {{ selector }}, ports: [{name: game, port: 7777}]}\n",
}
PATHS = {kind: f"/{'apis' if '/' in api else 'api'}/{api}" for kind, api in KINDS.items()}
PLURALS = {
    kind: "networkpolicies" if kind == "NetworkPolicy" else f"{kind.lower()}s" for kind in KINDS
}
STEAL = "rules: [{apiGroups: [''], resources: [secrets], verbs: [get, list]}]\n"


def templates() -> dict[str, str]:
    return {
        f"objects/arena/{kind.lower()}.yaml.j2": HEAD.format(api=KINDS[kind], kind=kind) + rest
        for kind, rest in REST.items()
    }


def found(cluster: ControlPlane, kind: str) -> list[Any]:
    path = f"{PATHS[kind]}/namespaces/arena/{PLURALS[kind]}"
    items: list[Any] = cluster.api.demand("GET", path)["items"]
    return [item for item in items if item["metadata"]["name"] == "arena-own"]


def until(what: str, is_so: Callable[[], bool], seconds: float = 240.0) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.5)


def rooms(cluster: ControlPlane) -> dict[str, str]:
    items = cluster.api.demand("GET", "/api/v1/namespaces/arena/pods")["items"]
    return {item["metadata"]["name"]: item["metadata"]["uid"] for item in items}


def conditions(cluster: ControlPlane) -> str:
    path = "/api/v1/namespaces/gamekeeper/configmaps/gamekeeper-main-local-scheduler-arena.arena"
    record: dict[str, str] = cluster.api.demand("GET", path)["data"]
    return " ".join(record.values())


def roles() -> bytes:
    """What an administrator applies, so that every kind may be made."""
    asked = ["rbac", "--rooms-listen", "0.0.0.0:8090", "--allow-kinds", ",".join(KINDS)]
    return subprocess.run([str(PROGRAM), *asked], check=True, capture_output=True).stdout


def granted() -> set[tuple[str, str, str]]:
    """What these roles give beyond those of deploy/."""
    documents = (
        *yaml.safe_load_all(roles()),
        *(
            each
            for each in yaml.safe_load_all((ROOT / "deploy/gamekeeper.yaml").read_text())
            if "rules" in each
        ),
    )
    asked, deployed = (
        {
            (group, resource, verb)
            for document in each
            for rule in document.get("rules", ())
            for group in rule.get("apiGroups", ())
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }
        for each in (documents[:4], documents[4:])
    )
    return asked - deployed


def test_every_kind_comes_changes_and_goes_under_the_deployed_account(tmp_path: Path) -> None:
    git = BareRepository.create(tmp_path / "git", "fleet.git")
    asking = spec("arena", 2, objects="objects/arena")
    start = {"gamekeeper.yaml": CONFIG, "schedulers/lobby.yaml": spec("lobby", 1)}
    git.commit({**start, "schedulers/arena.yaml": asking, **templates()}, "change")
    with installed(Parts(audited=True)) as cluster:
        words = [str(kubectl("1.36")), "--kubeconfig", str(cluster.kubeconfig), "apply", "-f", "-"]
        subprocess.run(words, input=roles(), check=True, capture_output=True)
        settings = {
            **deployed(cluster, str(git.path), tmp_path),
            "ALLOW_KINDS": ",".join(KINDS),
        }
        with running(settings):
            until("every kind is there", lambda: all(found(cluster, kind) for kind in KINDS))
            until("two rooms", lambda: len(rooms(cluster)) == 2)
            before = rooms(cluster)
            motd = templates()["objects/arena/configmap.yaml.j2"].replace("welcome", "farewell")
            git.commit({"objects/arena/configmap.yaml.j2": motd}, "change")
            until(
                "the text changed",
                lambda: found(cluster, "ConfigMap")[0]["data"] == {"motd": "farewell"},
            )
            path = f"{PATHS['ConfigMap']}/namespaces/arena/configmaps/arena-own"
            there = cluster.api.demand("GET", path)
            cluster.api.demand("PUT", path, {**there, "data": {"motd": "mine"}})
            until(
                "it is set back",
                lambda: found(cluster, "ConfigMap")[0]["data"] == {"motd": "farewell"},
            )

            role = "objects/arena/role.yaml.j2"
            git.commit({role: HEAD.format(api=RBAC, kind="Role") + STEAL}, "change")
            until("the refusal is told", lambda: "can give no more than" in conditions(cluster))
            assert found(cluster, "Role")[0]["rules"][0]["resources"] == ["configmaps"]
            assert rooms(cluster) == before

            gone = dict.fromkeys([role, "objects/arena/rolebinding.yaml.j2"])
            git.commit({**gone, "objects/arena/service.yaml.j2": None}, "change")
            until(
                "three are gone",
                lambda: (
                    not any(found(cluster, kind) for kind in ("Role", "RoleBinding", "Service"))
                ),
            )
            assert rooms(cluster) == before

            git.commit({"schedulers/arena.yaml": None, **dict.fromkeys(templates())}, "change")
            namespaces = "/api/v1/namespaces"
            until(
                "the namespace is gone",
                lambda: (
                    "arena"
                    not in {
                        item["metadata"]["name"]
                        for item in cluster.api.demand("GET", namespaces)["items"]
                    }
                ),
            )
        _check_access(cluster)


def _check_access(cluster: ControlPlane) -> None:
    """Nothing was refused but what the Role would give, and every verb was used."""
    asked = [event for event in cluster.audit(ACCOUNT) if "objectRef" in event]
    decision = "authorization.k8s.io/decision"
    refused = [one for one in asked if one.get("annotations", {}).get(decision) == "forbid"]
    assert not refused
    used = {
        (event["objectRef"].get("apiGroup", ""), event["objectRef"]["resource"], event["verb"])
        for event in asked
    }
    used |= {(group, resource, "create") for group, resource, verb in used if verb == "patch"}
    assert not granted() - used, f"granted and never asked for: {sorted(granted() - used)}"
