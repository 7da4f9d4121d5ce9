"""What `gamekeeper sandbox` runs beside its cluster: a process per room, and the whole service."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.settings import Settings

if TYPE_CHECKING:
    from reconciler.sandbox.http import SandboxServer

INSTANCE = "sandbox"
HERE = "127.0.0.0/8"
TOLD_TO = ("GAMEKEEPER_API_URL", "API_SERVER_URL")
"""Variables that tell a room where to report; inside a cluster they lead nowhere from here."""


@dataclass(frozen=True, slots=True)
class Living:
    """What is to live in a sandbox. `repo` is "" where the service runs elsewhere or not at all."""

    repo: str = ""
    branch: str = "main"
    room_command: str = ""
    rooms_listen: str = ""
    rooms_url: str = ""

    @property
    def reached_at(self) -> str:
        """The address of every node: processes of rooms listen on this machine."""
        return "127.0.0.1" if self.room_command else ""

    def command(self) -> list[str]:
        """Return the command of a room in words. Raises Failure where it cannot be run."""
        flag = f"--room-command {self.room_command}"
        try:
            words = shlex.split(self.room_command)
        except ValueError as error:
            raise Failure(f"{flag}: {error}", fix="Quote it as for a shell") from error
        if words and shutil.which(words[0]) is None:
            raise Failure(
                f"{flag}: there is no program {words[0]}", fix="Name one that is on PATH, or a path"
            )
        return words

    def check(self) -> None:
        """Raise Failure for what can be found before anything starts."""
        words = self.command()
        if self.repo and ":" not in self.repo and not os.path.isdir(self.repo):
            raise Failure(
                f"--repo {self.repo}: there is no such directory on this machine",
                fix="Name a repository that is there, or its URL",
            )
        if words and not self.repo and not self.rooms_url:
            raise Failure(
                "--room-command without --repo: where do rooms report to?",
                "No service runs in this sandbox then",
                "Add --repo, or --rooms-url with the address at which your service hears rooms",
            )


@asynccontextmanager
async def living(
    wanted: Living, server: SandboxServer, folder: Path, kubeconfig: Path, console: Console
) -> AsyncIterator[asyncio.Task[None] | None]:
    """Let it live in a sandbox that is served; yields the task of the service, if it runs."""
    from reconciler.sandbox.room_places import RoomPlaces
    from reconciler.sandbox.room_processes import RoomProcesses

    told = dict.fromkeys(TOLD_TO, wanted.rooms_url.rstrip("/")) if wanted.rooms_url else {}
    async with AsyncExitStack() as stack:
        if wanted.room_command:
            places = RoomPlaces(server.sandbox, folder / "rooms", told, time.time)
            rooms = RoomProcesses(wanted.command(), places, server.notice)
            server.sandbox.run_with(await stack.enter_async_context(rooms))
        if not wanted.repo:
            yield None
            return
        serving, url = await stack.enter_async_context(
            _served(_settings(wanted, folder, kubeconfig), console)
        )
        for name in TOLD_TO:
            told.setdefault(name, url)
        yield serving


def _settings(wanted: Living, folder: Path, kubeconfig: Path) -> Settings:
    return Settings(
        repo=wanted.repo,
        branch=wanted.branch,
        instance=INSTANCE,
        kubeconfig=str(kubeconfig),
        cache_dir=str(folder / "cache"),
        lease=False,
        rooms_listen=wanted.rooms_listen,
        rooms_without_token=HERE,
        rooms_url=wanted.rooms_url or f"http://{wanted.rooms_listen}",
    )


@asynccontextmanager
async def _served(
    settings: Settings, console: Console
) -> AsyncIterator[tuple[asyncio.Task[None], str]]:
    """Run the whole service; yields its task and where it hears rooms."""
    # Late: the whole service is a third of a second, and a bare sandbox needs none of it.
    from reconciler.service import logs
    from reconciler.wiring.listening import hearing_rooms
    from reconciler.wiring.serving import opened_app

    logs.configure(settings.log_level, settings.log_format, console.err)
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(opened_app(settings))
        try:
            place = await stack.enter_async_context(hearing_rooms(service))
        except OSError as error:
            why = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
            raise Failure(
                f"cannot hear rooms at {settings.rooms_listen}",
                why,
                "Choose another --rooms-listen",
            ) from error
        url = f"http://{place}"
        console.note(f"Rooms report to {url}; {url}/ lists those that take players.")
        serving = asyncio.create_task(service.run())
        try:
            yield serving, url
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
