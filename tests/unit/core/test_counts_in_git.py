"""A head that meets decisions: what acts, what is remembered, and what no budget refuses."""

from dataclasses import replace
from typing import Any

import pytest

from reconciler.core import carried_counts, counts_in_git, record_codec
from reconciler.core.intake import Intake
from reconciler.model.changes import Cause, Removal
from reconciler.model.findings import Finding
from reconciler.model.holds import HoldKind
from reconciler.model.intents import Intent, Landing, Passage, Scaling, Step
from reconciler.model.moves import Moves
from reconciler.model.records import (
    Approved,
    HeldRemoval,
    LedgerEntry,
    RepositoryRecord,
    StateRecord,
)
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Config, Workload, WriteBack
from reconciler.model.trees import Relation
from tests.unit.core.arriving import an_arrival, kinds, take_in
from tests.unit.core.making import NOW, a_key, a_reading, a_workload, accepted, autoscaling

ARENA = a_workload("arena", 20, autoscaling=autoscaling(2, 100))
INTENT = Intent(20, 60, (Step(NOW - 30, 20, 60, "buffer", "55 busy and 5 spare"),))
DECIDED = replace(accepted(ARENA), scaling=Scaling(INTENT))
WROTE = {ARENA.key: 30}


def at(replicas: int, minimum: int = 2, maximum: int = 100) -> StateRecord:
    """Return the record after a head with that number."""
    workload = a_workload("arena", replicas, autoscaling=autoscaling(minimum, maximum))
    result = take_in(a_reading(workload), records={a_key("arena"): DECIDED})
    assert not result.holds
    return result.records.get(a_key("arena"), DECIDED)


def test_a_commit_about_something_else_leaves_the_decision() -> None:
    assert at(20) == DECIDED


def test_our_number_in_git_ends_the_intent_and_changes_no_count() -> None:
    record = at(60)
    assert (record.scaling.intent, record.in_effect) == (None, 60)
    assert record.ledger == (), "nothing was taken away"


def test_a_number_of_somebody_else_wins_at_once_inside_the_bounds() -> None:
    record = at(10)
    assert (record.scaling.intent, record.in_effect) == (None, 10)
    assert record.ledger == (LedgerEntry(NOW, 60),)


@pytest.mark.parametrize(
    ("head", "commits", "said"),
    [
        pytest.param(
            replace(ARENA, replicas=10),
            (Passage("c2" * 20, 10, (20,)),),
            "somebody set 10 in commit c2c2c2c2c2c2: 60, which was decided, is dropped",
            id="by a person's number",
        ),
        pytest.param(
            replace(ARENA, replicas=10),
            (Passage("c2" * 20, 10, (20,), went_back=True),),
            "the branch moved to c2c2c2c2c2c2, and not forward, which says 10: 60, which was "
            "decided, is dropped",
            id="by a number that the branch moved back to",
        ),
        pytest.param(
            replace(ARENA, replicas=10),
            (),
            "Git says 10, and nobody knows of whom: 60, which was decided, is dropped",
            id="by a number of nobody we know",
        ),
        pytest.param(
            replace(ARENA, autoscaling=None),
            (),
            "no policy may change the count any more: 20 as Git says, 60, which was decided, "
            "is dropped",
            id="where no policy is left",
        ),
        pytest.param(ARENA, (), "", id="not where the head has not moved"),
        pytest.param(replace(ARENA, replicas=60), (), "", id="not where it stands in Git"),
    ],
)
def test_a_count_that_a_head_takes_back_is_told(
    head: Workload, commits: tuple[Passage, ...], said: str
) -> None:
    arrival = an_arrival(a_reading(head), moves=Moves(tracked={head.key: commits}))
    found = counts_in_git.dropped(arrival, head, DECIDED)
    assert str(found or "") == said
    assert counts_in_git.dropped(arrival, head, accepted(ARENA)) is None, "nothing was decided"


