"""The collections' paths: what their sample games send, and what they hear."""

import json
from dataclasses import replace
from typing import Any

import pytest

from reconciler.adapters.http.lists import COLUMNS, LISTS_AT_ONCE
from reconciler.model.live import Phase
from reconciler.model.rooms import (
    GameState,
    Health,
    Heard,
    Judged,
    Mark,
    Report,
    RoomState,
    Said,
    Why,
)
from tests.unit.adapters_http.office import ADMIN, CODE, NOW, Office, whole

NAMED = {"serverName": "arena-7", "namespace": "arena"}
WITH_CODE = f"?code={CODE}"


@pytest.mark.parametrize(
    ("path", "said", "report"),
    [
        ("/setactiveplayers", {"playerCount": 3}, Report(periodic=False, players=3)),
        ("/setactiveplayers", {"playerCount": 0}, Report(periodic=False, players=0)),
        (
            "/setdgsstate",
            {"state": "Assigned"},
            Report(periodic=False, game_state=GameState.ASSIGNED),
        ),
        (
            "/setsdgsstate",
            {"state": "PostMatch"},
            Report(periodic=False, game_state=GameState.POST_MATCH),
        ),
        ("/setsdgshealth", {"health": "Healthy"}, Report(periodic=False, health=Health.HEALTHY)),
        ("/setsdgshealth", {"health": "Failed"}, Report(periodic=False, health=Health.FAILED)),
    ],
)
async def test_what_a_server_says_is_taken_in(
    office: Office, path: str, said: dict[str, Any], report: Report
) -> None:
    answer = await office.ask("POST", path + WITH_CODE, NAMED | said)

    assert answer.status == 200
    assert answer.body.decode().startswith("Set values {")
    assert answer.body.decode().endswith("} OK\n")
    assert office.desk.reports == [("arena-7", report)]
    assert office.counted == [("collections", "taken")]


async def test_names_of_fields_are_taken_in_any_case_as_the_original_did(office: Office) -> None:
    body = {"ServerName": "arena-7", "NAMESPACE": "arena", "playercount": 2}
    answer = await office.ask("POST", "/setactiveplayers" + WITH_CODE, body)

    assert answer.status == 200
    assert office.desk.reports == [("arena-7", Report(periodic=False, players=2))]


@pytest.mark.parametrize(
    ("value", "leaves"), [(True, True), (False, False), ("true", True), ("false", False)]
)
async def test_a_server_is_marked_for_deletion_and_unmarked_also_by_text(
    office: Office, value: Any, leaves: bool
) -> None:
    body = NAMED | {"markedForDeletion": value}
    answer = await office.ask("POST", "/setdgsmarkedfordeletion" + WITH_CODE, body)

    assert answer.status == 200
    assert office.desk.left == [("arena-7", leaves, "the room itself")]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/setactiveplayers", {"playerCount": -1}),
        ("/setactiveplayers", {"playerCount": 1_000_001}),
        ("/setactiveplayers", {"playerCount": "3"}),
        ("/setactiveplayers", {"playerCount": 1.5}),
        ("/setactiveplayers", {"playerCount": True}),
        ("/setactiveplayers", {}),
        ("/setdgsstate", {"state": "Lobby"}),
        ("/setdgsstate", {"state": ["Idle"]}),
        ("/setsdgshealth", {"health": "healthy"}),
        ("/setdgsmarkedfordeletion", {"markedForDeletion": "yes"}),
        ("/setdgsmarkedfordeletion", {"markedForDeletion": 1}),
        ("/setdgsmarkedfordeletion", {}),
        ("/setactiveplayers", {"playerCount": 1, "PlayerCount": 0}),
    ],
)
async def test_what_a_server_cannot_mean_is_400_and_no_report(
    office: Office, path: str, said: dict[str, Any]
) -> None:
    answer = await office.ask("POST", path + WITH_CODE, NAMED | said)

    assert answer.status == 400
    assert office.desk.reports == []
    assert office.desk.left == []


@pytest.mark.parametrize("body", [{"playerCount": 1}, {"serverName": "arena-7"}, b"{", b"[]"])
async def test_without_a_code_a_body_that_names_no_server_is_401(office: Office, body: Any) -> None:
    nobody = await office.ask("POST", "/setactiveplayers", body)
    somebody = await office.ask("POST", "/setactiveplayers" + WITH_CODE, body)

    assert (nobody.status, somebody.status) == (401, 400)


