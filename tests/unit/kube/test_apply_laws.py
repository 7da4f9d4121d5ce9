from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.kube.apply import Applied, Conflicts, track_update
from reconciler.kube.diff import left_scoped
from reconciler.kube.json_types import Json
from tests.unit.kube.definitions import pod, schema_of
from tests.unit.kube.owning import applied, try_apply, updated

_texts = st.sampled_from(("", "1", "2"))
_maps = st.dictionaries(st.sampled_from("abcd"), _texts, max_size=4)


def _by_name(item: Json) -> str:
    return str(item["name"])


def _named(names: str, **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    required: dict[str, st.SearchStrategy[Any]] = {"name": st.sampled_from(names)}
    return st.fixed_dictionaries(required, optional=optional)


_limits = st.dictionaries(st.just("cpu"), st.sampled_from(("1", "2")))
_containers = st.lists(
    _named(
        "cde",
        image=_texts,
        args=st.lists(_texts, max_size=2),
        env=st.lists(_named("XYZ", value=_texts), max_size=3, unique_by=_by_name),
        resources=st.builds(lambda limits: {"limits": limits}, _limits),
    ),
    min_size=1,
    max_size=3,
    unique_by=_by_name,
)


@st.composite
def _pods(draw: st.DrawFn) -> Json:
    obj = pod(**draw(st.fixed_dictionaries({}, optional={"nodeSelector": _maps})))
    obj["spec"]["containers"] = draw(_containers)
    obj["metadata"].update(draw(st.fixed_dictionaries({}, optional={"labels": _maps})))
    return obj


@pytest.mark.long
@given(_pods(), _pods(), _pods())
def test_applying_twice_changes_nothing(live: Json, other: Json, desired: Json) -> None:
    before = applied(updated(None, live), other, "other", force=True)
    once = applied(before, desired, force=True, now="t3")
    assert applied(once, desired, force=False, now="t4") == once


@pytest.mark.long
@given(_pods(), _pods(), _pods())
def test_after_an_apply_nothing_differs(live: Json, before: Json, desired: Json) -> None:
    held = applied(updated(None, live), before, force=True)
    after = applied(held, desired, force=True)
    assert left_scoped(desired, after, schema_of(desired)) == ()


@pytest.mark.long
@given(_pods(), _pods(), _pods())
def test_a_field_that_two_appliers_hold_has_the_value_of_both(
    live: Json, first: Json, second: Json
) -> None:
    held = applied(updated(None, live), first, "first", force=True)
    outcome = try_apply(held, second, "second")
    if isinstance(outcome, Applied):
        assert left_scoped(first, outcome.object, schema_of(first)) == ()
        assert left_scoped(second, outcome.object, schema_of(second)) == ()


@given(_pods(), _pods())
def test_an_update_leaves_every_changed_field_to_whoupdated(live: Json, then: Json) -> None:
    held = applied(None, live)
    entries = track_update(held, then, manager="u", schema=schema_of(then), now="t3")
    written = {**then, "metadata": {**then["metadata"], "managedFields": entries}}
    # What the applier still owns has its old value: to apply it again conflicts with nobody else.
    again = try_apply(written, live, now="t4")
    if isinstance(again, Conflicts):
        assert {conflict.owner.manager for conflict in again.conflicts} == {"u"}
