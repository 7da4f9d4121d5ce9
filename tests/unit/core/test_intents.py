"""Intents: every point of their life at which the head of the branch may move."""

import random
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pytest

from reconciler.core import intents
from reconciler.core.step_keeping import STEPS_KEPT
from reconciler.model.intents import (
    BY_A_PERSON,
    CARRIED,
    Fate,
    HeadCount,
    Intent,
    Landing,
    Passage,
    Scaling,
    Step,
)
from reconciler.model.scaling import Autoscaling, Bounds, PolicySpec

HOLD_SECONDS = 900.0
AUTOSCALING = Autoscaling(True, Bounds(2, 50), PolicySpec("buffer", {"rooms": 5}))
INTENT = Intent(5, 9, (Step(10.0, 5, 9, "buffer", "4 busy and 5 spare"),))
WITH_INTENT = Scaling(INTENT)


def head(replicas: int, **changes: Any) -> HeadCount:
    return replace(HeadCount(replicas, AUTOSCALING), **changes)


def pushing(scaling: Scaling, commit: str) -> Scaling:
    """Push what is wanted, before anything else is."""
    assert scaling.intent is not None
    return intents.pushing(scaling, commit, scaling.intent)


@pytest.mark.parametrize(
    ("before", "at_head", "fate", "count", "base"),
    [
        pytest.param(WITH_INTENT, head(5), "kept", 9, 5, id="the head has not moved"),
        pytest.param(WITH_INTENT, head(9), "landed", 9, None, id="the head is what was wanted"),
        pytest.param(
            replace(WITH_INTENT, landings=(Landing("c1", 7, 9.0),)),
            head(7),
            "rebased",
            9,
            7,
            id="an earlier number of ours came, and a later decision stays",
        ),
        pytest.param(
            replace(WITH_INTENT, landings=(Landing("c1", 9, 9.0), Landing("c2", 7, 9.5))),
            head(9),
            "rebased",
            9,
            9,
            id="what is wanted came, but another number of ours is still on its way",
        ),
        pytest.param(WITH_INTENT, head(6), "overruled", 6, None, id="a number of nobody we know"),
        pytest.param(
            WITH_INTENT, head(6, human="c3"), "human", 6, None, id="a human wrote another number"
        ),
        pytest.param(
            WITH_INTENT, head(9, human="c3"), "human", 9, None, id="a human wrote that very number"
        ),
        pytest.param(
            WITH_INTENT, head(5, human="c3"), "human", 5, None, id="a human reverted our commit"
        ),
        pytest.param(
            WITH_INTENT, head(5, autoscaling=None), "off", 5, None, id="autoscaling was taken out"
        ),
        pytest.param(
            WITH_INTENT,
            head(5, autoscaling=replace(AUTOSCALING, enabled=False)),
            "off",
            5,
            None,
            id="autoscaling was switched off",
        ),
        pytest.param(WITH_INTENT, head(5, suspended=True), "off", 5, None, id="it was suspended"),
        pytest.param(
            WITH_INTENT,
            head(5, autoscaling=replace(AUTOSCALING, bounds=Bounds(2, 7))),
            "kept",
            7,
            5,
            id="a lower max lets less of it act",
        ),
        pytest.param(
            WITH_INTENT,
            head(5, autoscaling=replace(AUTOSCALING, bounds=Bounds(12, 20))),
            "kept",
            12,
            5,
            id="a higher min makes it more",
        ),
        pytest.param(
            WITH_INTENT,
            head(5, autoscaling=replace(AUTOSCALING, bounds=Bounds(2, 5))),
            "landed",
            5,
            None,
            id="a max at the number in Git leaves nothing of it",
        ),
        pytest.param(Scaling(), head(6), "none", 6, None, id="nothing was decided"),
    ],
)
def test_the_head_wins_over_what_it_did_not_expect(
    before: Scaling, at_head: HeadCount, fate: Fate, count: int, base: int | None
) -> None:
    after, became = intents.settle(before, at_head, 100.0, HOLD_SECONDS)
    assert became == fate
    assert intents.effective(after, at_head) == count
    assert (after.intent.base if after.intent else None) == base
    assert (after.held_until, after.held_by) == ((1000.0, "c3") if at_head.human else (0.0, ""))