async def test_a_wrong_code_and_a_server_that_is_not_there_are_answered_alike(
    office: Office,
) -> None:
    wrong = await office.ask("POST", "/setactiveplayers?code=guess", NAMED | {"playerCount": 1})
    absent = await office.ask(
        "POST",
        "/setactiveplayers?code=guess",
        {"serverName": "arena-99", "namespace": "arena", "playerCount": 1},
    )

    assert (wrong.status, wrong.body) == (absent.status, absent.body)
    assert wrong.status in (401, 403)
    assert office.desk.reports == []


async def test_running_lists_servers_in_the_shape_of_the_collections(office: Office) -> None:
    room = office.desk.known["shooters", "shooter-7"]
    heard = Heard(NOW, False, players=3, health=Health.HEALTHY, game_state=GameState.RUNNING)
    judged = Judged(RoomState.OCCUPIED, "3 players")
    office.desk.known["shooters", "shooter-7"] = replace(room, heard=heard, judged=judged)

    servers = await office.listed("/running")

    [shooter] = [server for server in servers if server["metadata"]["name"] == "shooter-7"]
    assert shooter["kind"] == "DedicatedGameServer"
    assert shooter["metadata"]["labels"] == {"DedicatedGameServerCollectionName": "shooter"}
    assert shooter["spec"]["portsToExpose"] == [7777]
    [container] = shooter["spec"]["template"]["containers"]
    assert container["ports"][0]["hostPort"] == 20001
    assert shooter["status"] == {
        "podPhase": "Running",
        "health": "Healthy",
        "dgsState": "Running",
        "markedForDeletion": False,
        "publicIP": "203.0.113.7",
        "nodeName": "node-1",
        "activePlayers": 3,
    }
    assert [server["metadata"]["name"] for server in servers] == [
        "shooter-7",
        "arena-7",
        "arena-8",
    ]


BUSY = Judged(RoomState.OCCUPIED, "so it is", demand=True)


@pytest.mark.parametrize(
    ("heard", "judged", "players"),
    [
        (Heard(NOW, said=Said.OCCUPIED), BUSY, 1),
        (Heard(NOW, matches=3), replace(BUSY, state=RoomState.ACTIVE), 3),
        (Heard(NOW, said=Said.OCCUPIED, players=8, matches=2), BUSY, 8),
        (None, BUSY, 1),
        (Heard(NOW, health=Health.HEALTHY, tells=False), BUSY, 1),
        (None, replace(BUSY, state=RoomState.ALLOCATED), 1),
        (Heard(NOW, said=Said.READY), Judged(RoomState.READY, "so it is"), 0),
        (Heard(NOW, False, players=0), BUSY, 0),
        (Heard(NOW, health=Health.HEALTHY, tells=False), Judged(RoomState.READY, "so it is"), 0),
    ],
    ids=[
        "of Maestro, whose pings tell no number",
        "matches and no players",
        "players and fewer matches",
        "recorded busy, and not heard by who leads now",
        "recorded busy, and heard of its health alone",
        "given away, and not heard",
        "empty",
        "just empty by its count, and still marked",
        "that never told of players",
    ],
)
async def test_a_server_with_a_match_is_shown_as_empty_by_neither_list(
    office: Office, heard: Heard | None, judged: Judged, players: int
) -> None:
    room = office.desk.known["arena", "arena-7"]
    office.desk.known["arena", "arena-7"] = replace(room, heard=heard, judged=judged)

    page = (await whole(await office.ask("GET", "/"))).partition("arena-7")[2]
    servers = await office.listed("/running")

    [arena] = [server for server in servers if server["metadata"]["name"] == "arena-7"]
    assert arena["status"]["activePlayers"] == players
    assert f"<td>203.0.113.7</td><td>{players}</td>" in page.partition("</tr>")[0]


@pytest.mark.parametrize(
    "change",
    [
        {"leaving": Why.SCALE_IN},
        {"mark": Mark.DRAINING},
        {"mark": Mark.FAILED},
        {"terminating": True},
        {"phase": Phase.PENDING},
    ],
    ids=["is to leave", "drains", "failed", "is being deleted", "does not run"],
)
async def test_nobody_is_sent_to_a_server_that(office: Office, change: dict[str, Any]) -> None:
    office.change("arena-7", **change)

    names = [server["metadata"]["name"] for server in await office.listed("/running")]

    assert names == ["shooter-7", "arena-8"]


