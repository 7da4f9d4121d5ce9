"""Labels and annotations that users write."""

from typing import Any

import pytest

from reconciler.core.metadata_check import check_metadata
from tests.unit.core.reading import loaded, rules


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("labels: {team: blue, example.com/a: ''}", set(), id="sound ones"),
        pytest.param(
            "labels: {gamekeeper.dev/state: busy}",
            {("labels.gamekeeper.dev/state", "reserved-property")},
            id="a label of ours",
        ),
        pytest.param(
            "annotations: {x.gamekeeper.dev/a: b}",
            {("annotations.x.gamekeeper.dev/a", "reserved-property")},
            id="an annotation below our prefix",
        ),
        pytest.param("labels: {a b: c}", {("labels.a b", "name")}, id="a key that is none"),
        pytest.param("labels: {a: b c}", {("labels.a", "name")}, id="a value that is none"),
        pytest.param("annotations: {a: b c}", set(), id="an annotation holds any text"),
        pytest.param("labels: [1]", set(), id="what has another shape is told by the schema"),
    ],
)
def test_what_users_write_on_objects(text: str, found: Any) -> None:
    assert rules(check_metadata(loaded(text))) == found
