"""What `gamekeeper sandbox` runs beside its cluster: a process per room, and the whole service."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import secrets
import shlex
import shutil
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.settings import Settings

if TYPE_CHECKING:
    from reconciler.sandbox.http import SandboxServer
    from reconciler.sandbox.players.demand import Demand

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
    players: int = 0
    players_trace: str = ""
    players_speed: int = 60
    odd_rooms: int = 0
    seed: int = 0

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

    def demand(self) -> Demand:
        """Return how many want to play at which time. Raises Failure for a trace that is none."""
        from reconciler.sandbox.players.demand import Tide, Trace

        speed = float(self.players_speed)
        if not self.players_trace:
            # Its fullest hour is 1 + swing + noise times the mean.
            mean = self.players / 1.7
            return Tide(mean, seed=self.seed, period_seconds=86_400.0 / speed)
        flag = f"--players-trace {self.players_trace}"
        try:
            text = Path(self.players_trace).read_text("utf-8")
            return Trace.read(text, most=self.players, began=time.time(), speed=speed)
        except OSError as error:
            raise Failure(f"{flag}: {error.strerror}", fix="Name a file that is there") from error
        except (ValueError, IndexError, ZeroDivisionError) as error:
            raise Failure(
                f"{flag}: it is no list of players by time",
                fix="Write a line time,players and then lines as 2025-03-17T13:01:45Z,1428491",
            ) from error

    def check(self) -> None:
        """Raise Failure for what can be found before anything starts."""
        words = self.command()
        if self.repo and ":" not in self.repo and not os.path.isdir(self.repo):
            raise Failure(
                f"--repo {self.repo}: there is no such directory on this machine",
                fix="Name a repository that is there, or its URL",
            )
        if (self.players_trace or self.odd_rooms) and not self.players:
            flag = "--players-trace" if self.players_trace else "--odd-rooms"
            raise Failure(f"{flag} without --players: how many want to play?", fix="Add --players")
        if self.players:
            self.demand()
        if words and self.players:
            raise Failure(
                "--room-command and --players: a room is either a process or a simulated game",
                fix="Leave out one of them",
            )
        if (words or self.players) and not self.repo and not self.rooms_url:
            flag = "--room-command" if words else "--players"
            raise Failure(
                f"{flag} without --repo: where do rooms report to?",
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
        if wanted.players:
            await stack.enter_async_context(_peopled(wanted, server, told))
        if not wanted.repo:
            yield None
            return
        token, admins = _administrator(folder)
        settings = _settings(wanted, folder, kubeconfig, admins)
        serving, url = await stack.enter_async_context(_served(settings, console))
        _tell_administrator(console, url, token)
        for name in TOLD_TO:
            told.setdefault(name, url)
        yield serving


@asynccontextmanager
async def _peopled(
    wanted: Living, server: SandboxServer, told: Mapping[str, str]
) -> AsyncIterator[None]:
    """Let simulated games be played in the pods, and people come to them."""
    # Late: a bare sandbox needs no client.
    import random

    from reconciler.sandbox.players.crowd import send_players
    from reconciler.sandbox.players.troupe import Troupe
    from reconciler.sandbox.players.wire import connected

    demand = wanted.demand()
    chance = random.Random(wanted.seed)  # noqa: S311 (players, and no secret)
    async with connected(lambda: told.get(TOLD_TO[0], "")) as wire:
        troupe = Troupe(wire, server.notice, chance, wanted.odd_rooms / 100)
        server.sandbox.run_with(troupe)
        coming = asyncio.create_task(send_players(troupe, wire, demand, chance), name="players")
        try:
            yield
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)
            await troupe.close()


def _administrator(folder: Path) -> tuple[Path, Path]:
    """Let in whoever runs the sandbox; return the file of their token, and that of admins.

    The token itself is never printed: a terminal's output is copied and kept.
    """
    token, admins = folder / "rooms-token", folder / "rooms-admins.yaml"
    text = secrets.token_urlsafe(32)
    token.touch(mode=0o600)
    token.write_text(text, encoding="utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()
    verbs = ["read", "drain", "commit"]
    entry = {"name": INSTANCE, "sha256": digest, "schedulers": "*", "verbs": verbs}
    admins.write_text(json.dumps([entry]), encoding="utf-8")
    return token, admins


def _tell_administrator(console: Console, url: str, token: Path) -> None:
    """Print what `rooms`, `room` and `explain` need to ask the service what rooms say."""
    console.print(f"export GAMEKEEPER_ROOMS_API={url}")
    console.print(f"export GAMEKEEPER_ROOMS_API_TOKEN_FILE={shlex.quote(str(token))}")
    console.out.flush()


def _settings(wanted: Living, folder: Path, kubeconfig: Path, admins: Path) -> Settings:
    return Settings(
        repo=wanted.repo,
        branch=wanted.branch,
        instance=INSTANCE,
        kubeconfig=str(kubeconfig),
        cache_dir=str(folder / "cache"),
        rooms_listen=wanted.rooms_listen,
        rooms_without_token=HERE,
        rooms_admin_tokens_file=str(admins),
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
        console.note(f"Rooms report to {url}; {url}/ lists those that run.")
        serving = asyncio.create_task(service.run())
        try:
            yield serving, url
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
