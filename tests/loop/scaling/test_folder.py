"""Counts of one environment land where no other one reads them (`--path`, `--values`)."""

import asyncio

import pytest

from tests.loop.safety import Bounds
from tests.loop.scaling.counts import counts_of
from tests.loop.scaling.house import FILE, Habits, scaled, stage
from tests.loop.scaling.test_landing import FROM_EIGHT
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import CONFIG

EU, US = "envs/eu/schedulers/arena.yaml", "envs/us/schedulers/arena.yaml"


@pytest.mark.long
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


def test_a_folder_has_its_own_counts_on_a_branch_that_all_folders_share() -> None:
    async def main() -> None:
        apart = CONFIG.replace("{}", "{writeBack: {branch: counts}}")
        files = {"envs/eu/gamekeeper.yaml": apart, EU: scaled(2, FROM_EIGHT)}
        files |= {"envs/us/gamekeeper.yaml": apart, US: scaled(3, FROM_EIGHT)}
        async with stage(files, {"arena": Bounds(30, 0)}, path="envs/eu") as there:
            host = there.world.host
            host.protected["main"] = "changes go through merge requests"
            there.start("one")
            await there.until("a commit", lambda: "counts" in host.branches, 500.0)
            tracked = host.commits[host.branches["main"]].files
            counts = host.commits[host.branches["counts"]].files
            added = {path: counts_of(text) for path, text in counts.items() - tracked.items()}
            assert added == {"envs/eu/replicas.yaml": {"Scheduler/arena": 6}}
            await asyncio.sleep(600.0)
            assert there.rooms() == 6

    in_virtual_time(main())


@pytest.mark.long
def test_an_environments_counts_land_on_the_branch_that_its_values_name() -> None:
    async def main() -> None:
        head = "apiVersion: gamekeeper.dev/v1\nkind: Values\nspec:\n"
        values = f"{head}  config: {{writeBack: {{branch: counts-eu}}}}\n"
        files = {FILE: scaled(2, FROM_EIGHT), "environments/eu.yaml": values}
        habits = Habits(values=("environments/eu.yaml",))
        async with stage(files, {"arena": Bounds(30, 0)}, habits) as there:
            host = there.world.host
            before = host.branches["main"]
            there.start("one")
            await there.until("six rooms", lambda: there.rooms() == 6, 500.0)
            await there.until("a commit", lambda: "counts-eu" in host.branches, 75.0)
            counts = host.commits[host.branches["counts-eu"]].files
            assert counts_of(counts["replicas.yaml"]) == {"Scheduler/arena": 6}
            assert host.branches["main"] == before
            there.world.commit({"environments/eu.yaml": head})
            await asyncio.sleep(600.0)
            assert there.rooms() == 6, "a policy without a branch of its own holds its workload"
            assert host.branches["main"] == there.head()
            assert host.commits[there.head()].files[FILE].decode() == files[FILE]

    in_virtual_time(main())
