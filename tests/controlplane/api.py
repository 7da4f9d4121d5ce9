"""A plain JSON client of the API server, for the harness and for tests; standard library only."""

from __future__ import annotations

import base64
import json
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said: the HTTP status and the decoded body."""

    status: int
    body: dict[str, Any]


class Refused(Exception):
    """The API server answered with an error status."""


@dataclass(frozen=True, slots=True)
class Api:
    """One user's view of an API server."""

    url: str
    token: str
    trust: ssl.SSLContext

    @classmethod
    def from_kubeconfig(cls, path: Path) -> Self:
        """Read a kubeconfig that the harness wrote (one cluster, one user with a token).

        Raises:
            ValueError: the file is of another making.
        """
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
            cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
            authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
            trust = ssl.create_default_context(cadata=authority)
            return cls(cluster["server"], user["token"], trust)
        except (json.JSONDecodeError, KeyError) as error:
            raise ValueError(f"{path} is not a kubeconfig of this harness") from error

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content_type: str = "application/json",
        timeout_seconds: float = 30.0,
    ) -> Answer:
        """Send one request and return the answer, whatever its status.

        Raises:
            OSError: there was no answer.
        """
        request = urllib.request.Request(
            self.url + path,
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": content_type},
        )
        try:
            with urllib.request.urlopen(
                request, timeout=timeout_seconds, context=self.trust
            ) as reply:
                return Answer(reply.status, _decoded(reply.read()))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, _decoded(error.read()))

    def demand(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Send one request and return the body of its success.

        Raises:
            Refused: the server answered with an error.
            OSError: there was no answer.
        """
        answer = self.ask(method, path, body)
        if answer.status >= 400:
            message = answer.body.get("message", answer.body)
            raise Refused(f"{method} {path}: {answer.status}: {message}")
        return answer.body


def _decoded(content: bytes) -> dict[str, Any]:
    try:
        decoded = json.loads(content)
    except ValueError:
        return {"text": content.decode(errors="replace")}
    return decoded if isinstance(decoded, dict) else {"text": decoded}
