"""Games keep their connection; whoever leads changes: what they say reaches the new one.

The rooms' Service is played as kube-proxy does it: a new connection goes to whoever leads, and one
that stands stays with its process, whatever the Service selects by then.
"""

import http.client
import json
import socket
import socketserver
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.e2e.processes import Fleet, fleet, free_address, until
from tests.loop.world import CONFIG, spec

pytestmark = pytest.mark.long

LEASE = "/apis/coordination.k8s.io/v1/namespaces/gamekeeper/leases/gamekeeper-main"
MERGE = {"Content-Type": "application/merge-patch+json"}
FREE = ("--rooms-without-token", "127.0.0.0/8")
ROOMS = 3
MOVED_SECONDS = 30.0
"""Both look at the Lease every two seconds, then the records are read: a fifth of this in quiet."""
LET_GO_SECONDS = 30.0


class RoomsService(socketserver.ThreadingTCPServer):
    """Leads each new connection to `backend()`, and keeps those that stand where they are."""

    daemon_threads = True

    def __init__(self, backend: Callable[[], str]) -> None:
        super().__init__(("127.0.0.1", 0), _Pipe)
        self.backend = backend
        self.open: Counter[str] = Counter()
        self._counting = threading.Lock()

    @property
    def address(self) -> str:
        """Where games ask."""
        return "{}:{}".format(*self.server_address)

    def count(self, address: str, more: int) -> None:
        """Count a connection that begins, or one that ended; many threads do."""
        with self._counting:
            self.open[address] += more


class _Pipe(socketserver.BaseRequestHandler):
    server: RoomsService

    def handle(self) -> None:
        address = self.server.backend()
        host, _, port = address.rpartition(":")
        with socket.create_connection((host, int(port))) as there:
            self.server.count(address, 1)
            back = threading.Thread(target=_carry, args=(there, self.request), daemon=True)
            back.start()
            _carry(self.request, there)
            back.join()
            self.server.count(address, -1)


