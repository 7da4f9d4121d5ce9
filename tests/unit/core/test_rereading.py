"""What was touched of a tree, beside what was known: the same as the whole tree read anew."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.core.known_tree import known_of
from reconciler.core.read import read_tree
from reconciler.core.rereading import merged, part_of
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Permissions
from reconciler.model.trees import Tree
from tests.unit.core.reading import CONFIG, SPEC, kit, tree_of

ASKS = Permissions(kinds=("ConfigMap",))
NAMES = ("arena", "lobby", "ranked", "event", "duel")


def scheduler(name: str, more: str = "", replicas: str = "  replicas: 3\n") -> str:
    text = SPEC.replace("name: arena", f"name: {name}").replace("  replicas: 10\n", replicas)
    return text.replace("  reports: none\n", f"  reports: none\n{more}")


def fleet(name: str, namespace: str) -> str:
    placed = scheduler(name, f"  namespace: {namespace}\n").replace("  game: arena\n", "")
    return placed.replace("kind: Scheduler", "kind: Fleet").replace(
        "reports: none", "reports: none"
    )


def texts() -> st.SearchStrategy[str | None]:
    name = st.sampled_from(NAMES)
    sound = st.builds(scheduler, name, st.sampled_from(["", "  objects: objects/arena\n"]))
    unnumbered = st.builds(lambda each: scheduler(each, replicas=""), name)
    wrong = st.builds(lambda each: scheduler(each, "  nonsense: 1\n"), name)
    fleets = st.builds(fleet, name, name)
    heard = st.builds(lambda each: scheduler(each).replace("none", "required"), name)
    several = st.builds(lambda one, two: f"{one}---\n{two}", sound, sound)
    rest = st.sampled_from(["", "# nothing\n", "kind: [", "kind: Deployment\n", CONFIG, "- 1\n"])
    return st.one_of(
        sound, sound, sound, sound, unnumbered, wrong, fleets, heard, several, rest, st.none()
    )


PATHS = st.sampled_from([f"schedulers/{name}.yaml" for name in "abcdefghijkl"])
ODD_PATHS = st.sampled_from(
    ["gamekeeper.yaml", "replicas.yaml", "objects/arena/configmap.yaml.j2", "elsewhere/a.yaml"]
)
ODD_TEXTS = st.sampled_from(
    [
        CONFIG,
        CONFIG + "spec: {paths: [schedulers, fleets]}\n",
        CONFIG + "spec: {writeBack: {to: file}}\n",
        "apiVersion: gamekeeper.dev/v1\nkind: Replicas\nspec: {counts: {Scheduler/arena: 4}}\n",
        "apiVersion: v1\nkind: ConfigMap\n",
        SPEC,
        None,
    ]
)
FIRST = {f"schedulers/{letter}.yaml": scheduler(f"old-{letter}") for letter in "abcdefghijkl"}
SEEN: Counter[str] = Counter()


def both(known_reading: Reading, old: Tree, new: Tree) -> tuple[Reading | None, Reading]:
    """Read a tree by what was touched of it, and whole."""
    whole = read_tree(new, ASKS, kit())
    known = known_of(old, ASKS, known_reading)
    part = part_of(known, new, ASKS)
    if part is None:
        return None, whole
    found = merged(known, part, read_tree(part.tree, ASKS, kit()))
    assert found is None or found == known_of(new, ASKS, found.reading)
    return found.reading if found else None, whole


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(PATHS, texts()),
            st.tuples(PATHS, texts()),
            st.tuples(PATHS, texts()),
            st.tuples(ODD_PATHS, ODD_TEXTS),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_a_part_says_what_the_whole_says(edits: list[tuple[str, str | None]]) -> None:
    files: dict[str, str] = {"gamekeeper.yaml": CONFIG, **FIRST}
    tree = tree_of(files)
    reading = read_tree(tree, ASKS, kit())
    for number, (path, text) in enumerate(edits):
        files = {**files, path: text} if text is not None else _without(files, path)
        new = tree_of(files, f"c{number}")
        found, whole = both(reading, tree, new)
        SEEN["whole" if found is None else "by part"] += 1
        if found is not None:
            assert found == whole
            assert list(found.workloads) == list(whole.workloads)
            # What was not touched is the very same value: nobody looks at it again.
            same = [
                key for key, one in found.workloads.items() if one is reading.workloads.get(key)
            ]
            assert len(same) >= len(whole.workloads) - 2
        tree, reading = new, whole if found is None else found


def test_many_of_these_edits_are_read_by_part() -> None:
    # What is in doubt, or of several, stays so for the rest of a history: a fifth is plenty.
    assert SEEN["by part"] >= SEEN["whole"] / 5, SEEN


def test_a_thousand_specs_and_one_that_changes() -> None:
    files = {"gamekeeper.yaml": CONFIG}
    files |= {f"schedulers/arena-{n}.yaml": scheduler(f"arena-{n}") for n in range(200)}
    old = tree_of(files)
    reading = read_tree(old, ASKS, kit())
    new = tree_of({**files, "schedulers/arena-7.yaml": scheduler("arena-7", "  nonsense: 1\n")})
    known = known_of(old, ASKS, reading)
    part = part_of(known, new, ASKS)
    assert part is not None
    assert part.tree.entries.keys() == {"gamekeeper.yaml", "schedulers/arena-7.yaml"}
    found, whole = both(reading, old, new)
    assert found == whole
    assert set(whole.invalid) == {WorkloadKey("Scheduler", "arena-7", "arena-7")}


def test_a_line_of_counts_that_comes_to_be_of_nobody_is_told() -> None:
    counts = "apiVersion: gamekeeper.dev/v1\nkind: Replicas\nspec: {counts: {Scheduler/old-a: 4}}\n"
    listed = scheduler("old-a", replicas="")
    files = {**FIRST, "schedulers/a.yaml": listed, "replicas.yaml": counts}
    files["gamekeeper.yaml"] = CONFIG + "spec: {writeBack: {to: file}}\n"
    old = tree_of(files)
    reading = read_tree(old, ASKS, kit())
    assert reading.counts, reading.findings
    found, _ = both(
        reading, old, tree_of({**files, "schedulers/b.yaml": scheduler("old-b", "#\n")})
    )
    assert found is not None, "no key came or went"
    found, whole = both(reading, old, tree_of(_without(files, "schedulers/a.yaml")))
    assert found is None
    assert whole.findings != reading.findings


def test_other_permissions_read_the_whole() -> None:
    tree = tree_of({"gamekeeper.yaml": CONFIG, **FIRST})
    known = known_of(tree, ASKS, read_tree(tree, ASKS, kit()))
    assert part_of(known, tree, ASKS) is not None
    assert part_of(known, tree, replace(ASKS, kinds=())) is None


def _without(files: Mapping[str, str], path: str) -> dict[str, str]:
    return {each: text for each, text in files.items() if each != path}
