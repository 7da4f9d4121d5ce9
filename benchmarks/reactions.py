"""How soon a commit and a deletion by hand are answered, with ten thousand rooms."""

import random
import statistics
import time

from benchmarks import stage
from benchmarks.fleet import PULSE, Fleet
from benchmarks.results import Figure, Section, at_most, percentile
from benchmarks.webhooks import send_webhook

TIMES = 100
COMMIT_MOST_SECONDS, DELETED_MOST_MS = 2.0, 250.0
LONGEST_SECONDS = 30.0


def measure(fleet: Fleet) -> Section:
    """Measure both, one event at a time."""
    with fleet.running(POLL_SECONDS="3600", RESYNC_SECONDS="3600") as process:
        log = stage.AuditLog(fleet.cluster)
        commits = [_commit(fleet, process, log, count) for count in range(2, TIMES + 2)]
        chance = random.Random(20)
        deletions = [_delete(fleet, log, chance) * 1000 for _ in range(TIMES)]
    figures = [
        at_most(
            "webhook sent → first create received, p99",
            percentile(commits, 99),
            COMMIT_MOST_SECONDS,
            "s",
        ),
        Figure("the same, p50", f"{statistics.median(commits):.2f} s"),
        Figure("peer: Argo CD, which polls", "up to 180 s"),
        at_most(
            "pod deleted → its replacement received, p99",
            percentile(deletions, 99),
            DELETED_MOST_MS,
            "ms",
            0,
        ),
        Figure("the same, p50", f"{statistics.median(deletions):.0f} ms"),
    ]
    notes = [
        f"{TIMES} times each, one after the other, with {fleet.shape} beside."
        " Requests are timed where the API server receives them; the webhook when"
        " it is sent, after the push.",
        "The mirror fetches over https; nothing else wakes the loop (poll and resync 3600 s).",
        f"Longest: {max(commits):.2f} s and {max(deletions):.0f} ms.",
    ]
    return Section("reactions", "a commit, a deletion by hand", figures, notes)


def _commit(fleet: Fleet, process: stage.Running, log: stage.AuditLog, count: int) -> float:
    """Push one more room, send the webhook, and return the seconds until it is made."""
    fleet.bare.commit({f"schedulers/{PULSE}.yaml": stage.scheduler(PULSE, count)}, f"{count} rooms")
    log.more()
    sent = time.time()
    send_webhook(process.address)
    return _first_create(log, PULSE) - sent


def _delete(fleet: Fleet, log: stage.AuditLog, chance: random.Random) -> float:
    """Delete a pod and return the seconds until its replacement is made."""
    namespace = chance.choice(fleet.workloads)
    path = f"/api/v1/namespaces/{namespace}/pods"
    pods = fleet.cluster.api.demand("GET", f"{path}?resourceVersion=0&limit=0")["items"]
    name = chance.choice(pods)["metadata"]["name"]
    time.sleep(chance.uniform(0.1, 0.4))
    log.more()
    sent = time.time()
    fleet.cluster.api.demand("DELETE", f"{path}/{name}")
    return _first_create(log, namespace) - sent


def _first_create(log: stage.AuditLog, namespace: str) -> float:
    """Wait for a pod to be made in a namespace, and return when it was asked for."""
    found: list[stage.Request] = []

    def is_made() -> bool:
        found.extend(stage.creates(log.more(), namespace))
        return bool(found)

    stage.until(is_made, f"a pod is made in {namespace}", LONGEST_SECONDS, 0.02)
    return min(each.received for each in found)