def test_the_same_human_commit_holds_once() -> None:
    held, _ = intents.settle(WITH_INTENT, head(6, human="c3"), 100.0, HOLD_SECONDS)
    again, fate = intents.settle(held, head(6, human="c3"), 500.0, HOLD_SECONDS)
    assert (again, fate) == (held, "none")


def test_a_branch_set_back_holds_again_though_the_policy_wants_the_persons_number() -> None:
    held = replace(WITH_INTENT, held_until=50.0, held_by="c3", held_at=1.0)
    after, fate = intents.settle(held, head(9, human="c3", accepted=5), 100.0, HOLD_SECONDS)
    assert (fate, after.held_until, after.intent) == ("human", 100.0 + HOLD_SECONDS, None)
    again, fate = intents.settle(held, head(5, human="c3", accepted=5), 100.0, HOLD_SECONDS)
    assert (fate, again) == ("kept", held), "the same span, judged again"


def test_a_span_that_is_judged_again_holds_once_and_a_branch_set_back_to_it_again() -> None:
    word = head(6, human="c3", accepted=5)
    held, _ = intents.settle(WITH_INTENT, word, 100.0, HOLD_SECONDS)
    again, _ = intents.settle(held, replace(word, accepted=6), 500.0, HOLD_SECONDS)
    assert again == held
    later, fate = intents.settle(held, replace(word, accepted=8), 2000.0, HOLD_SECONDS)
    assert (fate, later.held_until) == ("human", 2000.0 + HOLD_SECONDS)


@pytest.mark.parametrize(
    ("before", "changes", "holds"),
    [
        pytest.param(WITH_INTENT, {"accepted": 5, "foreign": "c4"}, True, id="nobody knows whose"),
        pytest.param(Scaling(), {"accepted": 5, "foreign": "c4"}, True, id="nothing was decided"),
        pytest.param(WITH_INTENT, {"accepted": 5}, False, id="commits of ours are among them"),
        pytest.param(WITH_INTENT, {"accepted": 6, "foreign": "c4"}, False, id="it is no other"),
        pytest.param(WITH_INTENT, {"foreign": "c4"}, False, id="nothing was accepted before"),
        pytest.param(
            replace(WITH_INTENT, landings=(Landing("c1", 6, 9.0),)),
            {"accepted": 5, "foreign": "c4"},
            False,
            id="it is on its way from us",
        ),
    ],
)
def test_a_number_that_changed_without_a_commit_of_ours_is_a_persons(
    before: Scaling, changes: dict[str, Any], holds: bool
) -> None:
    after, fate = intents.settle(before, head(6, **changes), 100.0, HOLD_SECONDS)
    assert (after.held_by, after.held_until) == (("c4", 1000.0) if holds else ("", 0.0))
    if holds:
        assert after.intent is None
        assert fate in ("overruled", "none")


def test_a_push_that_was_never_answered_is_given_up_where_its_number_is_wanted_no_more() -> None:
    pushed = pushing(intents.decided(Scaling(), 5, Step(1.0, 5, 9, "buffer", "a")), "c1")
    back = intents.decided(pushed, 5, Step(2.0, 9, 5, "buffer", "b"))
    for at in (3.0, 600.0):
        back, fate = intents.settle(back, head(5), at, HOLD_SECONDS)
        assert (fate, back.intent is None) == ("kept", False)
    after, fate = intents.settle(back, head(5), 700.0, HOLD_SECONDS)
    assert (fate, after) == ("landed", Scaling())
    wanted, fate = intents.settle(pushed, head(5), 700.0, HOLD_SECONDS)
    assert (fate, wanted) == ("kept", pushed), "one that is wanted is pushed again"


