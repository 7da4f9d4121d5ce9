"""`gamekeeper run` hears rooms: requests of games written for others, sent as those send them."""

import http.client
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.bad_line import bad_line
from tests.e2e.commands import environment
from tests.e2e.processes import Fleet, fleet, free_address, until
from tests.loop.world import CONFIG, spec

FIXTURES = Path(__file__).parents[1] / "contract" / "rooms_fixtures"
PAGE = Path(__file__).parents[2] / "docs" / "rooms-api.md"
ADMIN = "match-director-token"
WELL = "the Node sample says that it is healthy"
PORTS = [{"name": "game", "containerPort": 7777, "protocol": "UDP"}]


@dataclass(frozen=True)
class Heard:
    """A service that hears the rooms of a Scheduler `arena` and of a Fleet `shooters`."""

    made: Fleet
    address: str

    def pod(self, namespace: str, name: str) -> Any:
        """Read a room's pod."""
        return self.made.ask(f"/api/v1/namespaces/{namespace}/pods/{name}")

    def state(self, namespace: str, name: str) -> str:
        """The coarse state that stands on a room's pod."""
        labels = self.pod(namespace, name)["metadata"]["labels"]
        return str(labels.get("gamekeeper.dev/state", ""))

    def environment(self, namespace: str, name: str) -> dict[str, str]:
        """What a room's container finds in its environment."""
        [container] = self.pod(namespace, name)["spec"]["containers"]
        return {one["name"]: one.get("value", "") for one in container["env"]}

    def send(
        self, method: str, target: str, headers: dict[str, str], body: str | None = None
    ) -> tuple[int, dict[str, str], str]:
        """Send exactly this."""
        connection = http.client.HTTPConnection(self.address, timeout=60)
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            chunked = "Transfer-Encoding" in headers
            length = {"Content-Length": str(len(body.encode()))} if body and not chunked else {}
            for name, text in {**headers, **length}.items():
                connection.putheader(name, text)
            connection.endheaders(
                [body.encode()] if body and chunked else (body.encode() if body else None),
                encode_chunked=chunked,
            )
            answer = connection.getresponse()
            shown = {name.lower(): text for name, text in answer.getheaders()}
            return answer.status, shown, answer.read().decode()
        finally:
            connection.close()

    def ask(self, method: str, target: str, body: Any = None, token: str = "") -> tuple[int, Any]:
        """Ask as a person, or as a room, does."""
        headers = {"Host": "rooms"} | ({"Authorization": f"Bearer {token}"} if token else {})
        sent = None if body is None else json.dumps(body)
        status, shown, text = self.send(method, target, headers, sent)
        return status, json.loads(text) if "json" in shown["content-type"] else text


def _fleet_text() -> str:
    document = yaml.safe_load(spec("shooter", 2))
    document["kind"] = "Fleet"
    document["spec"] |= {"reports": "required", "namespace": "shooters"}
    document["spec"].pop("game", None)
    document["spec"]["template"]["spec"]["containers"][0]["ports"] = PORTS
    return yaml.safe_dump(document)


def _scheduler_text() -> str:
    document = yaml.safe_load(spec("arena", 4))
    document["spec"] |= {
        "reports": "required",
        "portRange": {"start": 20000, "end": 20999},
        "matches": {"max": 2},
    }
    document["spec"]["template"]["spec"]["containers"][0]["ports"] = PORTS
    return yaml.safe_dump(document)


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Heard]:
    folder = tmp_path_factory.mktemp("heard")
    admins = folder / "admins.yaml"
    digest = subprocess.run(
        ["sha256sum"], input=ADMIN.encode(), capture_output=True, check=True
    ).stdout.split()[0]
    admins.write_text(
        f"- name: match-director\n  sha256: {digest.decode()}\n"
        '  schedulers: "*"\n  verbs: [read, drain]\n'
    )
    with fleet(folder) as made:
        made.commit(
            gamekeeper=CONFIG,
            schedulers__arena=_scheduler_text(),
            schedulers__shooter=_fleet_text(),
        )
        address = free_address()
        words = ("--no-lease", "--poll-seconds", "1", "--listen", "127.0.0.1:0")
        rooms = ("--rooms-listen", address, "--rooms-without-token", "127.0.0.0/8")
        made.start_loop("cache", *words, *rooms, "--rooms-admin-tokens-file", str(admins))
        service = Heard(made, address)
        try:
            until("rooms run", lambda: _running(made) == {"arena": 4, "shooters": 2}, 30)
            _delete(service, "arena", "arena-3")
            until("another one is made for it", lambda: service.pod("arena", "arena-4"), 20)
            until("it runs too", lambda: _running(made)["arena"] == 4, 20)
        except AssertionError:
            print(made.log(), file=sys.stderr)
            raise
        yield service


