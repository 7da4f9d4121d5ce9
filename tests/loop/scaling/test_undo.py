"""Numbers go back by a person's commit, whatever others push meanwhile, or it is told why not."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from reconciler.cli.failures import Failure
from reconciler.cli.log_reading import GitSide, Recorded
from reconciler.cli.undo_diff import Edited, edited, remarks_on
from reconciler.cli.undo_push import push_undo
from reconciler.cli.undo_search import LOOKED_AT, found_undos
from reconciler.model.errors import Conflict
from reconciler.model.records import IDS_KEPT, RepositoryRecord
from tests.gitservers.repositories import git_environment
from tests.loop.scaling.house import FILE
from tests.loop.scaling.undo_desk import ADA, MISTAKEN, MOVED, POLICY, Desk, arena
from tests.loop.world import CONFIG, spec


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
        pytest.param(lambda desk: None, "3c3f", "id 7 digits or more are needed", id="a short id"),
        pytest.param(lambda desk: None, "HEAD~1", "is no .* id of a commit", id="a name of git"),
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
