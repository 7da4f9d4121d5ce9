"""A count that was decided and that a person takes back is told, with who it was."""

import logging

import pytest

from tests.loop.scaling.house import FILE, scaled, scene
from tests.loop.virtual_time import in_virtual_time

FROM_EIGHT = [{"from": "08:05", "to": "20:00", "replicas": 6}]


def test_who_took_a_decided_count_back_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    told: list[str] = []

    async def main() -> None:
        async with scene(scaled(2, FROM_EIGHT)) as there:
            there.start("one")
            await there.until("six rooms", lambda: there.rooms() == 6, 500.0)
            assert there.count_in_git() == 2, "it is on its way"
            commit = there.world.commit({FILE: scaled(4, FROM_EIGHT)})
            await there.until("four rooms", lambda: there.rooms() == 4, 90.0)
            lost = "6, which was decided, is dropped"
            told.append(f"memory <memory@example.test> set 4 in commit {commit[:12]}: {lost}")

    with caplog.at_level(logging.INFO, "gamekeeper"):
        in_virtual_time(main())
    assert [record.getMessage() for record in caplog.records].count(told[0]) == 1
