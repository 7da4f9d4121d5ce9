"""Our own paths: what rooms say, and what people and matchmakers see."""

import json
from dataclasses import replace
from typing import Any

import pytest

from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import Phase
from reconciler.model.rooms import Heard, Judged, Report, RoomState, Said, Why
from tests.unit.adapters_http.office import ADMIN, ARENA, CODE, NOW, SHOOTER, TOKEN, Office

ROOM = "/v1/rooms/arena/arena-7"


def names(shown: dict[str, Any]) -> list[str]:
    return [room["name"] for room in shown["rooms"]]


@pytest.mark.parametrize(
    ("body", "report"),
    [
        (
            {"state": "occupied", "matches": 2, "players": 7},
            Report(periodic=True, said=Said.OCCUPIED, matches=2, players=7),
        ),
        ({"players": 0}, Report(periodic=True, players=0)),
        ({"state": "ready", "players": None}, Report(periodic=True, said=Said.READY)),
    ],
)
async def test_a_room_says_how_it_is_and_hears_whether_to_leave(
    office: Office, body: dict[str, Any], report: Report
) -> None:
    office.change("arena-7", leaving=Why.SCALE_IN)
    answer = await office.ask("PUT", f"{ROOM}/report", body, TOKEN)

    told = json.loads(answer.body)
    assert (told["leave"], told["leaving"]) == (True, "scale-in")
    assert office.desk.reports == [("arena-7", report)]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"player": 3},
        {"state": "ready", "more": 1},
        {"state": "busy"},
        {"players": -1},
        {"players": 1_000_001},
        {"players": 2.0},
        {"matches": "1"},
        {"matches": True},
        {"state": "terminated", "players": 8},
        {"state": "terminated", "matches": 1},
        [],
    ],
)
async def test_a_report_that_says_nothing_or_cannot_be_is_400(office: Office, body: Any) -> None:
    answer = await office.ask("PUT", f"{ROOM}/report", body, TOKEN)

    assert answer.status == 400
    assert office.desk.reports == []


async def test_a_code_is_a_credential_here_too(office: Office) -> None:
    answer = await office.ask("PUT", f"{ROOM}/report?code={CODE}", {"state": "ready"})

    assert answer.status == 200


async def test_events_of_rooms_and_players_are_passed_on(office: Office) -> None:
    answer = await office.ask("POST", f"{ROOM}/events", {"name": "goal"}, TOKEN)
    body = {"kind": "player", "name": "left", "metadata": {"id": 5}}
    await office.ask("POST", f"{ROOM}/events", body, TOKEN)
    refused = [
        await office.ask("POST", f"{ROOM}/events", wrong, TOKEN)
        for wrong in ({}, {"name": ""}, {"name": "a", "kind": "x"}, {"name": "a", "metadata": []})
    ]

    assert answer.status == 200
    assert [(each.kind, each.name) for _, each in office.desk.told[:2]] == [
        ("room", "goal"),
        ("player", "left"),
    ]
    assert office.desk.told[1][1].metadata == {"id": "5"}
    assert [each.status for each in refused] == [400] * 4


async def test_a_room_lets_itself_be_drained_and_a_person_takes_it_back(office: Office) -> None:
    await office.ask("POST", f"{ROOM}/drain", token=TOKEN)
    answer = await office.ask("DELETE", f"{ROOM}/drain", token=ADMIN)
    nobody = await office.ask("POST", "/v1/rooms/arena/arena-8/drain", token=TOKEN)

    assert office.desk.left == [("arena-7", True, "the room itself"), ("arena-7", False, "ada")]
    assert json.loads(answer.body)["leave"] is False
    assert nobody.status in (401, 403)


async def test_who_showed_nothing_is_told_by_address_and_not_as_the_room(office: Office) -> None:
    office.keeper.free = True
    await office.ask("POST", f"{ROOM}/drain")

    assert office.desk.left == [("arena-7", True, "192.0.2.1, which showed no token")]


