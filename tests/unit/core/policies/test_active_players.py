"""activePlayers: the collections' thresholds of the summed capacity, strict; and a target."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.core.policies.policy import Facts
from tests.unit.core.policies.looks import a_load, a_look, advice, policies
from tests.unit.core.reading import rules

BOTH = {"maxPlayersPerServer": 10, "scaleInThreshold": 60, "scaleOutThreshold": 80}
TARGET = {"maxPlayersPerServer": 10, "targetPercent": 70}


@pytest.mark.parametrize(
    ("servers", "players", "wanted"),
    [
        pytest.param(5, 41, 6, id="82% is above 80%: one more"),
        pytest.param(5, 40, 5, id="80% is not above 80%"),
        pytest.param(5, 35, 5, id="between the thresholds nothing changes"),
        pytest.param(5, 30, 5, id="60% is not below 60%"),
        pytest.param(5, 29, 4, id="58% is below 60%: one fewer"),
        pytest.param(2, 9, 2, id="one fewer would be at 90%, above 80%: none goes"),
        pytest.param(1, 0, 1, id="the last one stays"),
        pytest.param(7, 0, 6, id="one at a time"),
    ],
)
def test_thresholds(servers: int, players: int, wanted: int) -> None:
    look = a_look(a_load(ready=servers, players=players))

    assert advice({"activePlayers": BOTH}, look).replicas == wanted


@pytest.mark.parametrize(
    ("servers", "replicas"),
    [
        pytest.param(1, 1, id="the only one"),
        pytest.param(1, 3, id="the only one that is there"),
    ],
)
def test_the_last_server_stays_and_the_reason_says_so(servers: int, replicas: int) -> None:
    found = advice({"activePlayers": BOTH}, a_look(a_load(ready=servers, replicas=replicas)))

    assert found.replicas == replicas
    assert "0%), below 60%, and the last one stays" in found.reason


def test_a_larger_step_is_taken_whole_upwards_and_as_far_as_it_fits_downwards() -> None:
    policy = {"activePlayers": {**BOTH, "step": 3}}

    assert advice(policy, a_look(a_load(ready=5, players=45))).replicas == 8
    assert advice(policy, a_look(a_load(ready=10, players=0))).replicas == 7
    assert advice(policy, a_look(a_load(ready=5, players=24))).replicas == 3
    assert advice(policy, a_look(a_load(ready=2, players=0))).replicas == 1


@pytest.mark.parametrize(
    "form", [pytest.param(BOTH, id="thresholds"), pytest.param(TARGET, id="a target")]
)
@pytest.mark.parametrize(
    ("crowds", "counted", "said"),
    [
        pytest.param((10, 9), 19, "19 players", id="who holds them all is believed"),
        pytest.param(
            (1_000_000, 4),
            14,
            "14 players",
            id="a server that lies fills no more than itself",
        ),
        pytest.param((11, 12, 4), 24, "24 players", id="so do two"),
    ],
)
def test_a_server_counts_for_as_many_players_as_it_holds(
    form: dict[str, int], crowds: tuple[int, ...], counted: int, said: str
) -> None:
    told = a_look(a_load(ready=5, players=sum(crowds), crowds=crowds))
    honest = a_look(a_load(ready=5, players=counted))

    found = advice({"activePlayers": form}, told)

    assert found.replicas == advice({"activePlayers": form}, honest).replicas
    assert said in found.reason
    assert ("told more than 10" in found.reason) is (max(crowds) > 10)


@pytest.mark.parametrize("players", [0, 100])
def test_while_a_server_is_not_healthy_nothing_changes(players: int) -> None:
    look = a_look(a_load(ready=5, starting=1, players=players, healthy=False))

    found = advice({"activePlayers": BOTH}, look)

    assert (found.replicas, found.hold != "") == (6, True)


@pytest.mark.parametrize(
    ("replicas", "wanted"),
    [
        pytest.param(0, 1, id="no capacity at all: one, or nobody could ever play"),
        pytest.param(4, 4, id="those that were asked for are waited for"),
    ],
)
def test_without_a_server_no_load_is_reckoned(replicas: int, wanted: int) -> None:
    look = a_look(a_load(replicas=replicas))

    assert advice({"activePlayers": BOTH}, look).replicas == wanted


@pytest.mark.parametrize(
    ("players", "healthy", "wanted", "may_remove"),
    [
        pytest.param(700, True, 100, True, id="700 players at 70% of 10 are 100 servers"),
        pytest.param(701, True, 101, True, id="one more is a server more"),
        pytest.param(0, True, 1, True, id="nobody: one stays"),
        pytest.param(70, False, 10, False, id="unhealthy: it grows, and none goes"),
    ],
)
def test_a_target(players: int, healthy: bool, wanted: int, may_remove: bool) -> None:
    policy = {"activePlayers": {"maxPlayersPerServer": 10, "targetPercent": 70}}

    found = advice(policy, a_look(a_load(ready=50, players=players, healthy=healthy)))

    assert (found.replicas, found.may_remove) == (wanted, may_remove)


@settings(deadline=None)
@given(
    servers=st.integers(0, 200),
    players=st.integers(0, 5000),
    more=st.integers(0, 500),
    low=st.integers(1, 99),
    step=st.integers(1, 20),
    above=st.integers(1, 99),
)
def test_more_players_never_want_fewer_servers(
    servers: int, players: int, more: int, low: int, step: int, above: int
) -> None:
    high = min(100, low + above)
    policy = {
        "activePlayers": {
            "maxPlayersPerServer": 20,
            "scaleInThreshold": low,
            "scaleOutThreshold": high,
            "step": step,
        }
    }

    def wanted(count: int) -> int:
        return advice(policy, a_look(a_load(ready=servers, players=count))).replicas

    assert 1 <= wanted(players) <= wanted(players + more)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        pytest.param({}, set(), id="both thresholds"),
        pytest.param({"scaleInThreshold": 80}, {("scaleInThreshold", "thresholds")}, id="equal"),
        pytest.param({"scaleInThreshold": None}, {("", "thresholds")}, id="one alone"),
        pytest.param({"targetPercent": 70},
                     {("scaleInThreshold", "thresholds"), ("scaleOutThreshold", "thresholds")},
                     id="both forms"),
    ],
)  # fmt: skip
def test_thresholds_are_in_order(changes: dict[str, Any], found: set[tuple[str, str]]) -> None:
    parameters = {name: each for name, each in {**BOTH, **changes}.items() if each is not None}

    assert rules(policies()["activePlayers"].problems(parameters, Facts(reports=True))) == found
