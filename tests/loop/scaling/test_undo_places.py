"""Numbers go back where they stand: under a name that stands twice, in values, on a branch."""

import pytest

from reconciler.cli.failures import Failure
from reconciler.cli.log_reading import Recorded
from reconciler.model.intents import Scaling
from reconciler.model.records import RepositoryRecord, StateRecord
from tests.loop.scaling.house import ARENA, FILE
from tests.loop.scaling.undo_desk import MISTAKEN, MOVED, Desk, arena
from tests.loop.world import CONFIG


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.mark.parametrize("twin", ["schedulers/a.yaml", "schedulers/twin.yaml"])
@pytest.mark.parametrize("by_name", [True, False], ids=["of a workload", "of a commit"])
def test_of_a_name_that_stands_in_two_files_the_number_that_we_changed_goes_back(
    desk: Desk, twin: str, by_name: bool
) -> None:
    commit = desk.scale(5)
    desk.host.commit({twin: arena(5)}, "a copy of it")
    change = desk.change("arena" if by_name else commit)
    assert [(each.file, each.now, each.back) for each in change.undos] == [(FILE, 5, 3)]
    desk.host.commit({FILE: arena(7)}, "seven")
    with pytest.raises(Failure, match=r"was changed since.* 7"):
        desk.change("arena" if by_name else commit)


def test_of_two_files_that_we_both_changed_the_number_goes_back_that_we_changed_last(
    desk: Desk,
) -> None:
    commit = desk.host.commit
    desk.ours.append(commit({FILE: arena(5)}, "Scale arena to 5", now=10.0))
    commit({FILE: None, MOVED: arena(5)}, "moved", now=20.0)
    desk.ours.append(commit({MOVED: arena(7)}, "Scale arena to 7", now=30.0))
    commit({FILE: arena(5)}, "back again, as a copy", now=40.0)
    (undo,) = desk.change("arena").undos
    assert (undo.file, undo.now, undo.back) == (MOVED, 7, 5)


def test_a_change_of_both_numbers_of_a_name_is_told_with_their_places(desk: Desk) -> None:
    twin = "schedulers/a.yaml"
    desk.host.commit({twin: arena(4)}, "a copy of it")
    one = desk.host.commit({FILE: arena(8), twin: arena(4) + "# the end\n"}, "one of them")
    assert [(each.file, each.back) for each in desk.change(one).undos] == [(FILE, 3)]
    both = desk.host.commit({FILE: arena(9), twin: arena(9)}, "both")
    places = f"{twin}:7 and {FILE}:7.* git revert {both[:12]}"
    with pytest.raises(Failure, match=f"changed two numbers of Scheduler/arena: {places}"):
        desk.change(both)


def test_of_a_name_that_stands_twice_in_one_file_both_places_are_told(desk: Desk) -> None:
    commit = desk.scale(5)
    desk.host.commit({FILE: arena(5) + "---\n" + arena(5)}, "a copy of it")
    for word in ("arena", commit):
        with pytest.raises(Failure, match=rf"{FILE}:4: .* {FILE}:\d+\. Mend that first"):
            desk.change(word)


def test_the_past_of_a_number_in_values_is_told_whatever_mistake_its_spec_has(desk: Desk) -> None:
    desk.values = ("values/eu.yaml",)
    head = "apiVersion: gamekeeper.dev/v1\nkind: Values\nspec:\n  workloads:\n"
    values = f"{head}    Scheduler/arena:\n      replicas: {{}}\n"
    for count in (4, 6):
        desk.host.commit({"values/eu.yaml": values.format(count)}, "a person")
    desk.host.commit({FILE: MISTAKEN.replace("replicas: 5", "replicas: 3")})
    assert desk.past() == [
        (4, 6, "values/eu.yaml:6", False),
        (None, 4, "values/eu.yaml:6", False),
        (None, 3, f"{FILE}:7", False),
    ]


VALUES = "values/eu.yaml"


