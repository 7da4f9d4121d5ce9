import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core import demand, record_codec
from reconciler.core.offers import asks_of
from reconciler.core.record_versions import SCHEMA_VERSION, Texts, UnreadableRecord
from reconciler.model.decisions import Advised, Demand, Past
from reconciler.model.freezes import Freeze
from reconciler.model.holds import HoldKind
from reconciler.model.intents import Intent, Landing, Scaling, Step
from reconciler.model.records import (
    Accepted,
    Approved,
    Condition,
    Departed,
    Endorsement,
    Failure,
    Failures,
    HeldRemoval,
    LedgerEntry,
    Offer,
    OfferEnd,
    Ordinals,
    Owned,
    RepositoryRecord,
    StateRecord,
)
from reconciler.model.refs import ObjectRef, WorkloadKey

text = st.text(max_size=20)
number = st.integers(0, 2**40)
moment = st.floats(0, 1e10)
digests = st.frozensets(st.integers(0, 2**40 - 1), max_size=4)


def many(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(of, max_size=4).map(tuple)


asks = st.dictionaries(text, st.sampled_from(["", "0a1b2c3d4e5f", "f" * 12])).map(asks_of)
entries = st.builds(LedgerEntry, moment, number)
spans = many(st.builds(Advised, moment, number))
pasts = st.builds(
    Past,
    st.none() | moment,
    st.none() | moment,
    st.sampled_from([None, "up", "down"]),
    st.none() | moment,
    spans,
    spans,
    st.none() | st.builds(Demand, moment, number, number, st.none() | moment),
    st.binary(max_size=20),
)
steps = st.builds(Step, moment, number, number, text, text)
states = st.builds(
    StateRecord,
    accepted=st.none() | st.builds(Accepted, text, number, text, text, number),
    deleting=st.booleans(),
    held=st.none() | st.builds(HeldRemoval, st.sampled_from(HoldKind), text, text, text, number),
    inventory=many(st.builds(Owned, st.builds(ObjectRef, text, text, text, text), st.booleans())),
    ledger=many(entries),
    highest=st.none() | number,
    conditions=many(st.builds(Condition, text, st.booleans(), text, text, moment)),
    observed_commit=text,
    failures=many(st.builds(Failure, moment, text, text)),
    scaling=st.builds(
        Scaling,
        st.none() | st.builds(Intent, number, number, many(steps).filter(bool), moment),
        many(st.builds(Landing, text, number, moment)),
        moment,
        text,
        moment,
        many(st.tuples(moment, number)),
        pasts,
    ),
    demand=st.dictionaries(st.integers(2_000_000, 2_000_200), number, max_size=4).map(
        demand.encode
    ),
)
repositories = st.builds(
    RepositoryRecord,
    text,
    text,
    text,
    text,
    many(st.builds(Approved, text, moment, text, text)),
    many(st.builds(Offer, text, many(text), text, asks, moment, st.sampled_from(OfferEnd))),
    many(st.builds(Departed, st.builds(WorkloadKey, text, text, text), entries)),
    in_step=text,
    endorsements=many(st.builds(Endorsement, text, text, text, moment, st.booleans())),
    known=st.none() | digests,
    newborn=digests,
    pushed=many(text),
    pushed_at=moment,
    freezes=many(st.builds(Freeze, moment, moment, text, text, text)),
)


def through_a_config_map(data: Texts) -> Texts:
    assert all(isinstance(value, str) for value in data.values())
    loaded: Texts = json.loads(json.dumps(data))
    return loaded


@pytest.mark.long
@given(states)
def test_a_state_record_comes_back_as_it_was(record: StateRecord) -> None:
    data = through_a_config_map(record_codec.dump_state(record))
    assert record_codec.load_state(data, "it") == record


@pytest.mark.long
@given(repositories)
def test_a_repository_record_comes_back_as_it_was(record: RepositoryRecord) -> None:
    data = through_a_config_map(record_codec.dump_repository(record))
    assert record_codec.load_repository(data, "it") == record


ended = st.none() | st.builds(Failures, st.text(max_size=9), number, moment)


@given(st.builds(Ordinals, number, st.frozensets(st.integers(0, 60)), number, moment, ended))
def test_an_ordinal_record_comes_back_as_it_was(record: Ordinals) -> None:
    data = through_a_config_map(record_codec.dump_ordinals(record))
    assert record_codec.load_ordinals(data, "it") == record


@pytest.mark.parametrize(
    "text", ["[]", '["1-new", 3]', '["1-new", "3", 5]', '["1-new", 3, NaN]', '["1-new", 3, 1e300]']
)
def test_failures_that_are_none_of_ours_let_nobody_wait(text: str) -> None:
    data = {
        **record_codec.dump_ordinals(Ordinals(3)),
        "record": f'{{"next": 3, "failures": {text}}}',
    }
    assert record_codec.load_ordinals(data, "it") == Ordinals(3)


def test_no_range_makes_up_for_the_length_of_another() -> None:
    record = {"next": 12, "outstanding": [[10**30, 4], [9, 2**64]]}
    data = {"schema": "1", "record": json.dumps(record)}
    with pytest.raises(UnreadableRecord, match="end before they begin"):
        record_codec.load_ordinals(data, "it")


def test_ten_thousand_outstanding_names_are_a_short_text() -> None:
    names = frozenset(range(1_800_000_000, 1_800_010_000))
    assert len(record_codec.dump_ordinals(Ordinals(1_800_010_000, names))["record"]) < 200


MONTH = demand.encode({2_000_000 + place: place % 977 for place in range(demand.QUARTERS)})


@pytest.mark.parametrize(
    ("other_bytes", "quarters"),
    [
        pytest.param(0, demand.QUARTERS, id="a month has its place"),
        pytest.param(238 * 1024, demand.QUARTERS // 4, id="the oldest give way first"),
        pytest.param(250 * 1024, 0, id="and all of them before anything else does"),
    ],
)
def test_a_record_that_gets_too_large_gives_up_old_demand(other_bytes: int, quarters: int) -> None:
    record = StateRecord(demand=MONTH, observed_commit="c" * other_bytes)
    data = record_codec.dump_state(record)
    kept = demand.decode(record_codec.load_state(data, "it").demand)

    assert len(kept) == quarters
    assert not kept or max(kept) == 2_000_000 + demand.QUARTERS - 1
    assert len(data["record"]) <= 64 * 1024 or other_bytes


def test_what_a_policy_learned_gives_way_before_the_demand() -> None:
    scaling = Scaling(held_by="c" * 40, past=Past(raised_at=7.0, memory=b"m" * 300_000))
    data = record_codec.dump_state(StateRecord(demand=MONTH, scaling=scaling))
    kept = record_codec.load_state(data, "it")

    assert kept.scaling == replace(scaling, past=Past(raised_at=7.0))
    assert kept.demand == MONTH
    assert len(data["record"]) <= record_codec.MOST_STATE_BYTES


@pytest.mark.parametrize("value", ["%%%", "bm8=", 7], ids=["no base64", "not packed", "no text"])
def test_demand_that_cannot_be_read_is_lost_and_holds_nothing(value: object) -> None:
    assert record_codec.load_state(written({"demand": value}), "it") == StateRecord()


def test_equal_records_have_equal_texts() -> None:
    one, other = Ordinals(9, frozenset({3, 1, 2})), Ordinals(9, frozenset({2, 3, 1}))
    assert record_codec.dump_ordinals(one) == record_codec.dump_ordinals(other)


def written(value: object) -> Texts:
    return {"schema": SCHEMA_VERSION, "record": json.dumps(value)}


def test_what_is_missing_takes_its_default_and_what_is_unknown_is_ignored() -> None:
    assert record_codec.load_state(written({"fromTheFuture": 1}), "it") == StateRecord()
    assert record_codec.load_repository(written({"fromTheFuture": 1}), "it") == RepositoryRecord()
    assert record_codec.load_ordinals(written({"next": 3, "fromTheFuture": 1}), "it") == Ordinals(3)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param({}, "no version writes schema null", id="no version"),
        pytest.param({"schema": "2", "record": "{}"}, "or newer", id="a newer version"),
        pytest.param({"schema": "1"}, "'record'", id="no text"),
        pytest.param({"schema": "1", "record": "{"}, "cannot be read", id="half a text"),
        pytest.param({"schema": "1", "record": "[]"}, "no JSON object", id="another text"),
        pytest.param(written({"accepted": {"spec": "%%"}}), "accepted spec", id="no base64"),
        pytest.param(written({"accepted": {"spec": "AAAA"}}), "accepted spec", id="no zlib"),
        pytest.param(written({"accepted": {"spec": "eJwr"}}), "cut off", id="half a zlib"),
    ],
)
def test_a_record_is_unreadable(data: Texts, words: str) -> None:
    with pytest.raises(UnreadableRecord, match=words) as caught:
        record_codec.load_state(data, "ConfigMap gamekeeper/x")
    assert "ConfigMap gamekeeper/x" in str(caught.value)


def test_a_range_without_end_is_unreadable_instead_of_out_of_memory() -> None:
    endless = written({"next": 3, "outstanding": [[0, 10**15]]})
    with pytest.raises(UnreadableRecord, match="outstanding"):
        record_codec.load_ordinals(endless, "it")


def test_a_password_in_an_earlier_record_is_not_read() -> None:
    data = record_codec.dump_repository(RepositoryRecord("https://bot:s3cret@git.example/f"))
    assert record_codec.load_repository(data, "it").repository == "https://git.example/f"