def test_a_clock_that_was_set_back_lengthens_no_hold() -> None:
    held, _ = intents.settle(WITH_INTENT, head(6, human="c3"), 5000.0, HOLD_SECONDS)
    later, _ = intents.settle(held, head(6), 1000.0, HOLD_SECONDS)
    assert later.held_until == 1000.0 + HOLD_SECONDS


def test_what_an_answered_push_told_is_told_again_while_the_head_is_at_its_base() -> None:
    """Somebody may have forced it off the branch; where it only comes later, it tells it then."""
    decided = intents.decided(Scaling(), 5, Step(1.0, 5, 9, "buffer", "a"))
    assert decided.intent is not None
    answered = intents.pushed(pushing(decided, "c1"), "c1", decided.intent)
    more = intents.decided(answered, 5, Step(2.0, 9, 11, "buffer", "b"))
    assert more.intent is not None
    assert [step.after for step in more.intent.untold] == [11]
    gone, fate = intents.settle(more, head(5), 3.0, HOLD_SECONDS)
    assert fate == "kept"
    assert gone.intent is not None
    assert [step.after for step in gone.intent.untold] == [9, 11]
    there, fate = intents.settle(gone, head(9), 4.0, HOLD_SECONDS)
    assert fate == "rebased"
    assert there.intent is not None
    assert [step.after for step in there.intent.untold] == [11]


def test_a_clock_that_was_set_back_slows_no_policy_for_longer() -> None:
    ahead = Scaling(lowered=((900.0, 12), (5000.0, 10)))
    later, _ = intents.settle(ahead, head(6), 1000.0, HOLD_SECONDS)
    assert later.lowered == ((900.0, 12), (1000.0, 10))


def test_a_step_after_the_clock_was_set_back_is_told_all_the_same() -> None:
    told = replace(INTENT, told_at=INTENT.decided_at)
    later = intents.decided(Scaling(told), 5, Step(3.0, 9, 11, "buffer", "6 busy"))
    assert later.intent is not None
    assert [step.after for step in later.intent.untold] == [11]


def test_a_persons_number_stands_outside_the_bounds_for_as_long_as_it_holds() -> None:
    """Written where the committer's number stands, and below one of a branch of counts, alike."""
    beside = head(6, human="c3", asked=90)
    held, fate = intents.settle(WITH_INTENT, beside, 100.0, HOLD_SECONDS)
    assert (fate, intents.effective(held, beside)) == ("human", 90)
    later, fate = intents.settle(held, head(6), 500.0, HOLD_SECONDS)
    assert (fate, intents.effective(later, head(6))) == ("kept", 90)
    after, fate = intents.settle(later, head(6), 1000.0, HOLD_SECONDS)
    assert (fate, intents.effective(after, head(6))) == ("kept", 50)
    inline, _ = intents.settle(WITH_INTENT, head(90, human="c3"), 100.0, HOLD_SECONDS)
    assert intents.effective(inline, head(90)) == 90


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"asked": 6}, id="it is the number there"),
        pytest.param({"asked": None}, id="there is no other branch"),
        pytest.param(
            {"asked": 9, "autoscaling": replace(AUTOSCALING, enabled=False)},
            id="the tracked branch's number stands",
        ),
    ],
)
def test_a_persons_number_is_carried_over_only_where_another_lies_over_it(
    changes: dict[str, Any],
) -> None:
    held, _ = intents.settle(WITH_INTENT, head(6, human="c3", **changes), 100.0, HOLD_SECONDS)
    assert held.intent is None


def test_a_suspension_ends_what_a_policy_decided_and_keeps_what_a_person_did() -> None:
    at_head = head(6, human="c3", asked=9, suspended=True)
    asked, _ = intents.settle(WITH_INTENT, at_head, 100.0, HOLD_SECONDS)
    later, fate = intents.settle(asked, head(6, suspended=True), 200.0, HOLD_SECONDS)
    assert (later, fate) == (asked, "kept")
    assert intents.effective(later, head(6, suspended=True)) == 9
    over, fate = intents.settle(later, head(7, suspended=True), 300.0, HOLD_SECONDS)
    assert (over.intent, fate) == (None, "overruled")
    alone, fate = intents.settle(WITH_INTENT, head(5, suspended=True), 100.0, HOLD_SECONDS)
    assert (alone.intent, fate) == (None, "off")