def test_a_human_holds_the_policy() -> None:
    workload = a_workload("arena", 10, autoscaling=autoscaling(2, 100))
    passages = {a_key("arena"): (Passage("c2", 10, (20,)),)}
    result = take_in(
        a_reading(workload), records={a_key("arena"): DECIDED}, moves=Moves(tracked=passages)
    )
    record = result.records[a_key("arena")]
    assert record.scaling == Scaling(
        held_until=NOW + 900, held_by="c2", held_at=NOW, held_seconds=900
    )
    assert record.in_effect == 10


def test_a_number_that_no_commit_tells_of_holds_the_policy_too() -> None:
    workload = a_workload("arena", 10, autoscaling=autoscaling(2, 100))
    head = a_reading(workload)
    result = take_in(head, records={a_key("arena"): DECIDED}, moves=Moves(wrote={}))
    record = result.records[a_key("arena")]
    assert record.scaling == Scaling(
        held_until=NOW + 900, held_by=head.commit, held_at=NOW, held_seconds=900
    )
    assert record.in_effect == 10
    beside = take_in(
        head, records={a_key("arena"): DECIDED}, moves=Moves(wrote={a_key("lobby"): 7})
    )
    assert beside.records == result.records, "what we wrote of another changes nothing"
    again = take_in(head, records={a_key("arena"): record}, moves=Moves(wrote={}), now=NOW + 60)
    assert again.records == {}, "it is accepted by now"


@pytest.mark.parametrize(
    ("replicas", "wrote", "changes", "human"),
    [
        pytest.param(20, WROTE, {}, True, id="ours is behind it, and the number of before"),
        pytest.param(30, WROTE, {}, False, id="it is the number of ours"),
        pytest.param(40, WROTE, {}, False, id="it is a later one of ours"),
        pytest.param(50, {ARENA.key: 50}, {}, False, id="it is one of ours that was given up"),
        pytest.param(20, {}, {}, False, id="ours is not behind it yet"),
        pytest.param(20, {a_key("lobby"): 30}, {}, False, id="ours is another workload's"),
        pytest.param(20, None, {}, False, id="nobody can tell what is behind it"),
        pytest.param(20, WROTE, {"unnumbered": {ARENA.key}}, False, id="it stands nowhere now"),
        pytest.param(20, WROTE, {"counts_commit": "b1"}, False, id="it is another branch's"),
        pytest.param(20, WROTE, {"counts_commit": "b1", "over": {ARENA.key: 20}}, True,
                     id="it is that of the branch of counts"),
    ],
)  # fmt: skip
def test_who_takes_a_number_of_ours_back_by_a_merge_holds_the_policy(
    replicas: int, wrote: dict[WorkloadKey, int] | None, changes: dict[str, Any], human: bool
) -> None:
    """A merge that takes the older side has a number that one of its parents has, too."""
    workload = a_workload("arena", replicas, autoscaling=autoscaling(2, 100))
    landings = (Landing("o1", 30, NOW), Landing("o2", 40, NOW))
    record = replace(DECIDED, scaling=replace(DECIDED.scaling, landings=landings))
    passages = {a_key("arena"): (Passage("c2", replicas, (replicas, 30)),)}
    arrived = an_arrival(a_reading(workload, **changes), moves=Moves(passages, wrote=wrote))
    found = counts_in_git.head_count(arrived, workload, record)
    assert bool(found.human) is human


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(a_workload("arena", 10), id="where the policy is taken out with it"),
        pytest.param(
            a_workload("arena", 10, autoscaling=autoscaling(2, 100, enabled=False)),
            id="where the policy is switched off with it",
        ),
        pytest.param(
            a_workload("arena", 1, autoscaling=autoscaling(1, 100)),
            id="where the same commit lowers the bound",
        ),
    ],
)
def test_what_was_not_reviewed_is_refused_as_any_scale_in(after: Workload) -> None:
    result = take_in(a_reading(after), records={a_key("arena"): DECIDED})
    assert kinds(result) == {"arena": "over-budget"}
    assert result.records[a_key("arena")].in_effect == 60


