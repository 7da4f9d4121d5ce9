"""The API server of a real control plane dies and comes back beside rooms in which people play."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.controlplane.cluster import ControlPlane, Parts
from tests.e2e.real_removals import made_twice
from tests.e2e.real_rooms import SECOND, installation, scheduler
from tests.e2e.real_voices import Voice
from tests.e2e.test_real_story import installed

pytestmark = pytest.mark.real

DOWN_SECONDS = 20.0
"""Longer than a Lease lasts: who leads must know by itself that it does not any more."""
PATIENCE_SECONDS = 300.0


@pytest.fixture(scope="module")
def deployed() -> Iterator[ControlPlane]:
    """A control plane of its own: one that starts up refuses what it grants a moment later."""
    with installed(Parts(audited=True)) as cluster:
        cluster.add_nodes(1, labels={"pool": "own"})
        yield cluster


def test_an_api_server_that_dies_for_longer_than_a_lease_ends_no_match_and_loses_no_commit(
    deployed: ControlPlane, tmp_path: Path
) -> None:
    name = "phoenix"
    deployed.add_nodes(2, labels={"pool": name})
    with installation(deployed, tmp_path, name) as there:
        there.commit(phoenix=scheduler(name, 8))
        replicas = [there.start()]
        rooms = there.stand(name, 8)
        replicas.append(there.start())
        playing = rooms[::2]
        there.play(playing)
        there.commit(phoenix=scheduler(name, 3))
        with deployed.down():
            time.sleep(DOWN_SECONDS / 2)
            # What is committed meanwhile takes the first commit's place.
            there.commit(phoenix=scheduler(name, 6, SECOND))
            time.sleep(DOWN_SECONDS / 2)
        took = there.wait(
            "six rooms beside those with players, and no other",
            lambda: _is_as_wanted(there.house.rooms(name), playing, 6),
            PATIENCE_SECONDS,
        )
        there.wait("one leads", lambda: sum(map(there.leads, replicas)) == 1, PATIENCE_SECONDS)
        assert [each.process.poll() for each in replicas] == [None, None]
        assert set(playing) <= set(there.house.rooms(name))
        assert not made_twice(deployed, name)
        there.judge(name)

        there.play(playing, busy=False)
        there.wait(
            "all are of the second image",
            lambda: _images(there.house.rooms(name)) == [SECOND] * 6,
            PATIENCE_SECONDS,
        )
        there.judge(name)
        there.report(
            f"the API server was down for {DOWN_SECONDS:.0f} s: as wanted after {took:.1f} s"
        )


def _images(rooms: list[Voice]) -> list[str]:
    return [room.pod["spec"]["containers"][0]["image"] for room in rooms]


def _is_as_wanted(rooms: list[Voice], playing: list[Voice], count: int) -> bool:
    """Whether all but those who play are of the second image, and as many as are wanted."""
    others = [room for room in rooms if room not in playing]
    return set(_images(others)) == {SECOND} and len(rooms) >= count
