"""Real kubectl, of two versions, against the sandbox."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.contract.api_server_world import (
    Speaker,
    config_map,
    is_ready,
    quick_sandbox,
    running_pod,
    served,
)
from tests.controlplane.programs import kubectl

BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "b"},
    "spec": {"minAvailable": 1_000_000, "selector": {"matchLabels": {"app": "a"}}},
}


@dataclass(frozen=True, slots=True)
class Kubectl:
    """kubectl of one version, speaking to the sandbox in one namespace."""

    program: Path
    home: Path
    speaker: Speaker
    space: str

    def __call__(self, *words: str, status: int = 0, given: object = None) -> str:
        """Run a command, and give what it prints; `given` goes to its standard input."""
        done = subprocess.run(
            [str(self.program), *words],
            env=self.environment(),
            input=None if given is None else json.dumps(given),
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def environment(self) -> dict[str, str]:
        """Return the environment in which it finds this cluster."""
        return {**os.environ, "KUBECONFIG": str(self.home / "kubeconfig"), "HOME": str(self.home)}

    def run_pod(self, name: str) -> None:
        """Create a pod and wait until it is ready."""
        self.speaker.make(f"{self.space}/pods", running_pod(name, terminationGracePeriodSeconds=1))
        self.speaker.until(f"{self.space}/pods/{name}", is_ready)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Speaker]]:
    """Serve a sandbox, with a home directory for kubectl's caches."""
    folder = tmp_path_factory.mktemp("kubectl")
    with served(quick_sandbox()) as server:
        server.write_kubeconfig(folder / "kubeconfig")
        yield folder, Speaker(server.url)


@pytest.fixture(params=["1.37", pytest.param("1.36", marks=pytest.mark.real)])
def k(request: pytest.FixtureRequest, home: tuple[Path, Speaker]) -> Kubectl:
    """Speak through kubectl, in a namespace of the test's own."""
    folder, speaker = home
    space = speaker.namespace()
    use = Kubectl(kubectl(request.param), folder, speaker, space)
    use("config", "set-context", "--current", f"--namespace={space.rsplit('/', 1)[1]}")
    return use


def test_get_prints_tables_yaml_and_names(k: Kubectl) -> None:
    k.run_pod("web")
    plain, wide = k("get", "pods"), k("get", "pods", "-o", "wide")
    assert plain.split()[:5] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert plain.splitlines()[1].split()[:4] == ["web", "1/1", "Running", "0"]
    assert "sandbox-" in wide
    assert "podIP: 10." in k("get", "pod", "web", "-o", "yaml")
    assert k("get", "pods", "-o", "name") == "pod/web\n"
    assert k("get", "pods", "-l", "app=other") == (
        f"No resources found in {k.space.rsplit('/', 1)[1]} namespace.\n"
    )
    assert "Ready" in k("get", "nodes", "-o", "wide")


def test_get_watches(k: Kubectl) -> None:
    argv = [str(k.program), "get", "pods", "-w", "--no-headers"]
    with subprocess.Popen(argv, env=k.environment(), stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        deadline = threading.Timer(120, run.kill)
        deadline.start()
        k.run_pod("seen")
        assert any("Running" in line for line in run.stdout)
        deadline.cancel()
        run.terminate()


def test_describe_tells_of_pods_and_nodes(k: Kubectl) -> None:
    k.run_pod("web")
    assert ["Ready", "True"] in [line.split() for line in k("describe", "pod", "web").splitlines()]
    assert "v1.36.3" in k("describe", "node", "sandbox-1")


def test_describe_shows_why_a_pod_does_not_start(k: Kubectl) -> None:
    k("run", "bad", "--image=game:missing")
    k(
        "wait",
        "--for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=ErrImagePull",
        "pod/bad",
        "--timeout=90s",
    )
    assert 'Failed to pull image "game:missing"' in k("describe", "pod", "bad")


def test_run_wait_logs_and_delete(k: Kubectl) -> None:
    assert k("run", "web", "--image=game:1", "--port=7000") == "pod/web created\n"
    assert "condition met" in k("wait", "--for=condition=Ready", "pod/web", "--timeout=90s")
    log = k("logs", "web")
    assert "container web starts game:1 on node sandbox-" in log
    assert "listens on 7000/TCP" in log
    assert k("delete", "pod", "web", "--grace-period=1").startswith('pod "web" deleted')
    assert "not found" in k("get", "pod", "web", status=1)


def test_following_a_log_ends_with_the_pod(k: Kubectl) -> None:
    k.run_pod("web")
    argv = [str(k.program), "logs", "-f", "web"]
    with subprocess.Popen(argv, env=k.environment(), stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        deadline = threading.Timer(120, run.kill)
        deadline.start()
        assert any("ready for players" in line for line in run.stdout)
        assert run.poll() is None
        k("delete", "pod", "web", "--wait=false")
        run.communicate()
        deadline.cancel()
    assert run.returncode == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(("namespace", "made"), "namespace/made created", id="a namespace"),
        pytest.param(("configmap", "c", "--from-literal=a=b"), "configmap/c created", id="a map"),
        pytest.param(
            ("secret", "generic", "s", "--from-literal=a=b"), "secret/s created", id="a secret"
        ),
        pytest.param(("serviceaccount", "bot"), "serviceaccount/bot created", id="an account"),
        pytest.param(
            ("pdb", "p", "--selector=a=b", "--min-available=50%"),
            "poddisruptionbudget.policy/p created",
            id="a budget",
        ),
    ],
)
def test_create_speaks_protobuf(k: Kubectl, words: tuple[str, ...], told: str) -> None:
    assert k("create", *words) == f"{told}\n"
    kind, name = words[0], words[1 if words[1] != "generic" else 2]
    found = json.loads(k("get", kind, name, "-o", "json"))
    if kind in ("configmap", "secret"):
        assert found["data"] == {"a": "b" if kind == "configmap" else "Yg=="}
    if kind == "pdb":
        assert found["spec"] == {"minAvailable": "50%", "selector": {"matchLabels": {"a": "b"}}}
    k("delete", kind, name)