def test_new_bounds_move_the_decision_inside() -> None:
    record = at(20, maximum=50)
    assert record.scaling.intent is not None
    assert (record.scaling.intent.value, record.in_effect) == (50, 50)


def test_a_spec_that_leaves_git_takes_its_decision_along() -> None:
    small = replace(accepted(a_workload("arena", 2)), scaling=Scaling(replace(INTENT, value=3)))
    result = take_in(
        a_reading(a_workload("lobby", 40)),
        a_workload("lobby", 40),
        records={a_key("arena"): small},
    )
    assert result.records[a_key("arena")].scaling == Scaling()


BROUGHT_BACK = Moves(
    tracked={ARENA.key: (Passage("c2", 20, (None,)), Passage("c3", 20, (20,)))}, wrote={}
)
LEAVES = replace(accepted(ARENA), deleting=True)


@pytest.mark.parametrize(
    ("record", "changes", "moves", "held_by"),
    [
        pytest.param(LEAVES, {}, BROUGHT_BACK, "c2", id="while it is removed"),
        pytest.param(LEAVES, {}, Moves(), "HEAD", id="though no commit tells of it"),
        pytest.param(
            replace(DECIDED, deleting=True), {}, BROUGHT_BACK, "c2", id="over what was decided"
        ),
        pytest.param(accepted(ARENA), {}, BROUGHT_BACK, "", id="not before anybody looked"),
        pytest.param(StateRecord(), {}, BROUGHT_BACK, "", id="not of one that is gone, or new"),
        pytest.param(
            LEAVES, {"unnumbered": {ARENA.key}}, BROUGHT_BACK, "", id="not where no number stands"
        ),
        pytest.param(
            LEAVES,
            {"counts_commit": "b1", "over": {ARENA.key: 20}, "own": {ARENA.key: 7}},
            BROUGHT_BACK,
            "c2",
            id="with the line of the branch of counts",
        ),
    ],
)
def test_who_brings_a_workload_back_holds_its_policy(
    record: StateRecord, changes: dict[str, Any], moves: Moves, held_by: str
) -> None:
    head = a_reading(ARENA, **changes)
    after = take_in(head, records={ARENA.key: record}, moves=moves).records.get(ARENA.key, record)
    assert (after.deleting, after.in_effect) == (False, 20)
    assert after.scaling.held_by == held_by.replace("HEAD", head.commit)
    assert bool(after.scaling.held_until) is bool(held_by)


def test_a_workload_without_a_policy_that_comes_back_holds_nothing() -> None:
    bare = replace(ARENA, autoscaling=None)
    after = take_in(a_reading(bare), records={ARENA.key: replace(accepted(bare), deleting=True)})
    assert after.records[ARENA.key].scaling == Scaling()


@pytest.mark.parametrize("policy", [True, False])
def test_who_brings_it_back_with_a_mistake_in_it_holds_a_policy(policy: bool) -> None:
    """The mended head finds it as one that was not removed."""
    spec = ARENA if policy else a_workload("arena", 20)
    broken = a_reading(invalid={ARENA.key: (Finding("a.yaml", 1, 1, "", "broken"),)})
    gone = replace(accepted(spec), deleting=True)
    after = take_in(broken, records={ARENA.key: gone}).records[ARENA.key]
    assert (after.deleting, after.in_effect) == (False, 20)
    assert after.scaling.held_by == (broken.commit if policy else "")
    assert bool(after.scaling.held_until) is policy
    mended = take_in(a_reading(spec), records={ARENA.key: after}, moves=BROUGHT_BACK)
    assert mended.records.get(ARENA.key, after).scaling == after.scaling


def test_who_brings_it_back_broken_by_no_move_forward_is_not_told_to_have_set_its_number() -> None:
    broken = a_reading(invalid={ARENA.key: (Finding("a.yaml", 1, 1, "", "broken"),)})
    for relation in (Relation.DIVERGED, Relation.UNKNOWN):
        result = take_in(broken, records={ARENA.key: LEAVES}, relation=relation)
        assert result.records[ARENA.key].scaling.held_why.startswith("the branch moved to c2, and")