def valued(arena: object, duel: int = 7) -> str:
    """Return values whose comments and form are a person's own."""
    return (
        "# eu\napiVersion: gamekeeper.dev/v1\nkind: Values\nspec:\n  workloads:\n"
        f"    Scheduler/duel:   {{ replicas: {duel} }}\n    Scheduler/arena:\n"
        f"      replicas: {arena}  # rooms\n      autoscaling: {{ min: 2 }}\n"
    )


@pytest.mark.parametrize("spoilt", [False, True])
def test_numbers_of_values_go_back_as_git_revert_would(desk: Desk, *, spoilt: bool) -> None:
    desk.values = (VALUES,)
    desk.host.commit({"schedulers/duel.yaml": arena(4, name="duel"), VALUES: valued(4)})
    commit = desk.host.commit({VALUES: valued(6, 9)}, "a person")
    if spoilt:
        desk.host.commit({FILE: MISTAKEN.replace("replicas: 5", "replicas: 3")})
    desk.push(commit)
    files = desk.host.commits[desk.host.branches["main"]].files
    assert files[VALUES].decode() == valued(4)
    assert desk.text() == (MISTAKEN.replace("replicas: 5", "replicas: 3") if spoilt else arena(3))


def test_a_number_of_values_that_another_place_shares_is_left_with_its_line(desk: Desk) -> None:
    desk.values = (VALUES,)
    for count in (4, 6):
        text = valued(f"&n {count}").replace("{ min: 2 }", "{ min: *n }")
        commit = desk.host.commit({VALUES: text}, "a person")
    with pytest.raises(Failure, match=r"put back: values/eu.yaml:9: .* is used again"):
        desk.change(commit)


def test_the_past_of_a_name_that_stands_in_two_files_is_that_of_both(desk: Desk) -> None:
    desk.scale(5)
    desk.host.commit({"schedulers/a.yaml": arena(4)}, "a copy of it")
    assert desk.past() == [
        (3, 5, f"{FILE}:7", True),
        (None, 3, f"{FILE}:7", False),
        (None, 4, "schedulers/a.yaml:7", False),
    ]


def counts(count: int) -> str:
    head = "apiVersion: gamekeeper.dev/v1\nkind: Replicas\nspec:\n  counts:\n"
    return f"{head}    Scheduler/arena: {count}\n"


def test_a_number_on_a_branch_of_counts_goes_back_there(desk: Desk) -> None:
    config = CONFIG.replace("spec: {}", "spec: {writeBack: {branch: gamekeeper/counts}}")
    tracked = desk.host.commit({"gamekeeper.yaml": config})
    desk.host.branch("gamekeeper/counts", tracked)
    for count in (5, 9):
        files = {"replicas.yaml": counts(count)}
        desk.ours.append(desk.host.commit(files, "Scale", branch="gamekeeper/counts"))
    (undo,) = desk.change("arena").undos
    assert (undo.branch, undo.file) == ("gamekeeper/counts", "replicas.yaml")
    assert (undo.now, undo.back) == (9, 5)
    pushed = desk.push("arena")
    assert desk.host.branches["gamekeeper/counts"] == pushed
    assert desk.host.branches["main"] == tracked
    assert desk.host.commits[pushed].files["replicas.yaml"] == counts(5).encode()


def test_the_first_number_of_a_branch_of_counts_goes_back_to_that_of_the_spec(desk: Desk) -> None:
    config = CONFIG.replace("spec: {}", "spec: {writeBack: {branch: gamekeeper/counts}}")
    desk.host.branch("gamekeeper/counts", desk.host.commit({"gamekeeper.yaml": config}))
    files = {"replicas.yaml": counts(9)}
    desk.ours.append(desk.host.commit(files, "Scale", branch="gamekeeper/counts"))
    for word in ("arena", desk.ours[-1]):
        (undo,) = desk.change(word).undos
        assert (undo.now, undo.back) == (9, 3)


