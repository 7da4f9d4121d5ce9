"""One request answered by `git http-backend`, git's own CGI program."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.gitservers.repositories import git_environment


@dataclass(frozen=True, slots=True)
class Call:
    """A request as the CGI program wants it."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    user: str


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def answer(root: Path, call: Call) -> Reply:
    """Let `git http-backend` answer for the repositories under `root`."""
    path, _, query = call.path.partition("?")
    variables = {
        "GIT_PROJECT_ROOT": str(root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "REQUEST_METHOD": call.method,
        "CONTENT_TYPE": call.headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(call.body)),
        "HTTP_CONTENT_ENCODING": call.headers.get("Content-Encoding", ""),
        "GIT_PROTOCOL": call.headers.get("Git-Protocol", ""),
        "REMOTE_USER": call.user,
        "REMOTE_ADDR": "127.0.0.1",
    }
    done = subprocess.run(
        ["git", "http-backend"],
        input=call.body,
        capture_output=True,
        env=git_environment(**variables),
    )
    head, found, body = done.stdout.partition(b"\r\n\r\n")
    if not found:
        return Reply(500, (), done.stderr)
    status, headers = 200, []
    for line in head.decode().split("\r\n"):
        name, _, text = line.partition(": ")
        if name == "Status":
            status = int(text.split()[0])
        else:
            headers.append((name, text))
    return Reply(status, tuple(headers), body)
