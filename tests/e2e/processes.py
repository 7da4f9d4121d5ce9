"""Real processes for tests of the whole: a sandbox over HTTP, `gamekeeper run`, a repository."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.request import Request, urlopen

from reconciler.model.refs import Json
from tests.canaries.outputs import look, look_through_repository
from tests.canaries.places import canary
from tests.controlplane.api import Refused
from tests.controlplane.processes import free_ports

SANDBOX = """
import asyncio, json, sys, time
from pathlib import Path
from reconciler.sandbox.requests import Request
from reconciler.wiring.clusters import make_sandbox
from tests.canaries.places import HOLDERS, canary, places_in

def plant(sandbox):
    body = {"metadata": {"name": "theirs"}, "stringData": {"password": canary("object Secret")}}
    url, kind = "/api/v1/namespaces/default/secrets", {"content-type": "application/json"}
    request = Request.of("POST", url, json.dumps(body).encode(), kind)
    assert sandbox.handle(request, time.time()).status == 201

async def main():
    path = Path(sys.argv[1])
    server = make_sandbox(4, "127.0.0.1", 0)
    sandbox = server._sandbox
    plant(sandbox)
    handle, journal = sandbox.handle, path.with_name("journal").open("a", buffering=1)

    def told(request, now):
        answer = handle(request, now)
        if places_in(request.body) and not any(part in request.path for part in HOLDERS):
            with path.with_name("leaks").open("ab") as leaks:
                leaks.write(f"{request.method} {request.path}\\n".encode() + request.body)
        if request.method != "GET":
            who = request.headers.get("authorization", "").removeprefix("Bearer ")
            line = [time.monotonic(), who, request.method, request.path, answer.status]
            print(json.dumps(line), file=journal)
        return answer

    sandbox.handle = told
    async with server:
        server.write_kubeconfig(path.with_suffix(".new"), sys.argv[2])
        path.with_suffix(".new").rename(path)
        await asyncio.Event().wait()

asyncio.run(main())
"""
ROOT = Path(__file__).parents[2]
SLOWER = 4.0
"""How many times slower than by itself a machine may be that other tests keep busy."""
MOST_SECONDS = 600.0
"""After a quarter of an hour in one test the whole part of a run is ended."""
IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@studio.example", "-c", "commit.gpgsign=0")


@dataclass(frozen=True)
class Write:
    """A request that was to change something; `who` is the bearer token, `at` time.monotonic()."""

    at: float
    who: str
    method: str
    path: str
    status: int

    @property
    def took_effect(self) -> bool:
        """Whether it did."""
        return self.status < 300


class Fleet:
    """A bare repository, a sandbox in a process of its own, and the loops that are started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kubeconfig = folder / "kubeconfig"
        self.bare, self.tree = folder / "fleet.git", folder / "tree"
        self.loops: list[subprocess.Popen[bytes]] = []
        self.url = ""

    def found(self) -> None:
        """Make the repository."""
        self._git(self.folder, "init", "--quiet", "--bare", "-b", "main", str(self.bare))
        self._git(self.folder, "init", "--quiet", "-b", "main", str(self.tree))
        self._git(self.tree, "remote", "add", "origin", str(self.bare))

    def commit(self, **files: str) -> None:
        """Commit and push files; a double underscore in a name stands for a slash."""
        for name, text in files.items():
            path = self.tree / f"{name.replace('__', '/')}.yaml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self._git(self.tree, "add", "--all")
        self._git(self.tree, *IDENTITY, "commit", "--quiet", "--allow-empty", "-m", "change")
        self._git(self.tree, "push", "--quiet", "origin", "main")

    def pull(self) -> None:
        """Take in what others pushed."""
        self._git(self.tree, "pull", "--quiet", "--ff-only", "origin", "main")

    def start_loop(self, cache: str = "cache", *flags: str) -> subprocess.Popen[bytes]:
        """Start `gamekeeper run`; without flags alone, with no lease."""
        words = ["run", "--repo", str(self.bare), "--instance", "main"]
        words += ["--kubeconfig", str(self.kubeconfig), "--cache-dir", str(self.folder / cache)]
        words += flags or ("--no-lease", "--poll-seconds", "1", "--listen", "127.0.0.1:0")
        program = str(Path(sys.executable).with_name("gamekeeper"))
        log = (self.folder / f"{cache}.log").open("ab")
        with log:
            loop = subprocess.Popen([program, *words], stdout=log, stderr=log)
        self.loops.append(loop)
        return loop

    def log(self, cache: str = "cache") -> str:
        """What the loops have said; of a line that is just written there may be a part."""
        return (self.folder / f"{cache}.log").read_text(encoding="utf-8", errors="replace")

    def journal(self) -> list[Write]:
        """What was written so far, by anybody."""
        # After the last end of a line there may be a part of one that is just written.
        lines = (self.folder / "journal").read_text(encoding="utf-8").split("\n")[:-1]
        return [Write(*json.loads(line)) for line in lines]

    def pods(self, namespace: str) -> list[Json]:
        """The pods of a namespace that are not on their way out."""
        items = self.ask(f"/api/v1/namespaces/{namespace}/pods")["items"]
        return [pod for pod in items if "deletionTimestamp" not in pod["metadata"]]

    def ask(self, path: str) -> Json:
        """Read from the cluster."""
        with urlopen(Request(self.url + path), timeout=60) as answer:
            found: Json = json.load(answer)
        return found

    def _git(self, folder: Path, *words: str) -> None:
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def _search(made: Fleet) -> None:
    """Look through what was written to the cluster and to the repository."""
    leaks = made.folder / "leaks"
    look("a write to the cluster", leaks.read_bytes() if leaks.exists() else b"")
    look_through_repository(made.bare)
    for kind in ("configmaps", "events"):
        made.ask(f"/api/v1/{kind}")  # whatever is read over HTTP is looked through


@contextmanager
def fleet(folder: Path) -> Iterator[Fleet]:
    """Start a sandbox and make a repository; end everything that was started in the end."""
    made = Fleet(folder)
    made.found()
    argv = [sys.executable, "-c", SANDBOX, str(made.kubeconfig), canary("cluster token")]
    sandbox = subprocess.Popen(argv, cwd=ROOT)
    try:
        until("the sandbox serves", made.kubeconfig.exists, 30.0)
        config = json.loads(made.kubeconfig.read_text(encoding="utf-8"))
        made.url = config["clusters"][0]["cluster"]["server"]
        yield made
        _search(made)
    finally:
        for process in (*made.loops, sandbox):
            process.kill()
            process.wait()


def free_address() -> str:
    """Return an address of this machine at which nobody listens, nor soon connects from."""
    return f"127.0.0.1:{free_ports(1)[0]}"


def until(promise: str, check: Callable[[], object], seconds: float) -> float:
    """Wait until `check` gives something true; return the seconds that it took.

    `seconds` is the patience where nobody else works: it is no promise, which a test asserts of
    what is returned.
    """
    started, trouble = time.monotonic(), ""
    patience = max(seconds, min(SLOWER * seconds, MOST_SECONDS))
    while time.monotonic() - started < patience:
        try:
            if check():
                return time.monotonic() - started
        # Who starts, ends or is killed says nothing, half of it, or that it cannot yet.
        except (OSError, HTTPException, Refused) as error:
            trouble = f"; it met {error!r}"
        time.sleep(0.05)
    raise AssertionError(f"{promise}: not within {patience:.0f} s{trouble}")
