"""What a room is given to report with: a token, a code, addresses; and what it is not given."""

import copy
import json

import pytest

from reconciler.core.reach import Reach
from reconciler.core.stamp import stamp_room
from reconciler.model import labels
from reconciler.model.plans import RoomSeat
from reconciler.model.refs import Json, WorkloadKey
from tests.unit.core.making import a_workload

REACH = Reach("http://rooms.example", "0123456789abcdef0123456789abcdef")
MOUNT = {
    "name": "gamekeeper-token",
    "mountPath": "/var/run/secrets/gamekeeper.dev",
    "readOnly": True,
}


def rendered(*containers: Json, **spec: object) -> Json:
    metadata = {"labels": {labels.INSTANCE: "studio"}, "annotations": {}}
    return {"kind": "Pod", "metadata": metadata, "spec": {"containers": list(containers), **spec}}


def stamped(room: Json, *, reports: str = "required", reach: Reach | None = REACH) -> Json:
    key = WorkloadKey("Fleet", "servers", "arena")
    workload = a_workload(template={"spec": room["spec"]}, reports=reports, key=key)
    given = (reach,) if reach is not None else ()
    return stamp_room(json.dumps(room), workload, RoomSeat(7, ()), *given)


def environment(pod: Json, container: int = 0) -> dict[str, str]:
    entries = pod["spec"]["containers"][container]["env"]
    return {entry["name"]: entry["value"] for entry in entries if "value" in entry}


def test_a_room_that_reports_learns_where_as_who_and_with_what() -> None:
    assert environment(stamped(rendered({"name": "game"}))) == {
        "GAMEKEEPER_ROOM": "arena-7",
        "GAMEKEEPER_WORKLOAD": "arena",
        "GAMEKEEPER_NAMESPACE": "servers",
        "GAMEKEEPER_API_URL": "http://rooms.example",
        "GAMEKEEPER_TOKEN_FILE": "/var/run/secrets/gamekeeper.dev/token",
        "MAESTRO_SCHEDULER_NAME": "arena",
        "MAESTRO_ROOM_ID": "arena-7",
        "SERVER_NAME": "arena-7",
        "SERVER_NAMESPACE": "servers",
        "API_SERVER_URL": "http://rooms.example",
        "API_SERVER_CODE": REACH.code,
    }


def test_a_room_that_does_not_report_is_given_nothing_to_report_with() -> None:
    room = rendered({"name": "game"})
    pod = stamped(room, reports="none")
    assert set(environment(pod)) == {
        "GAMEKEEPER_ROOM",
        "GAMEKEEPER_WORKLOAD",
        "GAMEKEEPER_NAMESPACE",
        "MAESTRO_SCHEDULER_NAME",
        "MAESTRO_ROOM_ID",
    }
    assert "volumes" not in pod["spec"]
    assert "volumeMounts" not in pod["spec"]["containers"][0]


def test_every_container_has_the_rooms_own_token() -> None:
    user = {"name": "maps", "mountPath": "/maps"}
    room = rendered(
        {"name": "game", "volumeMounts": [user]},
        {"name": "side"},
        initContainers=[{"name": "fetch"}],
        volumes=[{"name": "maps", "emptyDir": {}}],
    )
    before = copy.deepcopy(room)
    spec = stamped(room)["spec"]
    assert room == before
    maps, token = spec["volumes"]
    assert maps == {"name": "maps", "emptyDir": {}}
    source = {"audience": "gamekeeper.dev/studio", "expirationSeconds": 3600, "path": "token"}
    assert token == {
        "name": "gamekeeper-token",
        "projected": {"sources": [{"serviceAccountToken": source}]},
    }
    game, side = spec["containers"]
    assert game["volumeMounts"] == [user, MOUNT]
    assert side["volumeMounts"] == [MOUNT]
    assert spec["initContainers"][0]["volumeMounts"] == [MOUNT]


def test_what_the_user_has_at_our_names_is_the_users() -> None:
    own_mount = {"name": "mine", "mountPath": "/var/run/secrets/gamekeeper.dev/"}
    pod = stamped(rendered({"name": "game", "volumeMounts": [own_mount]}))
    assert pod["spec"]["containers"][0]["volumeMounts"] == [own_mount]

    own_volume = {"name": "gamekeeper-token", "emptyDir": {}}
    pod = stamped(rendered({"name": "game"}, volumes=[own_volume]))
    assert pod["spec"]["volumes"] == [own_volume]
    assert "volumeMounts" not in pod["spec"]["containers"][0]

    own_code = {"name": "API_SERVER_CODE", "value": "mine"}
    assert (
        environment(stamped(rendered({"name": "game", "env": [own_code]})))["API_SERVER_CODE"]
        == "mine"
    )


@pytest.mark.parametrize("reports", ["required", "none"])
def test_a_code_that_is_not_known_is_masked(reports: str) -> None:
    pod = stamped(rendered({"name": "game"}), reports=reports, reach=None)
    expected = "***" if reports == "required" else None
    assert environment(pod).get("API_SERVER_CODE") == expected


def test_a_code_shows_in_no_text_of_what_holds_it() -> None:
    assert REACH.code not in repr(REACH)
