"""Rooms that fill one after the other: a test says how many have players, a policy follows."""

import http.client
import json
import threading
import time
from contextlib import suppress
from typing import Self
from urllib.error import URLError

from tests.e2e.processes import Fleet
from tests.loop.world import spec

AMOUNT = 2
"""Rooms that the policy keeps beside those with players."""
PING_SECONDS = 0.5
LATE_SECONDS = 3.0


def surging() -> str:
    """Return a spec whose count is that of the rooms with players, and two more."""
    autoscaling = {
        "min": AMOUNT,
        "max": 60,
        "policy": {"fixedBuffer": {"amount": AMOUNT}},
        "scaleDown": {"stabilizationSeconds": 0},
    }
    return spec("arena", AMOUNT, autoscaling=autoscaling).replace(
        "reports: none", "reports: required"
    )


class Players(threading.Thread):
    """Pings for every room, to everybody who hears rooms; the first `busy` have players.

    `late` are the seconds in which fewer rooms ran than are wanted.
    """

    def __init__(self, there: Fleet, addresses: list[str]) -> None:
        super().__init__(name="players")
        self._there, self._addresses = there, addresses
        self._over = threading.Event()
        self.busy = 0
        self.rooms = 0
        self.late = 0.0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()

    @property
    def follow(self) -> bool:
        """Whether there are as many rooms as are wanted now."""
        return self.rooms == self.busy + AMOUNT

    def run(self) -> None:
        """Ping until it is over."""
        before = time.monotonic()
        while not self._over.wait(PING_SECONDS):
            with suppress(URLError, OSError):
                pods = self._there.pods("arena")
                names = [str(pod["metadata"]["name"]) for pod in pods if _runs(pod)]
                names.sort(key=lambda name: int(name.rpartition("-")[2]))
                self.rooms = len(pods)
                for place, name in enumerate(names):
                    self._ping(name, place < self.busy)
            now = time.monotonic()
            if self.rooms < self.busy + AMOUNT:
                self.late += now - before
            before = now

    def _ping(self, name: str, busy: bool) -> None:
        told = {
            "status": "occupied" if busy else "ready",
            "timestamp": int(time.time()),
            "runningMatches": int(busy),
        }
        for address in self._addresses:
            connection = http.client.HTTPConnection(address, timeout=LATE_SECONDS)
            with suppress(OSError, http.client.HTTPException):
                headers = {"Content-Type": "application/json"}
                path = f"/scheduler/arena/rooms/{name}/ping"
                connection.request("PUT", path, json.dumps(told), headers)
                connection.getresponse().read()
            connection.close()


def _runs(pod: dict[str, object]) -> bool:
    status = pod["status"]
    return isinstance(status, dict) and status.get("phase") == "Running"
