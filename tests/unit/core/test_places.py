"""Paths as people write them, and the nearest place of what is not there."""

import pytest

from reconciler.core.places import (
    Path,
    Place,
    place_of_field,
    place_of_key,
    place_of_value,
    written,
)


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


TREE = Place(1, 1, {}, {
    "labels": Place(2, 3, {}, {"a.b/c": Place(2, 9), "a": Place(3, 5)}),
    "ports": Place(5, 3, {}, [Place(5, 5), Place(6, 5, {}, {"port": Place(6, 11)})]),
    "port": Place(8, 7),
})  # fmt: skip


@pytest.mark.parametrize(
    ("field", "place"),
    [
        pytest.param("port", (8, 7), id="a property whose name begins another's"),
        pytest.param("labels.a.b/c", (2, 9), id="a name with dots"),
        pytest.param("labels.a", (3, 5), id="a name that begins one with dots"),
        pytest.param("ports[1].port", (6, 11), id="inside an item"),
        pytest.param("ports[7].port", (5, 3), id="an item that is gone: its list"),
        pytest.param("labels.gone", (2, 3), id="a property that is gone: what held it"),
        pytest.param("", (1, 1), id="the whole document"),
    ],
)
def test_a_field_is_found_by_the_name_that_a_diff_gives_it(
    field: str, place: tuple[int, int]
) -> None:
    assert place_of_field(TREE, field) == place