BACK = Passage("c2", 5, (20,), went_back=True)
LOW = a_workload("arena", 5, autoscaling=autoscaling(2, 9))
HIGH = a_workload("arena", 20, autoscaling=autoscaling(10, 100))


@pytest.mark.parametrize(
    ("first", "then", "said"),
    [
        pytest.param(BACK, (), "the branch moved to c2, and not forward", id="as it was"),
        pytest.param(
            BACK,
            (Passage("c3", 5, (5,)),),
            "the branch moved to c2, and not forward",
            id="beside a commit about something else",
        ),
        pytest.param(
            replace(BACK, before=(5,)),
            (),
            "the branch moved to c2, and not forward",
            id="as it stood where the branch was before",
        ),
        pytest.param(
            replace(BACK, before=()),
            (),
            "the branch moved to c2, and not forward",
            id="though nobody knows what stood there before",
        ),
        pytest.param(
            BACK,
            (Passage("c3", 6, (5,)), Passage("c4", 5, (6,))),
            "the number was set by hand in c4",
            id="not by who wrote it anew since then",
        ),
        pytest.param(
            replace(BACK, went_back=False), (), "the number was set by hand in c3", id="forward"
        ),
    ],
)
def test_whose_a_held_number_is_once_it_was_approved(
    first: Passage, then: tuple[Passage, ...], said: str
) -> None:
    """One to which the branch moved back may be ours: nobody is told to have set it."""
    moves = Moves(tracked={ARENA.key: (first,)}, wrote={})
    refused = take_in(a_reading(LOW), HIGH, moves=moves)
    assert kinds(refused) == {"arena": HoldKind.OVER_BUDGET}
    later = take_in(
        a_reading(LOW), records=_restored(refused), moves=Moves(wrote={}), relation=Relation.SAME
    )
    line = Removal("local", ARENA.key, Cause.SCALE_IN, 5, 20).line
    approved = replace(later.repository, approved=(Approved(line, NOW + 60),))
    after = take_in(
        a_reading(LOW, commit="c3"),
        remembered=approved,
        records={**_restored(refused), **later.records},
        moves=Moves(tracked={ARENA.key: then}, wrote={}),
    ).records[ARENA.key]
    assert (after.held, after.in_effect) == (None, 5)
    assert after.scaling.held_until == NOW + 900
    assert after.scaling.held_why.startswith(said)


def _restored(result: Intake) -> dict[WorkloadKey, StateRecord]:
    """Return the records as the next process reads them."""
    return {
        key: record_codec.load_state(record_codec.dump_state(record), "state")
        for key, record in result.records.items()
    }


def test_a_line_of_ours_that_lies_over_what_comes_back_is_its_number() -> None:
    """It landed as the deletion was taken in: what acted was none."""
    there = replace(ARENA, replicas=23)
    head = a_reading(there, counts_commit="b1", over={ARENA.key: 23}, own={ARENA.key: 7})
    after = take_in(head, records={ARENA.key: LEAVES}, moves=Moves(stale={ARENA.key: 23}))
    assert after.records[ARENA.key].in_effect == 23


def test_a_persons_number_under_one_of_the_branch_of_counts_acts_and_is_to_be_carried_over() -> (
    None
):
    workload = a_workload("arena", 20, autoscaling=autoscaling(2, 100))
    head = a_reading(workload, own={a_key("arena"): 10})
    passages = {a_key("arena"): (Passage("c2", 10, (8,)),)}
    result = take_in(head, records={a_key("arena"): DECIDED}, moves=Moves(tracked=passages))
    record = result.records[a_key("arena")]
    assert (record.in_effect, record.scaling.held_by) == (10, "c2")
    assert record.accepted is not None
    assert record.accepted.replicas == 20, "that is what stands in Git for the committer"
    intent = record.scaling.intent
    assert intent is not None
    assert (intent.base, intent.value) == (20, 10)
    assert intent.reason == "commit c2 writes it on the tracked branch"
    again = take_in(head, records={a_key("arena"): record})
    assert again.records.get(a_key("arena"), record) == record, "one commit is heard once"


