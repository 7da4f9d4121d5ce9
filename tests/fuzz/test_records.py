"""Records of ours that somebody else may have written: they are what they say, or unreadable."""

import base64
import io
import json
import random
import zlib
from collections.abc import Callable
from typing import Any

from reconciler.core import demand, demand_rows, record_codec
from reconciler.core.offers import asks_of
from reconciler.core.record_packing import packed
from reconciler.core.record_versions import SCHEMA_VERSION, Texts
from reconciler.core.sound_record import problem_of
from reconciler.loop.record_places import kept_ordinals, kept_repository, kept_state
from reconciler.model.decisions import Advised, Demand, Past
from reconciler.model.errors import Misconfigured
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
    HeldRemoval,
    LedgerEntry,
    Notice,
    Offer,
    OfferEnd,
    Ordinals,
    Owned,
    RepositoryRecord,
    StateRecord,
)
from reconciler.model.refs import Json, ObjectRef, WorkloadKey
from tests.fuzz.forging import Forge, altered, written
from tests.fuzz.playing import Target, search
from tests.unit.core.reading import SPEC, read

NOW = 1_760_000_000.0
ARENA = WorkloadKey("Scheduler", "arena", "arena")
SPEC_JSON = read({"schedulers/a.yaml": SPEC}).workloads[ARENA].spec_json
LINE = "delete Scheduler/arena"
HISTORY = demand.encode({demand.quarter_of(NOW) - n: n for n in range(40)})
STATE = StateRecord(
    accepted=Accepted(SPEC_JSON, 10, "c" * 40, "schedulers/a.yaml", 7),
    held=HeldRemoval(next(iter(HoldKind)), LINE, "too many"),
    inventory=(Owned(ObjectRef("v1", "ConfigMap", "arena", "settings"), True),),
    ledger=(LedgerEntry(NOW, 3), LedgerEntry(NOW - 60, 1)),
    highest=12,
    conditions=(Condition("Ready", True, "Fine", "all is well", NOW),),
    observed_commit="c" * 40,
    failures=(Failure(NOW, "uid-1", "1-0123456789ab"),),
    scaling=Scaling(
        Intent(10, 12, (Step(NOW, 10, 12, "buffer", "more players"),), NOW),
        (Landing("d" * 40, 11, NOW - 60),),
        NOW + 60,
        "somebody",
        NOW,
        lowered=((NOW, 2),),
        past=Past(NOW, NOW, "up", NOW, (Advised(NOW, 4),), (), Demand(NOW, 3, 4, NOW), b"memory"),
    ),
    demand=HISTORY,
)
REPOSITORY = RepositoryRecord(
    "https://git.example.com/fleet",
    "main",
    "c" * 40,
    "",
    (Approved(LINE, NOW + 60, "ada", "0a1b2c3d4e5f"),),
    (Offer("0a1b2c3d4e5f", (LINE,), "c" * 40, asks_of({LINE: "f" * 12}), NOW, OfferEnd.WAITING),),
    (Departed(ARENA, LedgerEntry(NOW, 3)),),
    in_step="c" * 40,
    endorsements=(Endorsement("e" * 40, "0a1b2c3d4e5f", "ada", NOW, False),),
    known=frozenset({1, 2**39}),
    newborn=frozenset({3}),
    pushed=("d" * 40,),
    pushed_at=NOW,
    freezes=(Freeze(NOW, NOW - 60, "weekend", "a match", "gamekeeper.yaml:3"),),
    notices=(Notice(next(iter(HoldKind)), "gamekeeper.yaml:3", "frozen", "0a1b2c3d4e5f"),),
)
DUMPED: dict[str, tuple[Texts, Callable[[Json], Any]]] = {
    "state": (record_codec.dump_state(STATE), lambda item: kept_state(item, ARENA)),
    "repository": (record_codec.dump_repository(REPOSITORY), kept_repository),
    "ordinals": (
        record_codec.dump_ordinals(Ordinals(12, frozenset({3, 4, 9}), 12, NOW)),
        kept_ordinals,
    ),
}
AGAIN: dict[type, tuple[Callable[[Any], Texts], Callable[[Texts, str], Any]]] = {
    StateRecord: (record_codec.dump_state, record_codec.load_state),
    RepositoryRecord: (record_codec.dump_repository, record_codec.load_repository),
    Ordinals: (record_codec.dump_ordinals, record_codec.load_ordinals),
}
METADATA = {
    "namespace": "gamekeeper",
    "name": "gamekeeper-main",
    "uid": "u",
    "resourceVersion": "1",
}
OTHERS = (
    *([NOW, 2], [["a"]], {"intent": None}, NOW, -NOW, 1e300, base64.b64encode(HISTORY).decode()),
    *(
        base64.b64encode(zlib.compress(bytes(2**24))).decode(),
        packed(SPEC_JSON),
        packed("[" * 9000),
    ),
    *("0123456789ab:", "a:b c:d", LINE, "c" * 40, "waiting", list(range(50)), [[1, 10**9]]),
)
ROWS = Forge(
    [
        b"time,starts\n2025-10-09T08:00:00Z,3\n2025-10-09 08:15,4.5\n1760000000,2\n",
        b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":'
        b'[[1759990000,"3"],[1759990900,"4.5"]]}]}}',
    ],
    (b"NaN", b"+Inf", b"1e308", b"9999-12-31", b"T24:00", b"+99:99", b"0000-00-00", b'"'),
    20_000,
)


