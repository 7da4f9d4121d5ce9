"""Rooms of kwok's pods, which run nothing, played from outside: each speaks with its own token.

They find who listens as in a cluster: by the endpoints of the Service `gamekeeper-rooms`.
"""

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from reconciler.model.labels import WORKLOAD
from reconciler.model.refs import Json
from tests.controlplane.api import Api, Refused

PING_SECONDS = 0.25
LOOK_SECONDS = 0.2
SLICES = (
    "/apis/discovery.k8s.io/v1/namespaces/gamekeeper/endpointslices"
    "?labelSelector=kubernetes.io/service-name=gamekeeper-rooms"
)


@dataclass
class Service:
    """The Service of rooms: where the ready endpoints lead; `ports` are those of our pods.

    While it is `cut` no room reaches anybody.
    """

    api: Api
    ports: Mapping[str, int]
    cut: bool = False

    def endpoints(self) -> list[str]:
        """Return the names of the pods that the Service leads to."""
        slices = self.api.demand("GET", SLICES)["items"]
        ends = [end for each in slices for end in each.get("endpoints") or ()]
        return [end["targetRef"]["name"] for end in ends if end["conditions"].get("ready")]

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection to one of them. Raises ConnectionError where there is none."""
        known = [self.ports[name] for name in self.endpoints() if name in self.ports]
        if not known:
            raise ConnectionRefusedError("the Service has no endpoint")
        return http.client.HTTPConnection("127.0.0.1", random.choice(known), timeout=10)


@dataclass
class Span:
    """A match: from the 200 to the report of it, to when the report of its end was sent.

    `told` is the state that the 200 told the room of itself.
    """

    began: float
    told: str
    ended: float | None = None

    def holds(self, at: float) -> bool:
        """Whether players were in the room then, and Gamekeeper had been told."""
        return self.began <= at and (self.ended is None or at < self.ended)


@dataclass
class Tally:
    """What all rooms were answered; `longest` is the longest time between two 200 of a room."""

    answers: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0
    faults: list[str] = field(default_factory=list)


class Voice(threading.Thread):
    """One room: pings until its pod is gone; `busy` is what it says of itself.

    While it is `cut` off it reaches nobody.
    """

    def __init__(self, pod: Json, token: str, service: Service, tally: Tally) -> None:
        super().__init__(daemon=True)
        self.pod, self.uid = pod, pod["metadata"]["uid"]
        self.namespace, self.room = pod["metadata"]["namespace"], pod["metadata"]["name"]
        self.workload = pod["metadata"]["labels"][WORKLOAD]
        self.node = pod["spec"]["nodeName"]
        self.busy, self.cut = False, False
        self.spans: list[Span] = []
        self._said, self._taken_in = 1, 0
        self._token, self._service, self._tally = token, service, tally
        self._connection: http.client.HTTPConnection | None = None
        self._answered_at = time.monotonic()
        self._turn, self._ends = threading.Event(), threading.Event()

    def say(self, *, busy: bool) -> None:
        """Say at once, and from now on, whether somebody plays here."""
        self.busy = busy
        self._said += 1
        self._turn.set()

    @property
    def heard(self) -> bool:
        """Whether what it says now was taken in."""
        return self._taken_in == self._said

    @property
    def silent(self) -> bool:
        """Whether it is cut off and has no word under way any more."""
        return self.cut and self._connection is None

    def end(self) -> None:
        """The pod is going: a room that is told to end says nothing more."""
        self._ends.set()
        self._turn.set()

    def run(self) -> None:
        """Ping until the end."""
        while not self._ends.is_set():
            self._turn.clear()
            # Counted first: what is said in between is said again.
            turn = self._said
            if self._ping(self.busy):
                self._taken_in = turn
            self._turn.wait(PING_SECONDS)
        self._drop()

    def _ping(self, busy: bool) -> bool:
        """Say it once; return whether it was taken in."""
        if self.cut or self._service.cut:
            self._drop()
            return False
        if not busy and self.spans and self.spans[-1].ended is None:
            self.spans[-1].ended = time.time()
        try:
            status, headers = self._ask(busy)
        except (OSError, http.client.HTTPException, Refused) as error:
            self._tally.answers[type(error).__name__] += 1
            self._drop()
            return False
        self._tally.answers[str(status)] += 1
        if status == 503:
            # A kept connection stays with a process that does not lead any more.
            self._drop()
            if not headers.get("Retry-After"):
                self._tally.faults.append("a 503 without Retry-After")
        elif status == 410:
            self._ends.set()
        elif status != 200:
            self._tally.faults.append(f"{self.namespace}/{self.room} was answered {status}")
        else:
            self._took(busy, headers.get("X-Gamekeeper-State", ""))
        return status == 200

    def _took(self, busy: bool, told: str) -> None:
        if busy and not (self.spans and self.spans[-1].ended is None):
            self.spans.append(Span(time.time(), told))
        now = time.monotonic()
        self._tally.longest = max(self._tally.longest, now - self._answered_at)
        self._answered_at = now

    def _ask(self, busy: bool) -> tuple[int, Mapping[str, str]]:
        if self._connection is None:
            self._connection = self._service.connect()
        body = {"status": "occupied" if busy else "ready", "timestamp": int(time.time())}
        self._connection.request(
            "PUT",
            f"/scheduler/{self.workload}/rooms/{self.room}/ping",
            json.dumps(body),
            {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
        )
        answer = self._connection.getresponse()
        answer.read()
        return answer.status, dict(answer.headers.items())

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class House(threading.Thread):
    """All rooms of an installation: one voice for each pod that is ready, as a kubelet would."""

    def __init__(self, api: Api, instance: str, service: Service) -> None:
        super().__init__(daemon=True)
        self.voices: dict[str, Voice] = {}
        """Of every room there ever was, by namespace/name."""
        self.tally = Tally()
        self.pods: dict[str, Json] = {}
        self._api, self._service = api, service
        self._path = f"/api/v1/pods?labelSelector=gamekeeper.dev/instance={instance}"
        self._uids: dict[str, str] = {}
        self._over = threading.Event()

    def run(self) -> None:
        """Follow the pods until the end."""
        while not self._over.is_set():
            # An API server that starts up refuses what it grants a moment later.
            with suppress(OSError, http.client.HTTPException, Refused):
                self._look()
            self._over.wait(LOOK_SECONDS)

    def close(self) -> None:
        """End all rooms."""
        self._over.set()
        self.join(10)
        for voice in list(self.voices.values()):
            voice.end()

    def rooms(self, namespace: str) -> list[Voice]:
        """Return the rooms that are there and not on their way out."""
        there = [
            (name, pod["metadata"]["uid"])
            for name, pod in self.pods.items()
            if pod["metadata"]["namespace"] == namespace
            and "deletionTimestamp" not in pod["metadata"]
        ]
        found = [self.voices[name] for name, uid in sorted(there) if name in self.voices]
        return [voice for voice in found if voice.uid in {uid for _, uid in there}]

    def ready(self, namespace: str) -> int:
        """Return how many of its pods were ready at one instant, and not on their way out."""
        pods = [pod for pod in self.pods.values() if pod["metadata"]["namespace"] == namespace]
        return sum(map(_is_ready, pods))

    def state(self, voice: Voice) -> str:
        """Return what stands on the pod of a room, "" where nothing does or it is gone."""
        pod = self.pods.get(f"{voice.namespace}/{voice.room}")
        state: str = pod["metadata"]["labels"].get("gamekeeper.dev/state", "") if pod else ""
        return state

    def _look(self) -> None:
        items = self._api.demand("GET", self._path)["items"]
        self.pods = {
            f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": pod for pod in items
        }
        for name, pod in self.pods.items():
            uid = pod["metadata"]["uid"]
            if self._uids.setdefault(name, uid) != uid:
                self.tally.faults.append(f"the name {name} came back")
            if name not in self.voices and _is_ready(pod):
                voice = Voice(pod, room_token(self._api, pod), self._service, self.tally)
                self.voices[name] = voice
                voice.start()
        for name, voice in self.voices.items():
            there = self.pods.get(name)
            if there is None or "deletionTimestamp" in there["metadata"]:
                voice.end()


def _is_ready(pod: Json) -> bool:
    conditions = pod["status"].get("conditions") or ()
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


def room_token(api: Api, pod: Json, audience: str = "", seconds: int = 3600) -> str:
    """Return what a kubelet writes into the pod; another audience where one is given."""
    metadata = pod["metadata"]
    asked = [
        source["serviceAccountToken"]["audience"]
        for volume in pod["spec"]["volumes"]
        for source in volume.get("projected", {}).get("sources", ())
    ]
    bound = {"kind": "Pod", "apiVersion": "v1", "name": metadata["name"], "uid": metadata["uid"]}
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {
            "audiences": [audience] if audience else asked,
            "expirationSeconds": seconds,
            "boundObjectRef": bound,
        },
    }
    space, account = metadata["namespace"], pod["spec"]["serviceAccountName"]
    path = f"/api/v1/namespaces/{space}/serviceaccounts/{account}/token"
    token: str = api.demand("POST", path, body)["status"]["token"]
    return token
