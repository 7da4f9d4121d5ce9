"""Who may speak for a room, with the tokens and codes of a real API server."""

import json
from pathlib import Path

import jwt
import pytest

from reconciler.model import labels
from reconciler.model.refs import Json
from tests.controlplane.cluster import ControlPlane
from tests.e2e.real_rooms import Installation, installation, scheduler
from tests.e2e.real_voices import Voice, room_token

pytestmark = pytest.mark.real

NAME = "duel"


class Knocker:
    """Sends one request a connection to whoever leads; returns the status and the whole text."""

    def __init__(self, there: Installation) -> None:
        self._there = there

    def ping(self, room: str, token: str, namespace: str = NAME) -> tuple[int, str]:
        """Speak for a room with a token, by Maestro's path."""
        body = {"status": "ready", "timestamp": 1}
        path = f"/scheduler/{namespace}/rooms/{room}/ping"
        return self.ask("PUT", path, body, token)

    def count(self, room: str, code: str) -> int:
        """Speak for a room with a code, by a path of the collections."""
        body = {"serverName": room, "namespace": NAME, "playerCount": 0}
        return self.ask("POST", f"/setactiveplayers?code={code}", body)[0]

    def ask(self, method: str, path: str, body: object, token: str = "") -> tuple[int, str]:
        """Ask anything."""
        headers = {"Content-Type": "application/json"}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        connection = self._there.service.connect()
        try:
            connection.request(method, path, json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


def _code(room: Voice) -> str:
    (code,) = (
        variable["value"]
        for variable in room.pod["spec"]["containers"][0]["env"]
        if variable["name"] == "API_SERVER_CODE"
    )
    assert isinstance(code, str)
    return code


def _signed(deployed: ControlPlane, token: str, moved_seconds: int) -> str:
    """The same token as the API server would have signed it at another time."""
    claims: Json = jwt.decode(token, options={"verify_signature": False})
    for claim in ("iat", "nbf", "exp"):
        claims[claim] += moved_seconds
    key = deployed.layout.signing_key.read_text(encoding="utf-8")
    kid = jwt.get_unverified_header(token)["kid"]
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": kid})


def test_a_room_is_heard_by_what_is_its_own_and_by_nothing_else(
    deployed: ControlPlane, tmp_path: Path
) -> None:
    deployed.add_nodes(1, labels={"pool": NAME})
    api = deployed.api
    with installation(deployed, tmp_path, NAME) as there:
        there.commit(duel=scheduler(NAME, 3))
        there.start()
        one, two, _ = there.stand(NAME, 3)
        knock = Knocker(there)
        token = room_token(api, one.pod)

        assert knock.ping(one.room, token)[0] == 200
        assert knock.ping(one.room, _signed(deployed, token, -60))[0] == 200
        assert knock.ping(one.room, _signed(deployed, token, -7200))[0] == 401
        assert knock.ping(one.room, room_token(api, one.pod, "gamekeeper.dev/other"))[0] == 401
        assert knock.ping(one.room, deployed.token(f"{NAME}/{NAME}"))[0] == 401
        assert knock.ping(one.room, "")[0] == 401
        # A stranger does not learn by the answer which rooms there are.
        refused = knock.ping(two.room, token)
        assert refused[0] == 403
        assert knock.ping(f"{NAME}-999", token) == refused

        assert knock.count(one.room, _code(one)) == 200
        assert knock.count(one.room, _code(two)) == 401

        _follow_the_state(there, knock, one)
        _of_an_earlier_pod(there, knock, two)


def _follow_the_state(there: Installation, knock: Knocker, room: Voice) -> None:
    """What the autoscalers of nodes look at says who plays, as soon as the room is answered."""
    api, token = there.cluster.api, room_token(there.cluster.api, room.pod)
    path = f"/api/v1/namespaces/{NAME}/pods/{room.room}"

    def stands() -> tuple[str | None, str | None, str | None]:
        metadata = api.demand("GET", path)["metadata"]
        notes = metadata["annotations"]
        return (
            metadata["labels"].get(labels.STATE),
            notes.get(labels.SAFE_TO_EVICT),
            notes.get(labels.DO_NOT_DISRUPT),
        )

    there.wait("it is idle", lambda: stands() == ("idle", "true", "false"), 15)
    # What it says by itself, four times a second, would take back what we say for it.
    room.cut = True
    there.wait("it says nothing by itself", lambda: room.silent)
    ping = f"/scheduler/{NAME}/rooms/{room.room}/ping"
    assert knock.ask("PUT", ping, {"status": "occupied"}, token)[0] == 200
    assert stands() == ("busy", "false", "true")
    assert knock.ping(room.room, token)[0] == 200
    there.wait("it is idle again", lambda: stands() == ("idle", "true", "false"), 15)
    room.cut = False


def _of_an_earlier_pod(there: Installation, knock: Knocker, room: Voice) -> None:
    """Of a room that is gone nothing is good any more, whoever takes its name."""
    api, name = there.cluster.api, f"{NAME}/{room.room}"
    token, code = room_token(api, room.pod), _code(room)
    path = f"/api/v1/namespaces/{NAME}/pods"
    api.demand("DELETE", f"{path}/{room.room}")
    there.wait("it is gone", lambda: api.ask("GET", f"{path}/{room.room}").status == 404)
    there.wait("its name is gone", lambda: knock.ping(room.room, token)[0] == 410)
    assert knock.count(room.room, code) == 410

    metadata = room.pod["metadata"]
    kept = {key: metadata[key] for key in ("name", "namespace", "labels", "annotations")}
    spec = {key: value for key, value in room.pod["spec"].items() if key != "nodeName"}
    again = {"apiVersion": "v1", "kind": "Pod", "metadata": kept, "spec": spec}
    made = api.demand("POST", path, again)
    assert made["metadata"]["uid"] != room.uid

    def seen() -> bool:
        there_is = there.house.pods.get(name)
        return there_is is not None and there_is["metadata"]["uid"] != room.uid

    there.wait("somebody made a pod of that name", seen)
    assert knock.ping(room.room, token)[0] == 410