def _running(made: Fleet) -> dict[str, int]:
    return {
        namespace: sum(pod["status"].get("phase") == "Running" for pod in made.pods(namespace))
        for namespace in ("arena", "shooters")
    }


def _delete(service: Heard, namespace: str, name: str) -> None:
    connection = http.client.HTTPConnection(service.made.url.removeprefix("http://"), timeout=60)
    path = f"/api/v1/namespaces/{namespace}/pods/{name}?gracePeriodSeconds=0"
    connection.request("DELETE", path)
    assert connection.getresponse().status == 200
    connection.close()


@cache
def fixtures(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FIXTURES / f"{name}.json").read_text())
    return found


def _filled(value: Any, names: dict[str, str]) -> Any:
    text = json.dumps(value)
    for name, meant in names.items():
        text = text.replace("{" + name + "}", meant)
    return json.loads(text)


def _holds(fixture: dict[str, Any], answered: tuple[int, dict[str, str], str]) -> None:
    status, shown, text = answered
    wanted = fixture["answer"]
    assert (status, shown["content-type"]) == (wanted["status"], wanted["type"]), text
    assert "retry-after" not in shown, "a game asks again only where that may help"
    if "json" in wanted:
        assert json.loads(text) == wanted["json"]
    if "keys" in wanted:
        assert sorted(json.loads(text)) == sorted(wanted["keys"])
    if "lists" in wanted:
        names = [server["metadata"]["name"] for server in json.loads(text)]
        assert wanted["lists"] in names
    for part in wanted.get("contains", []):
        assert part in text
    if wanted.get("empty"):
        assert text == ""


@pytest.mark.parametrize("fixture", fixtures("maestro"), ids=lambda one: one["name"])
def test_a_game_written_for_maestro_is_answered_as_there(
    heard: Heard, fixture: dict[str, Any]
) -> None:
    names = {"scheduler": "arena", "room": "arena-0", "other": "arena-1", "gone": "arena-3"}
    filled = _filled(fixture, names)

    answered = heard.send(**_parts(filled))
    _holds(filled, answered)
    assert ("x-gamekeeper-state" in answered[1]) == (answered[0] == 200)


@pytest.mark.parametrize("fixture", fixtures("collections"), ids=lambda one: one["name"])
def test_a_game_written_for_the_collections_is_answered_as_there(
    heard: Heard, fixture: dict[str, Any]
) -> None:
    own = heard.environment("shooters", "shooter-0")
    assert (own["SERVER_NAME"], own["SERVER_NAMESPACE"]) == ("shooter-0", "shooters")
    names = {"room": own["SERVER_NAME"], "namespace": own["SERVER_NAMESPACE"]}
    names |= {"other": "shooter-1", "code": own["API_SERVER_CODE"]}
    if "{room}" in json.dumps(fixture["answer"]):  # only who said that it is well is shown
        (well,) = [one for one in fixtures("collections") if one["name"] == WELL]
        heard.send(**_parts(_filled(well, names)))
    filled = _filled(fixture, names)

    _holds(filled, heard.send(**_parts(filled)))


def _parts(fixture: dict[str, Any]) -> dict[str, Any]:
    return {"body": None, **fixture["request"]}


@pytest.mark.long
def test_what_a_room_says_stands_on_its_pod_when_it_is_answered(heard: Heard) -> None:
    path = "/scheduler/arena/rooms/arena-2/ping"
    assert heard.ask("PUT", path, {"status": "occupied", "timestamp": 1})[0] == 200
    assert heard.state("arena", "arena-2") == "busy"

    assert heard.ask("PUT", path, {"status": "ready", "timestamp": 2})[0] == 200
    until("it is idle", lambda: heard.state("arena", "arena-2") == "idle", 15)


def test_a_person_sees_rooms_and_lets_one_leave(heard: Heard) -> None:
    heard.ask("PUT", "/v1/rooms/arena/arena-0/report", {"state": "ready", "players": 0})
    status, shown = heard.ask("GET", "/v1/rooms?workload=Scheduler/arena/arena", token=ADMIN)
    names = [room["name"] for room in shown["rooms"]]

    # arena-1 may have said that it has ended, and another one be there for it.
    assert (status, [name for name in names if name in ("arena-0", "arena-2", "arena-4")]) == (
        200,
        ["arena-0", "arena-2", "arena-4"],
    )
    assert heard.ask("GET", "/v1/rooms")[0] == 401
    assert shown["rooms"][0]["ports"][0]["containerPort"] == 7777

    status, left = heard.ask("POST", "/v1/rooms/arena/arena-0/drain", token=ADMIN)
    assert (status, left["leave"], left["leaving"]) == (200, True, "request")
    listed = heard.ask("GET", "/running")[1]
    assert "arena-0" not in [server["metadata"]["name"] for server in listed]
    status, left = heard.ask("DELETE", "/v1/rooms/arena/arena-0/drain", token=ADMIN)
    assert (status, left["leave"]) == (200, False)


