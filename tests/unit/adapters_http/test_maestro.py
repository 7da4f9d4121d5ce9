"""Maestro's paths: what a game written for it sends, and what it hears."""

import json
from typing import Any

import pytest

from reconciler.model.errors import Unavailable
from reconciler.model.rooms import Report, Said, Why
from tests.unit.adapters_http.office import NOW, TOKEN, Office

ROOM = "/scheduler/arena/rooms/arena-7"


@pytest.mark.parametrize(
    ("body", "said", "matches"),
    [
        ({"status": "ready", "timestamp": 1760000000}, Said.READY, 0),
        ({"status": "ready", "timestamp": "1760000000"}, Said.READY, 0),
        ({"status": "occupied"}, Said.OCCUPIED, 1),
        ({"status": "occupied", "runningMatches": 0}, Said.OCCUPIED, 1),
        ({"status": "occupied", "runningMatches": "3"}, Said.OCCUPIED, 3),
        ({"status": "occupied", "running_matches": 2}, Said.OCCUPIED, 2),
        ({"status": "ready", "runningMatches": 2}, Said.READY, 2),
        ({"status": "ready", "runningMatches": 1.0}, Said.READY, 1),
        ({"status": "ready", "runningMatches": -4}, Said.READY, 0),
        ({"status": "ready", "runningMatches": None, "metadata": None}, Said.READY, 0),
        ({"status": "terminating", "metadata": {"a": {"b": [1]}}}, Said.TERMINATING, None),
        ({"status": "terminating", "runningMatches": 0}, Said.TERMINATING, None),
        ({"status": "terminating", "runningMatches": 2}, Said.TERMINATING, 2),
        ({"status": "terminated", "unheardOf": True}, Said.TERMINATED, 0),
    ],
)
async def test_a_ping_is_read_as_proto3_json(
    office: Office, body: dict[str, Any], said: Said, matches: int | None
) -> None:
    answer = await office.ask("PUT", f"{ROOM}/ping", body, TOKEN)

    assert (answer.status, answer.body) == (200, b'{"success":true}')
    assert office.desk.reports == [("arena-7", Report(periodic=True, said=said, matches=matches))]
    assert office.counted == [("maestro", "taken")]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b'{"status": 2}',
        b'{"status": "READY"}',
        b'{"status": "unknown"}',
        b'{"status": ["ready"]}',
        b'{"status": null}',
        b'{"status": "ready", "runningMatches": "many"}',
        b'{"status": "ready", "runningMatches": true}',
        b'{"status": "ready", "runningMatches": 1.5}',
        b'{"status": "ready", "runningMatches": 2147483648}',
        b'{"status": "ready", "runningMatches": 1, "running_matches": 1}',
        b'{"status": "ready", "runningMatches": NaN}',
        b'{"status": "terminated", "runningMatches": 4}',
        b'["ready"]',
    ],
)
async def test_a_ping_that_means_nothing_is_400_and_no_report(office: Office, body: bytes) -> None:
    answer = await office.ask("PUT", f"{ROOM}/ping", body, TOKEN)

    assert answer.status == 400
    assert json.loads(answer.body)["success"] is False
    assert office.desk.reports == []
    assert office.counted == [("maestro", "malformed")]


@pytest.mark.parametrize("status", ["ready", "terminating", "terminated"])
async def test_a_status_of_the_old_api_is_passed_on_and_frees_no_room(
    office: Office, status: str
) -> None:
    body = {"status": status, "timestamp": 1, "metadata": {"mode": "duel"}}
    answer = await office.ask("PUT", f"{ROOM}/status", body, TOKEN)

    assert answer.status == 200
    assert office.desk.reports == []
    [(name, happening)] = office.desk.told
    assert (name, happening.kind, happening.name) == ("arena-7", "room", "status")
    assert happening.metadata == {"status": status, "mode": "duel"}


@pytest.mark.parametrize(("more", "matches"), [({}, 1), ({"runningMatches": 2}, 2)])
async def test_a_room_that_says_occupied_by_the_old_api_is_protected_before_its_next_ping(
    office: Office, more: dict[str, int], matches: int
) -> None:
    body = {"status": "occupied", "timestamp": 1, **more}
    answer = await office.ask("PUT", f"{ROOM}/status", body, TOKEN)

    assert (answer.status, json.loads(answer.body)) == (200, {"success": True})
    assert answer.headers["X-Gamekeeper-State"] == "occupied"
    said = Report(periodic=True, said=Said.OCCUPIED, matches=matches)
    assert office.desk.reports == [("arena-7", said)]
    assert [happening.name for _, happening in office.desk.told] == ["status"]


async def test_a_room_of_many_matches_that_says_occupied_by_the_old_api_keeps_their_number(
    office: Office,
) -> None:
    await office.ask("PUT", f"{ROOM}/ping", {"status": "ready", "runningMatches": 3}, TOKEN)
    await office.ask("PUT", f"{ROOM}/status", {"status": "occupied"}, TOKEN)

    assert office.desk.reports[-1][1].matches == 3


