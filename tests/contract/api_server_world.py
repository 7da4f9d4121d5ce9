"""Any API server as raw HTTP: what the contract says to the sandbox and to the real one."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import itertools
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from reconciler.assets import kubernetes_definitions
from reconciler.sandbox.behaviour import Behaviour, nodes
from reconciler.sandbox.cluster import Sandbox
from reconciler.sandbox.http import SandboxServer
from tests.controlplane.cluster import ControlPlane

Json = dict[str, Any]

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"

_NUMBERS = itertools.count(1)
_PATIENCE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: status, decoded body (text when it is no JSON), header names in lower case."""

    status: int
    body: Any
    headers: dict[str, str]

    @property
    def message(self) -> str:
        """Give the message of a Status."""
        return str(self.body.get("message", ""))

    @property
    def metadata(self) -> Json:
        """Give the metadata of an object."""
        metadata: Json = self.body["metadata"]
        return metadata


class Speaker:
    """A client that adds nothing to what a test says."""

    def __init__(self, url: str, token: str = "", trust: ssl.SSLContext | None = None) -> None:
        self._place, self._token, self._trust = urlsplit(url).netloc, token, trust

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        media: str = "application/json",
        **headers: str,
    ) -> Reply:
        """Send one request and read the whole answer."""
        sent = {"User-Agent": "contract/1", **headers}
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        if body is not None:
            sent["Content-Type"] = media
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        with contextlib.closing(self._connection()) as connection:
            connection.request(method, path, data, sent)
            answer = connection.getresponse()
            text = answer.read()
            named = {name.lower(): value for name, value in answer.getheaders()}
        return Reply(answer.status, _decoded(text), named)

    def _connection(self) -> http.client.HTTPConnection:
        if self._trust is None:
            return http.client.HTTPConnection(self._place, timeout=_PATIENCE_SECONDS)
        return http.client.HTTPSConnection(
            self._place, timeout=_PATIENCE_SECONDS, context=self._trust
        )

    def make(self, path: str, body: object) -> Json:
        """Create an object that must be accepted."""
        reply = self.ask("POST", path, body)
        assert reply.status == 201, reply.body
        made: Json = reply.body
        return made

    def watch(self, path: str, seconds: int = 2) -> list[Json]:
        """Read a watch until the server ends it."""
        joint = "&" if "?" in path else "?"
        reply = self.ask("GET", f"{path}{joint}watch=true&timeoutSeconds={seconds}")
        assert reply.status == 200, reply.body
        lines = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
        return [json.loads(line) for line in lines.splitlines() if line]

    def until(self, path: str, holds: Callable[[Reply], object]) -> Reply:
        """Ask for an object until something holds of the answer."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            reply = self.ask("GET", path)
            if holds(reply):
                return reply
            time.sleep(0.02)
        raise AssertionError(f"it never held of {path}: {reply.body}")

    def namespace(self) -> str:
        """Make a namespace in which pods can be made, and give its path."""
        name = f"contract-{time.time_ns() // 1000}-{next(_NUMBERS)}"
        self.make("/api/v1/namespaces", {"metadata": {"name": name}})
        path = f"/api/v1/namespaces/{name}"
        # The controllers make both, each in its own time.
        for made in ("serviceaccounts/default", "configmaps/kube-root-ca.crt"):
            self.until(f"{path}/{made}", lambda reply: reply.status == 200)
        return path


def _decoded(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.decode()


@contextlib.contextmanager
def served(sandbox: Sandbox) -> Iterator[SandboxServer]:
    """Serve a sandbox from a thread of its own."""
    loop = asyncio.new_event_loop()
    server = SandboxServer(sandbox)
    loop.run_until_complete(server.__aenter__())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


def quick_sandbox() -> Sandbox:
    """Make a sandbox of three nodes whose delays suit tests."""
    behaviour = Behaviour(start_seconds=0.05, stop_seconds=0.1, namespace_seconds=0.1)
    return Sandbox(kubernetes_definitions("1.36"), seed=7, nodes=nodes(3), behaviour=behaviour)


@contextlib.contextmanager
def sandbox_speaker() -> Iterator[Speaker]:
    """Speak to a sandbox over HTTP."""
    with served(quick_sandbox()) as server:
        yield Speaker(server.url)


def real_speaker(cluster: ControlPlane) -> Speaker:
    """Speak to the real control plane as its administrator."""
    trust = ssl.create_default_context(cafile=str(cluster.authority_file))
    return Speaker(cluster.url, cluster.admin_token, trust)


def pod(name: str, **spec: Any) -> Json:
    """Write a pod that no scheduler takes, so that it stays as it is."""
    container = {"name": "c", "image": "game:1"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "a"}},
        "spec": {"schedulerName": "nobody", "containers": [container], **spec},
    }


def running_pod(name: str, **spec: Any) -> Json:
    """Write a pod that a kubelet takes in."""
    return pod(name, **{"schedulerName": "default-scheduler", **spec})


def config_map(name: str, **data: str) -> Json:
    """Write a ConfigMap."""
    head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    return {**head, "data": data} if data else head


def is_ready(reply: Reply) -> bool:
    """Tell whether a pod is ready."""
    conditions = reply.body.get("status", {}).get("conditions", ())
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