@pytest.mark.parametrize("by", [BY_A_PERSON, CARRIED])
def test_what_a_person_began_is_theirs_however_many_steps_a_policy_adds(by: str) -> None:
    known = Scaling(Intent(2, 6, (Step(0.5, 2, 6, by, "the branch is gone"),)))
    for number in range(2 * STEPS_KEPT):
        step = Step(1.0 + number, 6 + number % 2, 7 - number % 2, "buffer", "a")
        known = intents.decided(known, 2, step)
    assert known.intent is not None
    assert len(known.intent.steps) == STEPS_KEPT
    after, fate = intents.settle(known, head(2, suspended=True), 200.0, HOLD_SECONDS)
    assert (after, fate) == (known, "kept")


def test_decisions_replace_each_other_and_keep_the_base() -> None:
    up, more = Step(1.0, 5, 7, "buffer", "a"), Step(2.0, 7, 9, "buffer", "b")
    first = intents.decided(Scaling(), 5, up)
    second = intents.decided(first, 5, more)
    assert first.intent == Intent(5, 7, (up,))
    assert second.intent == Intent(5, 9, (up, more))
    assert second.intent.reason == "b"


THERE, BACK = Step(1.0, 5, 7, "buffer", "a"), Step(2.0, 7, 5, "buffer", "b")


def test_a_decision_back_to_the_number_in_git_is_none() -> None:
    known = intents.decided(intents.decided(Scaling(), 5, THERE), 5, BACK)
    assert known == Scaling(undone=(THERE, BACK))


def test_what_led_back_to_the_number_in_git_is_told_by_the_next_commit() -> None:
    known, again = intents.decided(intents.decided(Scaling(), 5, THERE), 5, BACK), BACK
    for at in (10.0, 20.0):
        up, again = Step(at, 5, 9, "buffer", "c"), Step(at + 1.0, 9, 5, "buffer", "d")
        waits = intents.decided(known, 5, up)
        assert waits.intent is not None
        assert waits.intent.waits_since == at, "a quiet time begins anew with it"
        assert (waits.intent.untold, waits.undone) == ((*known.undone, up), ())
        known = intents.decided(waits, 5, again)
    assert [step.at for step in known.undone] == [1.0, 2.0, 10.0, 11.0, 20.0, 21.0]


@pytest.mark.parametrize(
    ("in_git", "heard"),
    [
        pytest.param(6, None, id="the number in Git is another by now"),
        pytest.param(5, head(5, human="h1"), id="a person said this one"),
    ],
)
def test_steps_that_lead_elsewhere_are_not_told(in_git: int, heard: HeadCount | None) -> None:
    known = intents.decided(intents.decided(Scaling(), 5, THERE), 5, BACK)
    if heard is not None:
        known, _ = intents.settle(known, heard, 3.0, HOLD_SECONDS)
    up = Step(2000.0, in_git, 9, "buffer", "c")
    assert intents.decided(known, in_git, up).intent == Intent(in_git, 9, (up,))


def test_what_a_person_began_and_a_policy_took_back_makes_no_later_count_theirs() -> None:
    theirs = Scaling(Intent(5, 7, (replace(THERE, policy=BY_A_PERSON),)))
    assert intents.decided(theirs, 5, BACK) == Scaling()


def test_flapping_around_the_number_in_git_keeps_the_record_small() -> None:
    known = Scaling()
    for at in range(2 * STEPS_KEPT):
        before, after = (5, 7) if at % 2 == 0 else (7, 5)
        known = intents.decided(known, 5, Step(1.0 + at, before, after, "buffer", "r"))
    assert len(known.undone) == STEPS_KEPT
    assert known.undone[0].before == known.undone[-1].after == 5
    assert all(one.after == other.before for one, other in pairwise(known.undone))


