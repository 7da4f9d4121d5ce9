"""The file of counts is written by machines and read, merged and edited by people, too."""

import subprocess
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.core.counts import key_named
from reconciler.core.replicas_file import write_counts
from reconciler.model.refs import WorkloadKey
from tests.unit.core.reading import SPEC, read

NAMES = [f"Scheduler/{letter}" for letter in "bdfh"]
BOM = "\ufeff"


def keyed(counts: Mapping[str, int]) -> dict[WorkloadKey, int]:
    found = {key_named(name): count for name, count in counts.items()}
    assert None not in found
    return {key: count for key, count in found.items() if key is not None}


def keys(*names: str) -> list[WorkloadKey]:
    return list(keyed(dict.fromkeys(names, 0)))


def listed(data: bytes) -> dict[str, int]:
    reading = read({"replicas.yaml": data.decode()})
    assert [one.rule for one in reading.errors] == []
    return {str(key): count for key, count in reading.counts.items()}


FIRST, _ = write_counts(b"", keyed({"Scheduler/arena": 5, "Fleet/eu/lobby": 7}))


def test_the_first_file_is_whole_sorted_and_read_by_us() -> None:
    text = FIRST.decode()

    assert list(listed(FIRST).items()) == [("Fleet/eu/lobby", 7), ("Scheduler/arena", 5)]
    assert text.splitlines()[3:12] == [
        "apiVersion: gamekeeper.dev/v1",
        "kind: Replicas",
        "spec:",
        "  counts:",
        "    # Fleet/eu/lobby",
        "    Fleet/eu/lobby: 7",
        "",
        "    # Scheduler/arena",
        "    Scheduler/arena: 5",
    ]


@pytest.mark.parametrize(
    "start", [b"", b"\n", b"---\n...\n"], ids=["no file", "an empty row", "marks"]
)
def test_where_nothing_stands_the_file_is_written_anew(start: bytes) -> None:
    after, refused = write_counts(start, keyed({"Scheduler/arena": 5, "Fleet/eu/lobby": 7}))

    assert (after, refused) == (FIRST, ())


def test_a_count_is_changed_and_every_other_byte_stays() -> None:
    mine = FIRST.decode().replace("arena: 5", "arena: 5\t# for the cup 🏆").encode()

    after, refused = write_counts(mine, keyed({"Scheduler/arena": 12}))

    assert (after.decode(), refused) == (mine.decode().replace(": 5\t", ": 12\t"), ())


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["line feeds", "Windows line ends"])
@pytest.mark.parametrize("start", ["", BOM], ids=["plain", "byte order mark"])
def test_counts_come_change_and_go_in_one_step(ending: str, start: str) -> None:
    before = (start + FIRST.decode().replace("\n", ending)).encode()

    after, refused = write_counts(
        before,
        keyed({"Scheduler/arena": 6, "Fleet/a": 1, "Scheduler/z": 0}),
        keys("Fleet/eu/lobby"),
    )

    anew, _ = write_counts(b"", keyed({"Scheduler/arena": 6, "Fleet/a": 1, "Scheduler/z": 0}))
    assert refused == ()
    assert after.decode() == start + anew.decode().replace("\n", ending)


def test_when_the_last_count_goes_the_file_lists_none_and_can_be_filled_again() -> None:
    empty, _ = write_counts(FIRST, {}, keys("Scheduler/arena", "Fleet/eu/lobby"))

    assert listed(empty) == {}
    assert write_counts(empty, keyed(listed(FIRST))) == (FIRST, ())


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["line feeds", "Windows line ends"])
@pytest.mark.parametrize(
    "start",
    [
        pytest.param("# Owned by @platform\n", id="comments"),
        pytest.param("# Owned by @platform", id="a comment without its end"),
        pytest.param("# Owned by @platform\n---\n", id="a comment and the mark of a document"),
    ],
)
def test_counts_come_below_the_comments_of_people(start: str, ending: str) -> None:
    data = start.replace("\n", ending).encode()
    after, refused = write_counts(data, keyed({"Scheduler/arena": 5, "Fleet/eu/lobby": 7}))

    assert refused == ()
    assert after.startswith(data)
    assert listed(after) == {"Scheduler/arena": 5, "Fleet/eu/lobby": 7}
    assert (b"\r" in after) == (b"\r" in data)


PEOPLES = """\
# Owned by @platform
apiVersion: gamekeeper.dev/v1
kind: Replicas
spec:
  counts: {}  # filled by Gamekeeper
  # see the handbook
"""


def test_the_comments_of_a_file_without_counts_stay_when_they_come_and_go() -> None:
    full, refused = write_counts(PEOPLES.encode(), keyed({"Scheduler/arena": 5}))

    assert refused == ()
    assert listed(full) == {"Scheduler/arena": 5}
    assert [line for line in PEOPLES.splitlines() if line not in full.decode()] == [
        "  counts: {}  # filled by Gamekeeper"
    ]
    assert write_counts(full, {}, keys("Scheduler/arena")) == (PEOPLES.encode(), ())


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        pytest.param(PEOPLES.replace("  counts: {}", "  {counts: {}}"), "a line", id="in braces"),
        pytest.param(PEOPLES.partition("spec:")[0], "a line", id="no spec"),
        pytest.param("# Owned by @platform\n---\n...\n", "delete the file", id="a document ends"),
    ],
)
def test_where_comments_would_be_lost_nothing_is_added_and_it_is_said(text: str, fix: str) -> None:
    after, refused = write_counts(text.encode(), keyed({"Scheduler/arena": 5}))

    assert after == text.encode()
    assert [fix in one.reason for one in refused] == [True]


