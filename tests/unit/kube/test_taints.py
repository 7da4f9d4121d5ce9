import pytest

from reconciler.kube.json_types import Json
from reconciler.kube.taints import tolerates, untolerated

_TAINT = {"key": "game", "value": "x", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "is_covered"),
    [
        pytest.param({"operator": "Exists"}, True, id="everything is tolerated"),
        pytest.param({"key": "game", "operator": "Exists"}, True, id="the key is tolerated"),
        pytest.param({"key": "game", "value": "x"}, True, id="equal is the default"),
        pytest.param({"key": "game", "value": "y"}, False, id="another value"),
        pytest.param({"key": "other", "operator": "Exists"}, False, id="another key"),
        pytest.param({"operator": "Exists", "effect": "NoExecute"}, False, id="another effect"),
        pytest.param(
            {"key": "game", "value": "x", "effect": "NoSchedule"}, True, id="the very taint"
        ),
        pytest.param({"operator": "Equal"}, False, id="no key needs Exists"),
        pytest.param({"key": "game", "operator": "Like"}, False, id="an unknown operator"),
    ],
)
def test_a_toleration_covers_a_taint(toleration: Json, is_covered: bool) -> None:
    assert tolerates([toleration], _TAINT) is is_covered


def test_one_of_several_tolerations_is_enough() -> None:
    assert tolerates([{"key": "other", "operator": "Exists"}, {"operator": "Exists"}], _TAINT)
    assert not tolerates([], _TAINT)


def test_the_taint_in_the_way_is_named_and_a_preference_is_not_in_the_way() -> None:
    preferred = {"key": "soft", "effect": "PreferNoSchedule"}
    assert untolerated([], [preferred, _TAINT]) == _TAINT
    assert untolerated([], [preferred]) is None
    assert untolerated([{"operator": "Exists"}], [preferred, _TAINT]) is None
