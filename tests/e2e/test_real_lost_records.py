"""Records of ours are lost or damaged on a real API server: whoever begins to play is protected."""

from collections.abc import Callable
from pathlib import Path

import pytest

from reconciler.model.refs import Json
from tests.controlplane.cluster import ControlPlane
from tests.e2e.real_rooms import SECOND, Installation, installation, scheduler

pytestmark = pytest.mark.real

RECORDS = "/api/v1/namespaces/gamekeeper/configmaps"
MERGE = "application/merge-patch+json"
REFUSED = 429
Damage = Callable[[Installation], None]


def lost(there: Installation) -> None:
    """Lose what was accepted, while a commit replaces every room: that is held."""
    name = f"gamekeeper-{there.name}-local-scheduler-{there.name}.{there.name}"
    there.cluster.api.demand("DELETE", f"{RECORDS}/{name}")
    there.commit(**{there.name: scheduler(there.name, 2, SECOND)})


def newer(there: Installation) -> None:
    """Let the repository's record be of a version that nobody here can read."""
    path = f"{RECORDS}/gamekeeper-{there.name}"
    answer = there.cluster.api.ask("PATCH", path, {"data": {"schema": "99"}}, content_type=MERGE)
    assert answer.status == 200


@pytest.mark.parametrize(
    ("name", "damage", "told"),
    [
        pytest.param("lostone", lost, "its record is lost", id="a workload's record is lost"),
        pytest.param("newerone", newer, "rooms are heard", id="nobody can read what was accepted"),
    ],
)
def test_who_begins_to_play_beside_damaged_records_is_not_evicted(
    deployed: ControlPlane, tmp_path: Path, name: str, damage: Damage, told: str
) -> None:
    deployed.add_nodes(1, labels={"pool": name})
    with installation(deployed, tmp_path, name) as there:
        there.commit(**{name: scheduler(name, 2)})
        first = there.start()
        rooms = there.stand(name, 2)
        assert first.process.poll() is None
        first.process.terminate()
        first.process.wait(timeout=60)
        damage(there)
        second = there.start()
        there.wait("another one leads", lambda: there.leads(second), 60.0)
        there.wait("it says what is wrong", lambda: told in there.status(), 60.0)
        there.play(rooms[:1])
        there.wait("it is busy", lambda: there.house.state(rooms[0]) == "busy")
        body: Json = {"apiVersion": "policy/v1", "kind": "Eviction"}
        body["metadata"] = {"name": rooms[0].room, "namespace": name}
        path = f"/api/v1/namespaces/{name}/pods/{rooms[0].room}/eviction"
        assert deployed.api.ask("POST", path, body).status == REFUSED
        assert there.house.rooms(name) == rooms
        assert not there.judge(name)
