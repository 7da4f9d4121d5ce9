"""Which entries of a tree are specs, and which cannot be read as text at all."""

import pytest

from reconciler.core.read import read_tree
from reconciler.core.spec_files import missing_paths, read_entry, spec_files
from reconciler.model.specs import Permissions
from reconciler.model.trees import Entry, EntryKind
from tests.unit.core.reading import CONFIG, SPEC, kit, tree_of

FILES = {"gamekeeper.yaml": "", "a/x.yaml": "", "a/b/y.yml": "", "ab/z.yaml": "", "top.yaml": ""}


@pytest.mark.parametrize(
    ("paths", "files"),
    [
        pytest.param(["a"], ["a/b/y.yml", "a/x.yaml"], id="a directory and all below"),
        pytest.param(["a", "a/b"], ["a/b/y.yml", "a/x.yaml"], id="overlapping paths, once"),
        pytest.param(["."], ["a/b/y.yml", "a/x.yaml", "ab/z.yaml", "top.yaml"], id="everything"),
        pytest.param(["top.yaml"], ["top.yaml"], id="a single file"),
        pytest.param(["c"], [], id="nothing"),
    ],
)
def test_specs_are_what_stands_under_the_paths(paths: list[str], files: list[str]) -> None:
    assert spec_files(tree_of(FILES), paths) == files


def test_a_path_is_missing_where_the_tree_has_no_such_directory() -> None:
    tree = tree_of(FILES)

    assert missing_paths(tree, ["a", "c", ".", "a/b", "a/c"]) == ("c", "a/c")


UNREADABLE = [
    pytest.param(Entry(EntryKind.SYMLINK, "x", 3), "symlink", id="a symbolic link"),
    pytest.param(Entry(EntryKind.SUBMODULE, "x", 0), "submodule", id="a submodule"),
    pytest.param(Entry(EntryKind.FILE, "x", 2**21), "size", id="a file that was not fetched"),
    pytest.param(Entry(EntryKind.FILE, "x", 2**21, b"a"), "size", id="a file that is too large"),
    pytest.param(
        Entry(EntryKind.FILE, "x", 60, b"version https://git-lfs.github.com/spec/v1\noid x\n"),
        "lfs",
        id="a pointer of Git LFS",
    ),
    pytest.param(Entry(EntryKind.FILE, "x", 1, b"["), "syntax", id="broken YAML"),
]


@pytest.mark.parametrize(("entry", "rule"), UNREADABLE)
def test_an_entry_cannot_be_read(entry: Entry, rule: str) -> None:
    found = read_entry("a.yaml", entry).unreadable

    assert found is not None
    assert (found.file, found.rule) == ("a.yaml", rule)


ODD_NAMES = [
    pytest.param(
        "a/\x1b[31m\nheld: x.yaml", "a/\\u001b[31m\\u000aheld: x.yaml", id="terminal orders"
    ),
    pytest.param("a/\u202egpj.yaml", "a/\\u202egpj.yaml", id="text that runs backwards"),
    pytest.param("a/\U000e0041.yaml", "a/\\U000e0041.yaml", id="an invisible tag"),
    pytest.param("a/\ufffd.yaml", "a/\ufffd.yaml", id="bytes that are no UTF-8"),
]


@pytest.mark.parametrize(("file", "told"), ODD_NAMES)
@pytest.mark.parametrize("text", [b"a: b", None])
def test_a_file_whose_name_cannot_be_shown_is_to_be_renamed(
    file: str, told: str, text: bytes | None
) -> None:
    found = read_entry(file, Entry(EntryKind.FILE, "x", 4, text)).unreadable

    assert found is not None
    assert (found.file, found.fix, found.rule) == (told, "rename the file", "file-name")


@pytest.mark.parametrize("file", ["rooms/ünï 世界.yaml", "-rf $(id).yaml"])
def test_a_file_with_letters_of_any_script_is_read(file: str) -> None:
    assert read_entry(file, Entry(EntryKind.FILE, "x", 4, b"a: b")).unreadable is None


def test_nothing_is_deleted_while_the_name_of_a_file_cannot_be_shown() -> None:
    tree = tree_of({"gamekeeper.yaml": CONFIG, "schedulers/a\n.yaml": SPEC})

    reading = read_tree(tree, Permissions(), kit())

    assert (reading.unreadable, reading.workloads) == (("schedulers/a\\u000a.yaml",), {})