def test_a_decision_back_stays_while_another_number_is_on_its_way() -> None:
    there = intents.decided(Scaling(), 5, Step(1.0, 5, 7, "buffer", "a"))
    on_its_way = pushing(there, "c1")
    back = intents.decided(on_its_way, 5, Step(2.0, 7, 5, "buffer", "b"))
    arrived, fate = intents.settle(back, head(7), 3.0, HOLD_SECONDS)
    assert fate == "rebased"
    assert intents.effective(arrived, head(7)) == 5


def test_what_is_decided_while_a_commit_is_written_is_not_taken_for_its_number() -> None:
    scaling = intents.decided(Scaling(), 5, Step(1.0, 5, 9, "buffer", "a"))
    written = scaling.intent
    assert written is not None
    for after in (11, 5):
        later = intents.decided(scaling, 5, Step(2.0, 9, after, "buffer", "b"))
        later = intents.pushing(later, "c1", written)
        arrived, _ = intents.settle(later, head(9), 3.0, HOLD_SECONDS)
        assert intents.effective(arrived, head(9)) == after


def test_a_step_back_while_a_commit_is_written_is_none_of_bounds() -> None:
    """Also where a commit before told how it came to the number that it goes back to."""
    first = intents.decided(Scaling(), 5, Step(1.0, 5, 9, "buffer", "a"))
    more = intents.decided(pushing(first, "c1"), 5, Step(2.0, 9, 12, "buffer", "b"))
    arrived, _ = intents.settle(more, head(9), 3.0, HOLD_SECONDS)
    written = arrived.intent
    assert written is not None
    back = intents.decided(arrived, 9, Step(4.0, 12, 9, "buffer", "c"))
    assert back.intent is None
    later, _ = intents.settle(intents.pushing(back, "c2", written), head(12), 5.0, HOLD_SECONDS)
    assert later.intent is not None
    assert (later.intent.value, later.intent.is_bounded) == (9, False)


def test_a_look_at_the_same_head_forgets_no_commit_that_is_on_its_way() -> None:
    scaling = pushing(intents.decided(Scaling(), 5, Step(1.0, 5, 9, "buffer", "a")), "c1")
    back = intents.decided(scaling, 5, Step(2.0, 9, 5, "buffer", "b"))
    looked, _ = intents.settle(back, head(5), 3.0, HOLD_SECONDS)
    arrived, _ = intents.settle(looked, head(9), 4.0, HOLD_SECONDS)
    assert intents.effective(arrived, head(9)) == 5


INTENT_A = Intent(5, 7, (Step(1.0, 5, 7, "buffer", "a"),))


def test_a_number_whose_push_lost_a_race_is_put_on_record_once() -> None:
    once = pushing(intents.decided(Scaling(), 5, Step(1.0, 5, 7, "buffer", "a")), "c1")
    again = pushing(once, "c2")
    assert again is once or again == once
    landed = intents.pushed(again, "c2", INTENT_A)
    assert [landing.commit for landing in landed.landings] == ["c2"]
    assert landed.intent is not None
    assert landed.intent.untold == ()


def test_a_commit_tells_each_step_once() -> None:
    scaling = intents.decided(Scaling(), 5, Step(1.0, 5, 7, "buffer", "a"))
    scaling = pushing(scaling, "c1")
    scaling = intents.decided(scaling, 5, Step(2.0, 7, 9, "buffer", "b"))
    scaling = intents.pushed(scaling, "c1", INTENT_A)
    assert scaling.intent is not None
    assert [step.reason for step in scaling.intent.untold] == ["b"]


def test_a_commit_whose_answer_was_lost_tells_each_step_once_when_it_is_seen() -> None:
    scaling = intents.decided(Scaling(), 5, Step(1.0, 5, 7, "buffer", "a"))
    scaling = pushing(scaling, "c1")
    scaling = intents.decided(scaling, 5, Step(2.0, 7, 9, "buffer", "b"))
    scaling, fate = intents.settle(scaling, head(7), 3.0, 900.0)
    assert fate == "rebased"
    assert scaling.intent is not None
    assert (scaling.intent.base, scaling.intent.value) == (7, 9)
    assert [step.reason for step in scaling.intent.untold] == ["b"]


