"""Which requests a fault strikes, and what is left of them."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from reconciler.sandbox.faults import Fault
from reconciler.sandbox.http import SandboxServer
from tests.unit.sandbox.virtual import PODS, virtual

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.mark.parametrize(
    ("chosen", "struck"),
    [
        pytest.param({}, ["create", "get", "list", "delete", "health"], id="no choice means all"),
        pytest.param({"verbs": ("create", "get")}, ["create", "get"], id="by verb"),
        pytest.param({"kind": "Config*"}, ["create", "get", "list", "delete"], id="by kind"),
        pytest.param({"kind": "Pod"}, [], id="another kind"),
        pytest.param({"name": "room-*"}, ["create", "get", "delete"], id="a create has its name"),
        pytest.param({"name": "hall-*"}, [], id="another name"),
        pytest.param({"namespace": "def*"}, ["create", "get", "list", "delete"], id="by namespace"),
        pytest.param({"namespace": "arena"}, [], id="another namespace"),
    ],
)
def test_a_fault_strikes_what_it_means(chosen: dict[str, Any], struck: list[str]) -> None:
    v = virtual()
    v.sandbox.faults.plant(Fault(times=None, status=418, **chosen))
    asked = {
        "create": v.ask("POST", MAPS, {"metadata": {"name": "room-1"}}),
        "get": v.ask("GET", f"{MAPS}/room-1"),
        "list": v.ask("GET", MAPS),
        "delete": v.ask("DELETE", f"{MAPS}/room-1"),
        "health": v.ask("GET", "/healthz"),
    }
    assert [verb for verb, answer in asked.items() if answer.status == 418] == struck
    assert v.sandbox.faults.struck == len(struck)


def test_a_subresource_is_no_object() -> None:
    v = virtual()
    v.pod("a")
    v.sandbox.faults.plant(Fault(kind="Pod/eviction", status=418))
    assert v.ask("GET", f"{PODS}/a").status == 200
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}}
    assert v.ask("POST", f"{PODS}/a/eviction", body).status == 418


def test_every_third_is_the_third_the_sixth_and_so_on() -> None:
    v = virtual()
    v.sandbox.faults.plant(Fault(times=2, every=3, status=418))
    seen = [v.ask("GET", MAPS).status for _ in range(10)]
    assert [at for at, status in enumerate(seen, start=1) if status == 418] == [3, 6]


def test_a_share_is_struck_by_lot_and_the_same_lot_from_the_same_seed() -> None:
    def struck(seed: int) -> list[int]:
        v = virtual()
        v.sandbox.faults.plant(Fault(times=None, share=0.3, seed=seed, status=418))
        return [v.ask("GET", MAPS).status for _ in range(200)]

    assert struck(1) == struck(1)
    assert struck(1) != struck(2)
    assert 40 <= struck(1).count(418) <= 80


def test_a_watch_that_is_struck_has_no_reader() -> None:
    v = virtual()
    v.sandbox.faults.plant(Fault(verbs=("watch",), status=503, executed=True))
    assert v.ask("GET", f"{PODS}?watch=true").status == 503
    assert not any(shelf.watchers for shelf in v.sandbox.world.store.shelves.values())


@pytest.mark.parametrize(
    ("executed", "status_after"),
    [
        pytest.param(False, 404, id="the request never arrived"),
        pytest.param(True, 200, id="only its answer was lost"),
    ],
)
async def test_what_is_dropped_is_not_answered(executed: bool, status_after: int) -> None:
    server = SandboxServer(virtual().sandbox)
    async with server, aiohttp.ClientSession(server.url) as session:
        server.faults.plant(Fault(verbs=("create",), dropped=True, executed=executed))
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await session.post(MAPS, json={"metadata": {"name": "a"}})
        async with session.get(f"{MAPS}/a") as answer:
            assert answer.status == status_after
