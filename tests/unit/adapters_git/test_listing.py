import pytest

from reconciler.adapters.git.listing import Listed, entry_of, line_of, parsed_listing
from reconciler.model.errors import Misconfigured


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


def _listed(*rows: tuple[str, bytes]) -> bytes:
    sizes = {"tree": b"040000 tree %s       -", "blob": b"100644 blob %s      12"}
    return b"".join(sizes[kind] % (b"1" * 40) + b"\t" + name + b"\0" for kind, name in rows)


def test_a_listing_has_yaml_in_whatever_letters_and_all_directories() -> None:
    made = parsed_listing(
        _listed(("tree", b"eu"), ("blob", b"eu/A.YAML"), ("blob", b"eu/b.txt"), ("blob", b"c.yml"))
    )
    assert [entry[0] for entry in made.entries] == ["eu/A.YAML", "c.yml"]
    assert made.directories == ["eu"]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        pytest.param([("blob", b"a.yaml"), ("blob", b"a.yaml")], "twice", id="a name twice"),
        pytest.param([("blob", b"a/b.yaml")], "no name", id="a slash in a name"),
        pytest.param([("blob", b"..")], "no name", id="the directory above"),
        pytest.param([("tree", b"a"), ("blob", b"a/.")], "no name", id="the directory itself"),
        pytest.param([("tree", b".GIT")], "no name", id="the directory of git"),
        pytest.param([("tree", b"a"), ("blob", b"a/")], "no name", id="no name at all"),
    ],
)
def test_a_tree_that_no_git_makes_is_refused(rows: list[tuple[str, bytes]], why: str) -> None:
    with pytest.raises(Misconfigured, match=why):
        parsed_listing(_listed(*rows))