def test_a_persons_number_under_one_of_the_branch_of_counts_is_heard_though_no_commit_tells() -> (
    None
):
    workload = a_workload("arena", 20, autoscaling=autoscaling(2, 100))
    first = take_in(
        a_reading(workload, own={a_key("arena"): 8}), records={a_key("arena"): DECIDED}
    ).records[a_key("arena")]
    assert (first.in_effect, first.scaling.own) == (60, 8), "nothing to compare it with"
    head = a_reading(workload, own={a_key("arena"): 10})
    record = take_in(head, records={a_key("arena"): first}).records[a_key("arena")]
    assert (record.in_effect, record.scaling.held_by) == (10, head.commit)
    again = take_in(head, records={a_key("arena"): record})
    assert again.records == {}, "it is heard once"


def test_of_two_persons_the_one_on_the_branch_of_counts_is_heard() -> None:
    workload = a_workload("arena", 15, autoscaling=autoscaling(2, 100))
    head = a_reading(workload, own={a_key("arena"): 10})
    result = take_in(
        head,
        records={a_key("arena"): DECIDED},
        moves=Moves(
            tracked={a_key("arena"): (Passage("c2", 10, (8,)),)},
            apart={a_key("arena"): (Passage("d2", 15, (20,)),)},
        ),
    )
    record = result.records[a_key("arena")]
    assert (record.in_effect, record.scaling.intent, record.scaling.held_by) == (15, None, "d2")


@pytest.mark.parametrize(
    ("branch", "tracked", "name"),
    [("", "main", ""), ("counts", "main", "counts"), ("main", "main", "")],
)
def test_the_tracked_branch_is_no_branch_of_counts(branch: str, tracked: str, name: str) -> None:
    config = Config(write_back=WriteBack(branch=branch))
    assert carried_counts.counts_branch(config, tracked) == name
    assert carried_counts.counts_branch(None, tracked) == ""


def test_a_count_that_was_taken_out_of_the_spec_goes_on_as_it_was() -> None:
    bare = a_workload("arena", 2, autoscaling=autoscaling(2, 100))
    bare = replace(bare, spec_json='{"spec":{"replicas":2}}')
    head = a_reading(bare, unnumbered=frozenset({a_key("arena")}))
    records = {a_key("arena"): accepted(a_workload("arena", 20))}
    known = counts_in_git.numbered(head, records).workloads[a_key("arena")]
    assert known.replicas == 20
    assert '"replicas":20' in known.spec_json
    assert counts_in_git.numbered(head, {}) is head, "a new one begins at its min"


@pytest.mark.parametrize(
    ("unlisted", "before", "count"),
    [
        pytest.param((5, 20), 20, 5, id="our first line goes: what acted before it"),
        pytest.param((5, 20), 30, 40, id="a later number goes: what acts goes on"),
        pytest.param(None, 20, 40, id="nobody knows what acted before"),
    ],
)
def test_who_takes_our_first_line_out_takes_it_back(
    unlisted: tuple[int, int] | None, before: int, count: int
) -> None:
    bare = replace(ARENA, replicas=2, spec_json='{"spec":{"replicas":2}}')
    record = accepted(replace(ARENA, replicas=40))
    record = replace(record, scaling=Scaling(unlisted=unlisted))
    gone = Passage("c2", None, (before,))
    arrival = an_arrival(
        a_reading(bare, unnumbered=frozenset({ARENA.key})),
        moves=Moves(tracked={ARENA.key: (gone,)}, taken_out={ARENA.key: gone}),
    )
    found = counts_in_git.numbered_anew(arrival, {ARENA.key: record})
    workload = found.reading.workloads[ARENA.key]
    after, wanted = counts_in_git.settled(found, workload, record)
    assert (wanted, after.held_by) == (count, "c2" if count == 5 else "")
    heard = replace(accepted(replace(workload, replicas=count)), scaling=after)
    again, _ = counts_in_git.settled(found, workload, heard)
    assert again == after, "the same word holds once"