def test_a_workload_that_is_gone_gets_no_count() -> None:
    after, _ = write_counts(FIRST, keyed({"Scheduler/arena": 6}), keys("Scheduler/arena"))

    assert listed(after) == {"Fleet/eu/lobby": 7}


def test_nothing_to_do_changes_nothing() -> None:
    assert write_counts(FIRST, keyed(listed(FIRST)), keys("Scheduler/nobody")) == (FIRST, ())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("{HEAD}spec: {counts: {Scheduler/arena: 4}}\n", "another form", id="flow"),
        pytest.param("{HEAD}spec:\n  counts:\n    Scheduler/arena:\n      4\n", "another form",
                     id="a count below its name"),
        pytest.param("{HEAD}spec:\n  counts:\n   ? Scheduler/arena\n   : 4\n", "another form",
                     id="question marks"),
        pytest.param("a: [\n", "cannot be read", id="no YAML"),
        pytest.param(SPEC, "cannot be read", id="a scheduler"),
        pytest.param("{HEAD}---\n{HEAD}", "cannot be read", id="two documents"),
        pytest.param("{HEAD}spec: {counts: {Scheduler/arena: !!int 4}}\n", "cannot be read",
                     id="a tag"),
    ],
)  # fmt: skip
def test_where_somebody_gave_it_another_form_no_count_is_added(text: str, reason: str) -> None:
    data = text.replace("{HEAD}", "apiVersion: gamekeeper.dev/v1\nkind: Replicas\n").encode()

    after, refused = write_counts(data, keyed({"Scheduler/new": 1}), keys("Scheduler/arena")[:0])

    assert after == data
    assert [reason in one.reason for one in refused] == [True]


def test_in_another_form_counts_still_change() -> None:
    data = b"{apiVersion: gamekeeper.dev/v1, kind: Replicas, spec: {counts: {Scheduler/arena: 4}}}"

    after, refused = write_counts(data, keyed({"Scheduler/arena": 40, "Scheduler/new": 1}))

    assert after == data.replace(b"arena: 4", b"arena: 40")
    assert [one.edit.path[-1] for one in refused] == ["Scheduler/new"]


STEPS = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 10_000), max_size=4),
        st.sets(st.sampled_from("abcdefgh"), max_size=3),
    ),
    max_size=6,
)


@pytest.mark.long
@settings(deadline=None)
@given(STEPS)
def test_however_it_came_about_the_file_lists_what_was_asked_for(
    steps: list[tuple[dict[str, int], set[str]]],
) -> None:
    data, expected = b"", dict[str, int]()
    for counts, gone in steps:
        asked = {f"Fleet/{letter}": count for letter, count in counts.items()}
        left = {f"Fleet/{letter}" for letter in gone}
        data, refused = write_counts(data, keyed(asked), keys(*left))
        expected = {name: n for name, n in {**expected, **asked}.items() if name not in left}

        assert refused == ()
        assert listed(data) == expected
        assert data == write_counts(b"", keyed(expected))[0]


def changes() -> dict[str, bytes]:
    """Return one file of counts with each small change that somebody may make to it."""
    base = dict.fromkeys(NAMES, 5)
    made = {f"set {name}": {**base, name: 7} for name in NAMES}
    made |= {f"add Scheduler/{letter}": {**base, f"Scheduler/{letter}": 9} for letter in "acegi"}
    files = {what: write_counts(BASE, keyed(counts))[0] for what, counts in made.items()}
    return files | {f"del {name}": write_counts(BASE, {}, keys(name))[0] for name in NAMES}


BASE, _ = write_counts(b"", keyed(dict.fromkeys(NAMES, 5)))
PAIRS = [
    pytest.param(one[1], other[1], id=f"{one[0]} and {other[0]}")
    for one, other in combinations(changes().items(), 2)
    # Git joins no two insertions or deletions side by side, whatever stands between them.
    if one[0].split()[1] != other[0].split()[1] and "set" in one[0] + other[0]
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_git_joins_a_changed_count_with_any_change_of_another(
    ours: bytes, theirs: bytes, tmp_path: Path
) -> None:
    for name, data in (("base", BASE), ("ours", ours), ("theirs", theirs)):
        (tmp_path / name).write_bytes(data)

    merged = subprocess.run(
        ["git", "merge-file", "-p", "ours", "base", "theirs"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )

    before, left, right = listed(BASE), listed(ours), listed(theirs)
    expected = {
        name: right[name] if left.get(name) == before.get(name) else left[name]
        for name in sorted({*left, *right})
        if name not in before or (name in left and name in right)
    }
    assert merged.returncode == 0, merged.stdout.decode()
    assert listed(merged.stdout) == expected
    assert merged.stdout == write_counts(b"", keyed(expected))[0]
