from reconciler.core.asked import Asked, asked_by, removals_between
from reconciler.model.changes import Cause, Removal
from reconciler.model.intents import NO_SCALING
from tests.unit.core.arriving import an_arrival
from tests.unit.core.making import a_key, a_reading, a_workload, accepted, read_spec

ARENA, LOBBY = a_workload("arena", 2), a_workload("lobby", 20)
RECORDS = {each.key: accepted(each) for each in (ARENA, LOBBY)}


def test_a_head_asks_for_its_counts_and_takes_away_what_it_has_no_more() -> None:
    smaller = a_workload("lobby", 18)
    found = asked_by(an_arrival(a_reading(smaller)), RECORDS, read_spec)
    assert found.settled == {a_key("lobby"): (NO_SCALING, 18)}
    assert found.removals == (
        Removal("local", a_key("arena"), Cause.LEFT_GIT, 0, 2),
        Removal("local", a_key("lobby"), Cause.SCALE_IN, 18, 2),
    )


def test_rooms_of_no_record_that_a_head_would_replace_are_asked_for_as_such() -> None:
    arrival = an_arrival(
        a_reading(LOBBY), unrecorded={LOBBY.key: 25}, outdated=frozenset({LOBBY.key})
    )
    found = asked_by(arrival, {}, read_spec)
    assert found.removals == (Removal("local", LOBBY.key, Cause.ROLLOUT, 20, 25),)


def test_a_head_without_a_config_asks_for_nothing() -> None:
    assert asked_by(an_arrival(a_reading(config=None)), RECORDS, read_spec) == Asked({}, ())


def test_what_goes_is_found() -> None:
    base = {a_key("gone"): 4, a_key("less"): 5, a_key("more"): 1, a_key("broken"): 7}
    head = {a_key("less"): 2, a_key("more"): 9, a_key("new"): 3}
    present = frozenset({*head, a_key("broken")})
    assert removals_between(base, head, present, "local") == (
        Removal("local", a_key("gone"), Cause.LEFT_GIT, 0, 4),
        Removal("local", a_key("less"), Cause.SCALE_IN, 2, 3),
    )
