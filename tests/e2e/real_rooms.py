"""An installation on a real control plane: replicas of `gamekeeper run`, a repository, rooms.

The replicas run under the account of deploy/ and no other; each is said to be a pod, and the
rooms' Service of deploy/ leads to whichever leads.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import jwt
import yaml

from reconciler.model.refs import Json
from tests.controlplane.api import Api
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.programs import kubectl
from tests.e2e.commands import gamekeeper
from tests.e2e.processes import Fleet, free_address, until
from tests.e2e.real_removals import Removal, removals, thrown_out
from tests.e2e.real_voices import House, Service, Voice

ACCOUNT = "gamekeeper/gamekeeper"
PROGRAM = str(Path(sys.executable).with_name("gamekeeper"))
ALL = {"rooms": 100, "percent": 100}
CONFIG: Json = {
    "apiVersion": "gamekeeper.dev/v1",
    "kind": "Config",
    "spec": {"budgets": {"workload": ALL, "total": ALL}},
}
FIRST, SECOND = "registry.example/arena:1", "registry.example/arena:2"


def scheduler(name: str, replicas: int, image: str = FIRST, **more: Any) -> str:
    """The text of a Scheduler whose rooms report; they run on the nodes of its own pool."""
    resources = {"requests": {"cpu": "500m", "memory": "64Mi"}}
    pod = {
        "terminationGracePeriodSeconds": 1,
        "nodeSelector": {"pool": name},
        "containers": [{"name": "game", "image": image, "resources": resources}],
    }
    document = {
        "apiVersion": "gamekeeper.dev/v1",
        "kind": "Scheduler",
        "metadata": {"name": name},
        "spec": {
            "game": name,
            "replicas": replicas,
            "reports": "required",
            "scheduling": "distributed",
            "removal": {"quietSeconds": 1},
            "rollout": {"maxSurge": 4, "maxUnavailable": 0},
            "template": {"spec": pod},
            **more,
        },
    }
    return yaml.safe_dump(document, sort_keys=False)


@dataclass
class Replica:
    """One process and the pod that it is said to be; `token_id` is that of its own token.

    `settings` are those of its environment.
    """

    pod: str
    token_id: str
    settings: dict[str, str]
    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def pages(self) -> str:
        """The address of its metrics."""
        return self.settings["LISTEN"]

    def start_again(self) -> None:
        """Start a process in the place of one that ended: in the same pod, on the same disk."""
        assert self.process.poll() is not None
        self.process = _process(self.settings, self.log)

    def end(self, how: signal.Signals) -> int:
        """Send a signal, wait for the end, and return the exit code."""
        self.process.send_signal(how)
        return self.process.wait(timeout=120)

    def said(self) -> str:
        """What it logged last."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-4000:]