def _carry(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


class Game:
    """A game that keeps its connection, and opens another one only where that was closed on it."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(address, timeout=5)
        self.opened = 0
        self.heard: Counter[int] = Counter()

    def say(self, method: str, path: str, body: dict[str, object]) -> int:
        """Say something once; 0 where the connection broke."""
        self.opened += self._connection.sock is None
        try:
            self._connection.request(method, path, json.dumps(body))
            answer = self._connection.getresponse()
            answer.read()
            status = answer.status
        except (OSError, http.client.HTTPException):
            self._connection.close()
            status = 0
        self.heard[status] += 1
        return status

    def close(self) -> None:
        """End its connection."""
        self._connection.close()

    def ping(self, room: str, status: str) -> bool:
        """Ping as Maestro's games do; whether that was taken."""
        path = f"/scheduler/arena/rooms/{room}/ping"
        return self.say("PUT", path, {"status": status, "timestamp": 1}) == 200

    def players(self, room: str, count: int) -> bool:
        """Tell of players as the collections' games do; whether that was taken."""
        body: dict[str, object] = {"serverName": room, "namespace": "arena", "playerCount": count}
        return self.say("POST", "/setactiveplayers", body) == 200


class House:
    """Two replicas that live, and the Service before them."""

    def __init__(self, there: Fleet) -> None:
        self.there = there
        self.rooms_of: dict[int, str] = {}
        self._last = ""
        self.service = RoomsService(self.selected)
        self.games: list[Game] = []

    def start(self, name: str) -> int:
        """Start a replica and return its process id."""
        address, rooms = free_address(), free_address()
        listen = ("--listen", address, "--rooms-listen", rooms, *FREE)
        loop = self.there.start_loop(name, "--token", name, "--poll-seconds", "1", *listen)
        until(f"{name} is ready", lambda: _answers(f"http://{address}/readyz"), 30.0)
        self.rooms_of[loop.pid] = rooms
        return loop.pid

    def game(self) -> Game:
        """A game that asks where rooms ask."""
        self.games.append(Game(self.service.address))
        return self.games[-1]

    @property
    def leader(self) -> int:
        """The process whose name stands on the Lease, 0 for nobody."""
        holder = self.there.ask(LEASE)["spec"].get("holderIdentity") or "-0"
        return int(holder.rpartition("-")[2])

    def selected(self) -> str:
        """Where a new connection goes: to the leader, or to the last there was."""
        self._last = self.rooms_of.get(self.leader, self._last)
        return self._last

    def hand_over(self, pid: int) -> None:
        """Write another name on the Lease, by hand."""
        body = {"spec": {"holderIdentity": f"{socket.gethostname()}-{pid}"}}
        data = json.dumps(body).encode()
        with urlopen(Request(self.there.url + LEASE, data, MERGE, method="PATCH")) as answer:
            assert answer.status == 200

    def state(self, room: str) -> str:
        """The state label of a room."""
        pod = self.there.ask(f"/api/v1/namespaces/arena/pods/{room}")
        return str(pod["metadata"]["labels"].get("gamekeeper.dev/state", ""))


def _answers(url: str) -> bool:
    with urlopen(url, timeout=5) as answer:
        return bool(answer.status == 200)


@contextmanager
def _house(folder: Path) -> Iterator[House]:
    with fleet(folder) as there:
        house = House(there)
        there.commit(gamekeeper=CONFIG, schedulers__arena=spec("arena", ROOMS, reports="required"))
        threading.Thread(target=house.service.serve_forever, daemon=True).start()
        try:
            yield house
        finally:
            for game in house.games:
                game.close()
            house.service.shutdown()
            house.service.server_close()


def _is_running(house: House) -> bool:
    pods = house.there.pods("arena")
    return len(pods) == ROOMS and all(pod["status"].get("phase") == "Running" for pod in pods)


@pytest.mark.parametrize("end", ["the lease is moved by hand", "the leader is told to go"])
def test_what_games_say_on_a_kept_connection_reaches_whoever_leads_by_then(
    tmp_path: Path, end: str
) -> None:
    with _house(tmp_path) as house:
        one = house.start("one")
        until("rooms run", lambda: _is_running(house), 30.0)
        two = house.start("two")
        pinging, telling, quiet = (house.game() for _ in range(3))
        until("pings are taken", lambda: pinging.ping("arena-0", "ready"), 10.0)
        until("counts are taken", lambda: telling.players("arena-1", 0), 10.0)
        until("all are heard", lambda: quiet.players("arena-2", 0), 10.0)
        # One that broke at the start, while nobody led, may be counted for a moment yet.
        until("three are kept", lambda: house.service.open[house.rooms_of[one]] == 3, 10.0)
        opened = sum(game.opened for game in house.games)

        if end == "the lease is moved by hand":
            house.hand_over(two)
        else:
            house.there.loops[0].terminate()
        # Nobody asks meanwhile: those that are idle are let go of all the same.
        let_go = until(
            "the old leader keeps no connection",
            lambda: house.leader == two and house.service.open[house.rooms_of[one]] == 0,
            LET_GO_SECONDS,
        )
        took = until("it is heard", lambda: telling.players("arena-1", 8), MOVED_SECONDS)
        assert house.state("arena-1") == "busy"
        until("pings are taken", lambda: pinging.ping("arena-0", "occupied"), MOVED_SECONDS)
        assert house.state("arena-0") == "busy"

        assert (house.there.loops[0].poll() is None) is (end == "the lease is moved by hand")
        assert house.service.open[house.rooms_of[two]] >= 2
        assert sum(game.opened for game in house.games) > opened
        for game in house.games:
            assert set(game.heard) <= {0, 200, 503}
    print(f"{end}: let go after {let_go:.1f} s, heard {took:.1f} s later")
