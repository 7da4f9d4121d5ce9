"""A thousand rooms that are as they should be: what does it take to find that out?"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from benchmarks import stage
from benchmarks.results import Figure, Section, at_most, median_and_all
from tests.controlplane.cluster import ControlPlane, Parts
from tests.controlplane.programs import kubectl
from tests.gitservers.repositories import BareRepository

ROOMS = 1000
ROUNDS = 5
PEER_ROOMS, PEER_ROUNDS = 100, 3
ARENA, PEER = "arena", "peer"
DIFF_MOST_SECONDS = 2.0
LIST = """
import json, ssl, sys, urllib.request
trust = ssl.create_default_context(cafile=sys.argv[2])
asked = urllib.request.Request(sys.argv[1], headers={"Authorization": "Bearer " + sys.argv[3]})
print(len(json.load(urllib.request.urlopen(asked, context=trust))["items"]))
"""


def measure() -> Section:
    """Measure ours and a bare LIST over the same rooms, then kubectl over as many of its own."""
    parts = Parts(with_controllers=False, with_scheduler=False, with_kwok=False, audited=True)
    with tempfile.TemporaryDirectory(prefix="gamekeeper-bench-") as name, ControlPlane(parts) as it:
        folder = Path(name)
        settings = _converged(it, folder)
        ours = [_timed(lambda: _diff(settings)) for _ in range(ROUNDS)]
        listed = [_timed(lambda: _list_and_parse(it)) for _ in range(ROUNDS)]
        manifests = _applied_by_kubectl(it, folder)
        theirs = [_timed(lambda: _kubectl_diff(it, manifests)) for _ in range(PEER_ROUNDS)]
        # The pods are those of `kubectl apply`, whose fields a server-side diff would not take.
        words = ("--server-side", "--force-conflicts")
        servers = [_timed(lambda: _kubectl_diff(it, manifests, *words)) for _ in range(PEER_ROUNDS)]
    median = statistics.median(ours)
    figures = [
        at_most("`gamekeeper diff --live`, 1,000 rooms", median, DIFF_MOST_SECONDS, "s"),
        Figure("each run", median_and_all(ours, "s")),
        Figure("one LIST of the pods and its parse", median_and_all(listed, "s")),
        Figure(f"`kubectl diff`, {PEER_ROOMS} pods", median_and_all(theirs, "s")),
        Figure(f"`kubectl diff --server-side`, {PEER_ROOMS} pods", median_and_all(servers, "s")),
    ]
    notes = [
        "Whole processes, start to exit. kubectl is measured on a tenth of the pods, for its time"
        " grows with their number: ten times the figure compares.",
        f"So, for each room: kubectl {_times(theirs, median)}, `--server-side`"
        f" {_times(servers, median)} of our time.",
    ]
    return Section("live-diff", "1,000 rooms, nothing changed", figures, notes)


def _times(peer: list[float], ours: float) -> str:
    return f"{statistics.median(peer) * ROOMS / PEER_ROOMS / ours:.0f} times"


def _timed(work: Callable[[], None]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started


def _converged(cluster: ControlPlane, folder: Path) -> dict[str, str]:
    """Let `run` make the rooms, and return the settings that saw them made."""
    bare = BareRepository.create(folder, "fleet.git")
    bare.commit(stage.files({ARENA: ROOMS}), "A thousand")
    settings = {
        "REPO": str(bare.path),
        "KUBECONFIG": str(cluster.kubeconfig),
        "INSTANCE": "bench",
        "CACHE_DIR": str(folder / "cache"),
    }
    path = f"/api/v1/namespaces/{ARENA}/pods?resourceVersion=0"

    def made() -> bool:
        return len(cluster.api.demand("GET", path)["items"]) == ROOMS

    with stage.running(settings, folder):
        stage.until(made, f"{ROOMS} rooms", 180, 1.0)
        time.sleep(5)
    return settings


def _diff(settings: dict[str, str]) -> None:
    environment = {f"GAMEKEEPER_{name}": text for name, text in settings.items()}
    argv = [str(stage.PROGRAM), "diff", "--live"]
    stage.run_to_end(argv, {**os.environ, **environment})


def _list_and_parse(cluster: ControlPlane) -> None:
    url = f"{cluster.url}/api/v1/namespaces/{ARENA}/pods"
    words = [sys.executable, "-c", LIST, url, str(cluster.authority_file), cluster.admin_token]
    said = stage.run_to_end(words, os.environ)
    if int(said) != ROOMS:
        raise RuntimeError(f"{said.decode()} pods were listed, not {ROOMS}")


def _applied_by_kubectl(cluster: ControlPlane, folder: Path) -> Path:
    """Let kubectl make pods of its own, and return their manifests."""
    work = stage.write_files(folder / "work", stage.files({PEER: PEER_ROOMS}))
    rendered = list(yaml.load_all(stage.gamekeeper("render", str(work)), yaml.CSafeLoader))
    path = folder / "peer.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": rendered}))
    _kubectl(cluster, ("apply", "-f", str(path)))
    pods = [document for document in rendered if document["kind"] == "Pod"]
    manifests = folder / "pods.yaml"
    manifests.write_text(yaml.dump_all(pods, Dumper=yaml.CSafeDumper))
    return manifests


def _kubectl_diff(cluster: ControlPlane, manifests: Path, *words: str) -> None:
    said = _kubectl(cluster, ("diff", *words, "-f", str(manifests)))
    if said:
        raise RuntimeError(f"kubectl finds a difference: {said.decode()[:1000]}")


def _kubectl(cluster: ControlPlane, words: tuple[str, ...]) -> bytes:
    argv = [str(kubectl("1.36")), "--kubeconfig", str(cluster.kubeconfig), *words]
    return subprocess.run(argv, check=True, capture_output=True).stdout
