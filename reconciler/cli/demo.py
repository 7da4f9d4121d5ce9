"""`gamekeeper demo`: the whole story on one laptop: Git, a cluster in this process, the loop."""

import asyncio
import logging
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from reconciler.cli.console import Console
from reconciler.cli.demo_players import Players
from reconciler.cli.demo_scaling import NAME, SCALING_STORY, ScalingChapter
from reconciler.cli.demo_stage import Stage, Unfulfilled
from reconciler.cli.demo_story import STORY, Chapter
from reconciler.cli.options import add_own, own_of
from reconciler.cli.places import check_empty
from reconciler.setting_rows import Row
from reconciler.settings import Settings
from reconciler.wiring.clusters import make_sandbox

EXAMPLE = """\
gamekeeper demo"""

NODES = 4
HERE = "127.0.0.0/8"
KEEP = Row(
    "keep",
    str,
    "",
    "",
    "make the repository and the kubeconfig in this new directory, and keep them",
    command="demo",
)


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_own(parser, KEEP)


def run(arguments: Namespace, console: Console) -> int:
    """Tell the story; 1 where a chapter did not come true."""
    logging.getLogger().setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="gamekeeper-demo-") as scratch:
        folder = Path(own_of(arguments, console.environment, KEEP) or scratch)
        check_empty(folder, "demo")
        folder.mkdir(parents=True, exist_ok=True)
        return asyncio.run(_tell(folder, console))


async def _tell(folder: Path, console: Console) -> int:
    # Late: the whole service is a third of a second, and `demo --help` needs none of it.
    from reconciler.wiring.listening import hearing_rooms
    from reconciler.wiring.serving import opened_app

    host, kubeconfig = folder / "fleet.git", folder / "kubeconfig"
    async with make_sandbox(NODES, "127.0.0.1", 0) as sandbox:
        sandbox.write_kubeconfig(kubeconfig)
        settings = Settings(
            repo=str(host),
            instance="demo",
            kubeconfig=str(kubeconfig),
            cache_dir=str(folder / "cache"),
            lease=False,
            rooms_listen="127.0.0.1:0",
            rooms_without_token=HERE,
        )
        stage = Stage(console, folder / "fleet", settings)
        await stage.prepare(host)
        async with opened_app(settings) as service, hearing_rooms(service) as address:
            serving = asyncio.create_task(service.run())
            try:
                await _play(stage, serving, f"http://{address}")
            except Unfulfilled as error:
                console.note(f"{console.paint('error:', 'red', on=console.err)} {error}")
                return 1
            finally:
                serving.cancel()
                await asyncio.gather(serving, return_exceptions=True)
                await stage.close()
    return 0


async def _play(stage: Stage, serving: "asyncio.Task[None]", rooms_url: str) -> None:
    """Play the chapters in order; a service that ends early ends the story.

    Players come by way of `rooms_url`, where the rooms of the last chapters report.
    """
    players = Players(stage, rooms_url, NAME)
    living = asyncio.create_task(players.run())
    story: list[tuple[str, Chapter]] = [*STORY]
    story += [(title, _among(players, chapter)) for title, chapter in SCALING_STORY]
    try:
        for number, (title, chapter) in enumerate(story, 1):
            stage.open_chapter(number, title)
            await _play_one(chapter(stage), serving)
    finally:
        living.cancel()
        await asyncio.gather(living, return_exceptions=True)
    stage.close_story()


def _among(players: Players, chapter: ScalingChapter) -> Chapter:
    return lambda stage: chapter(stage, players)


async def _play_one(chapter: Coroutine[Any, Any, None], serving: "asyncio.Task[None]") -> None:
    playing = asyncio.create_task(chapter)
    done, _ = await asyncio.wait((playing, serving), return_when=asyncio.FIRST_COMPLETED)
    if serving in done:
        playing.cancel()
        await serving
        raise Unfulfilled("the loop ended before the story did")
    await playing
