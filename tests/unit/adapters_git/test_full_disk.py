"""The disk of the mirror is full at each of its writes, of git's and of ours: a real, small disk.

What stands on the host is never wrong, the mirror is not thrown away, what is told names the disk,
and once there is room the same mirror lands what it could not.
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from tests.gitservers.repositories import BareRepository, git_environment

pytestmark = pytest.mark.long

FILE, AFTER = "rooms/arena.yaml", "replicas: 5\n"
ALONE = ["unshare", "--user", "--map-root-user", "--mount"]
"""In namespaces of its own whoever runs the tests may mount a disk in memory."""
PAGE_KIB = 4


@pytest.fixture(scope="module")
def _may_mount() -> None:
    tried = subprocess.run([*ALONE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True)
    if tried.returncode:
        pytest.skip(f"no disk may be mounted here: {tried.stderr.decode().strip()}")


async def _mirrored(host: BareRepository, cache: Path) -> None:
    mirror = Mirror(Source(f"file://{host.path}"), str(cache))
    await mirror.fetch()
    await mirror.close()


@pytest.mark.usefixtures("_may_mount")
@pytest.mark.parametrize(
    ("unit", "step", "where", "fewest"),
    [
        pytest.param("size", PAGE_KIB, "empty", 12, id="no page left for an empty cache"),
        pytest.param("size", PAGE_KIB, "behind", 8, id="no page left beside a mirror"),
        pytest.param("nr_inodes", 1, "empty", 25, id="no file left for an empty cache"),
        pytest.param("nr_inodes", 1, "behind", 12, id="no file left beside a mirror"),
    ],
)
def test_a_disk_that_is_full_at_any_write_costs_no_commit_and_no_mirror(
    tmp_path: Path, unit: str, step: int, where: str, fewest: int
) -> None:
    host = BareRepository.create(tmp_path / "srv", "fleet.git")
    host.commit({FILE: "replicas: 3\n", "gamekeeper.yaml": "kind: Config\n"}, "Start")
    disk, kept = tmp_path / "disk", tmp_path / "kept"
    disk.mkdir()
    if where == "behind":
        asyncio.run(_mirrored(host, kept))
        host.commit({FILE: "replicas: 4\n"}, "A person scales it out")
    asked = {
        "disk": str(disk),
        "kept": str(kept) if where == "behind" else "",
        "unit": unit,
        "step": step,
        "host": str(host.path),
        "head": host.head(),
        "file": FILE,
        "text": AFTER,
    }
    done = subprocess.run(
        [*ALONE, sys.executable, "-m", "tests.unit.adapters_git.full_disk"],
        input=json.dumps(asked),
        env=git_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-1500:]
    found: list[dict[str, Any]] = json.loads(done.stdout)
    print(f"full {len([each for each in found if each['said']])} times, {unit}, {where}")
    assert len([each for each in found if each["said"]]) >= fewest
    for each in found:
        if each["said"]:
            assert each["said"].startswith("Unavailable: "), each
            assert "disk" in each["said"], "it tells what to make room on"
            assert "damaged" not in each["said"], each
        assert each["stood"] == ("0" if each["said"] else "1"), each
        assert not each["later"], each
        assert each["authors"] == "Gamekeeper", each
        assert each["text"] == AFTER.strip(), each
        assert all(each["sound"]), each
