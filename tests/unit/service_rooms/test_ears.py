"""Who falls silent, and whether it is rather we who do not hear."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import cycle, pairwise

import pytest

from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Heard
from reconciler.service.rooms.ears import SLICE, Silence
from reconciler.service.rooms.lines import Line
from reconciler.service.rooms.suspicion import UNSUSPECTED, Suspicion
from tests.unit.core.making import a_key, a_pod
from tests.unit.service_views.scripted import VirtualClock

KEY = WorkloadKey("Scheduler", "arena", "arena")
LONE = WorkloadKey("Scheduler", "lobby", "lobby")
LIMIT = 240.0
PAUSE = 10.0


class Breathing(VirtualClock):
    """A clock that tells when others are served."""

    def __init__(self) -> None:
        super().__init__()
        self.breathe: Callable[[], None] = lambda: None

    async def sleep(self, seconds: float) -> None:
        """Pass at once."""
        self.breathe()
        await super().sleep(seconds)


class Crowd:
    """Rooms that report every ten seconds, each in its own second, but for those that are mute."""

    def __init__(
        self,
        count: int,
        limit: Callable[[Line], float | None] = lambda line: LIMIT,
        nodes: Sequence[str] = ("",),
        lone: int = 0,
    ) -> None:
        """Rooms stand on `nodes` in turn; the last `lone` of them are of another workload."""
        self.at = 0.0
        self.clock = Breathing()
        self.lost: set[str] = set()
        self.silence = Silence(limit, lambda: self.at, self.clock, lambda: self.lost)
        self.lines = [
            Line(KEY, str(n), "arena", f"arena-{n}", last_at=0.0, heard=Heard(at=0.0))
            for n in range(count)
        ]
        for line, node in zip(self.lines, cycle(nodes), strict=False):
            line.pod = a_pod(int(line.uid), node=node)
        for line in self.lines[count - lone :]:
            line.key = LONE
        self.mute: set[str] = set()
        self.first_silent_at: float | None = None
        self.silent_while_not_deaf = 0
        for line in self.lines:
            self.silence.follow(line)

    async def live(self, seconds: int) -> None:
        """Let time pass, as the book does."""
        for _ in range(seconds):
            self.at += 1.0
            for line in self.lines:
                if line.uid not in self.mute and int(self.at) % 10 == int(line.uid) % 10:
                    self._speak(line)
            silent, forgiven = await self.silence.sweep(self.lines)
            for line in silent:
                line.heard = Heard(at=0.0, silent=True)
                self.silent_while_not_deaf += not self.why(line)
                if self.first_silent_at is None:
                    self.first_silent_at = self.at
            for line in forgiven:
                line.heard = Heard(at=0.0)
                self.silence.follow(line)

    def why(self, line: Line) -> str:
        """Why a room may be heard by nobody."""
        return self.silence.suspicion.of(line.key, line.node)

    @property
    def silent(self) -> int:
        """How many are silent now."""
        return sum(line.silent for line in self.lines)

    def _speak(self, line: Line) -> None:
        line.gap, line.last_at = self.at - line.last_at, self.at
        line.spoke_at = self.at
        if line.silent:
            line.heard = Heard(at=self.at)
        self.silence.follow(line)


async def test_a_room_that_hangs_is_silent_after_its_time_out_and_we_are_not_deaf() -> None:
    crowd = Crowd(100)
    await crowd.live(60)
    crowd.mute = {"7"}
    await crowd.live(230)
    assert crowd.silent == 0
    await crowd.live(12)
    assert crowd.silent == 1
    assert crowd.silence.suspicion.everywhere == ""


async def test_a_room_that_speaks_again_is_not_silent_and_may_fall_silent_again() -> None:
    crowd = Crowd(100)
    await crowd.live(60)
    crowd.mute = {"7"}
    await crowd.live(300)
    crowd.mute = set()
    await crowd.live(12)
    assert crowd.silent == 0
    crowd.mute = {"7"}
    await crowd.live(252)
    assert crowd.silent == 1


@pytest.mark.long
@pytest.mark.parametrize("mute", [21, 60, 100])
async def test_where_more_than_a_fifth_fall_silent_we_suspect_ourselves_before_the_first_counts(
    mute: int,
) -> None:
    crowd = Crowd(100)
    await crowd.live(60)
    crowd.mute = {str(n) for n in range(mute)}
    await crowd.live(3600)
    assert crowd.silent == mute
    assert crowd.silent_while_not_deaf == 0
    assert crowd.silence.suspicion.everywhere.startswith(f"{mute} of 100 rooms")


async def test_a_fifth_that_falls_silent_is_their_own_trouble() -> None:
    crowd = Crowd(100)
    await crowd.live(60)
    crowd.mute = {str(n) for n in range(20)}
    await crowd.live(300)
    assert crowd.silent == 20
    assert crowd.silence.suspicion.everywhere == ""


async def test_two_rooms_of_two_are_too_few_to_tell() -> None:
    crowd = Crowd(2)
    crowd.mute = {"0", "1"}
    await crowd.live(300)
    assert crowd.silent == 2
    assert crowd.silence.suspicion.everywhere == ""


async def test_a_room_alone_on_a_node_that_is_not_ready_does_not_count_as_hung() -> None:
    crowd = Crowd(10, nodes=[f"n{number}" for number in range(10)])
    await crowd.live(60)
    crowd.mute, crowd.lost = {"3"}, {"n3"}
    await crowd.live(600)
    assert (crowd.silent, crowd.silent_while_not_deaf) == (1, 0)
    assert crowd.silence.suspicion.of(KEY, "n3").startswith(
        "the kubelet of node n3 is not heard either"
    )
    assert crowd.silence.suspicion.of(KEY, "n4") == ""
    # The node is back, and its room is not: it has its whole time-out once more.
    crowd.lost = set()
    await crowd.live(200)
    assert (crowd.silent, crowd.silence.suspicion.of(KEY, "n3")) == (0, "")
    await crowd.live(60)
    assert (crowd.silent, crowd.silent_while_not_deaf) == (1, 1)


async def test_a_node_that_is_not_ready_and_whose_rooms_speak_is_nobodys_trouble() -> None:
    crowd = Crowd(10, nodes=["n0", "n1"])
    crowd.lost = {"n1"}
    await crowd.live(600)
    assert (crowd.silent, crowd.silence.suspicion) == (0, UNSUSPECTED)


async def test_rooms_that_fell_silent_long_ago_make_nobody_deaf() -> None:
    crowd = Crowd(100)
    await crowd.live(60)
    for first in range(0, 40, 10):
        crowd.mute |= {str(n) for n in range(first, first + 10)}
        await crowd.live(600)
    assert crowd.silent == 40
    assert crowd.silence.suspicion.everywhere == ""


async def test_a_process_that_slept_for_an_hour_suspects_itself() -> None:
    crowd = Crowd(100)
    await crowd.live(300)
    crowd.mute = {str(n) for n in range(100)}
    crowd.at += 3600.0
    await crowd.live(1)
    assert crowd.silence.suspicion.everywhere
    assert crowd.silent_while_not_deaf == 0


async def test_when_we_hear_again_the_others_have_their_whole_time_out_once_more() -> None:
    crowd = Crowd(100)
    await crowd.live(60)
    everybody = {str(n) for n in range(100)}
    crowd.mute = everybody
    await crowd.live(600)
    crowd.mute = {"7"}
    await crowd.live(20)
    assert (crowd.silence.suspicion.everywhere, crowd.silent) == ("", 0)
    await crowd.live(200)
    assert crowd.silent == 0
    await crowd.live(60)
    assert crowd.silent == 1


async def test_a_second_outage_is_suspected_as_the_first_was() -> None:
    crowd = Crowd(100)
    for _ in range(2):
        crowd.mute = set()
        await crowd.live(300)
        crowd.mute = {str(n) for n in range(100)}
        await crowd.live(600)
        assert crowd.silence.suspicion.everywhere
    assert crowd.silent_while_not_deaf == 0


async def test_ten_thousand_rooms_are_looked_at_twice_a_time_out_and_in_turns() -> None:
    crowd = Crowd(10_000)
    stretches = [0]

    def breathe() -> None:
        stretches.append(crowd.silence.looks)

    crowd.clock.breathe = breathe
    for _ in range(2 * int(LIMIT)):
        crowd.at += 1.0
        for line in crowd.lines[int(crowd.at) % 10 :: 10]:
            line.last_at = crowd.at
        await crowd.silence.sweep(crowd.lines)
        breathe()
    assert crowd.silence.looks <= 4 * 10_000
    assert max(b - a for a, b in pairwise(stretches)) <= SLICE


async def test_a_room_that_speaks_while_others_are_looked_at_is_not_silent() -> None:
    crowd = Crowd(2 * SLICE)
    crowd.at = LIMIT + 2.0
    for line in crowd.lines[2:]:
        line.last_at = crowd.at

    sweeping = asyncio.create_task(crowd.silence.sweep(crowd.lines))
    await asyncio.sleep(0)
    crowd.lines[0].last_at = crowd.at
    silent, _ = await sweeping
    assert [line.uid for line in silent] == ["1"]


async def test_a_term_that_ends_while_rooms_are_looked_at_ends_the_sweep() -> None:
    crowd = Crowd(2 * SLICE)
    crowd.silence.forget()
    for line in crowd.lines:
        line.followed, line.last_at = False, float(int(line.uid) % 7)
        crowd.silence.follow(line)
    ended = []

    def breathe() -> None:
        ended.append(crowd.silence.looks)
        crowd.silence.forget()

    crowd.clock.breathe = breathe
    crowd.at = LIMIT + 10.0
    await crowd.silence.sweep(crowd.lines)
    assert ended


async def test_a_room_that_trips_a_defect_does_not_hide_the_silence_of_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def limit(line: Line) -> float:
        if line.uid == "3":
            raise KeyError("a defect")
        return LIMIT

    crowd = Crowd(100, limit)
    await crowd.live(60)
    crowd.mute = {"3", "7"}
    await crowd.live(300)
    assert [line.uid for line in crowd.lines if line.silent] == ["7"]
    assert [text for text in caplog.messages if "defect" in text] == [
        "a defect of Gamekeeper's own: the silence of Pod arena/arena-3 is not seen"
    ]


NODES = tuple(f"node-{n}" for n in range(20))


def on(crowd: Crowd, node: str, most: int = 100) -> set[str]:
    """The rooms of a node, the first `most` of them."""
    return {line.uid for line in [line for line in crowd.lines if line.node == node][:most]}


@pytest.mark.long
@pytest.mark.parametrize(
    ("rooms", "mute", "suspect"),
    [
        pytest.param(100, 5, True, id="all five of a node"),
        pytest.param(100, 3, True, id="three of the five of a node"),
        pytest.param(140, 3, False, id="three of the seven of a node"),
        pytest.param(100, 2, False, id="two of the five of a node"),
        pytest.param(40, 2, True, id="both of a node"),
        pytest.param(20, 1, False, id="the only one of a node"),
    ],
)
async def test_rooms_of_one_node_that_fall_silent_together_are_suspected_of_being_unheard(
    rooms: int, mute: int, suspect: bool
) -> None:
    crowd = Crowd(rooms, nodes=NODES)
    await crowd.live(60)
    crowd.mute = on(crowd, "node-7", mute)
    await crowd.live(3600)
    assert crowd.silent == mute
    assert list(crowd.silence.suspicion.on) == (["node-7"] if suspect else [])
    assert crowd.silent_while_not_deaf == (0 if suspect else mute)
    assert crowd.silence.suspicion.everywhere == ""
    if suspect:
        told = crowd.silence.suspicion.of(KEY, "node-7")
        begins = f"{mute} of {rooms // 20} rooms on node node-7 that report fell silent together, "
        assert told.startswith(begins)


@pytest.mark.parametrize("lone", [0, 5])
async def test_rooms_that_never_spoke_are_not_said_to_have_fallen_silent(lone: int) -> None:
    crowd = Crowd(100, nodes=NODES, lone=lone)
    crowd.mute = {line.uid for line in crowd.lines[-lone:]} if lone else on(crowd, "node-7")
    await crowd.live(3600)
    (told,) = {crowd.why(line) for line in crowd.lines if line.uid in crowd.mute}
    begins = (
        "no room of Scheduler/lobby that is to report is heard, while rooms of others are: "
        if lone
        else "5 of 5 rooms on node node-7 that are to report are not heard, while others are heard"
    )
    assert told.startswith(begins)


async def test_where_nobody_ever_spoke_nobody_is_said_to_have_fallen_silent() -> None:
    crowd = Crowd(10)
    crowd.mute = {line.uid for line in crowd.lines}
    await crowd.live(600)
    told = crowd.silence.suspicion.everywhere
    assert told.startswith("10 of 10 rooms that are to report are not heard: ")


async def test_rooms_of_a_node_that_hang_one_after_the_other_make_nobody_deaf() -> None:
    crowd = Crowd(100, nodes=NODES)
    await crowd.live(60)
    for uid in sorted(on(crowd, "node-7")):
        crowd.mute.add(uid)
        await crowd.live(600)
    assert crowd.silent == 5
    assert not crowd.silence.suspicion


async def test_a_node_that_is_heard_again_has_its_whole_time_out_once_more() -> None:
    crowd = Crowd(100, nodes=NODES)
    await crowd.live(60)
    crowd.mute = on(crowd, "node-7") | {"3"}
    await crowd.live(600)
    assert crowd.silent == 6
    crowd.mute = on(crowd, "node-7", 1) | {"3"}
    await crowd.live(20)
    assert not crowd.silence.suspicion
    assert [line.uid for line in crowd.lines if line.silent] == ["3"]
    await crowd.live(200)
    assert crowd.silent == 1
    await crowd.live(60)
    assert crowd.silent == 2


async def test_a_node_alone_and_then_all_are_told_as_one_outage() -> None:
    crowd = Crowd(100, nodes=NODES)
    await crowd.live(60)
    crowd.mute = on(crowd, "node-7")
    await crowd.live(600)
    crowd.mute = {line.uid for line in crowd.lines}
    await crowd.live(600)
    assert crowd.silence.suspicion.everywhere
    assert not crowd.silence.suspicion.on
    crowd.mute = on(crowd, "node-7")
    await crowd.live(20)
    assert (crowd.silence.suspicion.everywhere, crowd.silent) == ("", 0)
    await crowd.live(600)
    assert list(crowd.silence.suspicion.on) == ["node-7"]
    assert crowd.silent_while_not_deaf == 0


@pytest.mark.long
@pytest.mark.parametrize("rooms", [1, 2, 5])
async def test_a_workload_of_which_nobody_is_heard_while_others_are_is_suspected_of_being_unheard(
    rooms: int,
) -> None:
    crowd = Crowd(100, nodes=NODES, lone=rooms)
    await crowd.live(60)
    crowd.mute = {line.uid for line in crowd.lines[-rooms:]}
    await crowd.live(3600)
    assert (crowd.silent, crowd.silent_while_not_deaf) == (rooms, 0)
    assert list(crowd.silence.suspicion.to) == [LONE]
    assert (crowd.silence.suspicion.everywhere, crowd.silence.suspicion.on) == ("", {})
    assert crowd.why(crowd.lines[-1]).startswith("no room of Scheduler/lobby that reports is heard")
    assert crowd.why(crowd.lines[0]) == ""


async def test_a_workload_of_which_one_room_is_heard_is_not_cut_off() -> None:
    crowd = Crowd(100, lone=3)
    await crowd.live(60)
    crowd.mute = {"98", "99"}
    await crowd.live(300)
    assert (crowd.silent, crowd.silent_while_not_deaf) == (2, 2)
    assert not crowd.silence.suspicion


async def test_the_first_room_that_is_heard_gives_the_others_their_whole_time_out_once_more() -> (
    None
):
    crowd = Crowd(100, lone=2)
    await crowd.live(60)
    crowd.mute = {"98", "99"}
    await crowd.live(600)
    crowd.mute = {"98"}
    await crowd.live(20)
    assert (crowd.silence.suspicion, crowd.silent) == (UNSUSPECTED, 0)
    await crowd.live(200)
    assert crowd.silent == 0
    await crowd.live(60)
    assert (crowd.silent, crowd.silent_while_not_deaf) == (1, 1)


async def test_a_lone_room_of_a_node_that_is_not_heard_is_told_of_that_node() -> None:
    crowd = Crowd(100, nodes=NODES, lone=1)
    await crowd.live(60)
    crowd.mute = on(crowd, "node-19")
    assert crowd.lines[-1].uid in crowd.mute
    await crowd.live(600)
    assert list(crowd.silence.suspicion.on) == ["node-19"]
    assert not crowd.silence.suspicion.to
    assert crowd.silent_while_not_deaf == 0


async def test_a_workload_that_hangs_on_a_node_where_others_are_heard_is_told_by_its_name() -> None:
    crowd = Crowd(100, nodes=NODES, lone=3)
    for line in crowd.lines[-3:]:
        line.pod = a_pod(int(line.uid), node="node-1")
    for uid in (1, 21, 41):
        crowd.lines[uid].pod = a_pod(uid, node="node-2")
    await crowd.live(60)
    crowd.mute = {line.uid for line in crowd.lines[-3:]}
    await crowd.live(600)
    assert list(crowd.silence.suspicion.on) == ["node-1"], "three of its five"
    assert list(crowd.silence.suspicion.to) == [LONE]
    assert "Scheduler/lobby" in crowd.why(crowd.lines[-1])


async def test_a_cluster_of_one_node_is_judged_as_a_whole() -> None:
    crowd = Crowd(2, nodes=("node-1",))
    crowd.mute = {"0", "1"}
    await crowd.live(300)
    assert crowd.silent == 2
    assert not crowd.silence.suspicion


async def test_a_room_is_overdue_long_before_it_is_silent_and_no_more_once_it_speaks() -> None:
    crowd = Crowd(100)
    await crowd.live(60)
    [line] = [line for line in crowd.lines if line.uid == "7"]
    crowd.mute = {"7"}
    await crowd.live(110)
    assert not crowd.silence.is_overdue(line)
    assert not crowd.silence.turned()
    await crowd.live(20)
    assert crowd.silence.is_overdue(line)
    assert list(crowd.silence.turned()) == [line]
    crowd.mute = set()
    await crowd.live(11)
    assert not crowd.silence.is_overdue(line)


def test_where_the_suspicion_of_a_workload_ends_its_rooms_are_left_alone_on_every_node() -> None:
    before = Suspicion(on={"n": "x"}, to={a_key(): "no room of it is heard"})
    assert UNSUSPECTED.ended(before) == {"n", ""}
    assert before.ended(before) == set()
    assert UNSUSPECTED.ended(Suspicion(on={"n": "x"})) == {"n"}