async def test_events_are_passed_on_with_their_metadata_as_text(office: Office) -> None:
    body = {"event": "goal", "timestamp": "5", "metadata": {"team": "red", "score": {"red": 1}}}
    answer = await office.ask("POST", f"{ROOM}/roomevent", body, TOKEN)
    joined = {"event": "playerJoin", "metadata": {"playerId": "p1"}}
    await office.ask("POST", f"{ROOM}/playerevent", joined, TOKEN)

    assert json.loads(answer.body) == {"success": True, "message": ""}
    goal, join = (happening for _, happening in office.desk.told)
    assert (goal.kind, goal.name, goal.at) == ("room", "goal", NOW)
    assert goal.metadata == {"team": "red", "score": '{"red": 1}'}
    assert (join.kind, join.name, join.metadata) == ("player", "playerJoin", {"playerId": "p1"})


@pytest.mark.parametrize("body", [{"event": "playerSlept"}, {}, {"event": 1}])
async def test_a_player_event_of_another_kind_is_400(office: Office, body: Any) -> None:
    answer = await office.ask("POST", f"{ROOM}/playerevent", body, TOKEN)

    assert answer.status == 400
    assert office.desk.told == []


async def test_the_address_is_host_and_ports(office: Office) -> None:
    answer = await office.ask("GET", f"{ROOM}/address", token=TOKEN)

    assert json.loads(answer.body) == {
        "host": "203.0.113.7",
        "ports": [{"name": "game", "protocol": "UDP", "port": 20001}],
        "ipv6Label": "",
    }


async def test_the_address_of_a_room_without_a_node_is_404(office: Office) -> None:
    room = office.change("arena-7", node="")
    at = (room.pod.namespace, room.pod.name)
    office.desk.known[at] = type(room)(room.key, room.pod, room.judged, None, "", False)

    answer = await office.ask("GET", f"{ROOM}/address", token=TOKEN)

    assert answer.status == 404
    assert "no address yet" in json.loads(answer.body)["message"]


@pytest.mark.parametrize(
    ("method", "last"),
    [("PUT", "ping"), ("PUT", "status"), ("POST", "roomevent"), ("GET", "address")],
)
async def test_a_room_that_never_was_is_404_and_one_that_is_gone_410(
    office: Office, method: str, last: str
) -> None:
    office.keeper.free = True
    unknown = await office.ask(method, f"/scheduler/arena/rooms/arena-99/{last}", {})
    gone = await office.ask(method, f"/scheduler/arena/rooms/arena-3/{last}", {})

    assert (unknown.status, gone.status) == (404, 410)


async def test_trouble_of_the_cluster_is_503_and_never_200(office: Office) -> None:
    office.desk.fails = Unavailable("etcd at 10.9.8.7 is down", 7.2)
    answer = await office.ask("PUT", f"{ROOM}/ping", {"status": "occupied"}, TOKEN)

    assert (answer.status, answer.headers["Retry-After"]) == (503, "8")
    assert b"10.9.8.7" not in answer.body
    assert office.counted == [("maestro", "unavailable")]


async def test_whoever_does_not_lead_answers_503(office: Office) -> None:
    office.desk.shut = "another process leads"
    answer = await office.ask("PUT", f"{ROOM}/ping", {"status": "ready"}, TOKEN)

    assert answer.status == 503
    assert int(answer.headers["Retry-After"]) >= 1
    assert b"another process leads" in answer.body


async def test_every_answer_tells_a_room_that_it_is_to_leave(office: Office) -> None:
    before = await office.ask("PUT", f"{ROOM}/ping", {"status": "ready"}, TOKEN)
    office.change("arena-7", leaving=Why.ROLLOUT)
    after = await office.ask("PUT", f"{ROOM}/ping", {"status": "occupied"}, TOKEN)

    assert dict(before.headers) == {"X-Gamekeeper-State": "ready"}
    assert dict(after.headers) == {
        "X-Gamekeeper-State": "occupied",
        "X-Gamekeeper-Leaving": "rollout",
    }


async def test_the_wrong_token_is_told_nothing_of_a_room_or_of_its_body(office: Office) -> None:
    other = await office.ask("PUT", "/scheduler/arena/rooms/arena-8/ping", b"{", TOKEN)
    absent = await office.ask("PUT", "/scheduler/arena/rooms/arena-99/ping", b"{", "wrong")
    nobody = await office.ask("PUT", f"{ROOM}/ping", {"status": "ready"})

    assert (other.status, absent.status, nobody.status) == (403, 403, 401)
    assert other.body == absent.body
    assert office.desk.reports == []


async def test_a_token_of_a_pod_that_is_gone_is_410(office: Office) -> None:
    answer = await office.ask("PUT", "/scheduler/arena/rooms/arena-3/ping", {}, TOKEN)

    assert answer.status == 410


async def test_who_guesses_is_told_when_to_come_back(office: Office) -> None:
    for _ in range(10):
        await office.ask("PUT", f"{ROOM}/ping", {"status": "ready"}, "guess")
    answer = await office.ask("PUT", f"{ROOM}/ping", {"status": "ready"}, "guess")

    assert (answer.status, answer.headers["Retry-After"]) == (429, "42")
    assert office.counted[-1] == ("maestro", "limited")


async def test_a_late_voice_of_a_fleet_in_a_shared_namespace_is_410_too(office: Office) -> None:
    await office.ask("PUT", "/scheduler/shooter/rooms/shooter-3/ping", {}, "wrong")
    gone = await office.ask("PUT", "/scheduler/shooter/rooms/shooter-3/ping", {}, TOKEN)
    await office.ask("PUT", "/scheduler/shooter/rooms/shooter-99/ping", {}, TOKEN)

    assert gone.status == 410
    asked = ["shooters/shooter-3", "shooters/shooter-3", "shooter/shooter-99"]
    assert office.keeper.asked_for == asked
