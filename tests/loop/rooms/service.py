"""`gamekeeper run` with its rooms' API, in virtual time."""

import asyncio
from collections.abc import Iterable

from reconciler.adapters.http.api import RoomsApi
from reconciler.model.refs import WorkloadKey
from reconciler.service.doors.codes import RoomCodes
from reconciler.service.doors.door import Rules, open_door
from reconciler.service.doors.networks import Silent
from reconciler.service.rooms.desk import RoomDesk
from tests.loop.service import Service
from tests.loop.virtual_time import elapsed
from tests.loop.wires import Weather
from tests.loop.world import World


class RoomService(Service):
    """One process, which also hears rooms: each is believed from the address of its own pod."""

    def __init__(self, world: World, name: str, weather: Weather) -> None:
        super().__init__(world, name, weather)
        self.desk = RoomDesk(
            self.lane,
            self.lane.cluster,
            self.clock,
            self.may_act,
            lambda key: self.app.touched([key]),
            elapsed=elapsed,
        )
        self.lane.reports = self.desk.book
        codes = RoomCodes(self.lane.cluster, "gamekeeper", elapsed)
        rules = Rules("main", Silent(own_address=True))
        door = open_door(self.lane.cluster, self.view, self.clock, elapsed, rules, codes)
        self.api = RoomsApi(self.desk, door, self.clock.now)
        self.lease._changed = self._leadership_changed

    def start(self) -> None:
        """Start it."""
        self.task = asyncio.create_task(self.app.run(self.lease, [self.desk.run]))

    def _leadership_changed(self) -> None:
        self.app.leadership_changed()
        self.desk.forget()

    def _touched(self, keys: Iterable[WorkloadKey]) -> None:
        super()._touched(keys)
        self.desk.touched(keys)
