"""One table drives the router and the document; every other path is refused in words."""

import json
import random

import pytest
from jsonschema import Draft202012Validator

from reconciler.adapters.http.api import RoomsApi, _spoken, unasked
from reconciler.adapters.http.ask import Ask
from reconciler.adapters.http.collections import Collections
from reconciler.adapters.http.routes import ROUTES
from reconciler.adapters.http.voices import Voices
from tests.unit.adapters_http.office import ADMIN, NOW, TOKEN, Office, described


def test_every_route_is_served_and_nothing_else_is(office: Office) -> None:
    voices = Voices(office.desk, office.keeper)
    served = _spoken(voices, Collections(voices), lambda: NOW, unasked)

    assert sorted(served) == sorted(route.operation for route in ROUTES)


async def test_the_document_is_served_and_its_references_lead_somewhere(office: Office) -> None:
    office.desk.shut = "another process leads"
    answer = await office.ask("GET", "/v1/openapi.json")

    shown = json.loads(answer.body)
    assert shown["openapi"] == "3.1.0"
    known = {f"#/components/schemas/{name}" for name in shown["components"]["schemas"]}
    used = set(answer.body.decode().split('"$ref": "')[1:])
    assert {each.partition('"')[0] for each in used} <= known
    for schema in shown["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    assert sum(len(methods) for methods in shown["paths"].values()) == len(ROUTES)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/scheduler/arena/rooms/allocate", 404),
        ("GET", "/scheduler/arena/rooms/arena-7/ping", 405),
        ("PUT", "/scheduler//rooms//ping", 404),
        ("PUT", "/scheduler/arena/rooms/arena-7/ping/", 404),
        ("PUT", "/schedulers/arena/rooms/arena-7/ping", 404),
        ("POST", "/running", 405),
        ("GET", "/v2/rooms", 404),
        ("GET", "", 404),
        ("GET", "*", 404),
        ("GET", "http://elsewhere/running", 404),
        ("GET", "//", 404),
        ("PUT", "/scheduler/%2e%2e/rooms/%00/ping", 403),
        ("PUT", "/scheduler/%ff%fe/rooms/%ed%a0%80/ping", 403),
    ],
)
async def test_a_path_that_is_not_served_is_told_so(
    office: Office, method: str, path: str, status: int
) -> None:
    answer = await office.ask(method, path, token="guess")

    assert answer.status == status
    if status == 405:
        assert answer.headers["Allow"]


async def test_a_body_that_is_too_large_and_a_query_of_too_many_parts_are_refused(
    office: Office,
) -> None:
    large = await office.ask("PUT", "/v1/rooms/arena/arena-7/report", b" " * 16_385, TOKEN)
    many = await office.ask("GET", "/v1/rooms?" + "a=1&" * 101, token=ADMIN)

    assert (large.status, many.status) == (413, 400)


async def test_what_fails_inside_is_500_and_says_nothing_of_why(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(namespace: str, room: str) -> None:
        raise KeyError("a secret of the house")

    desk = type("Broken", (), {"closed": lambda _: "", "find_in": staticmethod(broken)})()
    api = RoomsApi(desk, office.keeper, lambda: NOW)
    answer = await api.answer(Ask("GET", "/v1/rooms/a/b", "code=s3cret"))

    assert answer.status == 500
    assert b"secret" not in answer.body
    assert "s3cret" not in caplog.text


@pytest.mark.long
async def test_four_thousand_hostile_requests_meet_no_error_of_ours(office: Office) -> None:
    """4xx for all that is wrong: `Office.ask` fails at any 500 and at what is not described."""
    chance = random.Random(20260101)
    pieces = [b"{", b"}", b"[", b'"', b":", b",", b"status", b"ready", b"NaN", b"1e999", b"\\u"]
    pieces += [b"null", b"-1", b"9" * 40, b"\xff", b"playerCount", b"serverName", b"arena-7"]
    routes = [route for route in ROUTES if route.operation not in ("watch", "running", "page")]
    seen = set()
    for _ in range(4_000):
        route = chance.choice(routes)
        path = route.path
        for name in ("{scheduler}", "{room}", "{namespace}", "{name}"):
            path = path.replace(name, chance.choice(["arena", "arena-7", "%ff", "a" * 300]))
        body = b"".join(chance.choices(pieces, k=chance.randrange(12)))
        token = chance.choice([TOKEN, ADMIN, "x", ""])
        answer = await office.ask(route.method, path, body, token)
        office.keeper.guesses = 0
        seen.add(answer.status)

    assert {200, 400, 401, 403, 404} <= seen


def test_the_document_names_what_may_be_refused() -> None:
    ping = described()["paths"]["/scheduler/{scheduler}/rooms/{room}/ping"]["put"]

    assert {"200", "400", "404", "408", "410", "429", "431", "503"} <= set(ping["responses"])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        pytest.param("POST", "/setactiveplayers", id="players"),
        pytest.param("PUT", "/scheduler/arena/rooms/arena-1/ping", id="a ping"),
        pytest.param("POST", "/v1/rooms/arena/arena-1/drain", id="a drain"),
    ],
)
async def test_a_page_in_a_browser_speaks_for_no_room(
    office: Office, method: str, path: str
) -> None:
    answer = await office.api.answer(Ask(method, path, headers={"origin": "https://evil.example"}))
    assert answer.status == 403
    assert b"browser" in answer.body
