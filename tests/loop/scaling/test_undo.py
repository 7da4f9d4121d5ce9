"""Numbers go back by a person's commit, whatever others push meanwhile, or it is told why not."""

import asyncio
import subprocess
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.cli.failures import Failure
from reconciler.cli.history import read_history
from reconciler.cli.log_reading import GitSide, Recorded
from reconciler.cli.undo_diff import Edited, edited, remarks_on
from reconciler.cli.undo_push import push_undo
from reconciler.cli.undo_search import LOOKED_AT, found_undos
from reconciler.model.errors import Conflict
from reconciler.model.history import CountHistory
from reconciler.model.intents import Scaling
from reconciler.model.pushes import Person
from reconciler.model.readings import Reading
from reconciler.model.records import IDS_KEPT, RepositoryRecord, StateRecord
from reconciler.model.specs import Permissions
from tests.gitservers.repositories import git_environment
from tests.loop.compiler import InlineCompiler
from tests.loop.scaling.house import ARENA, FILE
from tests.loop.world import CONFIG, spec

ADA = Person("Ada", "ada@studio.example")
POLICY = {"schedule": [{"replicas": 5}]}
MOVED = "schedulers/moved.yaml"


def arena(count: int, low: int = 2, name: str = "arena") -> str:
    return spec(name, count, autoscaling={"min": low, "max": 20, "policy": POLICY})


class Desk:
    """A repository with a person before it; `ours` are commits of Gamekeeper."""

    def __init__(self) -> None:
        self.host = MemoryHost()
        self.ours: list[str] = []
        self.path = ""
        self.values: tuple[str, ...] = ()
        self.host.commit({"gamekeeper.yaml": CONFIG, FILE: arena(3)}, "A fleet")

    def scale(self, *counts: int) -> str:
        for count in counts:
            self.ours.append(self.host.commit({FILE: arena(count)}, f"Scale arena to {count}"))
        return self.ours[-1]

    @property
    def recorded(self) -> Recorded:
        return Recorded(RepositoryRecord(pushed=tuple(self.ours)))

    def at(self, ask: Callable[[GitSide], Coroutine[Any, Any, Any]]) -> Any:
        async def main() -> Any:
            repository = MemoryRepository(self.host, path=self.path)
            nothing = Reading("", None, {}, {}, (), (), ())
            compiler, allowed = InlineCompiler(), Permissions(values=self.values)
            side = GitSide(repository, repository, compiler, allowed, "main", "", nothing)
            await side.look()
            return await ask(side)

        return asyncio.run(main())

    def change(self, word: str, recorded: Recorded | None = None) -> Edited:
        async def ask(side: GitSide) -> Edited:
            return await edited(side, await found_undos(side, word, recorded or self.recorded))

        found = self.at(ask)
        assert isinstance(found, Edited)
        return found

    def past(self) -> list[tuple[int | None, int | None, str, bool | None]]:
        async def ask(side: GitSide) -> CountHistory:
            return await read_history(side, side.workload("arena"), self.recorded, 20)

        changes = self.at(ask).changes
        return [(each.before, each.after, str(each.source), each.ours) for each in changes]

    def push(self, word: str) -> str:
        async def ask(side: GitSide) -> str:
            async def again() -> Edited:
                return await edited(side, await found_undos(side, word, self.recorded))

            return (await push_undo(side, await again(), again, ADA)).commit

        return str(self.at(ask))

    def text(self) -> str:
        return self.host.commits[self.host.branches["main"]].files[FILE].decode()


MISTAKEN = arena(5).replace("min: 2", "min: two")


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_the_newest_change_of_ours_goes_back_as_a_persons_commit(desk: Desk) -> None:
    desk.scale(5, 9)
    pushed = desk.push("arena")
    made = desk.host.commits[pushed]
    assert (made.author, made.email) == (ADA.name, ADA.email)
    assert made.subject.startswith(f"Undo {desk.ours[-1][:12]}: arena back to 5\n")
    assert desk.text() == arena(5)
    assert not any(move.forced for move in desk.host.moves)