def test_apply_creates_leaves_and_changes(k: Kubectl) -> None:
    first, second = config_map("m", a="1"), config_map("m", a="2")
    assert k("apply", "-f", "-", given=first) == "configmap/m created\n"
    assert k("apply", "-f", "-", given=first) == "configmap/m unchanged\n"
    assert '+  a: "2"' in k("diff", "-f", "-", given=second, status=1)
    assert k("apply", "-f", "-", given=second) == "configmap/m configured\n"
    assert k("diff", "-f", "-", given=second) == ""


def test_apply_on_the_server_takes_over_and_tells_conflicts(k: Kubectl) -> None:
    first = config_map("m", a="1")
    k("apply", "-f", "-", given=first)
    assert k("apply", "--server-side", "-f", "-", given=first) == "configmap/m serverside-applied\n"
    assert k("diff", "--server-side", "-f", "-", given=first) == ""
    other = ("apply", "--server-side", "--field-manager=other", "-f", "-")
    refused = k(*other, given=config_map("m", a="2"), status=1)
    assert 'conflict with "kubectl": .data.a' in refused
    k(*other, "--force-conflicts", given=config_map("m", a="2"))
    assert k("get", "configmap", "m", "-o", "jsonpath={.data.a}") == "2"


def test_create_validates_strictly(k: Kubectl) -> None:
    body = {**config_map("m"), "bogus": 1}
    assert 'unknown field "bogus"' in k("create", "-f", "-", given=body, status=1)


def test_label_annotate_and_patch(k: Kubectl) -> None:
    k.run_pod("web")
    assert k("label", "pod", "web", "x=y") == "pod/web labeled\n"
    assert k("annotate", "pod", "web", "n=1") == "pod/web annotated\n"
    k("patch", "pod", "web", "-p", '{"metadata":{"labels":{"s":"1"}}}')
    k("patch", "pod", "web", "--type=merge", "-p", '{"metadata":{"labels":{"m":"1"}}}')
    operation = '[{"op":"remove","path":"/metadata/labels/x"}]'
    k("patch", "pod", "web", "--type=json", "-p", operation)
    found = json.loads(k("get", "pod", "web", "-o", "json"))["metadata"]
    assert found["labels"] == {"app": "a", "s": "1", "m": "1"}
    assert found["annotations"] == {"n": "1"}


@pytest.mark.long
def test_drain_heeds_budgets(k: Kubectl) -> None:
    k.run_pod("web")
    node = k("get", "pod", "web", "-o", "jsonpath={.spec.nodeName}")
    k("create", "-f", "-", given=BUDGET)
    refused = k("drain", node, "--force", "--timeout=4s", status=1)
    assert "Cannot evict pod as it would violate the pod's disruption budget." in refused
    k("delete", "pdb", "b")
    assert "pod/web evicted" in k("drain", node, "--force", "--timeout=90s")
    assert "SchedulingDisabled" in k("get", "node", node)
    assert k("uncordon", node) == f"node/{node} uncordoned\n"


def test_auth_can_i(k: Kubectl) -> None:
    assert k("auth", "can-i", "create", "pods") == "yes\n"
    assert "*.*" in k("auth", "can-i", "--list")


def test_api_resources_lists_what_is_served(k: Kubectl) -> None:
    names = k("api-resources", "-o", "name").split()
    assert {"pods", "nodes", "leases.coordination.k8s.io", "poddisruptionbudgets.policy"} <= {
        *names
    }
    assert k("version").splitlines()[-1] == "Server Version: v1.36.3"


def test_a_deleted_namespace_is_waited_for(k: Kubectl) -> None:
    k.run_pod("web")
    name = k.space.rsplit("/", 1)[1]
    assert f'namespace "{name}" deleted' in k("delete", "namespace", name, "--timeout=90s")
    assert k.speaker.ask("GET", k.space).status == 404