async def test_a_room_is_shown_whole_to_itself_and_to_people(office: Office) -> None:
    room = office.desk.known["arena", "arena-7"]
    # Its own clock is none that people read.
    heard = Heard(17.0, players=4, matches=1)
    judged = Judged(RoomState.OCCUPIED, "1 of 1 matches run", protected="1 of 1 matches run")
    office.desk.known["arena", "arena-7"] = replace(
        room, heard=heard, judged=judged, available=False, heard_at=NOW - 3
    )
    office.desk.spoke["arena-7"] = NOW - 1
    own = json.loads((await office.ask("GET", ROOM, token=TOKEN)).body)
    others = json.loads((await office.ask("GET", ROOM, token=ADMIN)).body)

    assert own == others
    assert own["workload"] == "Scheduler/arena/arena"
    assert (own["node"], own["address"]) == ("node-1", "203.0.113.7")
    assert (own["hostIP"], own["podIP"]) == ("10.0.0.1", "10.244.0.7")
    assert (own["state"], own["players"], own["matches"]) == ("occupied", 4, 1)
    assert (own["reason"], own["revision"]) == ("1 of 1 matches run", "r1")
    ages = (own["ageSeconds"], own["reportAgeSeconds"], own["heardAgeSeconds"])
    assert ages == (60.0, 3.0, 1.0)
    assert own["createdAt"] == "2025-10-09T08:52:20Z"
    assert own["ports"] == [
        {"name": "game", "protocol": "UDP", "port": 20001, "containerPort": 7777}
    ]


async def test_only_who_may_look_is_told_that_there_is_no_room(office: Office) -> None:
    person = await office.ask("GET", "/v1/rooms/arena/arena-99", token=ADMIN)
    gone = await office.ask("GET", "/v1/rooms/arena/arena-3", token=ADMIN)
    stranger = await office.ask("GET", "/v1/rooms/arena/arena-99", token="guess")
    nobody = await office.ask("GET", ROOM)

    assert (person.status, gone.status) == (404, 410)
    assert (stranger.status, nobody.status) == (401, 401)


async def test_who_may_look_at_one_workload_is_told_that_a_room_of_it_is_gone(
    office: Office,
) -> None:
    answer = await office.ask("GET", "/v1/rooms/arena/arena-3", token=ADMIN)
    await office.ask("GET", "/v1/rooms/elsewhere/arena-3", token=ADMIN)

    assert answer.status == 410
    assert office.keeper.looked_at == [ARENA, None]


async def test_rooms_are_listed_by_workload_and_state(office: Office) -> None:
    everything = await office.listed("/v1/rooms", ADMIN)
    some = await office.listed("/v1/rooms?workload=Scheduler/arena/arena", ADMIN)
    none = await office.listed("/v1/rooms?workload=Scheduler/no/such", ADMIN)
    busy = await office.listed("/v1/rooms?state=occupied,allocated", ADMIN)

    assert names(everything) == ["shooter-7", "arena-7", "arena-8"]
    assert names(some) == ["arena-7", "arena-8"]
    assert names(none) == []
    assert names(busy) == []


@pytest.mark.parametrize("why", ["is to leave", "is not heard as it should be"])
async def test_no_list_for_matchmakers_holds_a_room_that_takes_nobody(
    office: Office, why: str
) -> None:
    if why == "is to leave":
        office.change("arena-7", leaving=Why.SCALE_IN)
    else:
        at = ("arena", "arena-7")
        office.desk.known[at] = replace(office.desk.known[at], overdue=True)
    running = await office.listed("/running")
    ready = await office.listed("/v1/rooms?state=ready,active", ADMIN)
    available = await office.listed("/v1/rooms?available=true", ADMIN)
    others = await office.listed("/v1/rooms?available=false", ADMIN)
    everything = await office.listed("/v1/rooms", ADMIN)

    assert "arena-7" not in [server["metadata"]["name"] for server in running]
    assert "arena-7" not in names(ready)
    assert "arena-7" not in names(available)
    assert names(others) == ["arena-7"]
    assert "arena-7" in names(everything)


@pytest.mark.parametrize("query", ["workload=arena", "workload=a/b/", "state=x", "available=1"])
async def test_a_filter_that_means_nothing_is_400(office: Office, query: str) -> None:
    assert (await office.ask("GET", f"/v1/rooms?{query}", token=ADMIN)).status == 400


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        pytest.param(
            "/v1/rooms?workloads=Scheduler/arena/arena",
            "there is no query parameter 'workloads' here; "
            "there are workload, state, available, code",
            id="a misspelled filter",
        ),
        pytest.param(
            "/v1/watch?state=ready",
            "there is no query parameter 'state' here; there are workload, code",
            id="a filter of another path",
        ),
        pytest.param(
            "/v1/workloads?%22%0a=",
            "there is no query parameter of this name here; there are workload, code",
            id="a name that is no word, and no value",
        ),
        pytest.param(
            "/v1/rooms?state=ready&state=active",
            "the query parameter 'state' comes twice: write it once",
            id="a second one",
        ),
        pytest.param(
            f"/v1/workloads?{TOKEN}=",
            "there is no query parameter of this name here; there are workload, code",
            id="a credential without a name",
        ),
        pytest.param(
            f"/v1/rooms?state=ready,x{CODE}",
            "there is no state of this name; there are ",
            id="a credential in a list",
        ),
    ],
)
async def test_a_query_parameter_that_is_not_known_or_comes_twice_is_named(
    office: Office, asked: str, said: str
) -> None:
    answer = await office.ask("GET", asked, token=ADMIN)
    assert answer.status == 400
    assert json.loads(answer.body)["error"].startswith(said)


