"""Who is told, with real processes: once a state, by one after another that leads."""

import json
import time
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import yaml

from tests.canaries.places import canary
from tests.e2e.commands import gamekeeper
from tests.e2e.processes import Fleet, fleet, free_address, until
from tests.loop.world import CONFIG, spec
from tests.monitoring.loopback import Loopback, Reply, served

pytestmark = pytest.mark.long

NODES = 4
"""Of the cluster: each has every host port once."""
FLAGS = ("--poll-seconds", "1")
SECRET_PATH = f"/services/T0/B0/{canary('notification URL')}"
FILE = """\
apiVersion: gamekeeper.dev/v1
kind: Notifications
spec:
  targets:
    - name: program
      webhook: {url: "%s/hook"}
    - name: chat
      slack: {urlFile: "%s"}
"""


class Receiver(Loopback):
    """Keeps what it was told by its path, and takes it while `status` is 200."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, Any]] = []
        self.status = 200

    def answer(self, path: str, body: bytes) -> Reply:
        if self.status == 200:
            self.told.append((path, json.loads(body)))
        return self.status, "text/plain", b"ok"

    def events(self) -> list[str]:
        return [each["event"] for path, each in self.told if path == "/hook"]

    def chats(self) -> list[str]:
        return [each["text"] for path, each in self.told if path == SECRET_PATH]


def started(made: Fleet, receiver: Receiver, cache: str, listen: str = "127.0.0.1:0") -> Any:
    url, file = made.folder / "url", made.folder / "notifications.yaml"
    url.write_text(receiver.origin + SECRET_PATH)
    file.write_text(FILE % (receiver.origin, url))
    words = ("--listen", listen, "--notifications-file", str(file))
    return made.start_loop(cache, *FLAGS, *words)


def heard_taken(pages: str) -> int:
    """How many messages a process knows to be taken: the answer comes after the receiver has it."""
    with urlopen(f"http://{pages}/metrics", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    sent = (line for line in lines if line.startswith("gamekeeper_notifications_total{"))
    return sum(int(float(line.split()[-1])) for line in sent if 'result="sent"' in line)


def status(made: Fleet) -> Any:
    words = ["--instance", "main", "--kubeconfig", str(made.kubeconfig), "--output", "json"]
    done = gamekeeper("status", *words, cwd=made.folder)
    return json.loads(done.stdout)


def _has(made: Fleet, rooms: int) -> bool:
    return len(made.pods("arena")) == rooms


def test_each_state_is_told_once_whoever_leads(tmp_path: Path) -> None:
    with served(Receiver()) as receiver, fleet(tmp_path) as made:
        made.commit(gamekeeper=CONFIG, schedulers__arena=spec("arena", 12))
        pages = free_address()
        first = started(made, receiver, "first", pages)
        until("the commit is applied", lambda: receiver.events() == ["applied"], 60.0)
        made.commit(schedulers__arena=spec("arena", 0))
        until("it is refused", lambda: receiver.events()[1:] == ["refused"], 30.0)
        (applied, refused) = (each for path, each in receiver.told if path == "/hook")
        assert refused["workload"]["name"] == "arena"
        assert refused["approve"]
        assert refused["commit"] != applied["commit"]

        until("the chat, too", lambda: len(receiver.chats()) == 2, 10.0)
        until("it knows that they were taken", lambda: heard_taken(pages) == 4, 10.0)
        first.terminate()  # what was told is written as the Lease is given back
        assert first.wait(timeout=120) == 0
        second = started(made, receiver, "second")
        until("another one leads", lambda: "we lead" in made.log("second"), 30.0)
        time.sleep(5)
        assert receiver.events() == ["applied", "refused"]
        assert len(receiver.chats()) == 2

        receiver.status = 503
        made.commit(schedulers__arena=spec("arena", 12))
        until("status says so", lambda: len(status(made)["notTold"]) == 2, 30.0)
        (chat, program) = status(made)["notTold"]
        assert (chat["target"], chat["error"]) == ("chat", "chat answers 503")
        assert program["error"] == "program answers 503"
        receiver.status = 200
        until("it is told again", lambda: receiver.events()[2:] == ["applied"], 60.0)
        assert second.poll() is None
        said = made.log("first") + made.log("second") + json.dumps(status(made))
        assert SECRET_PATH not in said


def test_that_no_host_port_is_left_is_told_once(tmp_path: Path) -> None:
    one_port = {"start": 7000, "end": 7000}
    with served(Receiver()) as receiver, fleet(tmp_path) as made:
        document = yaml.safe_load(spec("arena", NODES, portRange=one_port))
        container = document["spec"]["template"]["spec"]["containers"][0]
        container["ports"] = [{"name": "game", "containerPort": 7777, "protocol": "UDP"}]
        made.commit(gamekeeper=CONFIG, schedulers__arena=yaml.safe_dump(document))
        started(made, receiver, "first")
        until("a room on each node", lambda: receiver.events() == ["applied"], 60.0)
        for rooms in (NODES + 1, NODES + 2):
            document["spec"]["replicas"] = rooms
            made.commit(schedulers__arena=yaml.safe_dump(document))
            until("one more waits", partial(_has, made, rooms), 30.0)
            until("it is told", lambda: receiver.events()[1:] == ["ports-exhausted"], 30.0)
        time.sleep(5)
        assert receiver.events() == ["applied", "ports-exhausted"]
        assert len(receiver.chats()) == 2
        (told,) = (each for _, each in receiver.told if each.get("event") == "ports-exhausted")
        assert told["workload"]["name"] == "arena"
        assert "host ports 7000-7000 are all taken" in told["reason"]


def test_a_mistake_in_the_file_ends_the_start_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "notifications.yaml"
    file.write_text(FILE.replace("webhook:", "webhok:") % ("https://a.example.com", "/url"))
    words = ["--repo", str(tmp_path), "--instance", "main", "--notifications-file", str(file)]
    done = gamekeeper("run", *words, "--server", "http://127.0.0.1:9", cwd=tmp_path)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    at = f"{file}:6:7: error: spec.targets[0].webhok: unknown property"
    assert lines[lines.index(f"error: {at}") + 1] == '  did you mean "webhook"?'
