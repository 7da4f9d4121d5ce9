"""What of a head waits while a freeze is open: what people changed, and nothing of ours."""

import json
from dataclasses import replace
from typing import Any

import pytest

from reconciler import assets
from reconciler.core import counts_in_git, freezing, intent_codec
from reconciler.core.compile import canonical, compile_config, workload_from_json
from reconciler.model.arrivals import Arrival
from reconciler.model.changes import Cause, Removal
from reconciler.model.freezes import Freeze
from reconciler.model.holds import HoldKind
from reconciler.model.intents import Intent, Landing, Passage, Scaling
from reconciler.model.moves import Moves
from reconciler.model.records import Accepted, HeldRemoval, RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Config, Source, Workload
from reconciler.model.trees import CONFIG_FILE
from tests.unit.core.arriving import an_arrival
from tests.unit.core.making import NOW, a_key, a_reading

ZONES = assets.TimeZones()
FREEZE = Freeze(NOW + 600, NOW - 600, "cup", "", "gamekeeper.yaml:5")
KEY = a_key()
DAY = {"name": "day", "from": "2027-01-15", "until": "2027-01-15", "timeZone": "UTC"}
"""NOW is 2027-01-15 08:00 UTC."""


def the_spec(replicas: int = 3, image: str = "game:1", **more: Any) -> Workload:
    document = {
        "apiVersion": "gamekeeper.dev/v1",
        "kind": "Scheduler",
        "metadata": {"name": "arena"},
        "spec": {
            "replicas": replicas,
            "reports": "none",
            "template": {"spec": {"containers": [{"name": "game", "image": image}]}},
            **more,
        },
    }
    return workload_from_json(canonical(document), Source("schedulers/arena.yaml", 1))


def on_record(workload: Workload, **changes: Any) -> dict[WorkloadKey, StateRecord]:
    accepted = Accepted(workload.spec_json, workload.replicas, "c1", "schedulers/arena.yaml", 1)
    return {KEY: StateRecord(accepted, **changes)}


def a_config(**spec: Any) -> Config:
    return compile_config({"apiVersion": "v1", "kind": "Config", "spec": spec})


def a_head(workload: Workload | None, **changes: Any) -> Arrival:
    reading = a_reading(*([] if workload is None else [workload]))
    changes = {"freezes": (FREEZE,), "dated": NOW, **changes}
    return an_arrival(reading, **changes)


def a_landing(value: int) -> Scaling:
    return Scaling(intent=Intent(3, value, ()), landings=(Landing("ours", value, NOW - 9),))


def waits(arrival: Arrival, records: dict[WorkloadKey, StateRecord]) -> Arrival:
    """Return the head as it is judged in the freeze."""
    edits = freezing.edits_of(arrival, records, ())
    return freezing.withheld(arrival, edits, (), records, workload_from_json)


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


def test_what_waits_for_an_approval_is_left_to_it() -> None:
    removal = Removal("local", KEY, Cause.SCALE_IN, 1, 2)
    held = HeldRemoval(HoldKind.OVER_BUDGET, removal.line, "too much")
    records = on_record(the_spec(), held=held)
    assert not freezing.edits_of(a_head(the_spec(1)), records, [removal])
    assert freezing.edits_of(a_head(the_spec(2)), records, [])


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


def test_the_line_of_an_edit_names_its_content_and_not_the_number_that_is_ours() -> None:
    def line(head: Workload, **record: Any) -> str:
        (edit,) = freezing.edits_of(a_head(head), on_record(the_spec(), **record), ())
        return edit.line

    ours = line(the_spec(5, "game:2"), scaling=a_landing(5))
    assert ours == line(the_spec(3, "game:2")) != line(the_spec(3, "game:3"))
    assert line(the_spec(5, "game:2")) not in (ours, line(the_spec(6, "game:2")))
    assert ours.startswith("local Scheduler arena/arena change to=")


def test_a_head_stands_under_what_was_accepted_its_own_and_what_was_open() -> None:
    other = {**DAY, "name": "other", "until": "2027-01-16"}
    arrival = a_head(None, accepted_config=a_config(freeze=[DAY]))
    arrival = replace(arrival, reading=replace(arrival.reading, config=a_config(freeze=[other])))
    known = RepositoryRecord(freezes=(FREEZE, replace(FREEZE, name="over", until=NOW)))
    found = freezing.open_freezes(arrival, known, ZONES)
    assert [each.name for each in found] == ["cup", "day", "other"]
    later = replace(arrival, dated=NOW - 3600 * 9)
    assert not freezing.open_freezes(later, known, ZONES), "one that has not begun counts for none"


def test_one_window_is_told_once_and_with_its_line() -> None:
    placed = a_config(freeze=[DAY])
    placed = replace(placed, freeze=(replace(placed.freeze[0], line=7),))
    arrival = a_head(None, accepted_config=a_config(freeze=[DAY]))
    arrival = replace(arrival, reading=replace(arrival.reading, config=placed))
    (found,) = freezing.open_freezes(arrival, RepositoryRecord(), ZONES)
    assert found.place == "gamekeeper.yaml:7"


def test_an_approved_change_of_the_config_leaves_its_own_freezes() -> None:
    arrival = a_head(the_spec(9), accepted_config=a_config(freeze=[DAY]))
    records = on_record(the_spec())
    edits = freezing.edits_of(arrival, records, ())
    lines = {edit.line for edit in edits if edit.key is None}
    assert len(lines) == 1
    assert freezing.lifted(arrival, edits, (), ZONES).freezes == (FREEZE,)
    assert freezing.lifted(arrival, edits, lines, ZONES).freezes == ()


def test_when_to_look_again() -> None:
    arrival = a_head(None, accepted_config=a_config(freeze=[DAY]))
    known = RepositoryRecord(freezes=(FREEZE,))
    assert freezing.next_change(arrival, known, ZONES) == FREEZE.until
    assert freezing.next_change(arrival, RepositoryRecord(), ZONES) == NOW + 16 * 3600


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


@pytest.mark.parametrize(
    ("path", "file"), [("", CONFIG_FILE), ("envs/prod", f"envs/prod/{CONFIG_FILE}")]
)
def test_one_that_the_head_has_no_more_is_told_with_the_commit_that_has_it(
    path: str, file: str
) -> None:
    placed = replace(a_config(freeze=[DAY]).freeze[0], line=28)
    with_it = replace(a_config(freeze=[DAY]), freeze=(placed,))
    arrival = a_head(None, accepted_config=None)
    arrival = replace(arrival, path=path, reading=replace(arrival.reading, config=with_it))
    first = freezing.open_freezes(arrival, RepositoryRecord(), ZONES)
    assert [each.place for each in first] == ["gamekeeper.yaml:28"]
    without = replace(arrival, accepted_config=a_config(freeze=[DAY]))
    without = replace(without, reading=replace(arrival.reading, config=a_config()))
    known = RepositoryRecord(commit="c1" * 20, path=path, freezes=first)
    then = freezing.open_freezes(without, known, ZONES)
    assert [each.place for each in then] == [f"c1c1c1c1c1c1:{file}:28"]
    later = RepositoryRecord(commit="c2" * 20, freezes=then)
    assert freezing.open_freezes(without, later, ZONES) == then
    assert freezing.open_freezes(arrival, later, ZONES) == first, "it came back to the head"
