"""A fleet followed from outside: who ever lived, how many at once, and whether it is at rest."""

from collections import Counter

from tests.e2e.processes import Fleet


class Ledger:
    """Follows the rooms from outside: names and uids ever seen, and the most alive at once."""

    def __init__(self, there: Fleet) -> None:
        self._there = there
        self.uids: dict[str, str] = {}
        self.alive: Counter[str] = Counter()

    def look(self) -> bool:
        """Judge what is there; always true, so that it may stand in a condition."""
        pods = self._there.ask("/api/v1/pods")["items"]
        for pod in pods:
            metadata = pod["metadata"]
            name = f"{metadata['namespace']}/{metadata['name']}"
            assert self.uids.setdefault(name, metadata["uid"]) == metadata["uid"], name
        alive = Counter(
            pod["metadata"]["namespace"]
            for pod in pods
            if "deletionTimestamp" not in pod["metadata"]
        )
        self.alive |= alive
        return True


def is_ready(status: dict[str, list[dict[str, str]]]) -> bool:
    conditions = status.get("conditions") or []
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


def versions(there: Fleet) -> dict[str, str]:
    """What is there, to see that nothing is written any more."""
    kinds = ("/api/v1/pods", "/api/v1/configmaps", "/api/v1/namespaces", "/api/v1/serviceaccounts")
    return {
        item["metadata"]["uid"]: item["metadata"]["resourceVersion"]
        for kind in kinds
        for item in there.ask(kind)["items"]
    }
