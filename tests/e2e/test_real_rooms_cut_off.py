"""One workload that is cut off while others are heard (ADR 21), on a real control plane."""

import time
from pathlib import Path

import pytest

from tests.controlplane.cluster import ControlPlane
from tests.e2e.real_rooms import Installation, installation, scheduler

pytestmark = pytest.mark.real

HEARD, CUT = "chorus", "solo"
PING_SECONDS = 8


def _are_suspected(there: Installation) -> bool:
    said = there.replicas[0].log.read_text(encoding="utf-8", errors="replace")
    return f"no room of Scheduler/{CUT} that reports is heard" in said


def test_nobody_goes_of_a_workload_that_is_cut_off_until_a_new_room_of_it_is_heard(
    deployed: ControlPlane, tmp_path: Path
) -> None:
    timeouts = {"pingSeconds": PING_SECONDS}
    for name in (HEARD, CUT):
        deployed.add_nodes(2, labels={"pool": name})
    with installation(deployed, tmp_path, CUT) as there:
        there.commit(
            chorus=scheduler(HEARD, 8, timeouts=timeouts),
            solo=scheduler(CUT, 2, timeouts=timeouts),
        )
        there.start()
        others, rooms = there.stand(HEARD, 8), there.stand(CUT, 2)
        for room in rooms:
            room.cut = True

        def is_beside() -> bool:
            return len(there.house.rooms(CUT)) == 3

        took = there.wait("another room is made beside them", is_beside, 5.0 * PING_SECONDS)
        assert took <= 5.0 * PING_SECONDS
        assert _are_suspected(there)
        (new,) = (room for room in there.house.rooms(CUT) if room not in rooms)
        # Whoever fell silent has its whole time-out once more: heard again within it, it stays.
        there.wait("the new one is heard", lambda: there.house.state(new) == "idle")
        assert there.house.rooms(CUT) == [*rooms, new]

        for room in rooms:
            room.cut = False
        there.play(rooms)
        assert not there.judge(CUT)
        time.sleep(2.0 * PING_SECONDS)
        assert there.house.rooms(CUT) == [*rooms, new], "matches run in those that were cut off"
        there.play(rooms, busy=False)
        there.wait("as many as are wanted", lambda: len(there.house.rooms(CUT)) == 2)
        assert len(there.judge(CUT)) == 1
        assert there.house.rooms(HEARD) == others
        there.report(f"cut off: another room was made {took:.1f} s after the last word")
