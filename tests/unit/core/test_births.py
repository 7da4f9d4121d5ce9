from dataclasses import replace

import pytest

from reconciler.core import births, record_codec
from reconciler.core.births import MOST_KNOWN, digest_of
from reconciler.model.arrivals import Arrival
from reconciler.model.records import RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey
from tests.unit.core.arriving import an_arrival
from tests.unit.core.making import a_key, a_reading, a_workload, accepted

ARENA, LOBBY = a_key("arena"), a_key("lobby")
HERE = an_arrival(a_reading())
NOBODY = RepositoryRecord(known=frozenset())
KNOWN = RepositoryRecord(known=frozenset({digest_of("local", ARENA)}))


def born(
    repository: RepositoryRecord,
    arrival: Arrival = HERE,
    records: dict[WorkloadKey, StateRecord] | None = None,
) -> tuple[RepositoryRecord, frozenset[WorkloadKey]]:
    after = births.enter(repository, arrival, records or {}, [ARENA, LOBBY])
    return after, births.newborn_among(after, "local", [ARENA, LOBBY])


@pytest.mark.parametrize(
    ("repository", "arrival", "new"),
    [
        pytest.param(NOBODY, HERE, {ARENA, LOBBY}, id="who was never known is new"),
        pytest.param(KNOWN, HERE, {LOBBY}, id="who was known is not"),
        pytest.param(RepositoryRecord(), HERE, set(), id="without a record nobody is"),
        pytest.param(
            RepositoryRecord(),
            replace(HERE, blank=True),
            {ARENA, LOBBY},
            id="unless nothing of ours is there at all",
        ),
        pytest.param(
            NOBODY, replace(HERE, unrecorded={LOBBY: 0}), {ARENA}, id="who lives somewhere is not"
        ),
        pytest.param(
            NOBODY,
            replace(HERE, named=frozenset({ARENA})),
            {LOBBY},
            id="who has an ordinal record is not",
        ),
    ],
)
def test_the_newborn(repository: RepositoryRecord, arrival: Arrival, new: set[WorkloadKey]) -> None:
    assert born(repository, arrival)[1] == new


def test_who_was_born_is_known_and_who_is_known_stays_so() -> None:
    after, _ = born(KNOWN)
    assert after.known == frozenset({digest_of("local", ARENA), digest_of("local", LOBBY)})
    assert births.enter(after, HERE, {}, []).known == after.known


def test_who_is_born_stays_so_until_a_name_is_raised() -> None:
    first, _ = born(NOBODY)
    records = {key: accepted(a_workload(key.name)) for key in (ARENA, LOBBY)}
    _, still = born(first, records=records)
    assert still == {ARENA, LOBBY}
    records[ARENA] = replace(records[ARENA], highest=0)
    _, left = born(first, records=records)
    assert left == {LOBBY}


def test_who_was_put_on_record_as_born_and_then_crashed_is_still_born() -> None:
    first, _ = born(NOBODY)
    assert born(first)[1] == {ARENA, LOBBY}


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(StateRecord(), id="whose spec was never accepted"),
        pytest.param(replace(accepted(a_workload("arena")), deleting=True), id="who is leaving"),
    ],
)
def test_nobody_stays_born(record: StateRecord) -> None:
    first, _ = born(NOBODY)
    assert ARENA not in born(first, records={ARENA: record})[1]


@pytest.mark.parametrize(
    ("number", "kibibytes"),
    [
        pytest.param(1_000, 7, id="a thousand workloads"),
        pytest.param(10_000, 66, id="ten thousand"),
        pytest.param(MOST_KNOWN, 105, id="as many as are kept"),
    ],
)
def test_the_known_fit_their_record(number: int, kibibytes: int) -> None:
    keys = [a_key(f"arena-{n}") for n in range(number)]
    first = births.enter(NOBODY, HERE, {}, keys)
    records = {key: StateRecord(highest=1) for key in keys}
    later = births.enter(first, HERE, records, [])
    assert later.known is not None
    assert len(later.known) == number
    size = len(record_codec.dump_repository(later)["record"])
    assert kibibytes - 1 < size / 1024 < kibibytes + 1
    assert len(record_codec.dump_repository(first)["record"]) < 256 * 1024


def test_beyond_the_most_nobody_is_new_any_more() -> None:
    keys = [a_key(f"arena-{n}") for n in range(MOST_KNOWN + 1)]
    full = births.enter(NOBODY, HERE, {}, keys)
    assert full.known is None
    assert not full.newborn
    assert not born(full)[1]
