"""The API server's clock: what ages on objects are judged by, whatever this machine says."""

import time
from argparse import Namespace
from email.utils import formatdate
from types import SimpleNamespace

import pytest

from reconciler.adapters.kubernetes.calls import Limits
from reconciler.adapters.kubernetes.client import open_cluster
from reconciler.adapters.kubernetes.connect import connect
from reconciler.adapters.kubernetes.kubeconfig import ConnectionFlags
from reconciler.adapters.kubernetes.server_clock import ServerClock
from reconciler.cli import drain
from reconciler.model import labels
from reconciler.model.errors import Unavailable
from reconciler.model.rooms import Why
from reconciler.sandbox.http import SandboxServer
from reconciler.settings import Settings
from reconciler.wiring.clusters import make_one_cluster, make_sandbox
from tests.unit.adapters_kubernetes.fault_server import faulty, says
from tests.unit.cli.screens import console

HOUR = 3600.0


@pytest.mark.parametrize("date", ["", "yesterday", "Sun, 99 Nov 2026 20:00:00 GMT"])
def test_what_is_no_date_tells_nothing(date: str) -> None:
    clock = ServerClock()
    clock.heard(date)
    assert abs(clock.now() - time.time()) < 5


def test_the_servers_time_runs_on_and_a_clock_that_is_set_moves_it_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, began = ServerClock(), time.time()
    clock.heard(formatdate(began - HOUR, usegmt=True))
    monkeypatch.setattr(time, "time", lambda: began + HOUR)
    assert -1 < clock.now() - (began - HOUR) < 5
    # One that has just come is not read: the next one is, in its time.
    clock.heard(formatdate(began, usegmt=True))
    assert clock.now() < began - HOUR / 2
    monkeypatch.setattr("reconciler.adapters.kubernetes.server_clock.READ_EVERY_SECONDS", 0.0)
    clock.heard(formatdate(began, usegmt=True))
    assert -1 < clock.now() - began < 5


async def test_each_answer_tells_it_also_of_those_who_go_apart() -> None:
    told = time.time() - HOUR
    async with faulty(says(200, {"items": []}, Date=formatdate(told, usegmt=True))) as (server, _):
        clock = ServerClock()
        connection = connect(ConnectionFlags(server=server.url), {"HOME": "/none"})
        cluster = open_cluster(connection, "test", limits=Limits(qps=0), clock=clock)
        await cluster.apart().list("v1", "Pod")
        assert -1 < clock.now() - told < 5
        await cluster.close()


async def test_a_proxy_that_answers_for_the_server_does_not_tell_its_time() -> None:
    wrong = formatdate(time.time() - HOUR, usegmt=True)
    async with faulty(says(502, Date=wrong)) as (server, _):
        clock = ServerClock()
        connection = connect(ConnectionFlags(server=server.url), {"HOME": "/none"})
        cluster = open_cluster(connection, "test", limits=Limits(qps=0), clock=clock)
        with pytest.raises(Unavailable):
            await cluster.create(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}
            )
        await cluster.close()
    assert abs(clock.now() - time.time()) < 5


async def test_a_process_that_starts_with_its_clock_ahead_ends_no_match_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with make_sandbox(1, "127.0.0.1", 0) as server:
        settings = Settings(instance="main", server=server.url)
        await _leaving(server, settings, time.time() - 100)
        # Only ours: the sandbox lives in this process too.
        ours = SimpleNamespace(time=lambda: time.time() + HOUR, monotonic=time.monotonic)
        monkeypatch.setattr("reconciler.adapters.kubernetes.server_clock.time", ours)
        monkeypatch.setattr("reconciler.wiring.clock.time", ours)
        one = make_one_cluster(settings)
        await one.view.read()
        found = one.view.room("arena", "arena-0")
        await one.cluster.close()
    assert found is not None
    pod = found[1]
    assert pod.leaving is Why.SCALE_IN
    assert 90 < one.view.elapsed() - pod.seen.left < 200


async def test_who_drains_a_room_with_a_clock_that_is_behind_shortens_no_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with make_sandbox(1, "127.0.0.1", 0) as server:
        settings = Settings(instance="main", server=server.url)
        await _room(server, settings)
        ours = SimpleNamespace(time=lambda: time.time() - HOUR, monotonic=time.monotonic)
        monkeypatch.setattr("reconciler.adapters.kubernetes.server_clock.time", ours)
        monkeypatch.setattr("reconciler.cli.leavers.time", ours)
        words = Namespace(target="arena/arena-0", undo=False, output="text")
        assert await drain._drain(words, settings, None, console()) == 0
        one = make_one_cluster(settings)
        await one.view.read()
        found = one.view.room("arena", "arena-0")
        await one.cluster.close()
    assert found is not None
    assert found[1].leaving is Why.REQUEST
    assert abs(found[1].leaving_since - time.time()) < HOUR / 2


async def _leaving(server: SandboxServer, settings: Settings, at: float) -> None:
    """Make a room that was told to leave."""
    told = {labels.LEAVING: Why.SCALE_IN.value, labels.LEAVING_SINCE: str(at)}
    await _room(server, settings, **told)


async def _room(server: SandboxServer, settings: Settings, **told: str) -> None:
    cluster = open_cluster(connect(ConnectionFlags(server=server.url), {}), settings.instance)
    names = {labels.INSTANCE: "main", labels.WORKLOAD: "arena", labels.KIND: "Scheduler"}
    metadata = {"name": "arena-0", "namespace": "arena", "labels": names, "annotations": told}
    spec = {"containers": [{"name": "server", "image": "arena:1"}]}
    await cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "arena"}})
    await cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    await cluster.close()
