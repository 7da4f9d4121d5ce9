"""Where templates of additional objects stand."""

from reconciler.core.messages import as_text
from reconciler.core.object_files import template_of, templates_by_directory
from reconciler.model.trees import Entry, EntryKind
from tests.unit.core.reading import SPEC, read, tree_of
from tests.working_trees import entry_of

ASKING = SPEC.replace("  game: arena\n", "  game: arena\n  objects: objects/arena\n")


def findings(**files: str) -> list[str]:
    reading = read({"schedulers/a.yaml": ASKING, **files})
    return [as_text(finding) for finding in reading.findings]


def test_templates_are_known_by_the_directory_they_stand_in_and_no_deeper_one() -> None:
    names = ("o/a/b.yaml.j2", "o/a/deep/c.yaml.j2", "o/a/A.YML.J2", "o/a/d.yaml", "e.yaml.j2")
    found = templates_by_directory(tree_of(dict.fromkeys(names, "")))
    assert found == {
        "": ["e.yaml.j2"],
        "o/a": ["o/a/A.YML.J2", "o/a/b.yaml.j2"],
        "o/a/deep": ["o/a/deep/c.yaml.j2"],
    }


def test_a_directory_without_templates_is_a_mistake_and_says_what_was_meant() -> None:
    (line,) = findings()
    assert line.startswith("schedulers/a.yaml:7:12: error: spec.objects: there is no template in")
    (line,) = findings(**{"objects/arenas/configmap.yaml.j2": ""})
    assert 'did you mean "objects/arenas"?' in line


def test_too_many_templates_are_a_mistake() -> None:
    files = {f"objects/arena/configmap-{n}.yaml.j2": "" for n in range(21)}
    (line,) = findings(**files)
    assert "there are 21 templates" in line
    assert "at most 20 are taken" in line


def test_a_template_is_text_in_a_file_of_its_name() -> None:
    assert template_of("o/a.yaml.j2", entry_of(b"kind: x")).text == "kind: x"
    odd = {
        "o/a.yaml.j2": Entry(EntryKind.SYMLINK, "x", 1),
        "o/b.yaml.j2": entry_of(b"\xff"),
        "o/c.yml.j2": entry_of(b""),
        "o/d.yaml.j2": entry_of(b"version https://git-lfs.github.com/spec/v1"),
        "o/e.yaml.j2": Entry(EntryKind.FILE, "x", 1 << 30),
    }
    said = [template_of(path, entry).problem for path, entry in odd.items()]
    assert [one.rule for one in said if one] == ["symlink", "syntax", "file-name", "lfs", "size"]
