"""What every measurement stands on: a fleet's files, `gamekeeper` as a process, the audit log.

Times of requests are the API server's own (its audit log), never a client's, so that every
client is measured by the same clock at the same place.
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from tests.controlplane.cluster import ControlPlane
from tests.controlplane.processes import free_ports

PROGRAM = Path(sys.executable).with_name("gamekeeper")
CONFIG = """\
apiVersion: gamekeeper.dev/v1
kind: Config
spec:
  budgets: {workload: {percent: 100}, total: {percent: 100}}
"""


class TookTooLong(Exception):
    """What was waited for did not happen in time."""


def scheduler(name: str, replicas: int, reports: str = "none") -> str:
    """Return a Scheduler of the kind of room that is measured; no two templates are the same."""
    container = {
        "name": "server",
        "image": "registry.example.com/arena/server:1.0",
        "args": ["--players=32", f"--map={name}"],
        "ports": [{"name": "game", "containerPort": 7777, "protocol": "UDP"}],
        "env": [{"name": "REGION", "value": "eu-west"}],
        "readinessProbe": {"exec": {"command": ["/server", "--check"]}},
        "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}},
    }
    spec = {
        "game": "arena",
        "replicas": replicas,
        "reports": reports,
        "portRange": {"start": 20000, "end": 30000},
        "template": {"spec": {"terminationGracePeriodSeconds": 30, "containers": [container]}},
    }
    document = {
        "apiVersion": "gamekeeper.dev/v1",
        "kind": "Scheduler",
        "metadata": {"name": name},
        "spec": spec,
    }
    return yaml.safe_dump(document, sort_keys=False)


def files(counts: Mapping[str, int], reports: str = "none") -> dict[str, str]:
    """Return a repository with a scheduler of so many rooms for each name, by path."""
    specs = {f"schedulers/{name}.yaml": scheduler(name, n, reports) for name, n in counts.items()}
    return {"gamekeeper.yaml": CONFIG, **specs}


def write_files(folder: Path, texts: Mapping[str, str]) -> Path:
    """Write files below a folder and return it."""
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def gamekeeper(*words: str, cwd: Path | None = None, codes: tuple[int, ...] = (0,)) -> bytes:
    """Run a command to its end and return what it printed.

    Raises:
        RuntimeError: it ended with none of `codes`.
    """
    return run_to_end([str(PROGRAM), *words], os.environ, cwd, codes)


def run_to_end(
    argv: list[str],
    environment: Mapping[str, str],
    cwd: Path | None = None,
    codes: tuple[int, ...] = (0,),
) -> bytes:
    """Run a program to its end and return what it printed.

    Raises:
        RuntimeError: it ended with none of `codes`.
    """
    done = subprocess.run(argv, env=environment, cwd=cwd, capture_output=True, check=False)
    if done.returncode not in codes:
        said = (done.stdout + done.stderr).decode(errors="replace")[-4000:]
        raise RuntimeError(f"{' '.join(argv[:4])} ended with {done.returncode}:\n{said}")
    return done.stdout


@dataclass(frozen=True, slots=True)
class Running:
    """A `gamekeeper run` of ours."""

    pid: int
    address: str
    log: Path

    def pids(self) -> list[int]:
        """Return its processes: itself and all below it."""
        parents: dict[int, list[int]] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
        found = [self.pid]
        for pid in found:
            found.extend(parents.get(pid, ()))
        return found

    def cpu_seconds(self) -> float:
        """Return the CPU seconds that its processes have used, those that ended included."""
        ticks = 0
        for pid in self.pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            # Its own, and that of children it waited for: each tree is read by a new one.
            ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def pss_mib(self) -> dict[str, float]:
        """Return the proportional set size of each of its processes, by pid and program."""
        found = {}
        for pid in self.pids():
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            size = next(line for line in rollup.splitlines() if line.startswith("Pss:"))
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
            # No path of the machine: the module of a child, or the command.
            program = words[words.index("-m") + 1] if "-m" in words else "gamekeeper run"
            found[f"{program} ({pid})"] = int(size.split()[1]) / 1024
        return found

    def check(self) -> None:
        """Look whether it still runs: who waits for what it does may wait in vain.

        Raises RuntimeError.
        """
        stat = Path(f"/proc/{self.pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            raise RuntimeError(f"gamekeeper run has ended by itself:\n{_end_of(self.log)}")

    def metrics(self) -> str:
        """Return the page that Prometheus reads."""
        with urllib.request.urlopen(f"http://{self.address}/metrics", timeout=30) as page:
            return str(page.read().decode())


@contextmanager
def running(settings: Mapping[str, str], folder: Path) -> Iterator[Running]:
    """`gamekeeper run` as a process; it must end well when it is told to."""
    address = f"127.0.0.1:{free_ports(1)[0]}"
    wanted = {"LISTEN": address, "INSTANCE": "bench", "CACHE_DIR": str(folder / "cache")}
    named = {f"GAMEKEEPER_{name}": text for name, text in {**wanted, **settings}.items()}
    log = folder / "run.log"
    with log.open("ab") as out:
        process = subprocess.Popen(
            [str(PROGRAM), "run"],
            env={**os.environ, **named, "PYTHONFAULTHANDLER": "1"},
            stdout=out,
            stderr=out,
        )
    try:
        yield Running(process.pid, address, log)
    except TookTooLong as late:
        # It says where each of its threads stands (PYTHONFAULTHANDLER) before it ends.
        process.send_signal(signal.SIGABRT)
        process.wait(timeout=60)
        raise TookTooLong(f"{late}; `gamekeeper run` said last:\n{_end_of(log)}") from late
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=60)
    if code:
        raise RuntimeError(f"gamekeeper run ended with {code}:\n{_end_of(log)}")


def _end_of(log: Path) -> str:
    return log.read_text(errors="replace")[-4000:]


def until(is_so: Callable[[], bool], what: str, seconds: float, pause: float = 0.1) -> None:
    """Wait for something.

    Raises:
        TookTooLong: it did not happen.
    """
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise TookTooLong(f"{what}: not within {seconds:.0f} s")
        time.sleep(pause)


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the API server wrote it down; times are Unix seconds."""

    verb: str
    resource: str
    namespace: str
    name: str
    agent: str
    code: int
    received: float
    answered: float


class AuditLog:
    """What the API server was asked for, read on from where the last look ended."""

    def __init__(self, cluster: ControlPlane) -> None:
        self._path = cluster.layout.audit_log
        self._offset = self._path.stat().st_size if self._path.exists() else 0

    def more(self) -> list[Request]:
        """Return the requests that ended since the last call."""
        with self._path.open("rb") as log:
            log.seek(self._offset)
            content = log.read()
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        return [_request(json.loads(line)) for line in whole.splitlines()]


def creates(requests: list[Request], namespace: str) -> list[Request]:
    """Return the pods that were made in a namespace."""
    wanted = ("create", "pods", namespace)
    return [each for each in requests if (each.verb, each.resource, each.namespace) == wanted]


def _request(event: dict[str, Any]) -> Request:
    ref = event.get("objectRef") or {}
    return Request(
        verb=event["verb"],
        resource=ref.get("resource", ""),
        namespace=ref.get("namespace", ""),
        name=ref.get("name", ""),
        agent=event.get("userAgent", ""),
        code=(event.get("responseStatus") or {}).get("code", 0),
        received=_seconds(event["requestReceivedTimestamp"]),
        answered=_seconds(event["stageTimestamp"]),
    )


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
