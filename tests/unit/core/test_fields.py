import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.fields import compare_fields
from reconciler.model.changes import FieldChange
from tests.canaries.places import canary

HUSH = canary("container value")


def compare(before: object, after: object) -> list[tuple[str, object, object]]:
    found = compare_fields(json.dumps(before), json.dumps(after))
    return [(item.path, item.before, item.after) for item in found]


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        pytest.param({"a": 1}, {"a": 1}, [], id="what is equal"),
        pytest.param({"a": {"b": 1}}, {"a": {"b": 2}}, [("a.b", 1, 2)], id="the innermost field"),
        pytest.param({"a": 1}, {}, [("a", 1, None)], id="a field that went"),
        pytest.param({}, {"a": 0}, [("a", None, 0)], id="a field that came"),
        pytest.param(
            {"a": [{"b": 1}, 2]}, {"a": [{"b": 3}, 2]}, [("a[0].b", 1, 3)], id="a list item"
        ),
        pytest.param({"a": [1]}, {"a": [1, 2]}, [("a", [1], [1, 2])], id="a list that grew"),
        pytest.param({"a": {}}, {"a": []}, [("a", {}, [])], id="another type"),
        pytest.param({"a": 1}, {"a": True}, [("a", 1, True)], id="a number that became true"),
        pytest.param(
            {"b": 1, "a": 1}, {"b": 2, "a": 2}, [("b", 1, 2), ("a", 1, 2)], id="in document order"
        ),
    ],
)
def test_differing_fields_are(before: object, after: object, fields: list[Any]) -> None:
    found = compare(before, after)
    assert found == fields
    assert [type(item[2]) for item in found] == [type(item[2]) for item in fields]


values = st.recursive(
    st.integers(0, 3) | st.booleans() | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
)


@given(values, values)
def test_documents_differ_in_some_field_or_are_equal(one: object, other: object) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (not compare(one, other)) is same
    swapped = compare_fields(json.dumps(other), json.dumps(one))
    assert {FieldChange(c.path, c.after, c.before).path for c in swapped} == {
        path for path, _, _ in compare(one, other)
    }


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        pytest.param(
            [{"name": "LOBBY_TOKEN", "value": HUSH}],
            [{"name": "LOBBY_TOKEN", "value": "psst"}],
            [("[0].value", "*** (before)", "*** (after)")],
            id="a secret that changed",
        ),
        pytest.param(
            [],
            [{"name": "DB_PASSWORD", "value": HUSH}, {"name": "MAP", "value": "desert"}],
            [
                (
                    "",
                    [],
                    [
                        {"name": "DB_PASSWORD", "value": "*** (after)"},
                        {"name": "MAP", "value": "desert"},
                    ],
                )
            ],
            id="a secret that came",
        ),
        pytest.param(
            [{"name": "MAP", "value": "desert"}],
            [{"name": "MAP", "value": "ice"}],
            [("[0].value", "desert", "ice")],
            id="what is no secret is shown",
        ),
    ],
)
def test_secrets_are_masked(before: object, after: object, fields: list[Any]) -> None:
    assert compare(before, after) == fields
