"""The rooms' listener in front of a service: what a room says reaches its desk by the door."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from reconciler.adapters.http.api import RoomsApi
from reconciler.adapters.http.server import Caps, serving_rooms
from reconciler.model.holds import Hold
from reconciler.model.refs import WorkloadKey
from reconciler.service.faces import address_of, address_text
from reconciler.wiring.clock import SystemClock
from reconciler.wiring.serving import Serving


def make_rooms_api(service: Serving) -> RoomsApi:
    """Return what answers rooms, matchmakers and people, without a socket."""
    store = service.app.cluster_lane.lane.store

    def asked(key: WorkloadKey) -> tuple[int, tuple[Hold, ...]]:
        return store.state(key).in_effect, store.holds(key)

    counted, now = service.rooms.reported, SystemClock().now
    return RoomsApi(service.desk, service.door, now, counted, asked, service.app.fleets())


@asynccontextmanager
async def hearing_rooms(service: Serving) -> AsyncIterator[str]:
    """Listen where the settings say and yield the address, "" where they say nowhere.

    Raises Misconfigured.
    """
    settings = service.settings
    if not settings.rooms_listen:
        yield ""
        return
    host, port = address_of(settings.rooms_listen, "--rooms-listen")
    caps = Caps(settings.rooms_connections, settings.rooms_connections_per_peer)
    async with serving_rooms(make_rooms_api(service), host, port, caps) as (bound, number):
        yield address_text(bound, number)