def test_what_never_reached_the_branch_is_told_by_the_next_commit() -> None:
    scaling = intents.decided(Scaling(), 5, Step(1.0, 5, 7, "buffer", "a"))
    scaling = intents.not_pushed(pushing(scaling, "c1"), INTENT_A)
    assert scaling.intent is not None
    assert [step.reason for step in scaling.intent.untold] == ["a"]
    assert scaling.landings == ()


def test_four_hours_without_git_and_a_decision_a_minute_keep_each_step() -> None:
    scaling, steps = Scaling(), list[Step]()
    for minute in range(240):
        step = Step(60.0 + 60.0 * minute, 5 + minute, 6 + minute, "buffer", f"r{minute}")
        steps.append(step)
        scaling = intents.decided(scaling, 5, step)
    assert scaling.intent is not None
    assert scaling.intent.steps == tuple(steps)


def test_a_day_without_git_keeps_the_record_small_and_its_oldest_steps_as_one() -> None:
    scaling, before = Scaling(), 5
    for at in range(1, 2000):
        after = 5 + at % 40 + 1
        scaling = intents.decided(scaling, 5, Step(float(at), before, after, "buffer", f"r{at}"))
        before = after
    assert scaling.intent is not None
    steps = scaling.intent.steps
    assert len(steps) == STEPS_KEPT
    assert steps[0].before == 5
    assert steps[0].reason.startswith(f"{2000 - STEPS_KEPT} steps in one, 00:00:01 to 00:29:20; ")
    assert steps[0].reason.endswith("the last: r1760")
    assert all(one.after == other.before for one, other in pairwise(steps))


def test_what_was_told_is_never_told_as_one_with_what_was_not() -> None:
    """A commit of ours stands on a branch that is not read for hours, and demand flaps."""
    decided = intents.decided(Scaling(), 5, Step(1.0, 5, 9, "buffer", "a"))
    assert decided.intent is not None
    scaling = intents.pushed(pushing(decided, "c1"), "c1", decided.intent)
    before = 9
    for turn in range(2 * STEPS_KEPT):
        after = 9 if before != 9 else 8
        scaling = intents.decided(scaling, 5, Step(2.0 + turn, before, after, "buffer", "b"))
        before = after
    assert scaling.intent is not None
    untold = scaling.intent.untold
    assert len(scaling.intent.steps) == STEPS_KEPT
    assert (untold[0].at, untold[0].before) == (2.0, 9), "from the number that was told on"
    assert all(one.after == other.before for one, other in pairwise(untold))


@pytest.mark.parametrize(
    ("passages", "human"),
    [
        pytest.param([], "", id="ours alone"),
        pytest.param([Passage("c1", 7, (5,))], "c1", id="a human's"),
        pytest.param([Passage("c1", 5, (5,))], "", id="a human's about something else"),
        pytest.param(
            [Passage("c2", 7, (7, 5))],
            "",
            id="a merge of an old branch into ours",
        ),
        pytest.param(
            [Passage("c2", 7, (5, 7))],
            "",
            id="a merge of ours into an old branch, pushed as the new head",
        ),
        pytest.param(
            [Passage("c2", 6, (7, 5))],
            "c2",
            id="a merge that settles a conflict by a number of its own",
        ),
        pytest.param([Passage("c1", 7, (None,))], "", id="a new workload"),
        pytest.param([Passage("c1", None, (7,))], "", id="a workload that left"),
        pytest.param([Passage("c1", 7, ())], "", id="a first commit"),
    ],
)
def test_a_human_is_known_by_a_change_that_is_not_ours(passages: list[Passage], human: str) -> None:
    assert intents.human_commit(passages) == human


