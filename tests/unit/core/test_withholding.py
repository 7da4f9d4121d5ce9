"""A head in a freeze is judged as though people had not changed what waits."""

import json
from dataclasses import replace
from typing import Any

import pytest

from reconciler.core import counts_in_git, intent_codec
from reconciler.model.holds import HoldKind
from reconciler.model.intents import Passage, Scaling
from reconciler.model.moves import Moves
from reconciler.model.records import HeldRemoval
from reconciler.model.specs import Workload
from tests.unit.core.frozen import (
    DAY,
    KEY,
    a_config,
    a_head,
    a_landing,
    on_record,
    the_spec,
    waits,
)
from tests.unit.core.making import a_reading


@pytest.mark.parametrize(
    ("head", "record", "wanted"),
    [
        pytest.param(the_spec(), {}, None, id="nothing changed"),
        pytest.param(the_spec(image="game:2"), {}, (3, "game:1"), id="another image"),
        pytest.param(the_spec(5), {}, (3, "game:1"), id="a person's number"),
        pytest.param(the_spec(5), {"scaling": a_landing(5)}, None, id="a number that we pushed"),
        pytest.param(the_spec(5, "game:2"), {"scaling": a_landing(5)}, (5, "game:1"),
                     id="an image beside a number that we pushed"),
        pytest.param(the_spec(6, "game:2"), {"scaling": a_landing(5)}, (3, "game:1"),
                     id="an image and a person's number beside one that we pushed"),
        pytest.param(the_spec(suspend=True), {}, (3, "game:1"), id="suspended"),
    ],
)  # fmt: skip
def test_a_head_is_judged_as_though_people_had_changed_nothing(
    head: Workload, record: dict[str, Any], wanted: tuple[int, str] | None
) -> None:
    judged = waits(a_head(head), on_record(the_spec(), **record))
    assert bool(judged.waiting) == (wanted is not None)
    found = judged.reading.workloads[KEY]
    image = found.template["spec"]["containers"][0]["image"]
    assert (found.replicas, image, found.suspend) == (*(wanted or (head.replicas, image)), False)


def test_a_persons_commit_is_no_human_word_before_the_end() -> None:
    moved = {KEY: (Passage("theirs", 5, (3,)),)}
    arrival = a_head(the_spec(5), moves=Moves(tracked=moved, apart=moved))
    judged = waits(arrival, on_record(the_spec(), scaling=a_landing(5)))
    assert judged.moves == Moves()
    assert judged.reading.workloads[KEY].replicas == 3


def test_a_persons_way_back_to_the_accepted_number_waits_too() -> None:
    moved = {KEY: (Passage("theirs", 3, (12,)),)}
    judged = waits(a_head(the_spec(), moves=Moves(tracked=moved)), on_record(the_spec()))
    assert [edit.counted for edit in judged.waiting] == [True]
    assert judged.moves.tracked == {}, "it would hold the policy, and take back what was decided"


@pytest.mark.parametrize(
    ("number", "moved"),
    [
        pytest.param(3, (Passage("theirs", 3, (5,)),), id="a revert"),
        pytest.param(4, (Passage("theirs", 4, (5,)),), id="another number"),
        pytest.param(3, (Passage("theirs", 3, (3, 5)),), id="a merge that takes the older side"),
    ],
)
def test_under_a_persons_number_is_the_one_that_we_wrote_meanwhile(
    number: int, moved: tuple[Passage, ...]
) -> None:
    arrival = a_head(the_spec(number), moves=Moves(tracked={KEY: moved}, wrote={KEY: 5}))
    judged = waits(arrival, on_record(the_spec(), scaling=a_landing(5)))
    assert [edit.counted for edit in judged.waiting] == [True]
    assert (judged.moves.tracked, judged.reading.workloads[KEY].replicas) == ({}, 5)


def test_a_number_on_the_tracked_branch_under_one_of_the_branch_of_counts_waits() -> None:
    reading = replace(a_reading(the_spec()), own={KEY: 9})
    arrival = replace(a_head(None), reading=reading)
    judged = waits(arrival, on_record(the_spec(), scaling=Scaling(own=4)))
    assert [edit.counted for edit in judged.waiting] == [True]
    assert judged.reading.own == {KEY: 4}


def test_a_new_spec_waits_and_one_that_lives_without_a_record_does_not() -> None:
    assert waits(a_head(the_spec()), {}).reading.workloads == {}
    assert KEY in waits(a_head(the_spec(), unrecorded={KEY: 3}), {}).reading.workloads


def test_without_a_freeze_nothing_waits() -> None:
    arrival = a_head(the_spec(9, "game:2"), freezes=())
    assert waits(arrival, on_record(the_spec())) is arrival


