"""Row 25 on a line that stops forwarding and hangs up on nobody: half-open connections."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from reconciler.adapters.kubernetes.calls import Limits
from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.service import reflector
from tests.contract.cluster_world import ApiServer
from tests.contract.test_cluster_view import PATIENCE_SECONDS, Watched, until
from tests.listening import listening

SILENCE_SECONDS = 4.0
"""Here a watch to which nothing happens is as silent: it is opened again and again."""


class Line:
    """Forwards to a server, until it swallows what comes on the connections that are open."""

    def __init__(self, host: str, port: int) -> None:
        self._to = host, port
        self._swallows: list[asyncio.Event] = []

    def swallow(self) -> None:
        """Let nothing more of the server's arrive on any connection that is open now."""
        for each in self._swallows:
            each.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        swallows = asyncio.Event()
        self._swallows.append(swallows)
        there_reader, there_writer = await asyncio.open_connection(*self._to)
        try:
            await asyncio.gather(
                _forward(reader, there_writer, asyncio.Event()),
                _forward(there_reader, writer, swallows),
            )
        finally:  # also where the test ends in the middle
            there_writer.close()


async def _forward(
    source: asyncio.StreamReader, target: asyncio.StreamWriter, swallows: asyncio.Event
) -> None:
    with suppress(OSError):
        while piece := await source.read(65_536):
            if not swallows.is_set():
                target.write(piece)
                await target.drain()
    target.close()


@asynccontextmanager
async def lined(
    api_server: ApiServer, folder: Path
) -> AsyncIterator[tuple[Line, KubernetesCluster]]:
    """Open a client whose connections go over a line."""
    config = yaml.safe_load(api_server.admin.read_text(encoding="utf-8"))
    place = config["clusters"][0]["cluster"]
    there = urlsplit(place["server"])
    line = Line(there.hostname or "", there.port or 443)
    async with listening(line.serve) as port:
        place["server"] = f"{there.scheme}://127.0.0.1:{port}"
        admin = folder / "lined.kubeconfig"
        admin.write_text(json.dumps(config), encoding="utf-8")
        limits = Limits(qps=0, silence_seconds=SILENCE_SECONDS)
        cluster = ApiServer(admin, admin).client("contract", limits=limits)
        try:
            yield line, cluster
        finally:
            await cluster.close()


async def test_what_happens_behind_a_line_that_swallows_is_known_after_the_silence(
    api_server: ApiServer, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reflector, "SILENT_SECONDS", SILENCE_SECONDS - 1)
    async with lined(api_server, tmp_path) as (line, cluster):
        here = Watched(cluster, namespace)
        running = asyncio.create_task(here.view.run())
        try:
            await asyncio.wait_for(here.view.synced(), PATIENCE_SECONDS)
            direct = api_server.client()
            await direct.create(here.room(0))
            await until(lambda: len(here.rooms()) == 1)
            pods = here.view.followed[0]
            line.swallow()
            failed = pods.failures.total()
            await direct.create(here.room(1))
            await until(lambda: len(here.rooms()) == 2)
            assert pods.failures.total() > failed
        finally:
            running.cancel()
            await asyncio.wait([running])