@pytest.mark.parametrize(
    ("heard", "state"),
    [
        (Heard(NOW, False, health=Health.FAILED), RoomState.ERROR),
        (Heard(NOW, False, health=Health.CREATING), RoomState.UNREADY),
        (None, RoomState.UNREADY),
    ],
    ids=["says that it failed", "is being made", "was never heard"],
)
async def test_a_server_that_is_not_healthy_is_not_listed(
    office: Office, heard: Heard | None, state: RoomState
) -> None:
    room = office.desk.known["arena", "arena-7"]
    office.desk.known["arena", "arena-7"] = replace(
        room, heard=heard, judged=Judged(state, "so it is")
    )

    assert "arena-7" not in [each["metadata"]["name"] for each in await office.listed("/running")]


async def test_the_page_shows_the_list_and_runs_nothing_of_what_it_shows(office: Office) -> None:
    office.change("arena-7", node="<script>alert(1)</script>")

    page = await whole(await office.ask("GET", "/"))

    assert "shooter-7" in page
    assert page.count("<th>") == len(COLUMNS) == page[page.rindex("<tr>") :].count("<td>")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "http" not in page  # nothing is fetched from elsewhere


async def test_the_lists_ask_for_a_code_where_the_setting_says_so(office: Office) -> None:
    office.keeper.lists_need_code = True

    assert (await office.ask("GET", "/running")).status == 401
    assert (await office.ask("GET", "/")).status == 401


async def test_a_long_list_is_written_piece_by_piece_and_is_whole(office: Office) -> None:
    one = office.desk.known["shooters", "shooter-7"]
    for number in range(100, 260):
        pod = replace(one.pod, name=f"shooter-{number}", terminating=number % 2 == 0)
        office.desk.known["shooters", pod.name] = replace(one, pod=pod)

    answer = await office.ask("GET", "/running")
    assert answer.stream is not None
    pieces = [piece async for piece in answer.stream]

    assert len(pieces) > 3
    assert len(json.loads(b"".join(pieces))) == 83


async def test_servers_are_made_and_removed_by_git(office: Office) -> None:
    office.desk.shut = "another process leads"
    made = await office.ask("POST", "/create?code=x", b"{}")
    removed = await office.ask("GET", "/delete?name=a&code=x")
    alive = await office.ask("GET", "/healthz")

    assert (made.status, removed.status) == (403, 403)
    assert b"commit" in made.body
    assert b"Fleet" in removed.body
    assert (alive.status, alive.body) == (200, b"")


async def test_strangers_who_read_slowly_keep_nobody_who_is_known_from_a_list(
    office: Office,
) -> None:
    slow = [await office.ask("GET", "/running") for _ in range(LISTS_AT_ONCE)]
    for each in slow:
        assert each.stream is not None
        await anext(each.stream)

    refused = await office.ask("GET", "/")
    assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
    assert (await office.ask("GET", "/running")).status == 503
    for path in ("/v1/rooms", "/running", "/"):
        assert "arena-7" in await whole(await office.ask("GET", path, token=ADMIN))

    assert slow[0].stream is not None
    await slow[0].stream.aclose()
    assert (await office.ask("GET", "/running")).status == 200
    for each in slow:
        assert each.stream is not None
        await each.stream.aclose()


@pytest.mark.parametrize(
    ("body", "query", "headers", "noted"),
    [
        pytest.param({"playerCount": 3}, WITH_CODE, {}, [("arena-7", 3)], id="its own voice"),
        pytest.param({"playerCount": 0}, WITH_CODE, {}, [("arena-7", 0)], id="that nobody plays"),
        pytest.param({"playerCount": 3}, "?code=guess", {}, [], id="a wrong code"),
        pytest.param({"playerCount": 3}, "", {}, [], id="nothing shown"),
        pytest.param({"playerCount": "3"}, WITH_CODE, {}, [], id="no number"),
        pytest.param(
            {"playerCount": 3, "serverName": "arena-99"}, WITH_CODE, {}, [], id="no such room"
        ),
        pytest.param(
            {"playerCount": 3}, WITH_CODE, {"origin": "http://evil.example"}, [], id="a web page"
        ),
    ],
)
async def test_players_that_are_told_while_nothing_is_taken_in_are_noted(
    office: Office,
    body: dict[str, Any],
    query: str,
    headers: dict[str, str],
    noted: list[tuple[str, int]],
) -> None:
    office.desk.shut = "this process does not lead"
    answer = await office.ask("POST", "/setactiveplayers" + query, NAMED | body, headers=headers)

    assert answer.status == 503
    assert office.desk.missed == noted
    assert office.desk.reports == []


async def test_what_a_server_says_again_anyway_is_not_noted(office: Office) -> None:
    office.desk.shut = "this process does not lead"
    said = NAMED | {"health": "Healthy"}

    assert (await office.ask("POST", "/setsdgshealth" + WITH_CODE, said)).status == 503
    assert office.desk.missed == []
