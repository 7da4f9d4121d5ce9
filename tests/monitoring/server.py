"""A real Prometheus on the loopback address, and an exporter whose numbers a test sets."""

from __future__ import annotations

import json
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from reconciler.model.refs import Json
from tests.controlplane.processes import ServerGroup, free_ports
from tests.monitoring.install import find_programs
from tests.monitoring.loopback import Loopback, Reply

START_SECONDS = 180.0


class Exporter(Loopback):
    """Serves `/metrics`; `text` is what it tells, "" lets it fail."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def answer(self, path: str, body: bytes) -> Reply:
        told = self.text.encode()
        return 200 if told else 503, "text/plain; version=0.0.4", told


class Prometheus:
    """One that runs; `url` is as `--prometheus-url` takes it."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, path: str, **query: str | int) -> Json:
        """Return the JSON of a page of its API. Raises HTTPError."""
        words = urllib.parse.urlencode(query)
        with urllib.request.urlopen(f"{self.url}{path}?{words}", timeout=30) as answer:
            found: Json = json.load(answer)
        return found

    def value(self, query: str) -> float | None:
        """Return the number that a query of one series gives, None where it gives none."""
        result = self.ask("/api/v1/query", query=query)["data"]["result"]
        return float(result[0]["value"][1]) if result else None

    def is_ready(self) -> bool:
        """Whether it answers."""
        with suppress(OSError), urllib.request.urlopen(f"{self.url}/-/ready", timeout=5):
            return True
        return False


@contextmanager
def prometheus(targets: Sequence[str] = (), past: str = "") -> Iterator[Prometheus]:
    """Start one that asks the targets (`HOST:PORT`) every three seconds.

    `past` is what it knows already, in the text format of OpenMetrics with times.
    """
    program, tool = find_programs()
    (port,) = free_ports(1)
    with ServerGroup("prometheus") as group:
        data, settings = group.folder / "data", group.folder / "prometheus.yml"
        if past:
            _remember(tool, group.folder / "past.txt", past, data)
        settings.write_text(json.dumps(_settings(targets)), encoding="utf-8")
        group.start(
            "prometheus",
            [
                *(str(program), f"--config.file={settings}", f"--storage.tsdb.path={data}"),
                *(f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"),
                "--storage.tsdb.retention.time=60d",
            ],
        )
        made = Prometheus(f"http://127.0.0.1:{port}")
        group.wait_until(made.is_ready, what="Prometheus", deadline_seconds=START_SECONDS)
        yield made


def _settings(targets: Sequence[str]) -> Json:
    """Prometheus reads YAML, and JSON is YAML."""
    job = {"job_name": "test", "static_configs": [{"targets": list(targets)}]}
    # As long as that it waits for an answer, too: without one a series is gone for a while.
    return {"global": {"scrape_interval": "3s"}, "scrape_configs": [job]}


def _remember(tool: Path, file: Path, past: str, data: Path) -> None:
    file.write_text(past, encoding="utf-8")
    words = [str(tool), "tsdb", "create-blocks-from", "openmetrics", str(file), str(data)]
    subprocess.run(words, check=True, capture_output=True)
