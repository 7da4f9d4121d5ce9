"""Which states are told of, and what makes one a new one."""

from dataclasses import replace

import pytest

from reconciler.core import news
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.notifications import Form, Target, Topic
from reconciler.model.outbox import Outbox
from reconciler.model.refs import WorkloadKey
from tests.unit.core.making import NOW, a_key, a_workload, autoscaling

KEY = a_key()


def target(*workloads: str, topics: frozenset[Topic] = frozenset(Topic)) -> Target:
    return Target("chat", Form.SLACK, topics, workloads)


def held(kind: HoldKind, reason: str = "why", change_hash: str = "") -> Hold:
    return Hold(kind, KEY, reason, change_hash)


@pytest.mark.parametrize("kind", list(HoldKind))
def test_every_kind_of_hold_is_told_or_left_out_on_purpose(kind: HoldKind) -> None:
    told = [each.topic for each in news.of_head([held(kind)])]
    untold = {HoldKind.INCOMPLETE_READ, HoldKind.SUSPENDED, HoldKind.OCCUPIED}
    untold |= {HoldKind.UNSIGNED_COUNTS}
    named = {
        HoldKind.OVER_BUDGET: Topic.REFUSED,
        HoldKind.CROWDED_PORTS: Topic.PORTS_EXHAUSTED,
        HoldKind.NEEDS_INTERVENTION: Topic.NEEDS_INTERVENTION,
    }
    assert told == ([] if kind in untold else [named.get(kind, Topic.HELD)])


def test_a_commit_is_held_anew_by_another_change_and_not_by_another_count() -> None:
    (first,) = news.of_head([held(HoldKind.OVER_BUDGET, "takes 12 of 40 rooms", "abc")])
    (moved,) = news.of_head([held(HoldKind.OVER_BUDGET, "takes 13 of 41 rooms", "abc")])
    (other,) = news.of_head([held(HoldKind.OVER_BUDGET, "takes 12 of 40 rooms", "def")])
    assert (first.place, first.identity) == (moved.place, moved.identity)
    assert (first.place, first.identity) != (other.place, other.identity)


def test_another_change_beside_it_does_not_hold_a_workload_anew() -> None:
    alone = replace(held(HoldKind.OVER_BUDGET, "takes 12 of 40 rooms", "abc"), line="arena to=1")
    beside = replace(alone, reason="takes 12 of 44 rooms", change_hash="def")
    more = replace(alone, line="arena to=0")
    (first,), (again,), (other,) = (tuple(news.of_head([each])) for each in (alone, beside, more))
    assert (first.place, first.identity) == (again.place, again.identity)
    assert first.identity != other.identity


def test_what_a_running_workload_is_held_by_is_one_state_whatever_its_reason_counts() -> None:
    (first,) = news.of_plans([held(HoldKind.FAILING, "3 of 10 rooms failed")])
    (later,) = news.of_plans([held(HoldKind.FAILING, "4 of 10 rooms failed")])
    assert (first.place, first.identity) == (later.place, later.identity)


def test_what_a_plan_repeats_of_the_commit_is_told_once() -> None:
    refused = held(HoldKind.OVER_BUDGET, change_hash="abc")
    failing = held(HoldKind.FAILING)
    told = list(news.told_of([refused], [held(HoldKind.OVER_BUDGET), failing]))
    assert [(each.topic, each.change_hash) for each in told] == [
        (Topic.REFUSED, "abc"), (Topic.HELD, ""),
    ]  # fmt: skip


def test_two_files_that_cannot_be_read_are_two_states() -> None:
    holds = [Hold(HoldKind.UNREADABLE, None, reason) for reason in ("a.yaml", "b.yaml")]
    assert len({each.place for each in news.of_head(holds)}) == 2


def test_write_back_is_told_of_once_it_fails_for_a_while() -> None:
    failing = Outbox(error="protected branch", failing_since=NOW)
    assert not list(news.of_write_back(failing, NOW + news.WRITE_BACK_SECONDS - 1))
    (told,) = news.of_write_back(failing, NOW + news.WRITE_BACK_SECONDS)
    assert (told.topic, told.key) == (Topic.WRITE_BACK, None)
    (refused,) = news.of_write_back(Outbox(refused={KEY: "line 7: an alias"}), NOW)
    assert (refused.key, refused.reason) == (KEY, "a count cannot be committed: line 7: an alias")


def test_a_commit_that_changes_nothing_of_a_target_is_no_news_to_it() -> None:
    before = {KEY: "one", a_key("duel"): "one"}
    after = {**before, a_key("duel"): "two"}
    arena, everything = target("arena"), target()
    one, same = (news.of_applied(each, arena, "a" * 40) for each in (before, after))
    assert one
    assert same
    assert one.identity == same.identity
    all_one, all_two = (news.of_applied(each, everything, "a" * 40) for each in (before, after))
    assert all_one
    assert all_two
    assert all_one.identity != all_two.identity
    assert news.of_applied(before, target("nobody"), "a" * 40) is None


def test_a_count_is_part_of_a_spec_unless_a_policy_moves_it() -> None:
    texts = ['{"replicas":3,"spec":1}', '{"replicas":9,"spec":1}', '{"replicas":9,"spec":2}']
    fixed, scaled = a_workload(), a_workload(autoscaling=autoscaling(1, 9))
    plain = [news.mark_of(replace(fixed, spec_json=text)) for text in texts]
    moved = [news.mark_of(replace(scaled, spec_json=text)) for text in texts]
    assert len(set(plain)) == 3
    assert moved[0] == moved[1] != moved[2]


@pytest.mark.parametrize(
    ("patterns", "fits"),
    [
        pytest.param((), True, id="no pattern is every workload"),
        pytest.param(("arena*",), True, id="a name"),
        pytest.param(("Fleet/servers/*",), True, id="kind, namespace and name"),
        pytest.param(("duel", "*-eu"), True, id="any of several"),
        pytest.param(("ARENA*",), False, id="capitals count"),
        pytest.param(("Scheduler/*",), False, id="another kind"),
    ],
)
def test_patterns_name_workloads(patterns: tuple[str, ...], fits: bool) -> None:
    assert news.matches(WorkloadKey("Fleet", "servers", "arena-eu"), patterns) is fits


def test_a_target_hears_what_it_asked_for() -> None:
    (mine,) = news.of_plans([held(HoldKind.FAILING)])
    (whole,) = news.of_head([Hold(HoldKind.CONFIG, None, "no config")])
    assert news.concerns(mine, target("arena"))
    assert not news.concerns(mine, target("duel"))
    assert news.concerns(whole, target("duel"))
    assert not news.concerns(whole, target(topics=frozenset({Topic.APPLIED})))
