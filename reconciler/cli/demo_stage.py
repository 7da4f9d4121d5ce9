"""What the demo's chapters act with: Git, the cluster seen from outside, and a narrator."""

import asyncio
import time
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

from reconciler.cli.console import Console
from reconciler.cli.output import print_table
from reconciler.core.conditions import STALLED
from reconciler.loop.approvals import approval_body
from reconciler.loop.store import RecordStore
from reconciler.model import labels
from reconciler.model.errors import Misconfigured, PortError
from reconciler.model.refs import Json, ObjectRef
from reconciler.settings import Settings
from reconciler.wiring.clusters import make_cluster

PATIENCE_SECONDS = 25.0
LOOK_SECONDS = 0.05
IDENTITY = (
    "-c",
    "user.name=Ada",
    "-c",
    "user.email=ada@studio.example",
    "-c",
    "commit.gpgsign=false",
)


class Unfulfilled(Exception):
    """What a chapter promises did not come true in time."""


class Stage:
    """The scene of the demo. Everything that it knows it reads from Git and the API server.

    Commits are pushed where `settings.repo` is another repository than the one here.
    """

    def __init__(self, console: Console, repository: Path, settings: Settings) -> None:
        self.console = console
        self._pushes = settings.repo != str(repository)
        self.repository = repository
        self.cluster = make_cluster(settings)
        self._settings = settings
        self._started = self._acted = time.monotonic()

    async def prepare(self, host: Path | None = None) -> None:
        """Make the repository, and the one that is pushed to where it is to be `host`."""
        self.repository.mkdir()
        if host is not None:
            await self._git("init", "--quiet", "--bare", "-b", "main", str(host))
        await self._git("init", "--quiet", "-b", "main")
        if self._pushes:
            await self._git("remote", "add", "origin", self._settings.repo)

    async def close(self) -> None:
        """Close the connection."""
        await self.cluster.close()

    def open_chapter(self, number: int, title: str) -> None:
        """Head a chapter."""
        self.console.print(self.console.paint(f"\n{number}. {title}", "bold"))

    def close_story(self) -> None:
        """End the story."""
        took = time.monotonic() - self._started
        self.console.print(
            f"\nAll of it came true, in {took:.0f} s. Next: gamekeeper init my-fleet"
        )

    def say(self, text: str) -> None:
        """Tell one sentence."""
        self.console.print(f"   {text}")

    async def commit(self, message: str, **files: str | None) -> None:
        """Write or remove schedulers by name, and commit them."""
        for name, text in files.items():
            path = self.repository / "schedulers" / f"{name}.yaml"
            path.parent.mkdir(exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_text(text, encoding="utf-8")
        await self._git("add", "--all")
        await self._git(*IDENTITY, "commit", "--quiet", "--message", message)
        self.show_command(f'git commit -m "{message}"')
        await self._push()

    async def revert(self) -> None:
        """Take the last commit back, as a person would."""
        await self._git(*IDENTITY, "revert", "--no-edit", "HEAD")
        self.show_command("git revert HEAD")
        await self._push()

    async def pull(self) -> None:
        """Take in what others pushed, Gamekeeper too."""
        await self._git("pull", "--quiet", "--ff-only", "origin", "main")
        self.show_command("git pull")

    def begin(self, saying: str, what: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Let something happen beside the story, from now on."""
        self._acted = time.monotonic()
        self.say(saying)
        return asyncio.create_task(what)

    async def approve(self, change_hash: str) -> None:
        """Do what `gamekeeper approve` does."""
        self.show_command(f"gamekeeper approve {change_hash}")
        settings = self._settings
        self._acted = time.monotonic()
        body = approval_body(settings.namespace, settings.instance, change_hash, "Ada")
        await self.cluster.create(body)

    async def delete_room(self, name: str, namespace: str) -> None:
        """Delete a pod behind the loop's back."""
        pod = await self.cluster.get(ObjectRef("v1", "Pod", namespace, name))
        if pod is None:
            raise Unfulfilled(f"there is no room {name} to delete")
        metadata = pod["metadata"]
        ref = ObjectRef("v1", "Pod", namespace, name)
        self._acted = time.monotonic()
        await self.cluster.delete(ref, metadata["uid"], metadata["resourceVersion"])
        self.show_command(f"kubectl delete pod {name} -n {namespace}")

    async def rooms(self, namespace: str) -> list[Json]:
        """The rooms of a namespace that are not on their way out."""
        listing = await self.cluster.list("v1", "Pod", namespace, labels=labels.WORKLOAD)
        return [pod for pod in listing.items if "deletionTimestamp" not in pod["metadata"]]

    async def ready_rooms(self, namespace: str, image: str = "") -> list[Json]:
        """Those that are ready, of one image where it is named."""
        return [
            pod
            for pod in await self.rooms(namespace)
            if is_ready(pod) and image in pod["spec"]["containers"][0]["image"]
        ]

    async def records(self) -> RecordStore:
        """What the loop remembers, read afresh."""
        settings = self._settings
        store = RecordStore(self.cluster, settings.namespace, settings.instance)
        await store.load()
        return store

    async def stalled(self, name: str) -> str:
        """Why a scheduler is held, "" when it is not."""
        for key, record in (await self.records()).states().items():
            if key.name == name:
                stalled = [item for item in record.conditions if item.type == STALLED]
                return stalled[0].message if stalled and stalled[0].status else ""
        return ""

    async def namespace_exists(self, name: str) -> bool:
        """Whether there is a namespace."""
        return await self.cluster.get(ObjectRef("v1", "Namespace", "", name)) is not None

    async def until(self, promise: str, check: Callable[[], Awaitable[object]]) -> None:
        """Wait until `check` gives something true.

        Raises Unfulfilled after PATIENCE_SECONDS.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            with suppress(PortError):
                if await check():
                    self._told(promise)
                    return
            await asyncio.sleep(LOOK_SECONDS)
        raise Unfulfilled(f"{promise}: not within {PATIENCE_SECONDS:.0f} s")

    async def show_rooms(self, *namespaces: str) -> None:
        """Print the rooms as kubectl would."""
        rows = [
            (
                pod["metadata"]["name"],
                "1/1" if is_ready(pod) else "0/1",
                pod["spec"]["containers"][0]["image"].rpartition("/")[2],
                pod["spec"].get("nodeName", ""),
            )
            for namespace in namespaces
            for pod in await self.rooms(namespace)
        ]
        print_table(self.console, ("   room", "ready", "image", "node"), _indented(rows))

    def show_command(self, command: str) -> None:
        """Print a command line as a person would type it."""
        self.console.print(f"   {self.console.paint(f'$ {command}', 'cyan')}")

    def _told(self, promise: str) -> None:
        took = time.monotonic() - self._acted
        done = self.console.paint("ok", "green")
        self.console.print(f"   {done} {promise} ({took:.1f} s)")

    async def _push(self) -> None:
        if self._pushes:
            await self._git("push", "--quiet", "origin", "main")

    async def _git(self, *words: str) -> None:
        """Act with git, as a person would. Raises Misconfigured with what git said."""
        self._acted = time.monotonic()
        await self.ask_git(*words)

    async def ask_git(self, *words: str) -> str:
        """Run git in the repository and return what it says. Raises Misconfigured."""
        process = await asyncio.create_subprocess_exec(
            "git", *words, cwd=self.repository, stdout=PIPE, stderr=STDOUT
        )
        output, _ = await process.communicate()
        said = output.decode(errors="replace").strip()
        if process.returncode:
            raise Misconfigured(f"git {words[-1]} failed: {said}")
        return said


def _indented(rows: list[tuple[str, str, str, str]]) -> list[tuple[str, str, str, str]]:
    return [(f"   {name}", ready, image, node) for name, ready, image, node in rows]


def is_ready(pod: Json) -> bool:
    """Whether a pod is ready, as its kubelet says."""
    conditions = pod.get("status", {}).get("conditions") or ()
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
