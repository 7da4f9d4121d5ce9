"""Records of every version that ever wrote some are read, and a newer one's are kept as they are.

`tests/golden/records/NUMBER[-WHICH]` hold what programs wrote under a schema's number: `1-first` is
of the first days, `1` has something in every field of its time, `1-copies` and `1-failures` in
those that came since. They are never written anew: a program that writes more adds a directory, and
what it reads of them beside the others here.
"""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from reconciler import __version__
from reconciler.core import demand, record_codec, record_versions
from reconciler.core.offers import asks_of
from reconciler.core.record_versions import UnreadableRecord
from reconciler.loop.record_places import kept_of
from reconciler.model.decisions import NO_PAST, Advised, Demand
from reconciler.model.errors import Misconfigured
from reconciler.model.freezes import Freeze
from reconciler.model.holds import HoldKind
from reconciler.model.intents import Intent, Landing, Scaling, Step
from reconciler.model.records import (
    Accepted,
    Applied,
    Approved,
    Condition,
    Departed,
    Endorsement,
    Failure,
    Failures,
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

GOLDEN = Path(__file__).parents[2] / "golden" / "records"
NOW = 1_800_000_000.0
COMMIT, LINE = "c" * 40, "delete Scheduler/arena"
LOADS: dict[str, Any] = {
    "state": record_codec.load_state,
    "repository": record_codec.load_repository,
    "ordinals": record_codec.load_ordinals,
}
DUMPS: dict[str, Any] = {
    "state": record_codec.dump_state,
    "repository": record_codec.dump_repository,
    "ordinals": record_codec.dump_ordinals,
}
READY = Condition("Ready", status=True, reason="Done", message="all is well", since=NOW)
WRITTEN: dict[str, dict[str, Any]] = {
    "1-first": {
        "state": StateRecord(
            Accepted('{"kind": "Scheduler"}', 5, COMMIT, "schedulers/arena.yaml", 3),
            held=HeldRemoval(HoldKind.OVER_BUDGET, LINE, "too much at once"),
            inventory=(Owned(ObjectRef("v1", "Namespace", "", "arena"), made=True),),
            ledger=(LedgerEntry(NOW - 100, 12),),
            highest=17,
            conditions=(READY,),
            observed_commit=COMMIT,
        ),
        "repository": RepositoryRecord(
            *("https://git.example/fleet", "main", COMMIT, "{}"),
            approved=(Approved(LINE, NOW, "anna"),),
            # Without the marks of what it was asked with, an offer lets nothing through.
            offers=(Offer("0a1b2c3d4e5f", (LINE,), COMMIT),),
            known=None,
        ),
        "ordinals": Ordinals(18, frozenset({9, 15, 16})),
    },
    "1": {
        "state": StateRecord(
            Accepted("{}", 5, "c1", "schedulers/arena.yaml", 1),
            held=HeldRemoval(HoldKind.OVER_BUDGET, "line", "too much"),
            inventory=(Owned(ObjectRef("v1", "Service", "arena", "arena"), made=True),),
            ledger=(LedgerEntry(NOW - 100, 12),),
            highest=17,
            conditions=(READY,),
            observed_commit="c1",
            failures=(Failure(NOW - 30, "uid-1", "digest"),),
            scaling=Scaling(
                Intent(5, 9, (Step(NOW - 60, 5, 9, "buffer", "4 busy"),), told_at=NOW - 60),
                (Landing("c1", 9, NOW - 60, told_before=NOW - 90), Landing("c2", 9, NOW - 50)),
                held_until=NOW + 900,
                held_by="c0",
                held_at=NOW,
                held_seconds=900.0,
                waits_by="c3",
                lowered=((NOW - 8, 12),),
                own=4,
                past=replace(
                    NO_PAST,
                    raised_at=NOW - 9,
                    lowered_at=NOW - 8,
                    went="up",
                    turned_at=NOW - 7,
                    highs=(Advised(NOW - 6, 9),),
                    lows=(Advised(NOW - 5, 8),),
                    demand=Demand(NOW - 4, 3, 2, NOW - 3),
                    memory=b"learned",
                ),
            ),
            demand=demand.encode({2_000_000: 7, 2_000_001: 9}),
        ),
        "repository": RepositoryRecord(
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
        ),
        "ordinals": Ordinals(18, frozenset({9, 15, 16}), 12345, NOW),
    },
    "1-copies": {
        "state": StateRecord(
            deleting=True,
            copied=(ObjectRef("v1", "Secret", "arena", "pull"),),
            applied=(Applied(ObjectRef("v1", "Service", "arena", "arena"), "digest"),),
        ),
        "repository": RepositoryRecord("https://git.example/f", "main", "c1", path="envs/eu"),
        "ordinals": Ordinals(3),
    },
    "1-frozen": {
        "state": StateRecord(deleting=True),
        "repository": RepositoryRecord(
            *("https://git.example/f", "main", "c1"), frozen_hash="0a1b2c3d4e5f"
        ),
        "ordinals": Ordinals(3),
    },
    "1-failures": {
        "state": StateRecord(deleting=True),
        "repository": RepositoryRecord("https://git.example/f", "main", "c1"),
        "ordinals": Ordinals(3, failures=Failures("1-new", 2, NOW)),
    },
}


def golden(version: str, kind: str) -> dict[str, str]:
    texts: dict[str, str] = json.loads((GOLDEN / version / f"{kind}.json").read_text())
    return texts


def item_of(data: dict[str, str]) -> dict[str, Any]:
    metadata = {"namespace": "gamekeeper", "name": "it", "uid": "1", "resourceVersion": "1"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


@pytest.mark.parametrize("kind", sorted(LOADS))
@pytest.mark.parametrize("version", sorted(WRITTEN))
def test_a_record_of_every_version_is_read_as_what_it_said(version: str, kind: str) -> None:
    expected = WRITTEN[version][kind]
    assert kept_of(item_of(golden(version, kind)), LOADS[kind], kind).value == expected


def test_every_number_that_is_read_has_records_that_its_programs_wrote() -> None:
    there = {path.name for path in GOLDEN.iterdir()}
    assert there == set(WRITTEN)
    assert {name.partition("-")[0] for name in there} == record_versions.READABLE
    assert record_versions.SCHEMA_VERSION in record_versions.READABLE


@pytest.mark.parametrize("kind", sorted(LOADS))
def test_the_fields_that_are_known_are_those_that_are_written(kind: str) -> None:
    texts = [json.loads(DUMPS[kind](each[kind])["record"]) for each in WRITTEN.values()]
    assert {name for text in texts for name in text} == record_codec.KNOWN[kind]


@pytest.mark.parametrize("kind", sorted(LOADS))
def test_something_stands_in_every_field_of_what_is_written_here(kind: str) -> None:
    """Or else the fields that are left out when they are empty are not seen to be written."""
    plain = Ordinals(-1) if kind == "ordinals" else type(WRITTEN["1"][kind])()
    empty = {
        each.name
        for each in fields(plain)
        if all(
            getattr(one[kind], each.name) == getattr(plain, each.name) for one in WRITTEN.values()
        )
    }
    assert empty == set()


@pytest.mark.parametrize("kind", sorted(LOADS))
def test_what_is_empty_again_is_not_kept_for_a_newer_version(kind: str) -> None:
    for version, each in WRITTEN.items():
        kept = kept_of(item_of(golden(version, kind)), LOADS[kind], kind)
        assert kept.beyond == {}
        plain = Ordinals(-1) if kind == "ordinals" else type(each[kind])()
        written = record_versions.with_beyond(DUMPS[kind](plain), kept.beyond)
        assert LOADS[kind](written, "it") == plain


@pytest.mark.parametrize("kind", sorted(LOADS))
def test_a_newer_versions_fields_stay_as_they_are(kind: str) -> None:
    newer = {"fromTheFuture": {"of": [1, None, "ü"]}, "another": 7}
    data = golden("1", kind)
    data["record"] = json.dumps({**json.loads(data["record"]), **newer})
    kept = kept_of(item_of(data), LOADS[kind], kind)
    assert kept.value == WRITTEN["1"][kind]
    written = record_versions.with_beyond(DUMPS[kind](kept.value), kept.beyond)
    assert json.loads(written["record"]).items() >= newer.items()
    assert LOADS[kind](written, "it") == WRITTEN["1"][kind]


def test_what_is_known_is_never_taken_from_what_was_kept() -> None:
    texts = record_versions.with_beyond(record_codec.dump_ordinals(Ordinals(9)), {"next": 3})
    assert record_codec.load_ordinals(texts, "it").next == 9


def test_a_field_that_is_nested_beyond_measure_makes_a_record_unreadable() -> None:
    data = golden("1", "ordinals")
    data["record"] = '{"next":3,"deep":' + "[" * 65 + "]" * 65 + "}"
    with pytest.raises(Misconfigured, match="nested deeper"):
        kept_of(item_of(data), LOADS["ordinals"], "ordinals")


@pytest.mark.parametrize(
    ("writer", "told"),
    [
        pytest.param("0.9.1", ", written by gamekeeper 0.9.1; this", id="its version"),
        pytest.param("x; rm -rf", "'2'; this", id="no version is not repeated"),
        pytest.param("", "'2'; this", id="nobody says"),
    ],
)
def test_a_record_of_a_newer_number_says_who_wrote_it_and_what_to_do(
    writer: str, told: str
) -> None:
    data = {"schema": "2", "record": "{}", "writer": writer}
    with pytest.raises(UnreadableRecord) as caught:
        record_codec.load_state(data, "ConfigMap gamekeeper/x")
    text = str(caught.value)
    assert told in text
    assert f"this is gamekeeper {__version__}, which reads '1'" in text
    assert "run the version that wrote it, or newer, and nothing is lost" in text


def test_a_newer_record_is_not_to_be_deleted_and_a_damaged_one_may_be() -> None:
    told = []
    for data in ({"schema": "2", "record": "{}"}, {"schema": "1", "record": "{"}):
        with pytest.raises(UnreadableRecord) as caught:
            record_codec.load_state(data, "ConfigMap gamekeeper/x")
        told.append(record_versions.waits_until(str(caught.value), "it waits for an approval"))
    assert told == [
        "until then: delete no record",
        "until somebody restores the record, or deletes it: then it waits for an approval",
    ]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        pytest.param({}, "null", id="no data"),
        pytest.param({"schema": "", "record": "{}"}, '""', id="an empty number"),
        pytest.param({"schema": "x", "record": "{}"}, '"x"', id="no number"),
        pytest.param({"schema": "0", "record": "{}"}, '"0"', id="older than any"),
    ],
)
def test_a_record_whose_schema_no_version_writes_is_damaged_and_not_newer(
    data: dict[str, str], told: str
) -> None:
    with pytest.raises(UnreadableRecord) as caught:
        record_codec.load_state(data, "ConfigMap gamekeeper/x")
    reason = str(caught.value)
    assert reason == f"ConfigMap gamekeeper/x cannot be read: no version writes schema {told}"
    until = record_versions.waits_until(reason, "it waits")
    assert until == "until somebody restores the record, or deletes it: then it waits"


def test_a_record_says_which_program_wrote_it() -> None:
    assert record_versions.signed({"schema": "1"}) == {"schema": "1", "writer": __version__}
