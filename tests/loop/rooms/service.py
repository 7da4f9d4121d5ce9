"""`gamekeeper run` with its rooms' API, in virtual time."""

from typing import Any

from reconciler.adapters.http.api import RoomsApi
from reconciler.service.doors.codes import RoomCodes
from reconciler.service.doors.door import Rules, open_door
from reconciler.service.doors.networks import Silent
from reconciler.service.lease import Leading
from reconciler.service.rooms.desk import RoomDesk
from tests.canaries.places import canary
from tests.loop.scaling.house import ScalingService
from tests.loop.service import Service
from tests.loop.virtual_time import elapsed
from tests.loop.wires import Weather
from tests.loop.world import World


def _key() -> bytes:
    return canary("room codes' key").encode()


class RoomService(Service):
    """One process, which also hears rooms: each is believed from the address of its own pod."""

    def __init__(self, world: World, name: str, weather: Weather, *more: Any) -> None:
        super().__init__(world, name, weather, *more)
        cluster = self.lane.cluster
        self.desk = RoomDesk(
            self.lane,
            self.kube.apart().fenced(lambda: self.app.may_write()),
            world.time,
            Leading(self.may_act, lambda: self.app.look_who_leads()),
            lambda key: self.app.touched([key]),
            elapsed=elapsed,
        )
        self.lane.reports = self.desk.book
        self.view.room_changed = self.desk.room_changed
        self.lane.codes = codes = RoomCodes(cluster, "gamekeeper", elapsed, _key)
        self.lane.rooms_url = "http://gamekeeper-rooms.gamekeeper.svc"
        rules = Rules("main", Silent(own_address=True))
        door = open_door(self.kube.apart(), self.view, self.clock, elapsed, rules, codes)
        self.api = RoomsApi(self.desk, door, self.clock.now)
        self.app._parts.desk = self.desk


class Player(RoomService, ScalingService):
    """One that decides counts and commits them, too."""
