"""Quantiles of net demand, beside those of the laws that they stand for."""

from math import exp, isfinite, lgamma, log

import pytest

from reconciler.core.policies.adaptive_tails import Net, needs


def a_net(
    arriving: float, leaving: float = 0.0, scatter: float = 0.0, dispersion: float = 1.0
) -> Net:
    return Net([arriving], [0.0], [leaving], [scatter], dispersion)


def poisson_need(mean: float, share: float) -> int:
    """Return the least rooms N with P(more than N - 1 matches) at most the share."""
    tail, rooms = 1.0, 0
    while tail > share:
        tail -= exp(-mean + rooms * log(mean) - lgamma(rooms + 1))
        rooms += 1
    return rooms


@pytest.mark.parametrize("share", [0.01, 0.001, 0.0001])
@pytest.mark.parametrize("mean", [1.0, 4.0, 20.0, 150.0])
def test_what_only_comes_by_chance_needs_what_poisson_says(mean: float, share: float) -> None:
    found, _ = needs(a_net(mean), share)

    assert found[0] == pytest.approx(poisson_need(mean, share), abs=1.0)


def test_what_leaves_is_needed_less_and_its_scatter_more() -> None:
    plain, _ = needs(a_net(20.0), 0.001)
    sure, _ = needs(a_net(20.0, 5.0), 0.001)
    unsure, _ = needs(a_net(20.0, 5.0, 5.0), 0.001)

    assert sure[0] == pytest.approx(plain[0] - 5.0)
    assert unsure[0] > sure[0]


@pytest.mark.parametrize("arriving", [0.0, 1e-6, 1e4], ids=["nobody", "hardly anybody", "a crowd"])
def test_a_smaller_share_never_needs_fewer(arriving: float) -> None:
    shares = (0.02, 0.01, 0.001, 0.0001, 0.000001)
    found = [needs(a_net(arriving), share)[0][0] for share in shares]

    assert found == sorted(found)
    assert all(map(isfinite, found))


def test_groups_need_more_than_single_matches() -> None:
    (grouped,), _ = needs(a_net(20.0, dispersion=3.0), 0.001)
    (single,), _ = needs(a_net(20.0), 0.001)

    assert grouped > single + 5.0
