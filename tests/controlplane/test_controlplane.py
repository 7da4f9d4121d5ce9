"""The real control plane does what the suites that lean on it take for granted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.api import Answer
from tests.controlplane.cluster import ControlPlane, Parts
from tests.controlplane.programs import find, kubectl
from tests.controlplane.stages import START_AFTER

pytestmark = pytest.mark.real

Json = dict[str, Any]


@pytest.fixture(scope="module")
def namespace(real_cluster: ControlPlane) -> Iterator[str]:
    name = real_cluster.add_namespace("harness")
    yield name
    real_cluster.api.demand("DELETE", f"/api/v1/namespaces/{name}")


def pod(name: str, *, image: str = "game:1", **spec: object) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"room": name}},
        "spec": {"containers": [{"name": "game", "image": image}], **spec},
    }


def wait_for(read: Callable[[], Answer], is_right: Callable[[Answer], bool]) -> Answer:
    deadline = time.monotonic() + 120
    while not is_right(answer := read()):
        assert time.monotonic() < deadline, f"last seen: {answer}"
        time.sleep(0.05)
    return answer


def is_ready(answer: Answer) -> bool:
    conditions = answer.body.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def waiting_reason(answer: Answer) -> str | None:
    statuses = answer.body.get("status", {}).get("containerStatuses", [{}])
    reason = statuses[0].get("state", {}).get("waiting", {}).get("reason")
    return None if reason is None else str(reason)


def run_kubectl(version: str, cluster: ControlPlane, *words: str) -> str:
    argv = [str(kubectl(version)), f"--kubeconfig={cluster.kubeconfig}", *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_pod_is_scheduled_runs_and_leaves(real_cluster: ControlPlane, namespace: str) -> None:
    api, pods = real_cluster.api, f"/api/v1/namespaces/{namespace}/pods"
    port = {"containerPort": 7000, "hostPort": 7000, "protocol": "UDP"}
    body = pod("room-1", initContainers=[{"name": "unpack", "image": "tool:1"}])
    body["spec"]["containers"][0]["ports"] = [port]
    api.demand("POST", pods, body)
    live = wait_for(lambda: api.ask("GET", f"{pods}/room-1"), is_ready).body
    status = live["status"]
    node = api.demand("GET", f"/api/v1/nodes/{live['spec']['nodeName']}")
    assert status["phase"] == "Running"
    assert status["hostIP"] == node["status"]["addresses"][0]["address"]
    assert status["podIP"].rpartition(".")[0] == node["spec"]["podCIDR"].rpartition(".")[0]
    assert status["containerStatuses"][0]["state"]["running"]["startedAt"]
    assert status["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
    deleted = api.ask("DELETE", f"{pods}/room-1")
    assert deleted.body["metadata"]["deletionTimestamp"]
    wait_for(lambda: api.ask("GET", f"{pods}/room-1"), lambda answer: answer.status == 404)


@pytest.mark.parametrize(
    ("image", "reason", "phase"),
    [
        pytest.param("game:missing", "ImagePullBackOff", "Pending", id="an absent image"),
        pytest.param("game:crash", "CrashLoopBackOff", "Running", id="a crashing game"),
    ],
)
def test_a_broken_image_never_becomes_ready(
    real_cluster: ControlPlane, namespace: str, image: str, reason: str, phase: str
) -> None:
    api, pods = real_cluster.api, f"/api/v1/namespaces/{namespace}/pods"
    name = image.replace(":", "-")
    api.demand("POST", pods, pod(name, image=image))
    broken = wait_for(
        lambda: api.ask("GET", f"{pods}/{name}"), lambda answer: waiting_reason(answer) == reason
    )
    assert broken.body["status"]["phase"] == phase
    time.sleep(2 * real_cluster.parts.pod_start_seconds)
    assert not is_ready(api.ask("GET", f"{pods}/{name}"))


def test_an_annotation_delays_a_start(real_cluster: ControlPlane, namespace: str) -> None:
    api, pods = real_cluster.api, f"/api/v1/namespaces/{namespace}/pods"
    slow = pod("slow")
    slow["metadata"]["annotations"] = {START_AFTER: "2s"}
    started = time.monotonic()
    api.demand("POST", pods, slow)
    wait_for(lambda: api.ask("GET", f"{pods}/slow"), is_ready)
    assert time.monotonic() - started >= 1.9


def test_a_taken_host_port_leaves_a_pod_unscheduled(
    real_cluster: ControlPlane, namespace: str
) -> None:
    api, pods = real_cluster.api, f"/api/v1/namespaces/{namespace}/pods"
    rivals = [pod(f"rival-{number}") for number in range(4)]
    for body in rivals:
        body["spec"]["containers"][0]["ports"] = [{"containerPort": 7001, "hostPort": 7001}]
        api.demand("POST", pods, body)

    def reasons() -> Answer:
        live = api.demand("GET", f"{pods}?labelSelector=room+in+(rival-0,rival-1,rival-2,rival-3)")
        conditions = [c for each in live["items"] for c in each["status"].get("conditions", [])]
        return Answer(200, {"reasons": [each.get("reason") for each in conditions]})

    wait_for(reasons, lambda answer: answer.body["reasons"].count("Unschedulable") == 1)


def test_a_disruption_budget_refuses_an_eviction(
    real_cluster: ControlPlane, namespace: str
) -> None:
    api, core = real_cluster.api, f"/api/v1/namespaces/{namespace}"
    budgets = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
    api.demand("POST", f"{core}/pods", pod("kept"))
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "kept"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"room": "kept"}}},
    }
    api.demand("POST", budgets, budget)
    wait_for(
        lambda: api.ask("GET", f"{budgets}/kept"),
        lambda answer: answer.body.get("status", {}).get("currentHealthy") == 1,
    )
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "kept"}}
    assert api.ask("POST", f"{core}/pods/kept/eviction", eviction).status == 429


@pytest.mark.parametrize("version", ["1.36", "1.37"])
def test_kubectl_drains_a_node(real_cluster: ControlPlane, namespace: str, version: str) -> None:
    (node,) = real_cluster.add_nodes(1, labels={"drained-by": version})
    pods, name = f"/api/v1/namespaces/{namespace}/pods", f"leaves-{version[-2:]}"
    body = pod(name, nodeSelector={"drained-by": version})
    real_cluster.api.demand("POST", pods, body)
    wait_for(lambda: real_cluster.api.ask("GET", f"{pods}/{name}"), is_ready)
    said = run_kubectl(version, real_cluster, "drain", node, "--force")
    assert f"pod/{name} evicted" in said
    assert real_cluster.api.ask("GET", f"{pods}/{name}").status == 404


def test_a_client_go_informer_sees_pods_come_and_go(
    real_cluster: ControlPlane, namespace: str
) -> None:
    api, pods = real_cluster.api, f"/api/v1/namespaces/{namespace}/pods"
    argv = [str(find("informer")), f"--kubeconfig={real_cluster.kubeconfig}"]
    argv.append(f"--namespace={namespace}")
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        # Without an event the next line would be waited for until the end of days.
        deadline = threading.Timer(180, run.kill)
        deadline.start()
        seen = (json.loads(line) for line in run.stdout)
        assert any(each["event"] == "synced" for each in seen)
        api.demand("POST", pods, pod("watched"))
        assert any((each["event"], each["name"]) == ("add", "watched") for each in seen)
        assert any((each["name"], each["phase"]) == ("watched", "Running") for each in seen)
        api.demand("DELETE", f"{pods}/watched")
        assert any((each["event"], each["name"]) == ("delete", "watched") for each in seen)
        run.communicate(timeout=60)
        deadline.cancel()
    assert run.returncode == 0


def test_versions_are_stamped_on_server_and_clients(real_cluster: ControlPlane) -> None:
    server = real_cluster.api.demand("GET", "/version")
    assert (server["gitVersion"], server["minor"]) == ("v1.36.3", "36")
    for version in ("1.36", "1.37"):
        client = json.loads(run_kubectl(version, real_cluster, "version", "--output=json"))
        assert client["clientVersion"]["gitVersion"].startswith(f"v{version}.")
        assert client["serverVersion"]["gitVersion"] == "v1.36.3"


def test_a_service_account_may_only_what_its_role_says(
    real_cluster: ControlPlane, namespace: str
) -> None:
    kubeconfig = real_cluster.kubeconfig_for(f"{namespace}/default")
    argv = [str(kubectl("1.36")), f"--kubeconfig={kubeconfig}", "get", "pods", "-n", namespace]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300)
    assert f'"system:serviceaccount:{namespace}:default" cannot list' in done.stderr


def test_a_pod_without_its_service_account_is_refused(
    real_cluster: ControlPlane, namespace: str
) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    answer = real_cluster.api.ask("POST", pods, pod("nobody", serviceAccountName="ghost"))
    assert answer.status == 403
    assert 'serviceaccount "ghost" not found' in answer.body["message"]


def test_a_hanging_api_server_answers_again_afterwards(real_cluster: ControlPlane) -> None:
    with real_cluster.hanging(), pytest.raises(OSError, match="timed out"):
        real_cluster.api.ask("GET", "/version", timeout_seconds=0.5)
    assert real_cluster.api.ask("GET", "/version").status == 200


def test_a_bare_api_server_needs_no_other_part() -> None:
    parts = Parts(with_controllers=False, with_scheduler=False, with_kwok=False)
    with ControlPlane(parts) as cluster:
        assert set(cluster.pids()) == {"etcd", "kube-apiserver"}
        cluster.add_nodes(1)
        assert "taints" not in cluster.api.demand("GET", "/api/v1/nodes/node-0")["spec"]
        folder, pids = cluster.layout.folder, cluster.pids().values()
    assert not folder.exists()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_killed_run_leaves_no_process_and_no_file() -> None:
    argv = [sys.executable, "-m", "tests.controlplane", "up", "--nodes=0"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        folder = Path(run.stdout.readline().partition("=")[2].strip()).parent
        servers = _processes_naming(str(folder))
        assert len(servers) >= 5
        os.kill(run.pid, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while folder.exists() or _processes_naming(str(folder)):
        assert time.monotonic() < deadline, _processes_naming(str(folder))
        time.sleep(0.05)


def _processes_naming(text: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in words:
            found.append(words)
    return found