def test_of_the_config_what_decides_about_rooms_waits() -> None:
    before = a_config(paths=["eu"], pollSeconds=30)
    after = a_config(paths=["eu", "us"], pollSeconds=60, freeze=[DAY])
    arrival = a_head(the_spec(), accepted_config=before)
    arrival = replace(arrival, reading=replace(arrival.reading, config=after))
    config = waits(arrival, on_record(the_spec())).reading.config
    assert config is not None
    assert (config.paths, config.freeze, config.poll_seconds) == (("eu",), (), 60)
    assert json.loads(config.spec_json)["spec"] == {"paths": ["eu"], "pollSeconds": 60}
    arrival = replace(arrival, reading=replace(arrival.reading, config=a_config(paths=["eu"])))
    assert not waits(arrival, on_record(the_spec())).waiting, "pollSeconds acts at once"


@pytest.mark.parametrize("before", [(7,), (5,), ()], ids=["another", "the same", "not known"])
def test_a_number_of_a_branch_that_went_back_is_not_told_as_set_by_hand_after_the_freeze(
    before: tuple[int, ...],
) -> None:
    policy = {"min": 2, "max": 20, "policy": {"schedule": [{"replicas": 5}]}}
    spec, key = the_spec(5, autoscaling=policy), KEY
    records = on_record(the_spec(7, autoscaling=policy))
    back = Moves(tracked={key: (Passage("c2", 5, before, went_back=True),)}, wrote={})
    for moves in (back, Moves(), Moves()):
        frozen = waits(a_head(spec, moves=moves), records)
        scaling, wanted = counts_in_git.settled(frozen, frozen.reading.workloads[key], records[key])
        assert (scaling.waits_by, scaling.held_until, wanted) == ("c2", 0.0, 7)
        scaling = intent_codec.load_scaling(
            json.loads(json.dumps(intent_codec.dump_scaling(scaling)))
        )
        records = {key: replace(records[key], scaling=scaling)}
    scaling, wanted = counts_in_git.settled(a_head(spec, freezes=()), spec, records[key])
    assert (scaling.waits_by, scaling.held_by, wanted) == ("", "c2", 5)
    assert scaling.held_why.startswith("the branch moved to c2, and not forward")
    later = replace(on_record(spec)[key], scaling=scaling)
    assert counts_in_git.settled(a_head(spec, freezes=()), spec, later)[0] == scaling


POLICY = {"min": 2, "max": 20, "policy": {"schedule": [{"replicas": 12}]}}
OFF = {**POLICY, "enabled": False}


@pytest.mark.parametrize(
    ("number", "scaling", "moved", "told"),
    [
        pytest.param(3, Scaling(own=3), (), False, id="the one under our line"),
        pytest.param(4, Scaling(own=3), (), True, id="another"),
        pytest.param(3, Scaling(), (), True, id="no line lay over it"),
        pytest.param(3, Scaling(own=3, waits_by="c0"), (), True, id="a person's that waits"),
        pytest.param(3, Scaling(own=3), (Passage("c2", 3, (4,)),), True, id="a person's now"),
    ],
)
def test_who_uncovers_the_number_under_a_line_of_ours_wrote_none(
    number: int, scaling: Scaling, moved: tuple[Passage, ...], *, told: bool
) -> None:
    records = on_record(the_spec(12, autoscaling=POLICY), scaling=scaling)
    head = a_head(the_spec(number, autoscaling=OFF), moves=Moves(tracked={KEY: moved}))
    judged = waits(head, records)
    assert [edit.counted for edit in judged.waiting] == [True]
    assert (KEY in judged.withheld) == told


def test_of_what_acts_with_a_brake_nothing_is_judged_but_whose_number_waits() -> None:
    held = HeldRemoval(HoldKind.OVER_BUDGET, "to=2", "too much", released='{"enabled":null}')
    records = on_record(the_spec(12, autoscaling=OFF), held=held)
    moved = Moves(tracked={KEY: (Passage("c2", 2, (3,)),)})
    judged = waits(a_head(the_spec(2, autoscaling=POLICY), moves=moved), records)
    assert judged.left == {KEY}
    assert KEY not in judged.reading.workloads
    assert judged.withheld == {KEY: ("c2", False)}
    known = counts_in_git.with_waiting(judged, KEY, records[KEY].scaling)
    assert (known.waits_by, known.waits_back) == ("c2", False)
    assert counts_in_git.with_waiting(judged, KEY, known) is known


def test_what_equals_a_spec_with_a_brake_is_a_change_all_the_same() -> None:
    held = HeldRemoval(HoldKind.OVER_BUDGET, "to=2", "too much", released='{"enabled":null}')
    records = on_record(the_spec(12, autoscaling=OFF), held=held)
    assert waits(a_head(the_spec(12, autoscaling=OFF)), records).left == {KEY}