@dataclass
class Installation:
    """One instance: its repository, its replicas, its rooms."""

    cluster: ControlPlane
    name: str
    folder: Path
    house: House
    service: Service
    git: Fleet
    replicas: list[Replica] = field(default_factory=list)
    drains: "list[subprocess.Popen[str]]" = field(default_factory=list)

    def commit(self, **schedulers: str) -> None:
        """Commit specs by their names."""
        self.git.commit(
            gamekeeper=yaml.safe_dump(CONFIG),
            **{f"schedulers__{name}": text for name, text in schedulers.items()},
        )

    def start(self, **more: str) -> Replica:
        """Start one more replica, with settings besides those that all have."""
        pod = f"{self.name}-{len(self.replicas)}"
        self._make_pod(pod)
        rooms, pages = free_address(), free_address()
        self.service.ports = {**self.service.ports, pod: int(rooms.rpartition(":")[2])}
        kubeconfig = self.folder / f"{pod}.kubeconfig"
        kubeconfig.write_bytes(self.cluster.kubeconfig_for(ACCOUNT).read_bytes())
        settings = {
            "REPO": str(self.git.bare),
            "INSTANCE": self.name,
            "KUBECONFIG": str(kubeconfig),
            "POLL_SECONDS": "1",
            "CACHE_DIR": str(self.folder / pod),
            "LISTEN": pages,
            "ROOMS_LISTEN": rooms,
            "POD_NAME": pod,
            "POD_NAMESPACE": "gamekeeper",
            **more,
        }
        log = self.folder / f"{pod}.log"
        token = Api.from_kubeconfig(kubeconfig).token
        claims: Json = jwt.decode(token, options={"verify_signature": False})
        replica = Replica(pod, claims["jti"], settings, _process(settings, log), log)
        self.replicas.append(replica)
        return replica

    def leads(self, replica: Replica) -> bool:
        """Whether the rooms' Service leads to this replica, and to no other."""
        return self.service.endpoints() == [replica.pod]

    def standing_by(self, replica: Replica) -> bool:
        """Whether a replica answers rooms that it does not decide, and when to ask again."""
        url = f"http://127.0.0.1:{self.service.ports[replica.pod]}/running"
        try:
            with urlopen(url, timeout=5):
                return False
        except HTTPError as error:
            return error.code == 503 and int(error.headers["Retry-After"]) > 0

    def drain(self, node: str, timeout_seconds: int) -> "subprocess.Popen[str]":
        """Start `kubectl drain` as the administrator."""
        words = f"drain {node} --force --ignore-daemonsets --timeout={timeout_seconds}s"
        drain = subprocess.Popen(
            [
                str(kubectl("1.36")),
                "--kubeconfig",
                str(self.cluster.kubeconfig),
                *words.split(),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.drains.append(drain)
        return drain

    def status(self, *words: str) -> str:
        """Return what `gamekeeper status` prints."""
        settings = {"KUBECONFIG": str(self.cluster.kubeconfig), "GAMEKEEPER_INSTANCE": self.name}
        done = gamekeeper("status", *words, cwd=self.folder, more=settings)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def wait(self, promise: str, check: Any, seconds: float = 30.0) -> float:
        """Wait for what is promised; an end of patience says what the replicas logged."""
        try:
            return until(promise, check, seconds)
        except AssertionError:
            for replica in self.replicas:
                print(f"--- {replica.pod} ({replica.process.poll()}):\n{replica.said()}")
            for name, pod in sorted(self.house.pods.items()):
                marks = {**pod["metadata"]["labels"], **pod["metadata"]["annotations"]}
                own = {key[15:]: text for key, text in marks.items() if "gamekeeper.dev/" in key}
                print(name, own.get("state"), own.get("leaving"), pod["spec"].get("nodeName"))
            raise

    def stand(self, name: str, number: int, seconds: float = 40.0) -> list[Voice]:
        """Wait until so many rooms stand and were heard, all empty; return them."""

        def all_idle() -> bool:
            rooms = self.house.rooms(name)
            return len(rooms) == number and all(self.house.state(r) == "idle" for r in rooms)

        self.wait(f"{number} rooms of {name} are idle", all_idle, seconds)
        return self.house.rooms(name)

    def play(self, rooms: Iterable[Voice], *, busy: bool = True) -> None:
        """Let matches begin, or end, in all these rooms; wait until Gamekeeper took it in."""
        rooms = list(rooms)
        for room in rooms:
            room.say(busy=busy)
        self.wait("matches are heard of", lambda: all(room.heard for room in rooms))

    def judge(self, namespace: str) -> dict[str, Removal]:
        """Nobody was thrown out, no name came back, nothing odd was answered; who was removed."""
        found = removals(self.cluster, namespace)
        guilty, faults = thrown_out(found, self.house.voices), self.house.tally.faults
        assert not guilty, guilty
        assert not faults, faults
        return found

    def report(self, what: str) -> None:
        """Print what the rooms were answered."""
        tally = self.house.tally
        print(f"{what}; answers {dict(tally.answers)}, longest without one {tally.longest:.1f} s")

    def _make_pod(self, pod: str) -> None:
        """A pod as the Deployment makes it; kwok lets it run."""
        ports = [{"name": "http", "containerPort": 8080}, {"name": "rooms", "containerPort": 8090}]
        marks = {"app.kubernetes.io/name": "gamekeeper", "app.kubernetes.io/instance": self.name}
        container = {"name": "gamekeeper", "image": "gamekeeper:test", "ports": ports}
        spec = {
            "serviceAccountName": "gamekeeper",
            "nodeSelector": {"pool": "own"},
            "containers": [container],
        }
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": pod, "labels": marks},
            "spec": spec,
        }
        self.cluster.api.demand("POST", "/api/v1/namespaces/gamekeeper/pods", body)


def _process(settings: Mapping[str, str], log: Path) -> "subprocess.Popen[bytes]":
    """Start `gamekeeper run`; what it logs is added to the file."""
    more = {f"GAMEKEEPER_{name}": text for name, text in settings.items()}
    with log.open("ab") as out:
        return subprocess.Popen(
            [PROGRAM, "run"], env={**os.environ, **more}, stdout=out, stderr=subprocess.STDOUT
        )


@contextmanager
def installation(cluster: ControlPlane, folder: Path, name: str) -> Iterator[Installation]:
    """Make an instance with nothing in it; end in the end all that it started."""
    git = Fleet(folder)
    git.found()
    service = Service(cluster.api, {})
    house = House(cluster.api, name, service)
    made = Installation(cluster, name, folder, house, service, git)
    house.start()
    try:
        yield made
    finally:
        house.close()
        for drain in made.drains:
            drain.kill()
            drain.wait()
            if drain.stdout is not None:
                drain.stdout.close()
        for replica in made.replicas:
            replica.process.kill()
            replica.process.wait()
            path = f"/api/v1/namespaces/gamekeeper/pods/{replica.pod}?gracePeriodSeconds=0"
            cluster.api.ask("DELETE", path)
