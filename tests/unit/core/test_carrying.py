from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.carrying import MOST_TURNED, carry
from reconciler.core.guards import guard_for
from reconciler.core.lasting import basis_of, is_lasting
from reconciler.core.plan import plan
from reconciler.kube.schemas import Schemas
from reconciler.model.live import LivePod, LiveWorkload, Phase
from reconciler.model.plans import Plan, Situation
from reconciler.model.records import Failure, StateRecord
from reconciler.model.rooms import Ears, Health, Heard, Mark, Said, Why
from reconciler.model.shares import Share
from reconciler.model.specs import Disruption, Rollout, Timeouts, Workload
from tests.unit.core.making import NOW, OLD, REPORTS, a_heard, a_room, a_situation, a_workload

SCHEMAS = Schemas({})
ROOMS = 12
IDLE, BUSY = a_heard(), a_heard(said=Said.OCCUPIED, matches=1)
Rooms = Sequence[LivePod]
Says = Mapping[int, Heard | None]


def arena(**changes: Any) -> Workload:
    wanted = {"reports": "required", "disruption": Disruption(mode="occupied"), **changes}
    return a_workload(replicas=ROOMS, revision=REPORTS, **wanted)


def stands(number: int, mark: Mark, **changes: Any) -> LivePod:
    return a_room(number, mark=mark, **{"guard": guard_for(arena(), mark), **changes})


def situation_of(pods: Rooms, says: Says, workload: Workload) -> Situation:
    rooms = {f"uid-{number}": heard for number, heard in says.items() if heard is not None}
    ears = Ears(rooms, since=NOW - 1000)
    return replace(a_situation(workload, list(pods)), ears=ears, elapsed=NOW)


def calm(busy: int = 3, workload: Workload | None = None) -> tuple[list[LivePod], dict[int, Heard]]:
    pods = [stands(number, Mark.BUSY if number < busy else Mark.IDLE) for number in range(ROOMS)]
    return pods, {number: BUSY if number < busy else IDLE for number in range(ROOMS)}


def carried(before: Situation, after: Situation) -> Plan | None:
    """What is carried on; it must be what is planned from nothing."""
    made = plan(before, SCHEMAS, NOW)
    assert is_lasting(made, before)
    found = carry(made, basis_of(before), after)
    if found is not None:
        anew = plan(replace(after, confirmed=made.confirmed), SCHEMAS, NOW)
        assert found == anew
        assert is_lasting(anew, after)
    return found


@pytest.mark.parametrize(
    ("number", "turn", "says", "busy"),
    [
        pytest.param(9, {}, BUSY, 4, id="one says that players are there"),
        pytest.param(9, {"mark": Mark.BUSY}, BUSY, 4, id="one was told busy, and it is written"),
        pytest.param(1, {}, IDLE, 3, id="one says that it is empty: it stands as busy until then"),
        pytest.param(1, {"mark": Mark.IDLE}, IDLE, 2, id="one was empty, and it is written"),
        pytest.param(9, {"resource_version": "777"}, IDLE, 3, id="somebody wrote elsewhere"),
        pytest.param(1, {}, replace(BUSY, matches=2), 3, id="one more match begins"),
    ],
)
def test_a_room_that_turns_costs_no_plan(
    number: int, turn: dict[str, Any], says: Heard, busy: int
) -> None:
    pods, said = calm()
    before = situation_of(pods, said, arena())
    mark = turn.get("mark", pods[number].mark)
    pods[number] = replace(pods[number], **turn, guard=guard_for(arena(), mark))
    found = carried(before, situation_of(pods, {**said, number: says}, arena()))
    assert found is not None
    assert found.counts.busy == busy


LIMITED = Timeouts(silent_busy_seconds=60.0)
COUNTED = Disruption(mode="count")
ROOM_OF: dict[str, dict[str, Any]] = {
    "terminating": {"terminating": True},
    "not ready": {"ready": False},
    "lapsed": {"ready": False, "lapsed": True},
    "ended": {"phase": Phase.FAILED, "running": False, "ended": "Error"},
    "told to leave": {"leaving": Why.REQUEST},
    "draining": {"mark": Mark.DRAINING, "leaving": Why.SCALE_IN},
    "kept": {"mark": Mark.FAILED},
    "of an old revision": {"revision": OLD},
    "without our labels": {"stamps": "others"},
    "with others' guard": {"guard": ("", "")},
    "with an odd mark": {"mark": Mark.BUSY, "odd_mark": "full"},
    "no room": {"ordinal": -1},
    "on a node with an address": {"node": "node-9"},
    "another pod": {"uid": "uid-other"},
    "never heard": {"mark": Mark.NONE},
}