def test_what_a_commit_did_goes_back_whoever_made_it(desk: Desk) -> None:
    commit = desk.host.commit({FILE: arena(8)}, "eight")
    unknown = Recorded(problem="no instance is named (--instance)")
    (undo,) = desk.change(commit, unknown).undos
    assert (undo.now, undo.back) == (8, 3)


def test_all_numbers_of_a_commit_go_back_in_one(desk: Desk) -> None:
    other = "schedulers/duel.yaml"
    desk.host.commit({other: arena(4, name="duel")})
    commit = desk.host.commit({other: arena(6, name="duel"), FILE: arena(7)}, "both")
    change = desk.change(commit)
    assert [(str(each.key), each.back) for each in change.undos] == [
        ("Scheduler/arena", 3),
        ("Scheduler/duel", 4),
    ]
    assert sorted(change.files) == [FILE, other]
    desk.scale(9)
    with pytest.raises(Failure, match="Scheduler/arena was changed since"):
        desk.change(commit)


def test_a_file_of_another_fleet_in_the_repository_says_nothing(desk: Desk) -> None:
    theirs = "staging/arena.yaml"
    desk.host.commit({theirs: arena(5), FILE: arena(8)})
    commit = desk.host.commit({theirs: arena(8)}, "theirs")
    with pytest.raises(Failure, match="changed no number of a workload"):
        desk.change(commit)
    both = desk.host.commit({theirs: arena(4), FILE: arena(9)}, "both")
    assert [(each.now, each.back) for each in desk.change(both).undos] == [(9, 8)]


def test_a_workload_of_a_folder_that_is_not_read_is_not_undone(desk: Desk) -> None:
    west = "us/schedulers/west.yaml"
    files = {"eu/gamekeeper.yaml": CONFIG, f"eu/{FILE}": arena(3), west: arena(3, name="west")}
    desk.host.commit(files)
    commit = desk.host.commit({f"eu/{FILE}": arena(8), west: arena(9, name="west")}, "both")
    desk.path = "eu"
    change = desk.change(commit)
    assert [(str(each.key), each.back) for each in change.undos] == [("Scheduler/arena", 3)]
    assert list(change.files) == [FILE]


def test_a_number_that_moved_to_another_file_since_goes_back_there(desk: Desk) -> None:
    commit, there = desk.scale(5), "schedulers/eu.yaml"
    desk.host.commit({FILE: None, there: arena(5)}, "moved")
    change = desk.change(commit)
    assert [(each.now, each.back) for each in change.undos] == [(5, 3)]
    assert list(change.files) == [there]


@pytest.mark.parametrize(
    ("prepare", "word", "why"),
    [
        pytest.param(lambda desk: None, "arena", "nothing to undo", id="we changed nothing"),
        pytest.param(
            lambda desk: (desk.scale(5), desk.host.commit({FILE: arena(7)}, "mine")),
            "arena",
            r"was changed since Gamekeeper did: to 7, by memory <memory@example.test> .* \(mine\)",
            id="a person changed it since",
        ),
        pytest.param(
            lambda desk: (desk.scale(5), desk.push("arena")),
            "arena",
            "was changed since Gamekeeper did: to 3, by Ada",
            id="it was undone already",
        ),
        pytest.param(
            lambda desk: desk.host.commit({FILE: arena(5) + "["}, "oops"),
            "arena",
            f"{FILE} cannot be read",
            id="its file is broken",
        ),
        pytest.param(
            lambda desk: (
                desk.scale(5),
                desk.host.commit({FILE: "", MOVED: arena(5).replace("none", "maybe")}, "oops"),
            ),
            "arena",
            "has a mistake, and schedulers/arena.yaml no number of it, at commit "
            r".* schedulers/moved.yaml:\d+: .* Mend that first",
            id="its spec has a mistake in another file",
        ),
        pytest.param(lambda desk: None, "nobody", 'no workload "nobody"', id="no such workload"),
        pytest.param(lambda desk: desk.scale(5), "aren", 'Did you mean "arena"', id="a slip"),
    ],
)
def test_why_a_number_does_not_go_back_is_told(
    desk: Desk, prepare: Callable[[Desk], object], word: str, why: str
) -> None:
    prepare(desk)
    with pytest.raises(Failure, match=why):
        desk.change(word)


