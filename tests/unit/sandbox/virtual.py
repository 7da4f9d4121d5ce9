"""A sandbox in virtual time: nothing passes unless a test lets it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reconciler.assets import kubernetes_definitions
from reconciler.sandbox.access import User
from reconciler.sandbox.behaviour import Behaviour, NodeShape
from reconciler.sandbox.cluster import Sandbox
from reconciler.sandbox.requests import Json, Request, Response
from reconciler.sandbox.verbs.watch import Watch

START = 1_800_000_000.0
PODS = "/api/v1/namespaces/default/pods"
TWO_NODES = (NodeShape("n1", cpu="2"), NodeShape("n2", cpu="2"))


@dataclass
class Virtual:
    """A sandbox and its clock (Unix seconds)."""

    sandbox: Sandbox
    now: float = START
    headers: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, url: str, body: object = None, media: str = "") -> Response:
        """Send one request."""
        data = b"" if body is None else json.dumps(body).encode()
        sent = {**self.headers, "content-type": media or "application/json"}
        answer = self.sandbox.handle(Request.of(method, url, data, sent), self.now)
        assert isinstance(answer, Response)
        return answer

    def read(self, method: str, url: str, body: object = None, media: str = "") -> Json:
        """Send one request and decode the answer."""
        value: Json = json.loads(self.ask(method, url, body, media).body)
        return value

    def make(self, url: str, body: object) -> Json:
        """Create an object that must be accepted."""
        answer = self.ask("POST", url, body)
        assert answer.status == 201, answer.body
        value: Json = json.loads(answer.body)
        return value

    def watch(self, url: str) -> Watch:
        """Open a watch."""
        answer = self.sandbox.handle(Request.of("GET", url, b"", self.headers), self.now)
        assert isinstance(answer, Watch)
        return answer

    def told(self, watch: Watch) -> list[tuple[str, str]]:
        """Take what a watch has to tell: type, and name or code."""
        lines = [json.loads(line) for line in watch.take(self.now).splitlines()]
        return [(one["type"], _about(one["object"])) for one in lines]

    def let(self, seconds: float, step: float = 0.1) -> None:
        """Let time pass in small steps."""
        until = self.now + seconds
        while self.now < until:
            self.now = min(self.now + step, until)
            self.sandbox.step(self.now)

    def pod(self, name: str, **spec: Any) -> Json:
        """Create a pod in the default namespace; `image` and `notes` are short forms."""
        container = {"name": "c", "image": spec.pop("image", "game:1"), **spec.pop("container", {})}
        notes, labels = spec.pop("notes", {}), spec.pop("labels", {})
        metadata = {"name": name, "annotations": notes, "labels": labels}
        return self.make(PODS, {"metadata": metadata, "spec": {"containers": [container], **spec}})

    def status(self, name: str) -> Json:
        """Read the status of a pod."""
        status: Json = self.read("GET", f"{PODS}/{name}")["status"]
        return status


def _about(value: Json) -> str:
    return str(value["metadata"].get("name") or value.get("code", ""))


def virtual(
    *,
    nodes: Sequence[NodeShape] = TWO_NODES,
    tokens: dict[str, User] | None = None,
    **behaviour: Any,
) -> Virtual:
    """Make a sandbox in virtual time."""
    habits = Behaviour(**behaviour)
    sandbox = Sandbox(
        kubernetes_definitions("1.36"),
        seed=1,
        nodes=nodes,
        behaviour=habits,
        tokens=tokens,
        now=START,
    )
    return Virtual(sandbox)
