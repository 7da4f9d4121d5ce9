"""Counts of a folder that is read (`--path`) land at their full path, and nowhere beside it."""

import asyncio

from tests.loop.safety import Bounds
from tests.loop.scaling.house import scaled, stage
from tests.loop.scaling.test_landing import FROM_EIGHT
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import CONFIG

EU, US = "envs/eu/schedulers/arena.yaml", "envs/us/schedulers/arena.yaml"


def test_a_count_lands_in_the_folder_alone_and_makes_none_that_vanished() -> None:
    async def main() -> None:
        files = {"envs/eu/gamekeeper.yaml": CONFIG, EU: scaled(2, FROM_EIGHT)}
        files |= {"envs/us/gamekeeper.yaml": CONFIG, US: scaled(3, FROM_EIGHT)}
        async with stage(files, {"arena": Bounds(30, 0)}, path="envs/eu") as there:
            host = there.world.host
            before = host.commits[host.branches["main"]].files
            there.start("one")
            await there.until("six rooms", lambda: there.rooms() == 6, 500.0)
            await there.until("a commit", lambda: len(there.subjects()) == 3, 75.0)
            after = host.commits[host.branches["main"]].files
            changed = {path: text for path, text in after.items() if before.get(path) != text}
            assert changed == {EU: before[EU].replace(b"replicas: 2", b"replicas: 6", 1)}
            there.world.commit({path: None for path in files if path.startswith("envs/eu/")})
            gone = there.head()
            await asyncio.sleep(1000.0)
            assert there.head() == gone
            assert there.rooms() == 6

    in_virtual_time(main())