async def test_a_credential_in_the_query_is_no_unknown_parameter(office: Office) -> None:
    # The door judges it, here as everywhere.
    assert (await office.ask("GET", "/v1/rooms?code=guess&state=ready")).status == 401


async def test_the_document_tells_which_paths_mind_their_query(office: Office) -> None:
    paths = json.loads((await office.ask("GET", "/v1/openapi.json")).body)["paths"]
    assert "is refused: 400" in paths["/v1/rooms"]["get"]["description"]
    assert "description" not in paths["/v1/rooms/{namespace}/{name}/report"]["put"]


@pytest.mark.parametrize("path", ["/v1/rooms", "/v1/workloads", "/v1/watch"])
async def test_only_who_may_look_sees_all_rooms(office: Office, path: str) -> None:
    assert (await office.ask("GET", path, token=TOKEN)).status == 401
    assert (await office.ask("GET", path)).status == 401


async def test_workloads_are_counted_by_the_states_of_their_rooms(office: Office) -> None:
    await office.ask("PUT", f"{ROOM}/report", {"state": "occupied", "players": 5}, TOKEN)
    answer = await office.ask("GET", "/v1/workloads", token=ADMIN)

    [shooter, arena] = json.loads(answer.body)["workloads"]
    assert shooter["workload"] == "Fleet/shooters/shooter"
    assert arena["states"] == {"occupied": 1, "ready": 1}
    assert (arena["rooms"], arena["players"]) == (2, 5)
    assert (arena["healthy"], arena["health"], arena["pods"]) == (2, "Healthy", "Running")


async def test_players_that_no_room_told_are_no_0(office: Office) -> None:
    await office.ask("PUT", f"{ROOM}/report", {"state": "occupied", "matches": 1}, TOKEN)
    room = json.loads((await office.ask("GET", ROOM, token=ADMIN)).body)
    answer = await office.ask("GET", "/v1/workloads?workload=Scheduler/arena/arena", token=ADMIN)

    (arena,) = json.loads(answer.body)["workloads"]
    assert (room["players"], room["matches"]) == (None, 1)
    assert (arena["players"], arena["matches"]) == (None, 1)


async def test_a_room_that_told_that_it_is_empty_makes_no_0_of_another_ones_players(
    office: Office,
) -> None:
    await office.ask("PUT", f"{ROOM}/report", {"state": "occupied", "matches": 1}, TOKEN)
    (other,) = (at for at in office.desk.known if at[0] == "arena" and at[1] != "arena-7")
    empty = Heard(at=NOW, said=Said.READY)
    office.desk.known[other] = replace(office.desk.known[other], heard=empty)
    answer = await office.ask("GET", "/v1/workloads?workload=Scheduler/arena/arena", token=ADMIN)

    (arena,) = json.loads(answer.body)["workloads"]
    assert (arena["players"], arena["matches"]) == (None, 1)


async def test_one_workload_alone_is_counted(office: Office) -> None:
    """Whoever may look at one workload only has to name it."""
    asked = "/v1/workloads?workload=Scheduler/arena/arena"
    answer = await office.ask("GET", asked, token=ADMIN)

    assert [each["workload"] for each in json.loads(answer.body)["workloads"]] == [
        "Scheduler/arena/arena"
    ]
    assert office.keeper.looked_at[-1] == ARENA


async def test_a_workload_is_as_its_first_room_that_is_not_well_or_as_what_is_held(
    office: Office,
) -> None:
    office.change("arena-8", phase=Phase.PENDING, ready=False)
    office.held[SHOOTER] = [Hold(HoldKind.NEEDS_INTERVENTION, SHOOTER, "too many failed")]
    answer = await office.ask("GET", "/v1/workloads", token=ADMIN)

    [shooter, arena] = json.loads(answer.body)["workloads"]
    assert (arena["healthy"], arena["health"], arena["pods"]) == (1, "Creating", "Pending")
    assert shooter["health"] == "NeedsIntervention"


async def test_a_workload_without_one_of_its_rooms_is_not_shown_as_well(office: Office) -> None:
    for room in list(office.desk.rooms(SHOOTER)):
        office.change(room.pod.name, terminating=True)
    office.wanted[SHOOTER] = 6
    answer = await office.ask("GET", "/v1/workloads", token=ADMIN)

    shooter = json.loads(answer.body)["workloads"][0]
    assert (shooter["healthy"], shooter["health"], shooter["pods"]) == (0, "Creating", "Pending")
