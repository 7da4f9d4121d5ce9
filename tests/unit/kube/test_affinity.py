import pytest

from reconciler.kube.affinity import node_selector_matches, preferred_weight
from reconciler.kube.json_types import Json

_NODE = {"metadata": {"name": "n1", "labels": {"zone": "a", "cores": "8"}}}


def _required(*terms: Json) -> Json:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [*terms]}}
    return {"affinity": {"nodeAffinity": required}}


def _expression(key: str, operator: str, *values: str) -> Json:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


_ZONE_A = _expression("zone", "In", "a", "b")
_ZONE_C = _expression("zone", "In", "c")


@pytest.mark.parametrize(
    ("spec", "may_run"),
    [
        pytest.param({}, True, id="nothing asked"),
        pytest.param({"nodeSelector": {"zone": "a"}}, True, id="the label is there"),
        pytest.param({"nodeSelector": {"zone": "b"}}, False, id="the label has another value"),
        pytest.param({"nodeSelector": {"gone": ""}}, False, id="the label is missing"),
        pytest.param(_required(_ZONE_A), True, id="a required term holds"),
        pytest.param(_required(_ZONE_C), False, id="a required term fails"),
        pytest.param(_required(_ZONE_C, _ZONE_A), True, id="one of two terms is enough"),
        pytest.param(_required(), False, id="no term selects nothing"),
        pytest.param(_required({}), False, id="an empty term selects nothing"),
        pytest.param(_required(_expression("gone", "NotIn", "x")), True, id="not in a list"),
        pytest.param(_required(_expression("zone", "Exists")), True, id="a label exists"),
        pytest.param(_required(_expression("zone", "DoesNotExist")), False, id="must not exist"),
        pytest.param(_required(_expression("cores", "Gt", "4")), True, id="more than"),
        pytest.param(_required(_expression("cores", "Lt", "8")), False, id="not less than"),
        pytest.param(_required(_expression("zone", "Gt", "4")), False, id="a word is no number"),
        pytest.param(
            _required(
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
            ),
            True,
            id="the node is named",
        ),
        pytest.param(
            {"nodeSelector": {"zone": "b"}, **_required(_ZONE_A)}, False, id="both must hold"
        ),
    ],
)
def test_a_pod_may_run_on_a_node(spec: Json, may_run: bool) -> None:
    assert node_selector_matches(spec, _NODE) is may_run


def test_preferences_that_hold_add_up() -> None:
    terms = [
        {"weight": 10, "preference": _ZONE_A},
        {"weight": 5, "preference": _ZONE_C},
        {"weight": 1, "preference": _expression("cores", "Exists")},
    ]
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": terms}
    spec = {"affinity": {"nodeAffinity": preferred}}
    assert preferred_weight(spec, _NODE) == 11
    assert preferred_weight({}, _NODE) == 0