def test_the_watch_tells_all_rooms_and_then_what_changes(heard: Heard) -> None:
    connection = http.client.HTTPConnection(heard.address, timeout=60)
    connection.request("GET", "/v1/watch", headers={"Authorization": f"Bearer {ADMIN}"})
    stream = connection.getresponse()
    assert stream.getheader("Content-Type") == "text/event-stream"
    while stream.readline() != b"event: listed\n":
        pass
    heard.ask("POST", "/v1/rooms/arena/arena-2/events", {"name": "goal", "metadata": {"by": "p"}})
    while stream.readline() != b"event: event\n":
        pass
    told = json.loads(stream.readline().removeprefix(b"data: "))
    connection.close()

    assert (told["room"], told["name"], told["metadata"]) == ("arena-2", "goal", {"by": "p"})


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def _of_room(heard: Heard, namespace: str, name: str, folder: Path) -> dict[str, str]:
    """Return the environment of a room, its token in a file, as a process on this machine."""
    pod = heard.pod(namespace, name)
    account = pod["spec"]["serviceAccountName"]
    uid = pod["metadata"]["uid"]
    bound = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid}
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"audiences": ["gamekeeper.dev/main"], "boundObjectRef": bound},
    }
    connection = http.client.HTTPConnection(heard.made.url.removeprefix("http://"), timeout=60)
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    token = json.load(connection.getresponse())["status"]["token"]
    connection.close()
    file = folder / "token"
    file.write_text(token)
    found = heard.environment(namespace, name)
    assert found["GAMEKEEPER_TOKEN_FILE"].startswith("/var/run/secrets/")
    assert found["GAMEKEEPER_API_URL"] == "http://gamekeeper-rooms.gamekeeper.svc"
    reached = {"GAMEKEEPER_TOKEN_FILE": str(file), "GAMEKEEPER_API_URL": f"http://{heard.address}"}
    return environment(**(found | reached))


@pytest.mark.long
def test_the_program_on_the_page_outlives_a_fail_over_and_leaves_when_asked(
    heard: Heard, tmp_path: Path
) -> None:
    # Before anybody is drained and taken back: then one room is too many, and it may be this one.
    address = free_address()
    found = _of_room(heard, "arena", "arena-2", tmp_path)
    with _game({**found, "GAMEKEEPER_API_URL": f"http://{address}"}) as game:
        assert game.stdout is not None
        assert "Connection refused" in game.stdout.readline()
        with bad_line(address, heard.address):
            until("it is heard", lambda: heard.state("arena", "arena-2") == "idle", 15)
            assert game.poll() is None
            heard.ask("POST", "/v1/rooms/arena/arena-2/drain", token=ADMIN)
            _, trouble = game.communicate(timeout=120)
        assert (game.returncode, trouble) == (0, "")

    until("the room is gone", lambda: not _is_there(heard, "arena-2"), 30)
    until("that is known", lambda: heard.ask("GET", ROOM_2, token=ADMIN)[0] in (404, 410), 30)
    with _game(found) as late:
        said, trouble = late.communicate(timeout=120)
    assert (late.returncode, trouble) == (0, "")
    assert "410" in said


@pytest.mark.long
def test_the_lines_of_curl_on_the_page_do_what_they_say(heard: Heard, tmp_path: Path) -> None:
    script = "set -e\n" + "".join(_blocks("sh"))
    done = subprocess.run(
        ["bash", "-u", "-c", script],
        env=_of_room(heard, "arena", "arena-4", tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines()]
    # One of two matches; and for five seconds nobody believes that it is over.
    assert [one["state"] for one in said if "state" in one][2:5] == ["ready", "active", "occupied"]
    assert said[1]["address"]
    assert said[5]["leave"] is True
    heard.ask("DELETE", "/v1/rooms/arena/arena-4/drain", token=ADMIN)


def _game(environment: dict[str, str]) -> "subprocess.Popen[str]":
    """Start the program of the page, in a hurry."""
    [program] = _blocks("python")
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program.replace("time.sleep(5)", "time.sleep(0.1)")],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


ROOM_2 = "/v1/rooms/arena/arena-2"


def _is_there(heard: Heard, name: str) -> bool:
    return any(pod["metadata"]["name"] == name for pod in heard.made.pods("arena"))


def test_only_its_own_token_speaks_for_a_room(heard: Heard, tmp_path: Path) -> None:
    found = _of_room(heard, "shooters", "shooter-1", tmp_path)
    token = Path(found["GAMEKEEPER_TOKEN_FILE"]).read_text()
    body = {"state": "ready"}

    assert heard.ask("PUT", "/v1/rooms/shooters/shooter-1/report", body, token)[0] == 200
    other, unknown = (
        heard.ask("PUT", f"/v1/rooms/shooters/{name}/report", body, token)
        for name in ("shooter-0", "shooter-99")
    )
    assert other == unknown
    assert other[0] == 403
