"""Numbers are put where they stand, in a spec or in the file of counts, or refused by name."""

import pytest

from reconciler.core.count_edits import with_counts
from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.model.refs import WorkloadKey

ARENA = WorkloadKey("Scheduler", "arena", "arena")
SPEC = b"""\
apiVersion: gamekeeper.dev/v1
kind: Scheduler
metadata: {name: arena}   # a comment
spec:
  replicas: 5 # five
"""


def test_a_number_in_a_spec_changes_alone() -> None:
    after, refused = with_counts("a.yaml", SPEC, {ARENA: 12})
    assert (after, refused) == (SPEC.replace(b"replicas: 5", b"replicas: 12"), ())


def test_a_number_in_the_file_of_counts_changes_alone() -> None:
    before, _ = with_counts(REPLICAS_FILE, b"", {ARENA: 5})
    after, refused = with_counts(REPLICAS_FILE, before, {ARENA: 12})
    assert (after, refused) == (before.replace(b"arena: 5", b"arena: 12"), ())


def test_a_refusal_names_its_workload_wherever_the_number_stands() -> None:
    for file, text in (("a.yaml", SPEC.replace(b" 5 ", b" '5' ")), (REPLICAS_FILE, b"[")):
        after, (refusal,) = with_counts(file, text, {ARENA: 12})
        assert after == text
        assert refusal.edit.where == ARENA


@pytest.mark.parametrize("file", ["du\\el.yaml", "du\nel.yaml", "rooms/../duel.yaml", "d/" * 2049])
def test_a_file_that_no_commit_of_ours_may_name_is_refused_alone(file: str) -> None:
    after, (refusal,) = with_counts(file, SPEC, {ARENA: 12})
    assert (after, refusal.edit.where, refusal.line) == (SPEC, ARENA, 0)
    assert "rename it" in refusal.reason