@pytest.mark.parametrize(
    "later",
    [
        pytest.param([arena(5) + "# the end\n"], id="other lines of its file changed"),
        pytest.param([arena(5, low=4)], id="its bounds are others"),
        pytest.param([MISTAKEN], id="its spec has a mistake"),
        pytest.param([arena(7), arena(5)], id="somebody changed it and set it back"),
        pytest.param([arena(5).replace("\n", "\r\n"), arena(5)], id="its line was rewritten"),
    ],
)
@pytest.mark.parametrize("by_name", [True, False], ids=["of a workload", "of a commit"])
def test_what_git_reverts_goes_back_alike(
    desk: Desk, tmp_path: Path, later: list[str], by_name: bool
) -> None:
    commit = desk.scale(5)
    work = _WorkTree(tmp_path)
    work.commit(arena(3))
    scaled = work.commit(arena(5))
    for text in later:
        desk.host.commit({FILE: text})
        work.commit(text)
    work.git("revert", "--no-edit", scaled)
    desk.push("arena" if by_name else commit)
    assert desk.text() == work.file.read_text()
    assert "replicas: 3" in desk.text()


class _WorkTree:
    """A clone of people's own, with one file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "arena.yaml"
        self.git("init", "-q")

    def git(self, *words: str) -> str:
        argv, environment = ["git", "-C", str(self.folder), *words], git_environment()
        done = subprocess.run(argv, capture_output=True, check=True, text=True, env=environment)
        return done.stdout.strip()

    def commit(self, text: str) -> str:
        self.file.write_text(text, newline="")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "change")
        return self.git("rev-parse", "HEAD")


@pytest.mark.parametrize(
    ("later", "said"),
    [
        pytest.param(
            arena(5, low=4),
            ["3 is outside of the bounds of Scheduler/arena, 4 to 20 by now: it acts until its "
             "policy goes on, which obeys them."],
            id="its bounds",
        ),
        pytest.param(
            MISTAKEN,
            ["Scheduler/arena has a mistake: schedulers/arena.yaml:18: must be a whole number, not "
             'the text "two". Its number acts once that is mended.'],
            id="its mistake",
        ),
        pytest.param(spec("arena", 5), [], id="it has no policy any more"),
    ],
)  # fmt: skip
def test_what_keeps_a_number_that_goes_back_from_acting_is_told(
    desk: Desk, later: str, said: list[str]
) -> None:
    desk.scale(5)
    desk.host.commit({FILE: later})

    async def ask(side: GitSide) -> list[str]:
        return list(remarks_on(side, await found_undos(side, "arena", desk.recorded)))

    assert desk.at(ask) == said


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


def test_a_number_goes_back_also_where_only_a_template_beside_its_spec_has_a_mistake(
    desk: Desk,
) -> None:
    template, made = "objects/arena/settings.yaml.j2", {"objects": "objects/arena"}
    for count in (3, 5):
        text = spec("arena", count, autoscaling={"min": 2, "max": 20, "policy": POLICY}, **made)
        scaled = desk.host.commit({FILE: text, template: "kind: ConfigMap"}, "Scale")
    desk.ours.append(scaled)
    desk.host.commit({template: "{% if %}"})
    for word in ("arena", scaled):
        (undo,) = desk.change(word).undos
        assert (undo.file, undo.now, undo.back) == (FILE, 5, 3)


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


def test_a_commit_goes_back_whole_or_not(desk: Desk) -> None:
    other = "schedulers/duel.yaml"
    desk.host.commit({other: arena(4, name="duel")})
    commit = desk.host.commit({other: arena(6, name="duel"), FILE: arena(7)}, "both")
    desk.host.commit({other: None})
    with pytest.raises(Failure, match=r"Scheduler/duel is gone at .* goes back whole or not"):
        desk.change(commit)


def test_a_commit_that_is_none_to_undo_is_told(desk: Desk) -> None:
    first = desk.host.branches["main"]
    words = desk.host.commit({"README.md": "hello"}, "words")
    aside = desk.host.commit({FILE: arena(9)}, branch="aside")
    desk.host.commit({"README.md": "more"})
    for commit, why in (
        (first, "is the first one"),
        (words, "changed no number"),
        (aside, "no commit of branch main"),
        ("deadbeef", "gamekeeper history WORKLOAD"),
    ):
        with pytest.raises(Failure, match=why) as told:
            desk.change(commit)
        assert "git fetch" not in str(told.value)


def test_without_the_record_nobody_knows_which_commit_is_ours(desk: Desk) -> None:
    desk.scale(5)
    with pytest.raises(Failure, match="is not known"):
        desk.change("arena", Recorded(problem="no instance is named (--instance)"))


def test_a_change_that_is_older_than_all_known_ids_may_be_ours(desk: Desk) -> None:
    commit = desk.scale(5)
    known = tuple(f"{number:040x}" for number in range(IDS_KEPT))
    with pytest.raises(Failure, match="is Gamekeeper's is not known any more") as told:
        desk.change("arena", Recorded(RepositoryRecord(pushed=known)))
    assert commit[:12] in str(told.value)


def test_how_far_back_was_looked_is_told(desk: Desk) -> None:
    for number in range(LOOKED_AT + 1):
        desk.host.commit({FILE: arena(4 + number % 2)}, "a person")
    with pytest.raises(Failure, match=f"in the newest {LOOKED_AT} changes of its number"):
        desk.change("arena")


def test_a_number_that_cannot_be_put_back_exactly_is_refused(desk: Desk) -> None:
    anchored = arena(3).replace("replicas: 3", "replicas: &n 3").replace("max: 20", "max: *n")
    desk.host.commit({FILE: anchored})
    commit = desk.host.commit({FILE: anchored.replace("&n 3", "&n 4")})
    desk.ours.append(commit)
    with pytest.raises(Failure, match=f"{FILE}:.* git revert {commit[:12]} takes back all"):
        desk.change("arena")


def test_a_lost_race_is_run_again_over_the_commit_that_won(desk: Desk) -> None:
    desk.scale(9)
    desk.host.rivals = [{"README.md": f"{n}"} for n in range(3)]
    desk.push("arena")
    assert desk.text() == arena(3)
    head = desk.host.commits[desk.host.branches["main"]]
    assert head.files["README.md"] == b"2"
    assert not any(move.forced for move in desk.host.moves)


def test_a_race_that_is_lost_for_ever_ends(desk: Desk) -> None:
    desk.scale(9)
    desk.host.rivals = [{"README.md": f"{n}"} for n in range(30)]
    with pytest.raises(Conflict):
        desk.push("arena")
    assert desk.text() == arena(9)


def test_nothing_is_pushed_that_nobody_agreed_to(desk: Desk) -> None:
    desk.scale(9)
    desk.host.rivals = [{FILE: arena(12)}]
    with pytest.raises(Failure, match=r"was changed since|somebody else changed"):
        desk.push("arena")
    assert desk.text() == arena(12)


@pytest.mark.parametrize("known", [False, True])
def test_an_unsigned_undo_goes_on_no_signed_head_of_which_nothing_was_said(
    desk: Desk, *, known: bool
) -> None:
    key = "ssh-ed25519 AAAA"
    desk.scale(9)
    if known:
        desk.host.commit({"README.md": "0"}, signed_by=key)

    async def ask(side: GitSide) -> None:
        async def again() -> Edited:
            return await edited(side, await found_undos(side, "arena", desk.recorded))

        agreed = await again()
        desk.host.commit({"README.md": "1"}, signed_by=key)
        await push_undo(side, agreed, again, ADA)

    if known:
        desk.at(ask)
    else:
        with pytest.raises(Failure, match="a signed commit since"):
            desk.at(ask)
    assert desk.text() == arena(3 if known else 9)


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