def test_our_first_line_is_remembered_with_what_acted_before_it() -> None:
    arrival = an_arrival(a_reading(replace(ARENA, replicas=60)), moves=Moves(begun={ARENA.key: 50}))
    after, _ = counts_in_git.settled(arrival, replace(ARENA, replicas=60), DECIDED)
    assert after.unlisted == (20, 50)
    taken_in = replace(accepted(replace(ARENA, replicas=60)), scaling=after)
    again, _ = counts_in_git.settled(arrival, replace(ARENA, replicas=60), taken_in)
    assert again.unlisted == (20, 50), "who dies before the head is on record judges it again"


LISTED = {a_key(name): 5 for name in ("arena", "lobby", "old", "held", "broken")}
BROKEN = {a_key("broken"): (Finding("a.yaml", 1, 1, "", "broken"),)}
ON_RECORD = {a_key("held"): accepted(a_workload("held", 5))}


@pytest.mark.parametrize(
    ("changes", "apart", "names"),
    [
        pytest.param({}, False, {"old"}, id="what no spec has and nothing lives of"),
        pytest.param({"unreadable": ("b.yaml",)}, False, set(), id="a file cannot be read"),
        pytest.param({"missing_paths": ("eu",)}, False, set(), id="a directory is missing"),
        pytest.param({"config": None}, False, set(), id="the Config is broken"),
        pytest.param(
            {"counts": {}, "over": LISTED, "counts_commit": "d1"},
            True,
            {"old", "lobby"},
            id="on a branch of counts also what no policy moves",
        ),
        pytest.param({}, True, {"old", "lobby"}, id="so before that branch is made"),
    ],
)
def test_lines_of_nobody_are_gone(changes: dict[str, Any], apart: bool, names: set[str]) -> None:
    there = (ARENA, a_workload("lobby", 5))
    head = replace(a_reading(*there, counts=LISTED, invalid=BROKEN), **changes)
    found = counts_in_git.gone(head, ON_RECORD, head.workloads, apart=apart)
    assert {key.name for key in found} == names


@pytest.mark.parametrize("acting", [{}, {ARENA.key: ARENA}], ids=["nobody knows", "its policy"])
def test_the_line_of_a_policy_whose_end_waits_is_not_gone(acting: dict[Any, Workload]) -> None:
    head = a_reading(replace(ARENA, autoscaling=None), counts={ARENA.key: 5})
    assert not counts_in_git.gone(head, {}, acting, apart=True)


def test_nor_is_that_of_one_whose_rooms_wait_to_go() -> None:
    still = replace(ARENA, autoscaling=None)
    head, held = a_reading(still, counts={ARENA.key: 5}), HeldRemoval(HoldKind.OVER_BUDGET, "a", "")
    records = {ARENA.key: replace(accepted(ARENA), held=held)}
    assert not counts_in_git.gone(head, records, {ARENA.key: still}, apart=True)


@pytest.mark.parametrize(
    ("here", "on_record", "named", "missing"),
    [
        pytest.param("", "d1", "counts", "counts", id="it was not fetched"),
        pytest.param("d0", "d1", "counts", "", id="an older one is there"),
        pytest.param("", "", "counts", "", id="nothing was counted there yet"),
        pytest.param("", "d1", "", "", id="the Config names none any more"),
    ],
)
def test_a_checkout_without_the_branch_of_counts_says_so(
    here: str, on_record: str, named: str, missing: str
) -> None:
    config = Config(write_back=WriteBack(branch=named))
    reading = a_reading(ARENA, config=config, counts_commit=here)
    record = RepositoryRecord(counts_commit=on_record)
    assert counts_in_git.unfetched(reading, record, "main") == missing
