from reconciler.loop import requests
from reconciler.service.head_lane import HeadService
from tests.loop.world import World, spec


class Silent:
    """Hears everything and says nothing."""

    def looked(self, wanted: object, reading: object, seconds: float) -> None:
        """Hear."""

    def blind(self, error: object) -> None:
        """Hear."""

    def stumbled(self, error: object) -> None:
        """Hear."""


async def test_a_request_that_met_a_failing_look_is_answered_by_the_next_one() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    process = await world.process()
    await process.view.read()
    service = HeadService(process.head, world.time, Silent(), lambda: True, lambda wanted: None)
    await requests.ask(process.cluster, service.request_ref, "main", "r1")
    service.record_changed(service.request_ref)
    world.host.down()
    await service._look()
    assert await requests.pending(process.cluster, service.request_ref) == "r1"
    world.host.fault = None
    await service._look()
    assert await requests.pending(process.cluster, service.request_ref) == ""
