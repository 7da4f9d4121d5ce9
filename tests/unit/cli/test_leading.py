import asyncio
from pathlib import Path

import pytest

from reconciler.cli.lanes import opened_lanes
from reconciler.cli.leading import opened_leading
from reconciler.model.errors import Unavailable
from reconciler.model.refs import Json
from reconciler.settings import Settings
from reconciler.wiring.clusters import make_cluster, make_sandbox
from reconciler.wiring.leading import lease_ref
from tests.unit.cli.screens import console


def record(name: str) -> Json:
    metadata = {"name": name, "namespace": "gamekeeper"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


@pytest.mark.long
async def test_a_command_whose_lease_is_lost_writes_nothing_more(tmp_path: Path) -> None:
    async with make_sandbox(1, "127.0.0.1", 0) as server:
        server.write_kubeconfig(tmp_path / "kubeconfig")
        settings = Settings(instance="main", kubeconfig=str(tmp_path / "kubeconfig"))
        async with opened_leading(settings, console()) as (lanes, leading):
            await leading.take()
            await lanes.one.lane.cluster.create(record("before"))

            rival = make_cluster(settings)
            lease = await rival.get(lease_ref(settings))
            assert lease is not None
            lease["spec"]["holderIdentity"] = "another"
            await rival.replace(lease)
            await rival.close()
            async with asyncio.timeout(30.0):
                while leading.leads:  # noqa: ASYNC110 (a property tells, no event)
                    await asyncio.sleep(0.05)
            with pytest.raises(Unavailable, match="another process leads"):
                await lanes.one.lane.cluster.create(record("after"))


async def test_a_command_that_never_led_writes_nothing(tmp_path: Path) -> None:
    async with make_sandbox(1, "127.0.0.1", 0) as server:
        server.write_kubeconfig(tmp_path / "kubeconfig")
        settings = Settings(instance="main", kubeconfig=str(tmp_path / "kubeconfig"))
        async with opened_lanes(settings) as lanes:
            with pytest.raises(Unavailable, match="another process leads"):
                await lanes.one.lane.cluster.create(record("any"))