def test_the_first_number_of_a_file_goes_back_to_what_acted_before_it(desk: Desk) -> None:
    config = CONFIG.replace("spec: {}", "spec: {writeBack: {to: file}}")
    bare = arena(3).replace("  replicas: 3\n", "", 1)
    desk.host.commit({"gamekeeper.yaml": config, FILE: bare})
    desk.ours.append(desk.host.commit({"replicas.yaml": counts(9)}, "Scale arena to 9"))
    words = ("arena", desk.ours[-1])
    for word in words:
        with pytest.raises(Failure, match="left no number of Scheduler/arena"):
            desk.change(word)
    record = StateRecord(scaling=Scaling(unlisted=(3, 9)))
    known = Recorded(RepositoryRecord(pushed=tuple(desk.ours)), {ARENA: record})
    for word in words:
        (undo,) = desk.change(word, known).undos
        assert (undo.file, undo.now, undo.back) == ("replicas.yaml", 9, 3)
    other = StateRecord(scaling=Scaling(unlisted=(3, 7)))
    with pytest.raises(Failure, match="left no number of Scheduler/arena"):
        desk.change("arena", Recorded(known.repository, {ARENA: other}))


def test_a_first_line_of_a_file_that_nobody_knows_the_past_of_stays_beside_others(
    desk: Desk,
) -> None:
    config = CONFIG.replace("spec: {}", "spec: {writeBack: {to: file}}")
    duel, both = "schedulers/duel.yaml", "    Scheduler/arena: 5\n    Scheduler/duel: 9\n"
    bare = {FILE: arena(3), duel: arena(3, name="duel")}
    bare = {file: text.replace("  replicas: 3\n", "", 1) for file, text in bare.items()}
    desk.host.commit({"gamekeeper.yaml": config, **bare, "replicas.yaml": counts(3)})
    before = counts(3).replace("    Scheduler/arena: 3\n", both)
    assert before != counts(3)
    commit = desk.host.commit({"replicas.yaml": before}, "a person adds one, and scales the other")
    (undo,) = desk.change(commit).undos
    assert (undo.key.name, undo.now, undo.back) == ("arena", 5, 3)
    desk.host.commit({duel: None, "replicas.yaml": counts(5)}, "duel is gone")
    with pytest.raises(Failure, match=r"Scheduler/duel is gone at .* goes back whole or not"):
        desk.change(commit)


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        (counts(6).replace(": 6", ": five"), 5),
        ("a: b: c\n", 1),
        (counts(6) + "---\n" + counts(6), 7),
    ],
    ids=["of the line", "not YAML", "two documents"],
)
def test_a_file_of_counts_with_a_mistake_gives_no_number_and_nothing_goes_back(
    desk: Desk, broken: str, line: int
) -> None:
    """The spec's number acts no more than before: it was a step, and `undo` took one back there."""
    config = CONFIG.replace("spec: {}", "spec: {writeBack: {branch: counts}}")
    file = "replicas.yaml"
    desk.scale(6, 8)
    desk.host.branch("counts", desk.host.commit({"gamekeeper.yaml": config}))
    desk.ours.append(desk.host.commit({file: counts(6)}, "Scale", branch="counts", now=10.0))
    desk.host.commit({file: broken}, "a mistake", branch="counts", now=20.0)
    (_, *mended), place = desk.past(), f"counts:{file}:5"
    assert mended[0] == (8, 6, place, True)
    assert desk.past()[0] == (6, None, "None", False)
    with pytest.raises(Failure, match=rf"nothing to undo until counts:{file}:{line} is mended"):
        desk.change("arena")
    desk.host.commit({file: counts(7)}, "mended", branch="counts", now=30.0)
    assert desk.past()[:3] == [(None, 7, place, False), (6, None, "None", False), *mended[:1]]


def test_the_past_on_both_branches_is_one(desk: Desk) -> None:
    config = CONFIG.replace("spec: {}", "spec: {writeBack: {branch: gamekeeper/counts}}")
    desk.host.branch("gamekeeper/counts", desk.host.commit({"gamekeeper.yaml": config}))
    files = {"replicas.yaml": counts(9)}
    desk.ours.append(desk.host.commit(files, "Scale", branch="gamekeeper/counts", now=10.0))
    desk.host.commit({FILE: arena(4)}, "four", now=20.0)
    assert desk.past() == [
        (3, 4, f"{FILE}:7", False),
        (3, 9, "gamekeeper/counts:replicas.yaml:5", True),
        (None, 3, f"{FILE}:7", False),
    ]
