"""The face of the collections on a real control plane: servers that leave, and servers that fail.

The rooms are players' servers: Maestro's ping says who plays, the collections' path who failed.
"""

import json
import signal
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import yaml

from reconciler.model import labels
from tests.controlplane.cluster import ControlPlane
from tests.e2e.real_rooms import Installation, Replica, installation, scheduler
from tests.e2e.real_voices import Voice

pytestmark = pytest.mark.real

NAME = "deck"
FAILURE = {"action": "Remove", "maxFailures": 2, "windowSeconds": 120}
WINDOW_SECONDS = 120.0
"""Long enough for the next leader to be elected within it, on a slow machine too."""
BACKED_OFF_SECONDS = 110.0
"""Five servers of a revision failed within ten minutes, whoever led: the next one is made 80 s
after the last of them."""
HELP = "NeedsIntervention"


def _servers(replicas: int) -> str:
    document = yaml.safe_load(scheduler(NAME, replicas, failure=FAILURE))
    document["kind"] = "Fleet"
    document["spec"]["namespace"] = NAME
    return yaml.safe_dump(document, sort_keys=False)


def _leaving(there: Installation) -> list[Voice]:
    """Servers that are to leave and are not kept for a post-mortem."""
    found = []
    for room in there.house.rooms(NAME):
        notes = there.house.pods[f"{NAME}/{room.room}"]["metadata"]["annotations"]
        if labels.LEAVING in notes and there.house.state(room) != "failed":
            found.append(room)
    return found


def _in_state(there: Installation, state: str) -> list[Voice]:
    return [room for room in there.house.rooms(NAME) if there.house.state(room) == state]


def _ask(there: Installation, method: str, path: str, body: Any, token: str = "") -> Any:
    headers = {"Content-Type": "application/json"}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    connection = there.service.connect()
    try:
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        assert answer.status == 200, (answer.status, text)
        return json.loads(text) if text.startswith("{") else text
    finally:
        connection.close()


def _fails(there: Installation, room: Voice) -> None:
    """Let a server say that it failed, by its own code."""
    environment = room.pod["spec"]["containers"][0]["env"]
    (code,) = [one["value"] for one in environment if one["name"] == "API_SERVER_CODE"]
    body = {"serverName": room.room, "namespace": NAME, "health": "Failed"}
    _ask(there, "POST", f"/setsdgshealth?code={code}", body)


def _health(there: Installation) -> str:
    """What `/v1` says of the fleet's health, to an administrator of the cluster."""
    path = f"/v1/workloads?workload=Fleet/{NAME}/{NAME}"
    (face,) = _ask(there, "GET", path, None, there.cluster.api.token)["workloads"]
    return str(face["health"])


def _is_metered(replica: Replica) -> bool:
    """Whether the metrics of who leads say that people are needed."""
    with urlopen(f"http://{replica.pages}/metrics", timeout=5) as answer:
        lines = answer.read().decode().splitlines()
    wanted = [line for line in lines if line.startswith("gamekeeper_fleet_health{")]
    return any(f'health="{HELP}"' in line and line.endswith(" 1.0") for line in wanted)


def test_servers_leave_when_they_are_empty_and_stay_when_they_are_wanted_again(
    deployed: ControlPlane, tmp_path: Path
) -> None:
    deployed.add_nodes(2, labels={"pool": NAME})
    with installation(deployed, tmp_path, NAME) as there:
        there.commit(deck=_servers(5))
        there.start()
        there.stand(NAME, 5)
        there.commit(deck=_servers(10))
        rooms = there.stand(NAME, 10)
        there.play(rooms)
        there.commit(deck=_servers(7))
        there.wait("three are to leave", lambda: len(_leaving(there)) == 3)
        assert there.house.rooms(NAME) == rooms
        there.commit(deck=_servers(8))
        there.wait("one of them may stay", lambda: len(_leaving(there)) == 2)
        there.commit(deck=_servers(7))
        there.wait("three are to leave again", lambda: len(_leaving(there)) == 3)
        assert there.house.rooms(NAME) == rooms

        leaving = _leaving(there)
        there.play(leaving, busy=False)
        there.wait("they go", lambda: len(there.house.rooms(NAME)) == 7)
        removed = there.judge(NAME)
        assert sorted(removed) == sorted(f"{NAME}/{room.room}" for room in leaving)
        there.play(there.house.rooms(NAME), busy=False)
        there.stand(NAME, 7)
        _fail_and_recover(there)
        there.report("servers left and failed")


def _fail_and_recover(there: Installation) -> None:
    """Two that fail are kept and replaced; the third needs people, or time, or a commit."""
    for number in (1, 2):
        _fails(there, _in_state(there, "idle")[0])
        there.wait("it is kept", lambda n=number: len(_in_state(there, "failed")) == n)
        there.wait("it is replaced", lambda: len(_in_state(there, "idle")) == 7)
    _fails(there, _in_state(there, "idle")[0])
    there.wait("it needs people", lambda: _health(there) == HELP)
    assert len(_in_state(there, "failed")) == 2
    (leader,) = there.replicas
    second = there.start()
    there.wait("metrics say so", lambda: _is_metered(leader))
    words = (HELP, "needs-intervention")
    there.wait("status says so", lambda: any(word in there.status() for word in words))

    leader.end(signal.SIGKILL)
    there.wait("the next one leads", lambda: there.leads(second), 60.0)
    there.wait("it knows", lambda: _health(there) == HELP)
    assert len(_in_state(there, "failed")) == 2
    there.wait(
        "the window passes", lambda: len(_in_state(there, "failed")) == 3, WINDOW_SECONDS + 30.0
    )
    there.wait("all is well", lambda: len(_in_state(there, "idle")) == 7)
    there.wait("nobody is needed", lambda: _health(there) != HELP)

    for room in _in_state(there, "idle")[:2]:
        _fails(there, room)
    there.wait("it needs people again", lambda: _health(there) == HELP)
    there.commit(deck=_servers(6))
    there.wait("a commit begins anew", lambda: len(_in_state(there, "failed")) == 5)
    took = there.wait(
        "six are wanted", lambda: len(_in_state(there, "idle")) == 6, BACKED_OFF_SECONDS
    )
    assert took <= BACKED_OFF_SECONDS
    there.wait("nobody is needed", lambda: _health(there) != HELP)
    there.judge(NAME)
