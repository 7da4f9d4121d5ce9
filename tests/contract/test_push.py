"""What every WritableRepository keeps: the same tests on memory, file, http, https and ssh."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.model.errors import Conflict, Denied, Misconfigured, Unavailable
from reconciler.model.pushes import Pushed
from reconciler.model.trees import Relation
from tests.contract.pushes import AT, AUTHOR, START, change
from tests.contract.upstreams import Upstream, opened, upstream

REAL = [pytest.param(kind, marks=pytest.mark.real) for kind in ("https", "ssh")]


@pytest.fixture(params=["memory", "file", "http", *REAL])
def far(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Upstream]:
    with upstream(request.param, tmp_path) as host:
        yield host


async def test_a_push_lands_as_one_commit_with_only_its_bytes_changed(far: Upstream) -> None:
    base = far.commit(START, "Start")
    async with opened(far) as repository:
        await repository.fetch()
        before = await repository.tree(base)
        pushed = await repository.push(change(base, {"rooms/arena.yaml": b"replicas: 5 # l\r\n"}))
        assert far.head() == pushed.commit == pushed.head
        head = await repository.fetch()
        after = await repository.tree(pushed.commit)
        (logged,) = await repository.log(head.commit, limit=1)
    assert (head.commit, head.author, head.committed_at) == (pushed.commit, AUTHOR.name, float(AT))
    assert {path for path in after.entries if after.entries[path] != before.entries[path]} == {
        "rooms/arena.yaml"
    }
    assert after.entries["rooms/arena.yaml"].text == b"replicas: 5 # l\r\n"
    assert after.parents == logged.parents == (base,)
    assert (logged.author, logged.committer, logged.at) == (AUTHOR, AUTHOR, float(AT))
    assert (logged.subject, logged.body) == ("Scale arena 3 -> 5", "All rooms are occupied.")
    assert logged.paths == ("rooms/arena.yaml",)


async def test_a_name_is_a_name_whatever_git_could_read_in_it(far: Upstream) -> None:
    names = (
        ":!arena.yaml",
        ":arena.yaml",
        ":(top)arena.yaml",
        "-z",
        "aren?.yaml",
        "*.yaml",
        "@{1}",
    )
    base = far.commit({"arena.yaml": "plain\n", **{name: f"{name}\n" for name in names}})
    async with opened(far) as repository:
        await repository.fetch()
        assert [await repository.blob(base, each) for each in names] == [
            f"{each}\n".encode() for each in names
        ]
        pushed = await repository.push(change(base, dict.fromkeys(names, b"other\n")))
        assert [await repository.blob(pushed.commit, each) for each in names] == [b"other\n"] * 7
        for path, commits in ((names[0], [pushed.commit, base]), ("arena.yaml", [base])):
            assert [each.commit for each in await repository.log(pushed.commit, [path])] == commits


async def test_files_are_made_and_removed(far: Upstream) -> None:
    base = far.commit(START)
    files = {"new/deep/replicas.yaml": b"counts: {}\n", "rooms/eu/duel.yaml": None, "no.yaml": None}
    async with opened(far) as repository:
        await repository.fetch()
        pushed = await repository.push(change(base, files))
        tree = await repository.tree(pushed.commit)
        made = await repository.blob(pushed.commit, "new/deep/replicas.yaml")
        removed = await repository.blob(pushed.commit, "rooms/eu/duel.yaml")
        folder = await repository.blob(pushed.commit, "rooms")
    assert sorted(tree.entries) == ["gamekeeper.yaml", "new/deep/replicas.yaml", "rooms/arena.yaml"]
    assert (made, removed, folder) == (b"counts: {}\n", None, None)


@pytest.mark.long
async def test_writing_tells_the_host_nothing_and_gives_the_id_that_is_pushed(
    far: Upstream,
) -> None:
    base = far.commit(START)
    async with opened(far) as repository, opened(far) as other:
        await repository.fetch()
        await other.fetch()
        written = await repository.write(change(base))
        assert far.head() == base
        assert await repository.write(change(base)) == await other.write(change(base)) == written
        assert await repository.write(change(base, at=AT + 1)) != written
        assert await repository.push(change(base), written) == Pushed(written, written)
    assert far.head() == written


async def test_what_changes_nothing_is_not_committed(far: Upstream) -> None:
    base = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        same = change(base, {"rooms/eu/duel.yaml": b"replicas: 2\n", "absent.yaml": None})
        assert await repository.write(same) == base
        assert await repository.push(same) == Pushed(base, base)
    assert far.head() == base


@pytest.mark.long
async def test_a_lost_race_is_a_conflict_and_won_on_the_new_head(far: Upstream) -> None:
    base = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        theirs = far.commit({"rooms/eu/duel.yaml": "replicas: 7\n"}, "A human")
        with pytest.raises(Conflict, match="does not stand at"):
            await repository.push(change(base))
        assert far.head() == theirs
        head = await repository.fetch()
        pushed = await repository.push(change(head.commit))
        assert await repository.blob(pushed.commit, "rooms/eu/duel.yaml") == b"replicas: 7\n"
    assert far.head() == pushed.commit
    assert far.forced() == 0


async def test_a_branch_that_a_human_set_back_is_not_brought_forward_again(far: Upstream) -> None:
    first = far.commit(START)
    second = far.commit({"rooms/bad.yaml": "kind: Mistake\n"}, "Mistake")
    async with opened(far) as repository:
        await repository.fetch()
        far.force(first)
        with pytest.raises(Conflict):
            await repository.push(change(second))
        assert far.head() == first


async def test_a_deleted_tracked_branch_is_not_made_again(far: Upstream) -> None:
    base = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        far.delete_branch()
        with pytest.raises(Misconfigured, match="no branch 'main'"):
            await repository.push(change(base))
        with pytest.raises(Misconfigured, match="not made anew"):
            await repository.push(change(base, creates=True))
    assert far.head() is None


@pytest.mark.long
async def test_a_branch_beside_is_made_once_and_then_moves_forward(far: Upstream) -> None:
    base = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        assert await repository.tip("scaling") == ""
        first = await repository.push(change(base, branch="scaling", creates=True))
        again = change(base, {"b.yaml": b"b\n"}, branch="scaling", creates=True)
        with pytest.raises(Conflict):
            await repository.push(again)
        assert await repository.tip("scaling") == first.commit
        further = change(first.commit, {"b.yaml": b"b\n"}, branch="scaling")
        second = await repository.push(further)
        with pytest.raises(Conflict):
            await repository.push(change(first.commit, {"b.yaml": b"c\n"}, branch="scaling"))
    assert (far.head(), far.head("scaling")) == (base, second.commit)


@pytest.mark.long
async def test_a_branch_beside_is_followed_from_the_tracked_head_to_its_end(far: Upstream) -> None:
    base = far.commit(START)
    async with opened(far) as repository, opened(far) as other:
        await repository.fetch()
        await other.fetch()
        ours = (await other.push(change(base, branch="counts", creates=True))).commit
        theirs = far.commit({"rooms/arena.yaml": "replicas: 4\n"}, branch="counts")
        main = far.commit({"c.yaml": "c\n"})
        assert (await repository.fetch()).commit == main
        assert await repository.tip("counts") == theirs
        apart = await repository.lineage(main, theirs)
        tree = await repository.tree(theirs)
        assert await repository.relation(main, theirs) is Relation.DIVERGED
        assert await repository.relation(ours, theirs) is Relation.FORWARD
        assert await repository.relation("1" * 40, theirs) is Relation.UNKNOWN
        far.delete_branch("counts")
        assert await repository.tip("counts") == ""
        assert await repository.blob(theirs, "rooms/arena.yaml") == b"replicas: 4\n"
        assert await repository.relation(theirs, main) is Relation.DIVERGED
    assert (apart.commits, apart.cut) == ((theirs, ours), False)
    assert (tree.parents, tree.entries["rooms/arena.yaml"].text) == ((ours,), b"replicas: 4\n")


async def test_a_tip_of_others_can_be_read(far: Upstream) -> None:
    far.commit(START)
    theirs = far.commit({"c.yaml": "c\n"}, branch="gamekeeper/scale")
    async with opened(far) as repository:
        head = await repository.fetch()
        assert await repository.tip("gamekeeper/scale") == theirs
        assert await repository.blob(theirs, "c.yaml") == b"c\n"
        assert await repository.relation(head.commit, theirs) is Relation.FORWARD
        assert (await repository.fetch()).commit == head.commit


@pytest.mark.long
async def test_a_branch_of_ours_is_replaced_while_it_is_as_we_left_it(far: Upstream) -> None:
    base = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        mine = "gamekeeper/scale"
        first = await repository.push(change(base, creates=True, branch=mine))
        newer = far.commit({"rooms/eu/duel.yaml": "replicas: 9\n"})
        await repository.fetch()
        second = await repository.push(change(newer, replaces=first.commit, branch=mine))
        assert far.head("gamekeeper/scale") == second.commit
        theirs = far.commit({"c.yaml": "c\n"}, "A human helps", branch="gamekeeper/scale")
        other = change(newer, {"d.yaml": b"d"}, replaces=second.commit, branch=mine)
        with pytest.raises(Conflict):
            await repository.push(other)
    assert (far.head("gamekeeper/scale"), far.head()) == (theirs, newer)


@pytest.mark.parametrize("branch", ["main", "scaling", "gamekeeper", "gamekeeperx/y"])
async def test_no_other_branch_can_be_replaced(far: Upstream, branch: str) -> None:
    base = far.commit(START)
    newer = far.commit({"c.yaml": "c\n"})
    async with opened(far) as repository:
        await repository.fetch()
        with pytest.raises(Misconfigured, match="not replaced"):
            await repository.push(change(base, branch=branch, replaces=newer))
    assert far.head() == newer


async def test_a_tracked_branch_with_the_name_of_ours_is_never_replaced(far: Upstream) -> None:
    base = far.commit(START)
    newer = far.commit({"c.yaml": "c\n"}, branch="gamekeeper/live")
    async with opened(far, "gamekeeper/live") as repository:
        await repository.fetch()
        with pytest.raises(Misconfigured, match="not replaced"):
            await repository.push(change(base, branch="gamekeeper/live", replaces=newer))
    assert far.head("gamekeeper/live") == newer


async def test_a_protected_branch_is_denied_in_the_hosts_words(far: Upstream) -> None:
    base = far.commit(START)
    far.protect("Only people may push to main.\n")
    async with opened(far) as repository:
        await repository.fetch()
        with pytest.raises(Denied, match=r"'main': Only people may push to main"):
            await repository.push(change(base))
        beside = await repository.push(change(base, branch="scaling", creates=True))
        assert (far.head(), far.head("scaling")) == (base, beside.commit)


@pytest.mark.parametrize("far", ["memory", "http", *REAL], indirect=True)
async def test_a_host_that_is_down_is_unavailable_and_takes_the_push_later(far: Upstream) -> None:
    base = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        written = await repository.write(change(base))
        far.down()
        with pytest.raises(Unavailable):
            await repository.push(change(base), written)
        far.heal()
        assert far.head() == base
        assert (await repository.push(change(base), written)).commit == written
    assert far.head() == written


@pytest.mark.parametrize("far", ["memory", "http", REAL[0]], indirect=True)
async def test_a_push_whose_answer_was_lost_is_found_on_the_branch(far: Upstream) -> None:
    base = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        far.lose_answer()
        pushed = await repository.push(change(base))
        assert far.head() == pushed.commit == pushed.head != base


async def test_a_push_made_twice_is_one_commit_also_below_a_human(far: Upstream) -> None:
    base = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        first = await repository.push(change(base))
        assert await repository.push(change(base), first.commit) == first
        theirs = far.commit({"c.yaml": "c\n"}, "A human")
        assert await repository.push(change(base), first.commit) == Pushed(first.commit, theirs)
    assert (far.head(), far.forced()) == (theirs, 0)


async def test_a_change_on_an_unknown_base_is_a_conflict(far: Upstream) -> None:
    base = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        with pytest.raises(Conflict, match="not in the mirror"):
            await repository.push(change("1" * 40))
        with pytest.raises(Conflict, match="not in the mirror"):
            await repository.push(change(base), "1" * 40)
        other = await repository.write(change(base))
        further = await repository.write(change(other, {"c.yaml": b"c"}))
        with pytest.raises(Misconfigured, match="not made from"):
            await repository.push(change(base), further)
        with pytest.raises(Misconfigured, match="no commit id"):
            await repository.write(change("main"))
    assert far.head() == base


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("../outside.yaml", id="a path that leaves the repository"),
        pytest.param("/etc/passwd", id="an absolute path"),
        pytest.param(".git/config", id="the repository's own files"),
        pytest.param("rooms/.GIT/config", id="the same in capitals, below"),
        pytest.param("rooms//a.yaml", id="an empty part"),
        pytest.param("a\nb.yaml", id="a line break"),
        pytest.param("rooms", id="a directory"),
        pytest.param("gamekeeper.yaml/a.yaml", id="a file as a directory"),
    ],
)
async def test_a_path_that_is_no_plain_file_is_refused(far: Upstream, path: str) -> None:
    base = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        with pytest.raises(Misconfigured):
            await repository.write(change(base, {path: b"x"}))


@pytest.mark.parametrize(
    "told",
    [
        pytest.param({"author": type(AUTHOR)("", "a@b.test")}, id="a nameless author"),
        pytest.param({"author": type(AUTHOR)("A <b>", "a@b.test")}, id="brackets in a name"),
        pytest.param({"author": type(AUTHOR)("A", "a@b\nparent 1")}, id="a line in an address"),
        pytest.param({"message": ""}, id="no message"),
        pytest.param({"message": "a\0b"}, id="a message that git would cut"),
        pytest.param({"branch": "a..b"}, id="no branch name"),
        pytest.param({"branch": "--force"}, id="an option for a branch"),
        pytest.param({"at": -1}, id="a time before all"),
    ],
)
async def test_a_commit_that_cannot_be_made_is_refused(far: Upstream, told: dict[str, Any]) -> None:
    base = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        with pytest.raises(Misconfigured):
            await repository.push(change(base, **told))
    assert far.head() == base


async def test_a_log_is_read_in_pages_and_by_path(far: Upstream) -> None:
    first = far.commit(START, "Start")
    second = far.commit({"rooms/arena.yaml": "replicas: 4\n"}, "Arena\n\nOne.\nTwo.\n")
    third = far.commit({"rooms/eu/duel.yaml": None, "README.md": "hi\n"}, "Duel goes")
    async with opened(far) as repository:
        await repository.fetch()
        every = await repository.log("main")
        newest = await repository.log("main", limit=2)
        rest = await repository.log("main", limit=2, before=newest[-1].commit)
        nothing = await repository.log("main", before=rest[-1].commit)
        arena = await repository.log("main", ["rooms/arena.yaml"])
        folder = await repository.log("main", ["rooms/eu", "rooms/[a]rena.yaml"])
        paged = await repository.log("main", ["rooms/arena.yaml"], before=second)
        older = await repository.log(second)
        with pytest.raises(Misconfigured, match="revision"):
            await repository.log("1" * 40)
        with pytest.raises(Misconfigured, match="not in this log"):
            await repository.log(second, before=third)
    assert [entry.commit for entry in every] == [third, second, first]
    assert (list(newest), list(rest), list(nothing)) == (list(every[:2]), list(every[2:]), [])
    assert [entry.commit for entry in arena] == [second, first]
    assert [entry.commit for entry in folder] == [third, first]
    assert [entry.commit for entry in paged] == [first]
    assert [entry.commit for entry in older] == [second, first]
    assert (every[1].subject, every[1].body) == ("Arena", "One.\nTwo.")
    assert every[0].paths == ("README.md", "rooms/eu/duel.yaml")
    assert every[2].parents == ()
    assert set(every[2].paths) == set(START)


async def test_a_lineage_names_the_commits_between(far: Upstream) -> None:
    base = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        ours = (await repository.push(change(base))).commit
        theirs = far.commit({"c.yaml": "c\n"}, "A human")
        head = (await repository.fetch()).commit
        found = await repository.lineage(base, head)
        short = await repository.lineage(base, head, 1)
        nothing = await repository.lineage(head, head)
        with pytest.raises(Misconfigured, match="revision"):
            await repository.lineage("1" * 40, head)
    assert (found.commits, found.first_parents, found.cut) == ((theirs, ours),) * 2 + (False,)
    assert (short.commits, short.cut) == ((theirs,), True)
    assert (nothing.commits, nothing.cut) == ((), False)
