"""What of a head waits while a freeze is open: what people changed, and nothing of ours."""

from dataclasses import replace
from typing import Any

import pytest

from reconciler import assets
from reconciler.core import freezing
from reconciler.model.changes import Cause, Removal
from reconciler.model.holds import HoldKind
from reconciler.model.records import HeldRemoval, RepositoryRecord
from reconciler.model.specs import Workload
from reconciler.model.trees import CONFIG_FILE
from tests.unit.core.frozen import (
    DAY,
    FREEZE,
    KEY,
    a_config,
    a_head,
    a_landing,
    on_record,
    the_spec,
)
from tests.unit.core.making import NOW

ZONES = assets.TimeZones()


def test_what_waits_for_an_approval_is_left_to_it() -> None:
    removal = Removal("local", KEY, Cause.SCALE_IN, 1, 2)
    held = HeldRemoval(HoldKind.OVER_BUDGET, removal.line, "too much")
    records = on_record(the_spec(), held=held)
    assert not freezing.edits_of(a_head(the_spec(1)), records, [removal])
    assert freezing.edits_of(a_head(the_spec(2)), records, [])


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
