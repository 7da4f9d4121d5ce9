"""A secret that leaves its place is seen, wherever it is said: each leak here is on purpose."""

import asyncio
import base64
import json
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest
from prometheus_client import Counter

from reconciler.adapters.http.ask import Answer, Ask
from reconciler.adapters.outside.exchange import Exchange, NoAnswer, Question
from reconciler.adapters.outside.resolver import CheckedResolver
from reconciler.model.errors import Unavailable
from reconciler.sandbox.requests import Request
from reconciler.service.metrics import Metrics
from tests.canaries import outputs, places
from tests.canaries.keys import write_key
from tests.canaries.places import PLACES, canary, places_in
from tests.e2e.commands import GAMEKEEPER, environment, gamekeeper
from tests.gitservers.repositories import BareRepository
from tests.loop.world import World, spec
from tests.monitoring.loopback import Loopback, Reply, served
from tests.unit.adapters_http.office import Office
from tests.unit.cli.screens import console

PLACE = "git password"
SECRET = canary(PLACE, "of these tests")
ROOT = Path(__file__).parents[2]
Leak = Callable[[Path], None]
OF_THE_RUN = places.PLANTED
del OF_THE_RUN[SECRET]


@pytest.fixture(autouse=True)
def _none_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant here what stands in no place of the program: the run counts the places of others."""
    monkeypatch.setattr(places, "PLANTED", {**OF_THE_RUN, SECRET: PLACE})


def log(_: Path) -> None:
    logging.getLogger("reconciler.test").error("the host says %s", SECRET)


def log_field(_: Path) -> None:
    fields = {"fields": {"said": f"by {SECRET}"}}
    logging.getLogger("reconciler.test").error("the host answers", extra=fields)


def log_trace(_: Path) -> None:
    try:
        raise ValueError(SECRET)
    except ValueError:
        logging.getLogger("reconciler.test").exception("no answer")


def error(_: Path) -> None:
    Unavailable(f"the host says {SECRET}", 3.0)


def command_line(_: Path) -> None:
    console().print(SECRET)


def command_note(_: Path) -> None:
    console().note(f"error: {SECRET}")


def event(_: Path) -> None:
    world = World()
    body = {"metadata": {"name": "e"}, "message": SECRET, "involvedObject": {}}
    _write(world, "/api/v1/namespaces/default/events", body)


def record(_: Path) -> None:
    encoded = base64.b64encode(f"token={SECRET}".encode()).decode()
    body = {"metadata": {"name": "r", "annotations": {"said": encoded}}}
    _write(World(), "/api/v1/namespaces/default/configmaps", body)


def _write(world: World, path: str, body: object) -> None:
    request = Request.of("POST", path, json.dumps(body).encode())
    world.sandbox.handle(request, world.time.at)


def commit_in_memory(_: Path) -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    made = world.commit({"said": SECRET})
    world.host.take(made, "main", made)


def commit(folder: Path) -> None:
    bare = BareRepository.create(folder, "a.git")
    bare.commit({"a": "b"}, f"says {SECRET}")
    outputs.look_through_repository(bare.path)


def metrics(_: Path) -> None:
    page = Metrics()
    Counter("said", "What was said", ["by"], registry=page.registry).labels(SECRET).inc()
    page.text()


def answer(_: Path) -> None:
    office = Office()

    async def alive(ask: Ask, _: tuple[str, ...]) -> Answer:
        return Answer(200, SECRET.encode())

    office.api._spoken = dict.fromkeys(office.api._spoken, alive)
    asyncio.run(office.api.answer(Ask("GET", "/healthz")))


class Talkative(Loopback):
    def answer(self, path: str, body: bytes) -> Reply:
        return 200, "text/plain", SECRET.encode()


def answer_of_a_process(_: Path) -> None:
    with served(Talkative()) as server, urlopen(server.origin, timeout=10) as said:
        said.read()


def notification(_: Path) -> None:
    question = Question("ops", "http://127.0.0.1:9/", {}, SECRET.encode())

    async def ask() -> None:
        exchange = Exchange(CheckedResolver(lambda address: "not there"), None, 5.0)
        with pytest.raises(NoAnswer):
            await exchange.ask(question)
        await exchange.close()

    asyncio.run(ask())


def process(folder: Path) -> None:
    gamekeeper(SECRET, cwd=folder)


def process_with_a_log(folder: Path) -> None:
    with (folder / "log").open("wb") as said:
        argv = [GAMEKEEPER, SECRET]
        subprocess.Popen(argv, stdout=said, stderr=said, env=environment()).wait()


def process_with_a_pipe(folder: Path) -> None:
    pipe = subprocess.PIPE
    argv = [GAMEKEEPER, SECRET]
    with subprocess.Popen(argv, stdout=pipe, stderr=pipe, env=environment()) as run:
        assert run.stderr is not None
        assert list(run.stderr)


@pytest.mark.parametrize(
    ("leak", "output"),
    [
        (log, "the log"),
        (log_field, "the log"),
        (log_trace, "the log"),
        (error, "an error"),
        (command_line, "a line of a command"),
        (command_note, "a line of a command"),
        (event, "a write to the cluster"),
        (record, "a write to the cluster"),
        (commit_in_memory, "a commit"),
        (commit, "a commit"),
        (metrics, "a page of metrics"),
        (answer, "an answer over HTTP"),
        (answer_of_a_process, "an answer over HTTP"),
        (notification, "a notification or a question"),
        (process, "output of a process"),
        (process_with_a_log, "output of a process"),
        (process_with_a_pipe, "output of a process"),
    ],
)
def test_a_leak_is_seen(leak: Leak, output: str, tmp_path: Path) -> None:
    with outputs.apart() as leaks:
        leak(tmp_path)
    assert leaks
    told = {(each.place, each.output) for each in leaks}
    assert told <= {(PLACE, output), ("encoded", output)}, told


def test_what_is_planted_here_is_no_place_of_the_run() -> None:
    mine = canary("ssh key", "of this test")
    assert places_in(f"{mine} {SECRET}".encode()) == (PLACE, "ssh key")
    assert not {mine, SECRET} & OF_THE_RUN.keys()


def test_what_the_log_masks_is_no_leak_and_neither_is_a_secret_in_a_secret() -> None:
    with outputs.apart() as leaks:
        logging.getLogger("reconciler.test").error("at https://bot:%s@git.example/f", SECRET)
        body = {"metadata": {"name": "s"}, "stringData": {"password": SECRET}}
        _write(World(), "/api/v1/namespaces/default/secrets", body)
    assert leaks == []


@pytest.mark.parametrize("before", ["", "u:", "bo", "bot:", "x" * 57])
@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_known_as_it_is_and_encoded(place: str, before: str) -> None:
    text = f"{before}{canary(place)}".encode()
    assert places_in(b"says " + text + b"!") == (place,)
    assert places_in(base64.b64encode(text)) == ("encoded",)
    assert places_in(text.hex().encode()) == ("encoded",)
    assert places_in(b"another text") == ()


def test_a_private_key_is_known_and_a_public_one_is_no_secret(tmp_path: Path) -> None:
    write_key(tmp_path / "key", canary("ssh key", "of a test"))
    assert places_in((tmp_path / "key").read_bytes()) == ("encoded",)
    assert places_in((tmp_path / "key.pub").read_bytes()) == ()
    argv = ["ssh-keygen", "-y", "-f", str(tmp_path / "key")]
    public = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    assert public == (tmp_path / "key.pub").read_text()


@pytest.mark.long
def test_a_test_that_leaks_fails_with_the_place_and_the_output(tmp_path: Path) -> None:
    (tmp_path / "test_leaky.py").write_text(
        "import logging\n"
        "from tests.canaries.places import canary\n"
        "def test_quiet(): pass\n"
        "def test_leaky(): logging.getLogger('x').error(canary('git password'))\n"
    )
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "tests.canaries.plugin", "--rootdir"]
    done = subprocess.run(
        [*argv, str(tmp_path), str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "2 passed, 1 error" in done.stdout
    assert "a secret leaked: git password in the log: x" in done.stdout


async def test_a_loop_that_runs_is_listened_to() -> None:
    world = World()
    before = outputs.SEARCHED.copy()
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    process = await world.process()
    await world.settle(process)
    assert (outputs.SEARCHED - before)["a write to the cluster"] > 3
