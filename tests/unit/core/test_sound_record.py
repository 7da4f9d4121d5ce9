"""Any JSON in place of any field of a record: it is read as what it says, or refused with why."""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core import demand, intents, record_codec, sound_record
from reconciler.core.offers import asks_of
from reconciler.core.record_versions import SCHEMA_VERSION
from reconciler.loop.record_places import kept_of
from reconciler.model.decisions import Advised, Demand, Past
from reconciler.model.errors import Misconfigured
from reconciler.model.freezes import Freeze
from reconciler.model.holds import HoldKind
from reconciler.model.intents import HeadCount, Intent, Landing, Scaling, Step
from reconciler.model.records import (
    Accepted,
    Approved,
    Condition,
    Departed,
    Endorsement,
    Failure,
    HeldRemoval,
    LedgerEntry,
    Notice,
    Offer,
    Ordinals,
    Owned,
    RepositoryRecord,
    StateRecord,
)
from reconciler.model.refs import ObjectRef, WorkloadKey
from tests.unit.core.making import NOW, autoscaling

STEP = Step(NOW - 60, 5, 9, "buffer", "4 busy")
SCALING = Scaling(
    Intent(5, 9, (STEP,), told_at=NOW - 60),
    (Landing("c1", 9, NOW - 60, told_before=NOW - 90), Landing("c2", 9, NOW - 50)),
    held_until=NOW + 900,
    held_at=NOW,
    held_seconds=900.0,
    waits_by="c3",
    held_by="c0",
    lowered=((NOW - 8, 12),),
    own=4,
    undone=(STEP,),
    unlisted=(2, 4),
    past=Past(
        *(NOW - 9, NOW - 8, "up", NOW - 7),
        *((Advised(NOW - 6, 9),), (Advised(NOW - 5, 8),)),
        Demand(NOW - 4, 3, 2, NOW - 3),
        b"learned",
    ),
)
STATE = StateRecord(
    Accepted("{}", 5, "c1", "schedulers/arena.yaml", 1),
    held=HeldRemoval(HoldKind.OVER_BUDGET, "line", "too much"),
    inventory=(Owned(ObjectRef("v1", "Service", "arena", "arena"), made=True),),
    ledger=(LedgerEntry(NOW - 100, 12),),
    highest=17,
    conditions=(Condition("Ready", status=True, reason="Done", message="all is well", since=NOW),),
    observed_commit="c1",
    failures=(Failure(NOW - 30, "uid-1", "digest"),),
    scaling=SCALING,
    demand=demand.encode({2_000_000: 7, 2_000_001: 9}),
)
REPOSITORY = RepositoryRecord(
    *("https://git.example/f", "main", "c1", "{}"),
    approved=(Approved("line", NOW, "anna", "mark"),),
    offers=(Offer("hash", ("line",), "c1", asks_of({"line": "mark"}), NOW),),
    departed=(Departed(WorkloadKey("Fleet", "a", "b"), LedgerEntry(NOW, 3)),),
    notices=(Notice(HoldKind.OVER_BUDGET, "arena", "too much", "hash"),),
    in_step="c1",
    endorsements=(Endorsement("c1", "hash", "anna", NOW, spent=True),),
    known=frozenset({1, 2}),
    newborn=frozenset({2}),
    pushed=("c1", "c2"),
    pushed_at=NOW,
    counts_commit="d1",
    verified="signed by anna",
    freezes=(Freeze(NOW + 9, NOW, "cup", "finals", "gamekeeper.yaml:5"),),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A record with something in every field, and how it is written and read."""

    name: str
    whole: Any
    dump: Any
    load: Any

    def text(self) -> Any:
        """Return it as JSON."""
        return json.loads(self.dump(self.whole)["record"])

    def read(self, value: Any) -> Any:
        """Read it as it stands in the cluster. Raises Misconfigured."""
        data = {"schema": SCHEMA_VERSION, "record": json.dumps(value)}
        metadata = {"namespace": "gamekeeper", "name": "it", "uid": "1", "resourceVersion": "1"}
        item = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        return kept_of(item, self.load, self.name).value


KINDS = {
    "state": Kind("state", STATE, record_codec.dump_state, record_codec.load_state),
    "repository": Kind(
        "repository", REPOSITORY, record_codec.dump_repository, record_codec.load_repository
    ),
    "ordinals": Kind(
        "ordinals",
        Ordinals(9, frozenset({5, 7}), 12345, NOW),
        record_codec.dump_ordinals,
        record_codec.load_ordinals,
    ),
}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where something stands."""
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for key, each in inner:
        yield (*path, key)
        yield from places(each, (*path, key))


def with_another(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    changed = copy.deepcopy(value)
    at = changed
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = other
    return changed


def use(record: Any) -> None:
    """Do with a record what judging does."""
    if not isinstance(record, StateRecord):
        return
    head = HeadCount(5, autoscaling(2, 20), accepted=5, foreign="c9")
    for now in (NOW, 0.0):
        scaling, _ = intents.settle(record.scaling, head, now, 900.0)
        intents.effective(scaling, head)
    assert record.in_effect >= 0
    if record.scaling.intent:
        assert record.scaling.intent.waits_since >= 0
        assert record.scaling.intent.reason.encode() is not None
    demand.decode(record.demand)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_what_we_wrote_is_sound(kind: Kind) -> None:
    assert kind.read(kind.text()) == kind.whole
    assert sound_record.problem_of(kind.whole) == ""


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@given(data=st.data())
def test_any_json_in_place_of_any_field_is_read_or_refused(kind: Kind, data: st.DataObject) -> None:
    whole = kind.text()
    path = data.draw(st.sampled_from([*places(whole)]))
    value = with_another(whole, path, data.draw(json_values))
    try:
        record = kind.read(value)
    except Misconfigured:
        return
    assert sound_record.problem_of(record) == ""
    kind.read(json.loads(kind.dump(record)["record"]))
    use(record)


def paths_and_words() -> Iterator[Any]:
    wrong = [
        (("accepted", "replicas"), "5", "accepted.replicas is no count"),
        (("accepted", "replicas"), -1, "accepted.replicas is no count"),
        (("accepted", "replicas"), True, "accepted.replicas is no count"),
        (("scaling", "heldUntil"), "soon", "scaling.held_until is no time"),
        (("scaling", "heldUntil"), float("nan"), "scaling.held_until is no time"),
        (("scaling", "heldBy"), None, "scaling.held_by is no text"),
        (("scaling", "intent", "steps"), [], "the intent has no step"),
        (("scaling", "intent", "steps", 0, 0), 1e300, "intent.steps[].at is no time"),
        (("scaling", "landings", 0, 1), "9", "scaling.landings[].value is no count"),
        (("scaling", "lowered", 0, 0), [], "scaling.lowered[][] is no time"),
        (("conditions", 0, 3), "\ud800", "conditions[].message is text that nobody can write"),
        (("deleting",), "no", "deleting is no yes or no"),
        (("highest",), 1.5, "highest is no count"),
    ]
    for path, value, why in wrong:
        yield pytest.param(path, value, why, id=f"{'.'.join(map(str, path))}: {value!a}")


@pytest.mark.parametrize(("path", "value", "why"), [*paths_and_words()])
def test_a_field_of_another_kind_is_named(path: tuple[Any, ...], value: Any, why: str) -> None:
    kind = KINDS["state"]
    with pytest.raises(Misconfigured) as refused:
        kind.read(with_another(kind.text(), path, value))
    assert why in str(refused.value)