@dataclass
class World:
    """A branch, a committer that dies, humans, and decisions: played by one seed."""

    random: random.Random
    commits: list[tuple[str, int, bool]] = field(default_factory=lambda: [("c0", 5, False)])
    judged: int = 0
    scaling: Scaling = field(default_factory=Scaling)
    wanted: int = 5
    at: float = 0.0
    written: tuple[int, Intent] | None = None
    """A commit that is not on record yet: the head that it is made for, and what it lands."""
    on_its_way: tuple[str, Intent, int] | None = None
    """A push whose commit may still reach the branch: its id, what it lands, and its place."""
    raced: Intent | None = None
    """What is on record for a push that lost its race."""

    def play(self) -> None:
        self.at += 1.0
        self.random.choice(
            [
                *(self.decide, self.decide, self.write, self.push, self.arrive, self.arrive),
                *(self.look, self.human),
            ]
        )()

    def decide(self) -> None:
        if self.at < self.scaling.held_until:
            return
        count, after = self.effective(), self.random.randint(2, 50)
        if after != count:
            step = Step(self.at, count, after, "buffer", f"{count} to {after}")
            self.scaling = intents.decided(self.scaling, self.commits[self.judged][1], step)
            self.wanted = after

    def write(self) -> None:
        intent = self.scaling.intent
        if intent is not None and self.commits[self.judged][1] == intent.base != intent.value:
            # Only ever onto the head that was judged: another one may hold a human's word.
            self.written = self.judged, intent
        else:
            self.withdraw()

    def push(self) -> None:
        written, self.written = self.written, None
        if written is None or self.on_its_way or written[0] != self.judged:
            return
        name = f"o{self.at}"
        self.scaling = intents.pushing(self.scaling, name, written[1])
        self.on_its_way = name, written[1], written[0] + 1

    def arrive(self) -> None:
        if self.on_its_way is None:
            return
        (name, landed, base), self.on_its_way = self.on_its_way, None
        if base != len(self.commits):
            self.withdraw()
            self.raced = landed
            return
        self.commits.append((name, landed.value, True))
        if self.random.random() < 0.7:
            # Else we die before the answer is on record.
            self.scaling = intents.pushed(self.scaling, name, landed)
            if self.raced == landed:
                self.raced = None
            self.withdraw()

    def withdraw(self) -> None:
        if self.raced is not None:
            self.scaling = intents.not_pushed(self.scaling, self.raced)
        self.raced = None

    def human(self) -> None:
        if self.random.random() < 0.5:
            self.commits.append((f"h{self.at}", self.random.randint(2, 50), False))
        else:
            self.commits.append((f"h{self.at}", self.commits[-1][1], False))

    def look(self) -> None:
        span = range(self.judged + 1, len(self.commits))
        passages = [
            Passage(name, number, (self.commits[at - 1][1],))
            for at in span
            for name, number, ours in [self.commits[at]]
            if not ours
        ]
        human = intents.human_commit(passages)
        self.judged = len(self.commits) - 1
        at_head = head(self.commits[-1][1], human=human)
        self.scaling, fate = intents.settle(self.scaling, at_head, self.at, 3.0)
        if human:
            assert (fate, self.effective()) == ("human", at_head.replicas)
            self.wanted = at_head.replicas

    def effective(self) -> int:
        return intents.effective(self.scaling, head(self.commits[self.judged][1]))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(300))
def test_no_decision_is_lost_and_no_human_is_overruled(seed: int) -> None:
    world = World(random.Random(seed))
    for _ in range(200):
        world.play()
        assert world.effective() == world.wanted
    for _ in range(4):  # everybody rests: what is wanted stands in Git soon
        world.arrive()
        world.look()
        world.write()
        world.push()
        world.arrive()
    world.look()
    assert world.commits[-1][1] == world.wanted == world.effective()
    assert world.scaling.intent is None


def test_where_nothing_was_decided_a_head_leaves_the_very_same_value() -> None:
    plain = head(5, autoscaling=None)
    for scaling in (Scaling(), Scaling(held_until=5.0, held_by="c1", lowered=((1.0, 4),))):
        assert intents.settle(scaling, plain, 10.0, HOLD_SECONDS)[0] is scaling
