"""From nothing to a thousand rooms: `gamekeeper run`, a client that only sends, and kubectl."""

import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks import stage
from benchmarks.raw import IN_FLIGHT, Sent, delete_pods, send_all
from benchmarks.results import Figure, Section, at_least, median_and_all
from tests.controlplane.cluster import ControlPlane, Parts
from tests.controlplane.programs import kubectl
from tests.gitservers.repositories import BareRepository

ROOMS = 1000
ROUNDS = 5
MANIFESTS = "pods.yaml"
ARENA = "arena"
LONGEST_SECONDS = 180.0
RAW_SHARE_LEAST, KUBECTL_TIMES_LEAST = 0.8, 4.0


@dataclass(frozen=True, slots=True)
class Rates:
    """Rooms a second: from the first POST, and from the start of the command, to the last 201."""

    posting: float
    whole: float


@dataclass(frozen=True, slots=True)
class Bench:
    """An empty cluster, and the thousand pods as manifests: those that `run` makes."""

    cluster: ControlPlane
    folder: Path
    pods: list[dict[str, Any]]

    @property
    def pods_path(self) -> str:
        """Return where the pods are."""
        return f"/api/v1/namespaces/{ARENA}/pods"

    def ours(self) -> None:
        """Make them with `gamekeeper run`."""
        settings = {
            "REPO": str(self.folder / "fleet.git"),
            "KUBECONFIG": str(self.cluster.kubeconfig),
            "POLL_SECONDS": "3600",
        }
        with stage.running(settings, self.folder) as process:

            def are_there() -> bool:
                process.check()
                return self.count() >= ROOMS

            stage.until(are_there, "all rooms", LONGEST_SECONDS, 1.0)

    def raw(self) -> None:
        """Make them with a client that only sends."""
        send_all(self.cluster, [Sent("POST", self.pods_path, pod) for pod in self.pods])

    def kubectl(self) -> None:
        """Make them with `kubectl apply`."""
        argv = [str(kubectl("1.36")), "--kubeconfig", str(self.cluster.kubeconfig)]
        path = str(self.folder / MANIFESTS)
        subprocess.run(
            [*argv, "apply", "-f", path], check=True, capture_output=True, timeout=LONGEST_SECONDS
        )

    def count(self) -> int:
        """Count the pods without reading them: that would take from the CPUs of who makes them."""
        answer = self.cluster.api.demand("GET", f"{self.pods_path}?limit=1")
        return len(answer["items"]) + int(answer["metadata"].get("remainingItemCount", 0))

    def rates(self, make: Callable[[], None]) -> Rates:
        """Make a thousand rooms and delete them."""
        log = stage.AuditLog(self.cluster)
        begun = time.time()
        make()
        made = [each for each in stage.creates(log.more(), ARENA) if each.code == 201]
        if len(made) != ROOMS:
            raise RuntimeError(f"{len(made)} pods were made, not {ROOMS}")
        first = min(each.received for each in made)
        last = max(each.answered for each in made)
        delete_pods(self.cluster, ARENA)
        return Rates(ROOMS / (last - first), ROOMS / (last - begun))


def measure() -> Section:
    """Measure all three in turn, some rounds."""
    parts = Parts(with_controllers=False, with_scheduler=False, with_kwok=False, audited=True)
    found: dict[str, list[Rates]] = {"run": [], "raw": [], "kubectl": []}
    with tempfile.TemporaryDirectory(prefix="gamekeeper-bench-") as name, ControlPlane(parts) as it:
        bench = _bench(it, Path(name))
        for number in range(ROUNDS):
            ways = {"run": bench.ours, "raw": bench.raw, "kubectl": bench.kubectl}
            # Each goes first once: what a neighbour on this machine does falls on all of them.
            for way in list(ways)[number % 3 :] + list(ways)[: number % 3]:
                found[way].append(bench.rates(ways[way]))
    return _section(found)


def _section(found: Mapping[str, list[Rates]]) -> Section:
    ours, raw, theirs = ([each.posting for each in found[way]] for way in ("run", "raw", "kubectl"))
    ours_whole, theirs_whole = ([each.whole for each in found[way]] for way in ("run", "kubectl"))
    median = statistics.median
    figures = [
        Figure("`gamekeeper run`", median_and_all(ours, "rooms/s", 0)),
        Figure(f"raw client, {IN_FLIGHT} in flight", median_and_all(raw, "rooms/s", 0)),
        Figure("`kubectl apply -f`, whole command", median_and_all(theirs_whole, "rooms/s", 0)),
        at_least("beside the raw client", median(ours) / median(raw), RAW_SHARE_LEAST, "times"),
        at_least(
            "beside kubectl", median(ours) / median(theirs_whole), KUBECTL_TIMES_LEAST, "times"
        ),
        Figure("raw client beside kubectl", f"{median(raw) / median(theirs_whole):.2f} times"),
        Figure("kubectl from its first POST on", median_and_all(theirs, "rooms/s", 0)),
        Figure("`run` beside that", f"{median(ours) / median(theirs):.2f} times"),
        Figure("`run` from its start on", median_and_all(ours_whole, "rooms/s", 0)),
    ]
    notes = [
        f"{ROOMS} pods, the same for all, by the API server's audit log: from the first POST"
        " received to the last 201 answered, and for kubectl from the start of the command, since"
        " the reference (137 rooms/s) is of the whole command; the other pairings stand below.",
        "`run` also plans, writes its records and follows the cluster meanwhile. What the raw"
        " client reaches is what this API server can take with 32 requests in flight.",
    ]
    return Section("rooms", "from 0 to 1,000 rooms", figures, notes)


def _bench(cluster: ControlPlane, folder: Path) -> Bench:
    texts = stage.files({ARENA: ROOMS})
    work = stage.write_files(folder / "work", texts)
    rendered = list(yaml.load_all(stage.gamekeeper("render", str(work)), yaml.CSafeLoader))
    pods = [document for document in rendered if document["kind"] == "Pod"]
    (folder / MANIFESTS).write_text(yaml.dump_all(pods, Dumper=yaml.CSafeDumper), encoding="utf-8")
    bare = BareRepository.create(folder, "fleet.git")
    bare.commit(texts, "A thousand")
    return Bench(cluster, folder, pods)
