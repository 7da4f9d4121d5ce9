"""The two servers that a run speaks to, each with what it has told so far."""

from __future__ import annotations

import contextlib
import http.client
import json
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol
from urllib.parse import urlsplit

from reconciler.assets import kubernetes_definitions
from reconciler.sandbox.access import User
from reconciler.sandbox.cluster import Sandbox
from reconciler.sandbox.requests import Answer, Request, Response, Stream
from tests.contract.differential.kept import Kept
from tests.contract.differential.steps import Step, filled
from tests.controlplane.cluster import ControlPlane, Parts

AGENT = "differential/1"
_LAST_LINES = 40
_PAST_REVISIONS = 30
_TOKEN = "the-same-administrator"
_ADMIN = User(
    "controlplane-admin", ("system:masters", "system:authenticated"), uid="controlplane-admin"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: status, decoded body (text when it is no JSON), warnings, media type."""

    status: int
    body: Any
    warnings: tuple[str, ...]
    media: str


class Server(Protocol):
    """A server that answers steps."""

    def answer(self, step: Step) -> Reply:
        """Answer one request."""

    def open(self, step: Step) -> Opened:
        """Begin to answer a watch; what is opened gives the whole answer when it has ended."""


Opened = Callable[[], Reply]


class Told:
    """What a server alone knows, by the path of the object or list."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def hear(self, step: Step, reply: Reply) -> None:
        """Remember what an answer tells of the object or the list that was asked for."""
        # A page that came too late tells where an inconsistent rest begins.
        if (reply.status >= 300 and reply.status != 410) or not isinstance(reply.body, dict):
            return
        metadata = reply.body.get("metadata") or {}
        place = step.path.partition("?")[0]
        for part in ("/status", "/finalize"):
            place = place.removesuffix(part)
        if step.method == "POST" and "name" in metadata:
            place = f"{place}/{metadata['name']}"
        if "dryRun=" in step.path:
            return
        for name, field in (("uid", "uid"), ("rv", "resourceVersion"), ("continue", "continue")):
            if field in metadata:
                self.known[f"{name}:{place}"] = metadata[field]


class InProcess:
    """The sandbox without a shell: its controllers are never stepped, so only the run writes."""

    def __init__(self) -> None:
        self._sandbox = Sandbox(kubernetes_definitions("1.36"), seed=3, tokens={_TOKEN: _ADMIN})
        self._told = Told()

    def answer(self, step: Step) -> Reply:
        """Answer one request; a watch is told of what has happened so far."""
        answer = self._handled(step)
        if isinstance(answer, Response):
            return self._whole(step, answer)
        reply = Reply(200, decoded(answer.take(time.time())), (), answer.content_type)
        answer.close()
        return reply

    def open(self, step: Step) -> Opened:
        """Open a watch; its time is then run through at once."""
        answer, begun = self._handled(step), time.time()
        if isinstance(answer, Response):
            return partial(self._whole, step, answer)
        return partial(self._ended, answer, begun)

    def _ended(self, watch: Stream, now: float) -> Reply:
        told = [watch.take(now)]
        while not watch.ended and watch.due is not None:
            now = max(now, watch.due)
            told.append(watch.take(now))
        watch.close()
        return Reply(200, decoded(b"".join(told)), (), watch.content_type)

    def _handled(self, step: Step) -> Answer:
        known = self._told.known
        headers = {"User-Agent": AGENT, "Content-Type": step.media, **step.headers}
        headers["Authorization"] = f"Bearer {_TOKEN}"
        body = step.sent_body(known)
        if body is None:
            del headers["Content-Type"]
        request = Request.of(step.method, filled(step.path, known), body or b"", headers)
        return self._sandbox.handle(request, time.time())

    def _whole(self, step: Step, answer: Response) -> Reply:
        warnings = tuple(text for name, text in answer.headers if name == "Warning")
        reply = Reply(answer.status, decoded(answer.body), warnings, answer.content_type)
        self._told.hear(step, reply)
        return reply


class OverHttps:
    """A real API server over one connection that stays open; `log` is what it wrote down."""

    def __init__(
        self, url: str, token: str, trust: ssl.SSLContext, log: Callable[[], str] = str
    ) -> None:
        self._place, self._trust, self._log = urlsplit(url).netloc, trust, log
        self._kept = Kept(self._place, trust)
        self._token = token
        self._told = Told()

    def answer(self, step: Step) -> Reply:
        """Answer one request."""
        return self._read(step, self._asked(step, self._kept))

    def open(self, step: Step) -> Opened:
        """Open a watch on a connection of its own."""
        connection = Kept(self._place, self._trust)
        answer = self._asked(step, connection)

        def read() -> Reply:
            with contextlib.closing(connection):
                return self._read(step, answer)

        return read

    def _asked(self, step: Step, connection: Kept) -> http.client.HTTPResponse:
        known = self._told.known
        body = step.sent_body(known)
        headers = {"User-Agent": AGENT, "Authorization": f"Bearer {self._token}", **step.headers}
        if body is not None:
            headers["Content-Type"] = step.media
        try:
            return connection.ask(step.method, filled(step.path, known), body, headers)
        except OSError as error:
            # A handler that panics is told there alone: the connection just ends.
            said = "\n".join(self._log().splitlines()[-_LAST_LINES:])
            error.add_note(f"the API server wrote last:\n{said}")
            raise

    def _read(self, step: Step, answer: http.client.HTTPResponse) -> Reply:
        text = answer.read()
        warnings = tuple(answer.headers.get_all("Warning") or ())
        reply = Reply(answer.status, decoded(text), warnings, answer.headers.get_content_type())
        self._told.hear(step, reply)
        return reply

    def close(self) -> None:
        """Close the connection."""
        self._kept.close()


def decoded(text: bytes) -> Any:
    """Decode JSON, or the JSON lines of a watch, or give the text."""
    try:
        return json.loads(text)
    except ValueError:
        lines = [line for line in text.decode().splitlines() if line]
    try:
        return {"watch": [json.loads(line) for line in lines]}
    except ValueError:
        return text.decode()


@contextlib.contextmanager
def lonely_api_server() -> Iterator[OverHttps]:
    """Run a real API server on which nobody else writes: no controllers, scheduler, kubelets."""
    parts = Parts(
        with_controllers=False,
        with_scheduler=False,
        with_kwok=False,
        taints_nodes=True,
        past_revisions=_PAST_REVISIONS,
    )
    with ControlPlane(parts) as cluster:
        trust = ssl.create_default_context(cafile=str(cluster.authority_file))
        server = OverHttps(
            cluster.url, cluster.admin_token, trust, lambda: cluster.log("kube-apiserver")
        )
        with contextlib.closing(server):
            yield server
