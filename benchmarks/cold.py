"""A thousand schedulers of one room each: cold, and then a commit that touches one of them."""

import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import stage
from benchmarks.results import Figure, Section, at_most, median_and_all, percentile
from benchmarks.webhooks import SECRET, send_webhook
from tests.controlplane.cluster import ControlPlane, Parts
from tests.gitservers.repositories import BareRepository

SCHEDULERS = 1000
TOUCHED = "arena-0007"
COMMITS = 40
SETTLE_SECONDS = 3.0
LOOK_SECONDS = 0.25
LONGEST_SECONDS = 300.0
COLD_MOST_SECONDS, MEMORY_MOST_MIB = 45.0, 223.0
REQUEST_MOST_SECONDS, OTHERS_MOST_MS = 1.0, 50.0


@dataclass(frozen=True, slots=True)
class Cold:
    """From the start of the process: seconds to the last room made, CPU seconds, most memory."""

    seconds: float
    cpu_seconds: float
    requests: int
    pss_mib: float


@dataclass(frozen=True, slots=True)
class Touched:
    """Commits of one scheduler: seconds from the webhook to the first request, and CPU of each."""

    late_seconds: list[float]
    cpu_seconds: list[float]


@dataclass(slots=True)
class Weigher:
    """Looks at the memory of a process and all below it, and keeps the most."""

    process: stage.Running
    most_mib: float = 0.0
    _end: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look until the block ends."""
        thread = threading.Thread(target=self._watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._end.set()
            thread.join()

    def _watch(self) -> None:
        while not self._end.wait(LOOK_SECONDS):
            try:
                self.most_mib = max(self.most_mib, sum(self.process.pss_mib().values()))
            except (OSError, StopIteration, ValueError):
                continue  # one of its children ended meanwhile


def measure() -> Section:
    """Measure both, and the same commits in a repository that holds nothing else."""
    cold, many = _with(SCHEDULERS)
    _, alone = _with(1)
    return _section(cold, many, alone)


def _section(cold: Cold, many: Touched, alone: Touched) -> Section:
    many_ms, alone_ms = ([seconds * 1000 for seconds in each.cpu_seconds] for each in (many, alone))
    others_ms = statistics.median(many_ms) - statistics.median(alone_ms)
    figures = [
        at_most("start → last room made", cold.seconds, COLD_MOST_SECONDS, "s", 1),
        at_most("most PSS of all its processes", cold.pss_mib, MEMORY_MOST_MIB, "MiB", 0),
        Figure("CPU of all its processes", f"{cold.cpu_seconds:.1f} s"),
        Figure("requests that write", f"{cold.requests:,}"),
        Figure("peer: Flux' own report, 1,000 Kustomizations", "4 min 13 s, 223 MiB"),
        at_most(
            "webhook of a commit → first request, p99",
            percentile(many.late_seconds, 99),
            REQUEST_MOST_SECONDS,
            "s",
        ),
        Figure("the same, p50", f"{statistics.median(many.late_seconds):.2f} s"),
        at_most(f"CPU for the other {SCHEDULERS - 1}", others_ms, OTHERS_MOST_MS, "ms", 0),
        Figure("CPU of such a commit", median_and_all(many_ms, "ms", 0)),
        Figure("the same with no others", median_and_all(alone_ms, "ms", 0)),
    ]
    notes = [
        f"{SCHEDULERS:,} schedulers of one room each, in {SCHEDULERS:,} namespaces; an empty"
        " cluster, an empty cache directory, Git on this disk. The API server does nothing else;"
        " no controller runs. The last room is its 201 in the audit log.",
        f"{COMMITS} commits, each of another count for one scheduler. The CPU is that of all its"
        f" processes in {SETTLE_SECONDS:.0f} s from the webhook on, less what they use in as long"
        " without one; for the others it is the median of that less the median of the same in a"
        " repository of that scheduler alone.",
    ]
    return Section("cold", "a thousand schedulers, and a commit that touches one", figures, notes)


def _with(count: int) -> tuple[Cold, Touched]:
    names = [f"arena-{number:04d}" for number in range(7, 7 + count)]
    parts = Parts(with_controllers=False, with_scheduler=False, with_kwok=False, audited=True)
    with tempfile.TemporaryDirectory(prefix="gamekeeper-bench-") as name, ControlPlane(parts) as it:
        folder = Path(name)
        bare = BareRepository.create(folder, "fleet.git")
        bare.commit(stage.files(dict.fromkeys(names, 1)), f"{count} schedulers")
        (folder / "secret").write_bytes(SECRET)
        settings = {
            "REPO": str(bare.path),
            "KUBECONFIG": str(it.kubeconfig),
            "POLL_SECONDS": "3600",
            "RESYNC_SECONDS": "3600",
            "WEBHOOK_SECRET_FILE": str(folder / "secret"),
        }
        log, begun = stage.AuditLog(it), time.time()
        with stage.running(settings, folder) as process:
            cold = _cold(log, process, count, begun)
            return cold, _touched(log, process, bare)


def _cold(log: stage.AuditLog, process: stage.Running, count: int, begun: float) -> Cold:
    made: dict[str, float] = {}
    writes = 0

    def are_made() -> bool:
        nonlocal writes
        process.check()
        for each in log.more():
            writes += each.verb in ("create", "update", "patch", "delete")
            if (each.verb, each.resource, each.code) == ("create", "pods", 201):
                made[each.namespace] = each.answered
        return len(made) >= count

    weigher = Weigher(process)
    with weigher.watching():
        stage.until(are_made, f"{count} rooms", LONGEST_SECONDS, 0.5)
        seconds = max(made.values()) - begun
        cpu_seconds = process.cpu_seconds()
        time.sleep(2 * SETTLE_SECONDS)
        are_made()
    return Cold(seconds, cpu_seconds, writes, weigher.most_mib)


def _touched(log: stage.AuditLog, process: stage.Running, bare: BareRepository) -> Touched:
    late, cpu = [], []
    for number in range(COMMITS):
        before = process.cpu_seconds()
        time.sleep(SETTLE_SECONDS)
        idle = process.cpu_seconds() - before
        spec = stage.scheduler(TOUCHED, number % 2 + 2)
        bare.commit({f"schedulers/{TOUCHED}.yaml": spec}, f"The {number}th")
        log.more()
        before, sent = process.cpu_seconds(), time.time()
        send_webhook(process.address)
        late.append(_first_request(log) - sent)
        time.sleep(max(0.0, sent + SETTLE_SECONDS - time.time()))
        cpu.append(process.cpu_seconds() - before - idle)
    return Touched(late, cpu)


def _first_request(log: stage.AuditLog) -> float:
    """Wait for a request about the rooms of the scheduler, and return when it came."""
    found: list[stage.Request] = []

    def came() -> bool:
        found.extend(each for each in log.more() if each.namespace == TOUCHED)
        return bool(found)

    stage.until(came, "a request", LONGEST_SECONDS, 0.02)
    return min(each.received for each in found)