@pytest.mark.parametrize("what", ROOM_OF)
def test_whatever_else_becomes_of_a_room_is_planned_anew(what: str) -> None:
    pods, said = calm()
    before = replace(situation_of(pods, said, arena()), addresses={"node-9": "203.0.113.9"})
    pods[9] = replace(pods[9], **ROOM_OF[what])
    after = replace(before, live=replace(before.live, pods=tuple(pods)))
    assert carried(before, after) is None


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"ears": Ears({"uid-9": IDLE})}, id="others are heard"),
        pytest.param({"live": LiveWorkload((), ())}, id="none is there"),
        pytest.param({"complete": False}, id="the view is not complete"),
        pytest.param({"record": StateRecord(highest=7)}, id="the record changed"),
        pytest.param({"desired": None}, id="it is not wanted any more"),
    ],
)
def test_whatever_else_changes_is_planned_anew(change: dict[str, Any]) -> None:
    pods, said = calm()
    before = situation_of(pods, said, arena())
    assert carried(before, replace(before, **change)) is None


def test_while_our_ears_are_suspect_nothing_is_carried_on() -> None:
    pods, said = calm()
    for deaf in ({"deaf": "x"}, {"deaf_on": {"node-1": "x"}}, {"deaf_here": "x"}):
        before = situation_of(pods, said, arena())
        before = replace(before, ears=replace(before.ears, **deaf))
        rooms = {**before.ears.rooms, "uid-9": BUSY}
        assert carried(before, replace(before, ears=replace(before.ears, rooms=rooms))) is None


def test_where_time_or_a_count_plays_in_it_is_planned_anew() -> None:
    pods, said = calm()
    silent = {**said, 9: replace(BUSY, silent=True)}
    before = situation_of(pods, said, arena(timeouts=LIMITED))
    assert carried(before, situation_of(pods, silent, arena(timeouts=LIMITED))) is None
    nobody = dict.fromkeys(said, IDLE)
    pods = [stands(number, Mark.IDLE) for number in range(ROOMS)]
    counted = arena(disruption=COUNTED)
    before = situation_of(pods, nobody, counted)
    budget = plan(before, SCHEMAS, NOW).objects
    objects = tuple(
        replace(each, body=budget[0].body) if each.ref.kind == budget[0].ref.kind else each
        for each in before.live.objects
    )
    before = replace(before, live=replace(before.live, objects=objects))
    after = replace(situation_of(pods, {**nobody, 9: BUSY}, counted), live=before.live)
    assert carried(before, after) is None
    failed = StateRecord(failures=(Failure(NOW, "uid-77", "x"),))
    before = replace(situation_of(pods, said, arena()), record=failed)
    after = replace(situation_of(pods, {**said, 9: BUSY}, arena()), record=failed)
    assert carry(plan(before, SCHEMAS, NOW), basis_of(before), after) is None


def test_a_crowd_is_planned_anew() -> None:
    workload = replace(arena(), replicas=MOST_TURNED + 1)
    pods = [stands(number, Mark.IDLE) for number in range(MOST_TURNED + 1)]
    said = dict.fromkeys(range(MOST_TURNED + 1), IDLE)
    before = situation_of(pods, said, workload)
    assert carried(before, situation_of(pods, dict.fromkeys(said, BUSY), workload)) is None
    assert carried(before, situation_of(pods, {**said, 0: BUSY}, workload)) is not None


def marked(number: int) -> st.SearchStrategy[LivePod]:
    return st.sampled_from([Mark.IDLE, Mark.BUSY, Mark.NONE, Mark.ALLOCATED]).map(
        lambda mark: stands(number, mark)
    )


def any_room(number: int) -> st.SearchStrategy[LivePod]:
    odd = st.sampled_from([{}, {}, {}, *ROOM_OF.values()])
    return st.builds(lambda pod, turn: replace(pod, **turn), marked(number), odd)


HEARD = st.sampled_from(
    [
        IDLE,
        BUSY,
        None,
        replace(IDLE, silent=True),
        replace(BUSY, silent=True),
        replace(IDLE, said=Said.TERMINATED),
        replace(IDLE, said=Said.TERMINATING),
        replace(IDLE, health=Health.FAILED),
        replace(IDLE, tells=False),
        a_heard(players=3),
        a_heard(said=None),
    ]
)
WORKLOADS = st.sampled_from(
    [
        arena(),
        arena(timeouts=LIMITED),
        arena(disruption=COUNTED),
        arena(rollout=Rollout(max_unavailable=Share(50, percent=True))),
        replace(arena(), replicas=ROOMS - 1),
        replace(arena(), reports="none"),
        replace(arena(), suspend=True),
    ]
)
NUMBERS = st.integers(0, ROOMS - 1)


@pytest.mark.long
@given(
    WORKLOADS,
    st.integers(0, ROOMS),
    st.dictionaries(NUMBERS, HEARD, max_size=2),
    st.lists(NUMBERS.flatmap(any_room), max_size=3),
    st.dictionaries(NUMBERS, HEARD, max_size=3),
)
def test_what_is_carried_on_is_what_is_planned_from_nothing(
    workload: Workload,
    busy: int,
    before_says: Says,
    turned: Rooms,
    after_says: Says,
) -> None:
    pods, said = calm(busy)
    before = situation_of(pods, {**said, **before_says}, workload)
    made = plan(before, SCHEMAS, NOW)
    if not is_lasting(made, before):
        return
    by_name = {pod.name: pod for pod in turned}
    pods = [by_name.get(pod.name, pod) for pod in pods]
    carried(before, situation_of(pods, {**said, **before_says, **after_says}, workload))
