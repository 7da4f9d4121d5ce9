"""Leaders come and go while rooms are removed, and specs leave Git while matches run."""

import signal
import time
from pathlib import Path

import pytest

from tests.controlplane.cluster import ControlPlane
from tests.e2e.real_removals import namespace_removed, writes
from tests.e2e.real_rooms import FIRST, SECOND, Installation, installation, scheduler
from tests.e2e.real_voices import Voice

pytestmark = pytest.mark.real

ROOMS = 12


def _image(room: Voice) -> str:
    image: str = room.pod["spec"]["containers"][0]["image"]
    return image


def _leaving(there: Installation, room: Voice) -> str:
    pod = there.house.pods.get(f"{room.namespace}/{room.room}")
    why: str = pod["metadata"]["annotations"].get("gamekeeper.dev/leaving", "") if pod else ""
    return why


def test_a_scale_in_and_a_roll_out_are_finished_by_the_next_leader_and_no_match_is_ended(
    deployed: ControlPlane, tmp_path: Path
) -> None:
    name = "tide"
    deployed.add_nodes(2, labels={"pool": name})
    with installation(deployed, tmp_path, name) as there:
        there.commit(tide=scheduler(name, ROOMS))
        first = there.start()
        rooms = there.stand(name, ROOMS)
        second = there.start()
        playing = rooms[::2]
        there.play(playing)

        there.commit(tide=scheduler(name, 3))
        there.wait("it has begun", lambda: any(_leaving(there, room) for room in rooms))
        first.end(signal.SIGKILL)
        # The next leader has heard nobody: not one may go, drained as it may be.
        there.service.cut = True
        third = there.start()
        there.wait("another one leads", lambda: there.leads(second) or there.leads(third))
        left = there.house.rooms(name)
        time.sleep(5.0)
        assert there.house.rooms(name) == left
        there.service.cut = False
        took = there.wait("the empty ones are gone", lambda: there.house.rooms(name) == playing, 60)
        there.wait("they are heard", lambda: all(room.heard for room in playing))
        # Three of them are above the count; which ones go is said when they are empty.
        assert not any(_leaving(there, room) for room in playing)
        there.judge(name)

        there.commit(tide=scheduler(name, ROOMS, SECOND))
        there.wait("it has begun", lambda: _of(there, name, SECOND))
        leads = second if there.leads(second) else third
        assert leads.end(signal.SIGTERM) == 0, leads.said()
        there.wait("new rooms stand beside", lambda: len(_of(there, name, SECOND)) >= 10, 60.0)
        assert _of(there, name, FIRST) == playing
        there.judge(name)

        there.play(playing, busy=False)
        there.wait("the old ones leave when empty", lambda: not _of(there, name, FIRST))
        there.stand(name, ROOMS)
        removed = there.judge(name)
        assert sorted(removed) == sorted(f"{name}/{room.room}" for room in rooms)
        assert not any(each.evicted for each in removed.values())
        there.report(
            f"scale-in: {len(left)} rooms stayed while nobody was heard; it was finished "
            f"{took:.1f} s after they were heard again"
        )


def test_a_leader_that_was_frozen_in_a_scale_in_removes_nothing_when_it_wakes(
    deployed: ControlPlane, tmp_path: Path
) -> None:
    name = "frost"
    deployed.add_nodes(1, labels={"pool": name})
    with installation(deployed, tmp_path, name) as there:
        there.commit(frost=scheduler(name, 8))
        first = there.start()
        rooms = there.stand(name, 8)
        second = there.start()
        playing = rooms[::2]
        there.play(playing)
        there.commit(frost=scheduler(name, 2))
        there.wait("it has begun", lambda: any(_leaving(there, room) for room in rooms))
        first.process.send_signal(signal.SIGSTOP)
        there.wait("another one leads", lambda: there.leads(second), 40.0)
        there.commit(frost=scheduler(name, 8))
        there.wait("eight are wanted again", lambda: len(there.house.rooms(name)) == 8)
        there.wait("they are heard", lambda: all(r.heard for r in there.house.rooms(name)))
        standing = there.house.rooms(name)

        woken_at = time.time()
        first.process.send_signal(signal.SIGCONT)
        there.wait("it knows", lambda: there.standing_by(first))
        time.sleep(5.0)
        assert there.leads(second)
        assert there.house.rooms(name) == standing
        assert writes(deployed, name, first.token_id, woken_at) == []
        assert writes(deployed, name, second.token_id, 0.0)
        removed = there.judge(name)
        there.report(f"frozen: {len(removed)} of 4 empty rooms were gone when it froze")


def _of(there: Installation, name: str, image: str) -> list[Voice]:
    return [room for room in there.house.rooms(name) if _image(room) == image]


def test_rooms_of_a_spec_that_left_git_stay_until_their_matches_end_and_the_namespace_goes_last(
    deployed: ControlPlane, tmp_path: Path
) -> None:
    name = "ebb"
    deployed.add_nodes(1, labels={"pool": name})
    with installation(deployed, tmp_path, name) as there:
        # The last spec of a repository would be held.
        there.commit(ebb=scheduler(name, 6), calm=scheduler("calm", 0))
        leader = there.start()
        rooms = there.stand(name, 6)
        playing = rooms[:2]
        there.play(playing)
        (there.git.tree / f"schedulers/{name}.yaml").unlink()
        there.commit()
        there.wait("the empty ones are gone", lambda: there.house.rooms(name) == playing)
        # Who comes now knows them only by what stands in the cluster.
        assert leader.end(signal.SIGTERM) == 0, leader.said()
        there.start()
        there.wait("it leads", lambda: there.leads(there.replicas[1]))
        there.play(playing)
        told = "leaving Git: 2 rooms with players stay until they end"
        there.wait("status tells it", lambda: told in there.status())
        assert there.house.rooms(name) == playing

        there.play(playing, busy=False)
        path = f"/api/v1/namespaces/{name}"
        took = there.wait(
            "all of it is gone", lambda: deployed.api.ask("GET", path).status == 404, 40.0
        )
        removed = there.judge(name)
        assert sorted(removed) == sorted(f"{name}/{room.room}" for room in rooms)
        last = max(each.answered for each in removed.values())
        assert namespace_removed(deployed, name) > last
        there.report(f"left Git: all gone {took:.1f} s after the last match, the namespace last")
