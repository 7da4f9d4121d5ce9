"""A finalizer holds a namespace that somebody deleted: others go on, and it comes back."""

import json
from collections import Counter

import pytest

from reconciler.model.holds import HoldKind
from reconciler.sandbox.requests import Request, Response
from tests.loop.rooms.house import Playhouse
from tests.loop.rooms.mishaps import MERGE
from tests.loop.rooms.test_refusing_clusters import HOUR, are_standing, play, ready, scene
from tests.loop.virtual_time import in_virtual_time

pytestmark = pytest.mark.long

FINALIZER = "example.com/billing"
MOST_REQUESTS = 100
"""Of an hour about a workload whose namespace ends: one for each step of the back-off, and its
record's."""


def _finalize(there: Playhouse, finalizers: list[str]) -> None:
    """Let a stranger hold the arena's namespace, or let go of it."""
    body = json.dumps({"metadata": {"finalizers": finalizers}}).encode()
    request = Request.of("PATCH", "/api/v1/namespaces/arena", body, MERGE)
    answer = there.world.sandbox.handle(request, there.world.time.at)
    assert isinstance(answer, Response)
    assert answer.status == 200
    there.changed()


def stuck(there: Playhouse) -> str:
    """Return what the arena's record tells of what does not end, "" for nothing."""
    (key,) = (key for key in there.services[0].lane.wanted.keys if key.name == "arena")
    conditions = there.services[0].lane.store.state(key).conditions
    return next((each.message for each in conditions if each.reason == HoldKind.STUCK), "")


def test_a_namespace_that_does_not_end_for_an_hour_stops_nobody_else() -> None:
    async def main() -> None:
        async with scene() as (there, wish):
            _finalize(there, [FINALIZER])
            there.world.delete("/api/v1/namespaces/arena")
            there.changed()
            await play(there, 60.0)
            assert not there.world.pods("arena")
            assert "namespace arena because it is being terminated" in ready(there)["message"]
            assert FINALIZER in stuck(there), "status names what holds it"
            wish.change("lobby", 6, 1)
            began = len(there.writes)
            await play(there, 120.0)
            assert len(there.world.pods("lobby")) == 6, "others are not disturbed"
            await play(there, HOUR - 180.0)
            about = [call for call in there.writes[began:] if "arena" in call.path]
            assert len(about) <= MOST_REQUESTS, Counter(call.what for call in about)
            _finalize(there, [])
            took = await there.until("it is made anew", lambda: are_standing(there, 4, 6), 330.0)
            await there.until("that is told no more", lambda: not stuck(there), 30.0)
            print(f"{len(about)} writes in an hour; made anew {took:.0f} s after its end")

    in_virtual_time(main())
