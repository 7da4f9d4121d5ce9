import pytest

from reconciler.adapters.git.listing import Listed, entry_of, line_of


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(("a.yaml", "file", "0" * 40, 12, True), id="a spec"),
        pytest.param(("rooms/a b  c.yaml", "file", "0" * 40, 0, False), id="a path with spaces"),
        pytest.param((" a\n\u2028\ufffd.yml", "symlink", "", 3, False), id="a path with anything"),
    ],
)
def test_an_entry_is_the_same_after_the_way_through_a_line(entry: Listed) -> None:
    assert entry_of(line_of(entry)) == entry
