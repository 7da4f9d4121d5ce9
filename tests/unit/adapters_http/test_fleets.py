"""`/create` and `/delete`: a commit for who may, the Git way for everybody else."""

import json
from typing import Any

import pytest

from reconciler.model.refs import Json, WorkloadKey
from reconciler.room_ports import Unmade
from tests.unit.adapters_http.office import ADMIN, CODE, Office

COMMIT = "ab" * 20
COLLECTION = {"metadata": {"name": "x"}, "spec": {"replicas": 5, "template": {}}}
MAKE, REMOVE = "/create?code=", "/delete?name=x&code="


class Fleets:
    """Commits nothing, and notes what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.fails: Unmade | None = None

    def wanted(self, collection: Json) -> WorkloadKey:
        if "metadata" not in collection:
            raise Unmade(400, "metadata.name: it is missing")
        return WorkloadKey("Fleet", "x", "x")

    def known(self, name: str) -> WorkloadKey:
        if name == "twice":
            raise Unmade(409, "several have this name: Fleet/eu/twice, Fleet/us/twice")
        return WorkloadKey("Fleet", "shared", name)

    async def make(self, collection: Json, by: str) -> str:
        return self._did(f"make {collection['metadata']['name']}", by)

    async def remove(self, fleet: WorkloadKey, by: str) -> str:
        return self._did(f"remove {fleet}", by)

    def _did(self, what: str, by: str) -> str:
        if self.fails:
            raise self.fails
        self.asked.append((what, by))
        return COMMIT


@pytest.fixture
def fleets() -> Fleets:
    return Fleets()


@pytest.fixture
def office(fleets: Fleets) -> Office:
    return Office(fleets=fleets)


async def test_an_administrator_has_it_committed_and_hears_what_the_original_said(
    office: Office, fleets: Fleets
) -> None:
    made = await office.ask("POST", MAKE + ADMIN, COLLECTION)
    removed = await office.ask("GET", REMOVE + ADMIN)

    assert made.body.decode().splitlines()[0] == "DedicatedGameServerCollection x was created"
    assert made.body.decode().splitlines()[-1] == "Its servers run in the namespace x."
    assert removed.body.decode().splitlines()[0] == "x was deleted"
    assert [each.headers["X-Gamekeeper-Commit"] for each in (made, removed)] == [COMMIT, COMMIT]
    assert fleets.asked == [("make x", "ada"), ("remove Fleet/shared/x", "ada")]
    # Who may remove it is asked where it is, and not where its name would have it.
    assert office.keeper.looked_at == [
        WorkloadKey("Fleet", "x", "x"),
        WorkloadKey("Fleet", "shared", "x"),
    ]


async def test_a_bearer_token_does_as_well(office: Office, fleets: Fleets) -> None:
    answer = await office.ask("POST", "/create", COLLECTION, token=ADMIN)
    assert (answer.status, len(fleets.asked)) == (200, 1)


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        pytest.param("POST", "/create", COLLECTION, id="who shows nothing"),
        pytest.param("POST", MAKE + CODE, COLLECTION, id="a room by its own code"),
        pytest.param("GET", REMOVE + CODE, b"", id="a room that deletes"),
        pytest.param("GET", f"/delete?name=twice&code={CODE}", b"", id="which Fleets there are"),
        pytest.param("POST", MAKE + CODE, b"nonsense", id="nonsense is not judged for strangers"),
        pytest.param("POST", MAKE + CODE, {}, id="nor is what is no collection"),
    ],
)
async def test_others_hear_the_git_way(
    office: Office, fleets: Fleets, method: str, target: str, body: Any
) -> None:
    answer = await office.ask(method, target, body)
    assert (answer.status, b"commit" in answer.body) == (403, True)
    assert fleets.asked == []


@pytest.mark.parametrize(
    ("target", "body", "status"),
    [
        pytest.param(MAKE + ADMIN, b"nonsense", 400, id="no JSON"),
        pytest.param(MAKE + ADMIN, {}, 400, id="no collection"),
        pytest.param(f"/delete?name=../x&code={ADMIN}", b"", 400, id="a name that is a path"),
        pytest.param(f"/delete?code={ADMIN}", b"", 400, id="no name"),
        pytest.param(f"/delete?name=twice&code={ADMIN}", b"", 409, id="a name of two Fleets"),
    ],
)
async def test_an_administrator_hears_what_is_wrong(
    office: Office, fleets: Fleets, target: str, body: Any, status: int
) -> None:
    answer = await office.ask("POST" if "create" in target else "GET", target, body)
    assert answer.status == status
    assert fleets.asked == []


@pytest.mark.parametrize("status", [400, 404, 409, 503])
async def test_why_none_is_made_is_told(office: Office, fleets: Fleets, status: int) -> None:
    fleets.fails = Unmade(status, "writeBack.mode is off")
    answer = await office.ask("POST", MAKE + ADMIN, COLLECTION)
    assert (answer.status, b"writeBack.mode is off" in answer.body) == (status, True)


async def test_only_who_leads_commits(office: Office, fleets: Fleets) -> None:
    office.desk.shut = "another process leads"
    answer = await office.ask("POST", MAKE + ADMIN, COLLECTION)
    stranger = await office.ask("POST", "/create", COLLECTION)
    assert (answer.status, stranger.status) == (503, 403)
    assert fleets.asked == []


async def test_to_ask_for_the_head_of_it_deletes_nothing(office: Office, fleets: Fleets) -> None:
    answer = await office.ask("HEAD", REMOVE + ADMIN)
    assert answer.status == 405
    assert fleets.asked == []


async def test_a_web_page_may_not_have_servers_made(office: Office, fleets: Fleets) -> None:
    page = {"origin": "https://evil.example"}
    answer = await office.ask("POST", MAKE + ADMIN, json.dumps(COLLECTION).encode(), headers=page)
    assert answer.status == 403
    assert fleets.asked == []