def record_of(chance: random.Random) -> bytes:
    """Return a record with its kind in the first line: changed JSON, or no JSON any more."""
    kind = chance.choice(sorted(DUMPED))
    value = json.loads(DUMPED[kind][0]["record"])
    return kind.encode() + b"\n" + written(altered(value, chance, OTHERS), chance)


def read_back(data: bytes) -> None:
    """What is taken is sound, and what we write of it is read as the same."""
    kind, _, text = data.partition(b"\n")
    texts = {"schema": SCHEMA_VERSION, "record": text.decode("utf-8", "replace")}
    item = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": METADATA, "data": texts}
    try:
        record = DUMPED[kind.decode()][1](item).value
    except Misconfigured as error:
        str(error).encode()
        return
    assert problem_of(record) == ""
    dump, load = AGAIN[type(record)]
    once = dump(record)
    json.dumps(once, ensure_ascii=False).encode()
    again = load(once, "it")
    # An offer forgets what only an older version wrote; from then on it stays the same.
    assert dump(again) == once


def history_of(chance: random.Random) -> bytes:
    """Return a history of demand with some of its bytes changed."""
    return Forge([HISTORY, demand.MARK, demand.encode({0: 0})], (), 12_000)(chance)


def remembered(data: bytes) -> None:
    """Whatever stands for a history, more is added to it, and it stays one of 28 days."""
    quarter = demand.quarter_of(NOW)
    for after in (demand.append(data, quarter, 3), demand.put(data, quarter, 3)):
        assert demand.is_history(after)
        assert len(after) <= demand.MOST_BYTES
    half = demand.newer_half(data)
    assert half == b"" or demand.is_history(half)
    if demand.is_history(data):
        assert demand.decode(demand.encode(demand.decode(data))) == demand.decode(data)
        demand.merge(data, HISTORY)


def tabled(data: bytes) -> None:
    """Of a table only counts are taken that a history holds; all else is told by its line."""
    text = data.decode("utf-8", "replace")
    lines = io.StringIO(text)
    for rows in (demand_rows.from_csv(lines, NOW), demand_rows.from_prometheus(text, NOW)):
        assert all(type(count) is int for count in rows.counts.values())
        assert demand.is_history(demand.encode(rows.counts)) or not rows.counts
        assert all(line >= 1 for line, _ in rows.problems)
        "".join(demand_rows.told(rows, "table.csv")).encode("utf-8", "surrogatepass")


def test_the_records_that_are_changed_here_are_read_unchanged() -> None:
    for kind, (texts, _) in DUMPED.items():
        read_back(kind.encode() + b"\n" + texts["record"].encode())
        item = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": METADATA, "data": texts}
        assert DUMPED[kind][1](item).value in (
            STATE,
            REPOSITORY,
            Ordinals(12, frozenset({3, 4, 9}), 12, NOW),
        )


def test_no_record_is_taken_for_what_it_is_not() -> None:
    search(Target("record", 378_000, record_of, read_back))


def test_no_history_of_demand_is_too_much() -> None:
    search(Target("demand", 210_000, history_of, remembered))


def test_no_table_of_demand_is_too_much() -> None:
    search(Target("table", 210_000, ROWS, tabled))
