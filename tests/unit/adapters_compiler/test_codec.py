from dataclasses import replace
from typing import Any

import pytest

from reconciler.adapters.compiler.codec import decode, encode
from reconciler.adapters.compiler.frames import Garbled
from reconciler.model.findings import Finding, Severity
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.shares import Share
from reconciler.model.specs import Budgets, Config, PortRange, Scheduling, Workload
from reconciler.model.trees import Entry, EntryKind, Tree
from tests.contract.compiler_world import workload

KEY = WorkloadKey("Scheduler", "arena", "arena")
FINDING = Finding("a.yaml", 3, 9, "spec.game", "wrong", "write it", "rule", Severity.WARNING)
FULL = Reading(
    commit="abc",
    config=Config(budgets=Budgets(workload_percent=10), spec_json='{"a":1}'),
    workloads={KEY: replace(workload(), template={"spec": {"a": [1, 2.5, None, True, "é"]}})},
    invalid={WorkloadKey("Scheduler", "b", "b"): (FINDING, FINDING)},
    unreadable=("x.yaml",),
    missing_paths=("gone",),
    findings=(FINDING,),
)

ROUND_TRIPS: list[Any] = [
    pytest.param(Reading, FULL, id="a Reading with everything in it"),
    pytest.param(Reading, replace(FULL, config=None, workloads={}), id="a Reading without Config"),
    pytest.param(
        Tree,
        Tree("c", {"a": Entry(EntryKind.FILE, "b", 3, b"\xff\x00\n")}, frozenset({"d"}), ("p",)),
        id="a tree with bytes that are no text",
    ),
    pytest.param(Entry, Entry(EntryKind.SYMLINK, "b", 3), id="an entry that was not read"),
    pytest.param(Workload, replace(workload(), port_range=None), id="a workload without ports"),
    pytest.param(Share, Share(25, percent=True), id="a per cent"),
]


@pytest.mark.parametrize(("shape", "value"), ROUND_TRIPS)
def test_what_is_encoded_is_decoded_to_the_same(shape: type[Any], value: Any) -> None:
    decoded = decode(shape, encode(shape, value))
    assert decoded == value
    assert type(decoded) is type(value)


def test_enums_and_keys_come_back_as_what_they_were() -> None:
    back = decode(Reading, encode(Reading, FULL))
    assert back.workloads[KEY].scheduling is Scheduling.PACKED
    assert isinstance(back.workloads[KEY].port_range, PortRange)
    assert back.findings[0].severity is Severity.WARNING


LIES: list[Any] = [
    pytest.param(Share, [25], id="too few parts"),
    pytest.param(Share, [25, True, "more"], id="too many parts"),
    pytest.param(Share, ["25", True], id="text for a number"),
    pytest.param(Share, [True, True], id="true for a number"),
    pytest.param(Share, {"value": 25}, id="a map for a list"),
    pytest.param(Entry, ["pipe", "b", 3, None], id="an unknown word"),
    pytest.param(Entry, ["file", "b", 3, "%%"], id="bytes that are no base64"),
    pytest.param(Workload, None, id="nothing"),
]


@pytest.mark.parametrize(("shape", "value"), LIES)
def test_what_a_worker_says_is_checked_for_its_shape(shape: type[Any], value: Any) -> None:
    with pytest.raises(Garbled):
        decode(shape, value)


def test_a_word_that_a_literal_does_not_have_is_refused() -> None:
    said = encode(Workload, workload())
    said[said.index("none")] = "everything"
    with pytest.raises(Garbled):
        decode(Workload, said)
