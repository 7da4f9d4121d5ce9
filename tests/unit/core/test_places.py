"""Paths as people write them, and the nearest place of what is not there."""

import pytest

from reconciler.core.places import Path, Place, place_of_key, place_of_value, written


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param((), "", id="the whole document"),
        pytest.param(("spec", "replicas"), "spec.replicas", id="properties"),
        pytest.param(("containers", 0, "image"), "containers[0].image", id="items"),
        pytest.param(("labels", "a.b/c"), 'labels["a.b/c"]', id="names with dots"),
        pytest.param(("a b",), '["a b"]', id="a name with a space first"),
    ],
)
def test_a_path_is_written_as_people_write_it(path: Path, text: str) -> None:
    assert written(path) == text


def test_what_is_not_there_is_placed_where_it_would_be() -> None:
    inner = Place(2, 3, {}, [])
    root = Place(1, 1, {"a": (1, 1)}, {"a": inner})

    assert place_of_value(root, ("a", 5, "b")) == (2, 3)
    assert place_of_value(root, ("x",)) == (1, 1)
    assert place_of_key(root, ("a", 0)) == (2, 3)
    assert place_of_key(root, ()) == (1, 1)
