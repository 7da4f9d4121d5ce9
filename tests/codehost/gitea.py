"""A real Gitea on the loopback address: an administrator, repositories, protection, tokens."""

from __future__ import annotations

import base64
import getpass
import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.codehost.build import find, home
from tests.controlplane.processes import ServerGroup, free_ports

START_SECONDS = 180.0
ADMIN = ("keeper", "a-long-passw0rd")


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a user; `identity` is how Gitea knows it."""

    identity: int
    text: str


class Refused(Exception):
    """The API answered with an error; the text holds what it said."""


@contextmanager
def gitea_server() -> Iterator[Gitea]:
    """Run a Gitea for the length of a block; everything of it is in a folder that goes with it."""
    program = find()
    with ServerGroup("gitea") as group:
        server = Gitea(program)
        server.start(group)
        yield server


class Gitea:
    """What is asked of one Gitea."""

    def __init__(self, program: Path) -> None:
        self._program = program
        (self._port,) = free_ports(1)

    def start(self, group: ServerGroup) -> None:
        """Write its settings, make its administrator, and wait until it answers."""
        settings = group.folder / "app.ini"
        settings.write_text(self._settings(str(group.folder)), encoding="utf-8")
        config = ["--config", str(settings), "--work-path", str(group.folder)]
        self._run("migrate", *config)
        name, password = ADMIN
        who = ["--admin", "--username", name, "--password", password]
        who += ["--email", f"{name}@example.test", "--must-change-password=false"]
        self._run("admin", "user", "create", *who, *config)
        group.start("gitea", [str(self._program), "web", *config])
        group.wait_until(self._answers, what="gitea to answer", deadline_seconds=START_SECONDS)

    def url(self, repository: str) -> str:
        """Return the address of a repository, told as owner/name."""
        return f"http://127.0.0.1:{self._port}/{repository}.git"

    def make_user(self, name: str) -> None:
        """Make a user with the administrator's password."""
        told = {"username": name, "email": f"{name}@example.test", "password": ADMIN[1]}
        self.ask("POST", "admin/users", {**told, "must_change_password": False})

    def make_repository(self, name: str, writer: str = "") -> str:
        """Make a repository of the administrator with a first commit on main; return owner/name."""
        told = {"name": name, "auto_init": True, "default_branch": "main", "private": True}
        self.ask("POST", "user/repos", told)
        if writer:
            path = f"repos/{ADMIN[0]}/{name}/collaborators/{writer}"
            self.ask("PUT", path, {"permission": "write"})
        return f"{ADMIN[0]}/{name}"

    def protect(self, repository: str, branch: str) -> None:
        """Let nobody push to a branch."""
        told = {"rule_name": branch, "enable_push": False}
        self.ask("POST", f"repos/{repository}/branch_protections", told)

    def write(self, repository: str, file: str, text: str, message: str = "By hand") -> None:
        """Write a file of `main` in Gitea's editor, in a commit of its own."""
        path = f"repos/{repository}/contents/{file}"
        told: dict[str, Any] = {"branch": "main", "message": message}
        told["content"] = base64.b64encode(text.encode()).decode()
        try:
            known = self.ask("GET", f"{path}?ref=main")
        except Refused:
            self.ask("POST", path, told)
        else:
            self.ask("PUT", path, {**told, "sha": known["sha"]})

    def call(self, repository: str, address: str, secret: str) -> int:
        """Have an address called at each push, signed by a secret; return what ends that."""
        config = {"url": f"http://{address}/webhook", "content_type": "json", "secret": secret}
        told = {"type": "gitea", "events": ["push"], "active": True, "config": config}
        return int(self.ask("POST", f"repos/{repository}/hooks", told)["id"])

    def call_no_more(self, repository: str, hook: int) -> None:
        """End what `call` began."""
        self.ask("DELETE", f"repos/{repository}/hooks/{hook}")

    def merge(self, repository: str, number: int) -> None:
        """Merge a pull request, as soon as Gitea has found out whether that can be done."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self.ask("POST", f"repos/{repository}/pulls/{number}/merge", {"Do": "merge"})
            except Refused as refused:
                if "try again later" not in str(refused) or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                return

    def archive(self, repository: str) -> None:
        """Make a repository read-only."""
        self.ask("PATCH", f"repos/{repository}", {"archived": True})

    def head(self, repository: str, branch: str = "main") -> str:
        """Return the commit of a branch."""
        told = self.ask("GET", f"repos/{repository}/branches/{branch}")
        return str(told["commit"]["id"])

    def log(self, repository: str, branch: str = "main") -> list[str]:
        """Return the ids of the commits of a branch, newest first."""
        told = self.ask("GET", f"repos/{repository}/commits?sha={branch}&limit=50")
        return [str(entry["sha"]) for entry in told]

    def make_token(self, user: str, scope: str = "write:repository") -> Token:
        """Make a token of a user."""
        told = {"name": f"for-{scope.replace(':', '-')}", "scopes": [scope]}
        made = self.ask("POST", f"users/{user}/tokens", told, user=user)
        return Token(made["id"], made["sha1"])

    def revoke(self, user: str, token: Token) -> None:
        """Make a token worthless."""
        self.ask("DELETE", f"users/{user}/tokens/{token.identity}", user=user)

    def ask(self, method: str, path: str, told: Any = None, *, user: str = ADMIN[0]) -> Any:
        """Ask the API; return what it answered, None for nothing.

        Raises:
            Refused: it answered with an error.
        """
        login = base64.b64encode(f"{user}:{ADMIN[1]}".encode()).decode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}/api/v1/{path}",
            method=method,
            data=None if told is None else json.dumps(told).encode(),
            headers={"Authorization": f"Basic {login}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                body = answer.read()
        except urllib.error.HTTPError as error:
            with error:
                said = error.read().decode("utf-8", "replace")
            raise Refused(f"{method} {path}: {error.code} {said}") from error
        return json.loads(body) if body else None

    def _run(self, *words: str) -> None:
        done = subprocess.run([str(self._program), *words], capture_output=True, text=True)
        if done.returncode:
            raise Refused(f"gitea {words[0]}: {(done.stdout + done.stderr).strip()[-2000:]}")

    def _answers(self) -> bool:
        with suppress(OSError, Refused):
            return bool(self.ask("GET", "version"))
        return False

    def _settings(self, folder: str) -> str:
        return f"""\
RUN_USER = {getpass.getuser()}
RUN_MODE = prod
; Continuous integration runs as root in its container; this one ends with the test.
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {self._port}
ROOT_URL = http://127.0.0.1:{self._port}/
STATIC_ROOT_PATH = {home()}
APP_DATA_PATH = {folder}/data
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = {folder}/gitea.db
[repository]
ROOT = {folder}/repositories
[security]
INSTALL_LOCK = true
SECRET_KEY = only-for-tests
[service]
DISABLE_REGISTRATION = true
[session]
PROVIDER = memory
[log]
MODE = console
LEVEL = Warn
[actions]
ENABLED = false
[webhook]
ALLOWED_HOST_LIST = loopback
[indexer]
ISSUE_INDEXER_TYPE = db
"""
