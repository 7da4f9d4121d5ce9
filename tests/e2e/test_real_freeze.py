"""A freeze on a real control plane: what people changed waits, is shown, and acts by itself."""

import asyncio
import os
import subprocess
import time
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import pytest
import yaml

from reconciler.cli import demo_stage
from reconciler.cli.console import Console
from reconciler.cli.demo_stage import Stage
from reconciler.cli.demo_story import scheduler
from reconciler.service.lookout import written
from reconciler.settings import Settings
from tests.controlplane.cluster import Parts
from tests.e2e.test_real_story import ACCOUNT, PROGRAM, installed, running
from tests.gitservers.http import HttpGitServer
from tests.gitservers.repositories import BareRepository

pytestmark = pytest.mark.real

FROZEN_SECONDS = 90.0
"""In quiet a third of this is enough for all that is seen while it lasts."""
PATIENCE_SECONDS = 100.0


def _config(until: float) -> str:
    window = {"name": "cup", "from": written(until - 3600), "until": written(until)}
    spec = {"freeze": [{**window, "reason": "the final"}]}
    document = {"apiVersion": "gamekeeper.dev/v1", "kind": "Config", "spec": spec}
    return yaml.safe_dump(document, sort_keys=False)


def _suspended(until: float) -> str:
    document = yaml.safe_load(scheduler("lobby", 4))
    document["spec"]["suspend"] = {"reason": "the database moves", "until": written(until)}
    return yaml.safe_dump(document, sort_keys=False)


async def _said(stage: Stage, *words: str, settings: Mapping[str, str], code: int = 0) -> str:
    """Return what a command prints."""
    process = await asyncio.to_thread(
        subprocess.run,
        [str(PROGRAM), *words],
        cwd=stage.repository,
        env={**os.environ, **settings, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == code, process.stdout + process.stderr
    return process.stdout


async def _story(stage: Stage, settings: Mapping[str, str]) -> None:
    await stage.commit("Two fleets", arena=scheduler("arena", 2), lobby=scheduler("lobby", 2))

    async def first() -> bool:
        return [len(await stage.ready_rooms(name)) for name in ("arena", "lobby")] == [2, 2]

    await stage.until("both are there", first)
    until = time.time() + FROZEN_SECONDS
    (stage.repository / "gamekeeper.yaml").write_text(_config(until), encoding="utf-8")
    await stage.commit("A freeze, and a suspended lobby", lobby=_suspended(until + 5))

    async def is_shown() -> bool:
        return "frozen until" in await _said(stage, "status", settings=settings)

    await stage.until("status says that it is frozen", is_shown)
    await stage.commit("A third room", arena=scheduler("arena", 3, "1.1"))
    said = await _said(stage, "diff", "HEAD~1", "HEAD", settings={}, code=2)
    assert 'by "cup" (gamekeeper.yaml:5: the final)' in said
    assert "to let it act before then: gamekeeper approve" in said
    (gone, *_) = await stage.rooms("arena")
    await stage.delete_room(gone["metadata"]["name"], "arena")

    async def is_healed() -> bool:
        rooms = await stage.ready_rooms("arena", ":1.0")
        return len(rooms) == 2 and gone["metadata"]["uid"] not in {
            room["metadata"]["uid"] for room in rooms
        }

    await stage.until("a room that is gone is replaced, as it was accepted", is_healed)
    said = await _said(stage, "status", settings=settings)
    assert "held: Scheduler/arena" in said or "Scheduler/arena" in said.partition("held:")[2], said
    assert time.time() < until, "this machine is too slow for this test"
    assert len(await stage.rooms("arena")) == 2

    async def has_acted() -> bool:
        return len(await stage.ready_rooms("arena", ":1.1")) == 3

    while time.time() < until:
        frozen = await stage.ready_rooms("arena", ":1.0")
        # What was read after the end may be another story.
        assert len(frozen) == 2 or time.time() >= until
        await asyncio.sleep(0.5)
    await stage.until("what waited acts by itself", has_acted)

    async def has_resumed() -> bool:
        return len(await stage.ready_rooms("lobby")) == 4

    await stage.until("what was suspended is so no more", has_resumed)
    assert time.time() < until + FROZEN_SECONDS

    async def is_shown_no_more() -> bool:
        return "frozen" not in await _said(stage, "status", settings=settings)

    await stage.until("status says it no more", is_shown_no_more)


def test_a_freeze_holds_what_people_change_and_ends_by_itself(tmp_path: Path) -> None:
    BareRepository.create(tmp_path / "git", "fleet.git")
    with installed(Parts()) as cluster, HttpGitServer(tmp_path / "git") as host:
        settings = {
            "REPO": host.url("fleet.git"),
            "INSTANCE": "main",
            "KUBECONFIG": str(cluster.kubeconfig_for(ACCOUNT)),
            "POLL_SECONDS": "1",
            "CACHE_DIR": str(tmp_path / "cache"),
            "GIT_CERTIFICATE_AUTHORITY_FILE": str(host.authority_file),
        }
        person = Settings(
            repo=host.url("fleet.git"), instance="main", kubeconfig=str(cluster.kubeconfig)
        )
        asked = {"GAMEKEEPER_INSTANCE": "main", "KUBECONFIG": str(cluster.kubeconfig)}
        said = StringIO()

        async def play() -> None:
            stage = Stage(Console(said, said), tmp_path / "work", person)
            await stage.prepare()
            try:
                config = "apiVersion: gamekeeper.dev/v1\nkind: Config\n"
                (stage.repository / "gamekeeper.yaml").write_text(config, encoding="utf-8")
                await _story(stage, asked)
            finally:
                await stage.close()
                print(said.getvalue())

        with running(settings), pytest.MonkeyPatch.context() as patch:
            # The demo's is meant for a machine of which it has the whole.
            patch.setattr(demo_stage, "PATIENCE_SECONDS", PATIENCE_SECONDS)
            for name, text in host.environment().items():
                patch.setenv(name, text)
            asyncio.run(play())
