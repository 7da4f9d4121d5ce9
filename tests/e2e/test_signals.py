"""Policies that ask others, with real processes: whom the operator lists moves a count."""

import json
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.e2e.commands import gamekeeper
from tests.e2e.processes import Fleet, fleet, until
from tests.loop.world import spec
from tests.monitoring.loopback import Loopback, Reply, served

pytestmark = pytest.mark.long

CONFIG = "apiVersion: gamekeeper.dev/v1\nkind: Config\nspec: {writeBack: {mode: 'off'}}\n"
FLAGS = ("--no-lease", "--poll-seconds", "1", "--listen", "127.0.0.1:0")


class Others(Loopback):
    """Answers Prometheus' query and a webhook of Agones with numbers that a test sets."""

    def __init__(self) -> None:
        super().__init__()
        self.value = "0"
        self.replicas: int | None = None
        self.queries: list[str] = []

    def answer(self, path: str, body: bytes) -> Reply:
        told = self._review(body) if body else self._query(path)
        return 200, "application/json", json.dumps(told).encode()

    def _query(self, path: str) -> Any:
        self.queries.append(parse_qs(urlsplit(path).query)["query"][0])
        sample = {"metric": {}, "value": [time.time(), self.value]}
        return {"status": "success", "data": {"resultType": "vector", "result": [sample]}}

    def _review(self, body: bytes) -> Any:
        request = json.loads(body)["request"]
        wanted = {"scale": self.replicas is not None, "replicas": self.replicas or 0}
        return {"request": request, "response": {"uid": request["uid"], **wanted}}


def asking(name: str, policy: dict[str, Any]) -> str:
    return spec(name, 2, autoscaling={"min": 1, "max": 20, "policy": policy})


def rooms(made: Fleet, name: str) -> int:
    return len(made.pods(name))


def test_whom_the_operator_lists_moves_a_count_and_nobody_else(tmp_path: Path) -> None:
    with served(Others()) as other, fleet(tmp_path) as made:
        other.value, other.replicas = "70", 4
        review = {"url": f"{other.origin}/scale", "form": "agones", "everySeconds": 5}
        named = {"url": f"http://localhost:{other.server_port}/scale", "form": "agones"}
        metric = {"query": "sum(queue)", "targetPerRoom": 10, "everySeconds": 5}
        made.commit(
            gamekeeper=CONFIG,
            schedulers__metric=asking("metric", {"metric": metric}),
            schedulers__listed=asking("listed", {"webhook": review}),
            schedulers__named=asking("named", {"webhook": named}),
            schedulers__unlisted=asking("unlisted", {"webhook": {"url": "http://10.9.9.9/"}}),
        )
        allowed = f"{other.origin},http://localhost:{other.server_port}"
        asked = ("--egress-hosts", allowed, "--prometheus-url", other.origin)
        made.start_loop("cache", *FLAGS, *asked)
        until("seven rooms by the metric", lambda: rooms(made, "metric") == 7, 60.0)
        until("four rooms by the webhook", lambda: rooms(made, "listed") == 4, 60.0)
        other.value, other.replicas = "90", 6
        until("nine rooms", lambda: rooms(made, "metric") == 9, 30.0)
        until("six rooms", lambda: rooms(made, "listed") == 6, 30.0)
        assert (rooms(made, "named"), rooms(made, "unlisted")) == (2, 2)
        assert set(other.queries) == {"sum(queue)"}
        log = (tmp_path / "cache.log").read_text(encoding="utf-8")
        assert "this machine itself" in log
        assert "--egress-hosts http://10.9.9.9" in log


def test_why_a_count_stays_that_others_are_asked_for_is_told_where_nobody_is_asked(
    tmp_path: Path,
) -> None:
    with served(Others()) as other, fleet(tmp_path) as made:
        other.replicas = 4
        review = {"url": f"{other.origin}/scale", "form": "agones", "everySeconds": 5}
        made.commit(gamekeeper=CONFIG, schedulers__arena=asking("arena", {"webhook": review}))
        made.start_loop("cache", *FLAGS[1:], "--egress-hosts", other.origin)
        until("four rooms", lambda: rooms(made, "arena") == 4, 60.0)
        connection = ("--instance", "main", "--kubeconfig", str(made.kubeconfig))

        def said(*words: str) -> str:
            return gamekeeper(*words, *connection, cwd=made.tree).stdout

        other.replicas = 3
        limit = "4 is the most that was wanted within 300 s"
        until("what limits it", lambda: limit in said("explain", "arena"), 30.0)
        told = said("explain", "arena")
        assert "asks others (webhook, answered " in told
        assert "4 rooms, as the loop reckoned " in told
        assert f"4 decided: {limit}" in said("status")
