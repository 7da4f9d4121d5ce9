"""Ten thousand ready rooms on a real API server, made by `gamekeeper run` itself.

No kubelet runs here: the rooms are declared ready by hand. Git is served over https.
"""

import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import stage
from benchmarks.raw import Sent, send_all
from benchmarks.rooms_voices import SAYS_READY, Voice, say_all, voices_of
from benchmarks.webhooks import SECRET
from tests.controlplane.cluster import ControlPlane, Parts
from tests.controlplane.processes import free_ports
from tests.gitservers.http import HttpGitServer
from tests.gitservers.repositories import BareRepository

ROOMS = 10_000
PULSE = "pulse"
QUIET_SECONDS = 5.0
_CONDITIONS = [{"type": kind, "status": "True"} for kind in ("PodScheduled", "Ready")]
_CONTAINER = {
    "name": "server",
    "ready": True,
    "restartCount": 0,
    "image": "registry.example.com/arena/server:1.0",
    "imageID": "sha256:0",
    "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
}
READY = {
    "status": {
        "phase": "Running",
        "conditions": _CONDITIONS,
        "containerStatuses": [_CONTAINER],
    }
}


@dataclass(frozen=True, slots=True)
class Fleet:
    """A cluster, a repository, and what `gamekeeper run` needs to join them."""

    cluster: ControlPlane
    bare: BareRepository
    folder: Path
    settings: dict[str, str]
    workloads: tuple[str, ...]
    host: HttpGitServer
    maker_pss_mib: float = 0.0
    voices: tuple[Voice, ...] = ()
    """The rooms that report, those of `workloads` and of PULSE; each was heard once."""

    @property
    def rooms_address(self) -> str:
        """Return where rooms report."""
        return self.settings["ROOMS_LISTEN"]

    @property
    def shape(self) -> str:
        """Return how the rooms are shared out."""
        return f"{len(self.workloads):,} workloads of {ROOMS // len(self.workloads):,} rooms"

    def until_marked(self, mark: str, rooms: int) -> None:
        """Wait until so many pods carry a mark."""
        path = f"/api/v1/pods?resourceVersion=0&labelSelector=gamekeeper.dev/state%3D{mark}"

        def are_marked() -> bool:
            return len(self.cluster.api.demand("GET", path)["items"]) >= rooms

        stage.until(are_marked, f"{rooms} rooms are {mark}", 120, 1.0)

    @contextmanager
    def running(self, **more: str) -> Iterator[stage.Running]:
        """Run it over this fleet; it has nothing more to do when the block begins."""
        log = stage.AuditLog(self.cluster)
        with stage.running({**self.settings, **more}, self.folder) as process:
            stage.until(lambda: any(map(is_work, log.more())), "it reads the cluster", 60)

            def is_quiet() -> bool:
                time.sleep(QUIET_SECONDS)
                return not any(map(is_work, log.more()))

            stage.until(is_quiet, "nothing is left to do", 300)
            yield process


@contextmanager
def ten_thousand(workloads: int = 10, pulse: int = 1, reports: str = "none") -> Iterator[Fleet]:
    """Return a fleet of 10,000 ready rooms, and a workload that commits may change.

    That one has `pulse` rooms. Rooms that report have said that they are empty.
    """
    counts = {f"arena-{number}": ROOMS // workloads for number in range(workloads)}
    parts = Parts(with_controllers=False, with_scheduler=False, with_kwok=False, audited=True)
    with tempfile.TemporaryDirectory(prefix="gamekeeper-bench-") as name:
        folder = Path(name)
        bare = BareRepository.create(folder / "git", "fleet.git")
        bare.commit(stage.files({**counts, PULSE: pulse}, reports), "Ten thousand")
        (folder / "secret").write_bytes(SECRET)
        with ControlPlane(parts) as cluster, HttpGitServer(folder / "git") as host:
            settings = {
                "REPO": host.url("fleet.git"),
                "KUBECONFIG": str(cluster.kubeconfig),
                "GIT_CERTIFICATE_AUTHORITY_FILE": str(host.authority_file),
                "WEBHOOK_SECRET_FILE": str(folder / "secret"),
            }
            if reports != "none":
                settings["ROOMS_LISTEN"] = f"127.0.0.1:{free_ports(1)[0]}"
            fleet = Fleet(cluster, bare, folder, settings, tuple(counts), host)
            with fleet.running() as process:
                declare_ready(cluster, (*counts, PULSE))
                if reports != "none":
                    fleet = replace(fleet, voices=voices_of(cluster, (*counts, PULSE)))
                    say_all(fleet.rooms_address, fleet.voices, SAYS_READY)
                    fleet.until_marked("idle", len(fleet.voices))
                size = sum(process.pss_mib().values())
            yield replace(fleet, maker_pss_mib=size)


def declare_ready(cluster: ControlPlane, namespaces: Iterable[str]) -> None:
    """Say of every pod what its kubelet would say."""
    paths: list[str] = []
    for namespace in namespaces:
        path = f"/api/v1/namespaces/{namespace}/pods"
        pods = cluster.api.demand("GET", f"{path}?resourceVersion=0")["items"]
        paths.extend(f"{path}/{pod['metadata']['name']}/status" for pod in pods)
    kind = "application/merge-patch+json"
    send_all(cluster, [Sent("PATCH", path, READY, kind) for path in paths])


def is_work(request: stage.Request) -> bool:
    """Whether a request is one of ours that an idle loop would not send."""
    ours = request.agent.startswith("gamekeeper")
    return ours and request.verb != "watch" and request.resource != "leases"
