"""The credentials of a repository's URL reach Git, and nothing that is kept or shown."""

import json

import pytest

from reconciler.adapters.git.source import Source
from reconciler.cli.status_json import as_json
from reconciler.cli.status_text import print_text
from reconciler.cli.statuses import status_of
from reconciler.sandbox.requests import Request, Response
from reconciler.settings import Settings
from reconciler.wiring import repositories
from tests.canaries.outputs import apart
from tests.canaries.places import canary
from tests.loop.world import Process, World, spec
from tests.unit.cli.screens import console, text_of

CANARY = canary("git URL")
SECRET_URL = f"https://bot:{CANARY}@git.example/fleet"
BARE_URL = "https://git.example/fleet"
RECORD = "/api/v1/namespaces/gamekeeper/configmaps/gamekeeper-main"


async def _followed(url: str) -> tuple[World, Process]:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    process = await world.process()
    process.head.url = url
    await world.settle(process)
    return world, process


def _write_password(world: World) -> None:
    """Write the record as a version did that kept the URL whole."""
    body = world.ask(RECORD)
    body["data"]["record"] = body["data"]["record"].replace(BARE_URL, SECRET_URL)
    assert CANARY in json.dumps(body)
    headers = {"content-type": "application/json"}
    request = Request.of("PUT", RECORD, json.dumps(body).encode(), headers)
    with apart():  # here it is planted
        answer = world.sandbox.handle(request, world.time.at)
    assert isinstance(answer, Response)
    assert answer.status == 200


def _shown(process: Process) -> str:
    status = status_of(process.lane, [], None, 0.0)
    screen = console()
    print_text(screen, status, 0.0)
    return text_of(screen.out) + json.dumps(as_json(status, 0.0))


def test_the_head_lane_knows_no_credentials_and_the_mirror_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []

    def open_mirror(source: Source, cache_directory: str, **_: object) -> None:
        opened.append(source.url)

    settings = Settings(repo=SECRET_URL)
    monkeypatch.setattr("reconciler.adapters.git.mirror.Mirror", open_mirror)
    repositories.make_mirror(settings)
    assert (repositories.repository_of(settings), opened) == (BARE_URL, [SECRET_URL])


async def test_a_password_in_an_older_record_is_the_same_repository_and_is_not_shown() -> None:
    world, _ = await _followed(BARE_URL)
    _write_password(world)
    fresh = await world.process()
    assert BARE_URL in _shown(fresh)
    assert CANARY not in _shown(fresh)
    fresh.head.url = BARE_URL
    world.commit({"schedulers/arena.yaml": None})
    await fresh.turn()
    assert not [hold for hold in fresh.lane.wanted.holds if hold.kind == "repository-changed"]


async def test_an_older_record_is_written_anew_without_its_password() -> None:
    world, _ = await _followed(BARE_URL)
    _write_password(world)
    fresh = await world.process()
    fresh.head.url = BARE_URL
    await fresh.turn()
    assert BARE_URL in json.dumps(world.ask(RECORD))
    assert CANARY not in json.dumps(world.ask(RECORD))
