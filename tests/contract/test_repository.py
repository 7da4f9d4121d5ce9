"""What every Repository keeps: the same tests on memory, file, http, https and ssh."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.model.errors import Misconfigured, Unavailable
from reconciler.model.trees import EntryKind, Relation
from tests.contract.upstreams import Upstream, opened, upstream

REAL = [pytest.param(kind, marks=pytest.mark.real) for kind in ("https", "ssh")]


@pytest.fixture(params=["memory", "file", "http", *REAL])
def far(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Upstream]:
    with upstream(request.param, tmp_path) as host:
        yield host


START = {"gamekeeper.yaml": "kind: Config\n", "rooms/eu/a.yaml": "kind: A\n", "README.md": "hi\n"}


async def test_fetch_returns_the_head_of_the_tracked_branch(far: Upstream) -> None:
    far.commit(START, "Start")
    second = far.commit({"rooms/eu/a.yaml": "kind: B\n"}, "Second\n\nwith a body")
    far.commit({"x.yaml": "x"}, "Elsewhere", branch="other")
    async with opened(far) as repository:
        head = await repository.fetch()
    assert (head.commit, head.branch, head.subject) == (second, "main", "Second")
    assert re.fullmatch(r"[0-9a-f]{40}", head.commit)


async def test_a_branch_with_a_slash_in_its_name_is_followed(far: Upstream) -> None:
    far.commit(START)
    wanted = far.commit({"x.yaml": "x"}, branch="release/one")
    async with opened(far, "release/one") as repository:
        assert (await repository.fetch()).commit == wanted


async def test_a_tree_has_every_yaml_file_and_every_directory(far: Upstream) -> None:
    first = far.commit({**START, "docs/notes.txt": "no yaml here", "b.yml": "kind: C\n"})
    async with opened(far) as repository:
        await repository.fetch()
        tree = await repository.tree(first)
    assert tree.commit == first
    assert tree.parents == ()
    assert sorted(tree.entries) == ["b.yml", "gamekeeper.yaml", "rooms/eu/a.yaml"]
    assert tree.directories == {"rooms", "rooms/eu", "docs"}
    entry = tree.entries["rooms/eu/a.yaml"]
    assert (entry.kind, entry.text, entry.size) == (EntryKind.FILE, b"kind: A\n", 8)
    # The id that git hash-object gives to this content.
    assert entry.blob == "51047503645803f909ff3801d304ffecfd903b12"


async def test_equal_content_has_an_equal_blob_and_other_content_another(far: Upstream) -> None:
    first = far.commit({"a.yaml": "same", "b.yaml": "same", "c.yaml": "other"})
    second = far.commit({"c.yaml": "same"})
    async with opened(far) as repository:
        await repository.fetch()
        before, after = await repository.tree(first), await repository.tree(second)
    assert before.entries["a.yaml"].blob == before.entries["b.yaml"].blob
    assert before.entries["a.yaml"].blob != before.entries["c.yaml"].blob
    assert after.entries["c.yaml"].blob == before.entries["a.yaml"].blob
    assert after.parents == (first,)


async def test_an_older_commit_stays_readable_after_newer_ones(far: Upstream) -> None:
    first = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        far.commit({"gamekeeper.yaml": None})
        await repository.fetch()
        assert "gamekeeper.yaml" in (await repository.tree(first)).entries
        assert "gamekeeper.yaml" not in (await repository.tree("main")).entries


async def test_a_removed_directory_is_gone_from_the_directories(far: Upstream) -> None:
    far.commit(START)
    second = far.commit({"rooms/eu/a.yaml": None})
    async with opened(far) as repository:
        await repository.fetch()
        assert (await repository.tree(second)).directories == frozenset()


async def test_a_commit_that_was_not_fetched_is_misconfigured(far: Upstream) -> None:
    far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        later = far.commit({"x.yaml": "x"})
        with pytest.raises(Misconfigured, match="no revision"):
            await repository.tree(later)
        await repository.fetch()
        assert "x.yaml" in (await repository.tree(later)).entries


@pytest.mark.parametrize("revision", ["-h", "--output=x", "", "nope", "a\nb", "main^{/x", "0" * 40])
async def test_a_revision_that_is_none_is_misconfigured(far: Upstream, revision: str) -> None:
    far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        with pytest.raises(Misconfigured, match="revision"):
            await repository.tree(revision)


async def test_relations_tell_forward_from_diverged_and_unknown(far: Upstream) -> None:
    first = far.commit(START)
    second = far.commit({"a.yaml": "a"})
    async with opened(far) as repository:
        await repository.fetch()
        assert await repository.relation(second, second) is Relation.SAME
        assert await repository.relation(first, second) is Relation.FORWARD
        assert await repository.relation(second, first) is Relation.DIVERGED
        assert await repository.relation("0" * 40, second) is Relation.UNKNOWN


async def test_after_a_force_push_the_old_head_is_still_known_as_diverged(far: Upstream) -> None:
    first = far.commit(START)
    second = far.commit({"a.yaml": "a"})
    async with opened(far) as repository:
        await repository.fetch()
        far.force(first)
        third = far.commit({"b.yaml": "b"})
        assert (await repository.fetch()).commit == third
        assert await repository.relation(second, third) is Relation.DIVERGED
        assert "a.yaml" in (await repository.tree(second)).entries
        assert await repository.relation(first, third) is Relation.FORWARD


async def test_a_branch_reset_to_an_older_commit_is_followed(far: Upstream) -> None:
    first = far.commit(START)
    second = far.commit({"a.yaml": "a"})
    async with opened(far) as repository:
        await repository.fetch()
        far.force(first)
        assert (await repository.fetch()).commit == first
        assert await repository.relation(second, first) is Relation.DIVERGED


async def test_a_rewritten_history_is_followed_and_diverged(far: Upstream) -> None:
    first = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        fresh = far.rewrite({"new.yaml": "n"})
        assert (await repository.fetch()).commit == fresh
        assert await repository.relation(first, fresh) is Relation.DIVERGED
        assert sorted((await repository.tree(fresh)).entries) == ["new.yaml"]


async def test_a_merge_joins_what_both_sides_changed(far: Upstream) -> None:
    far.commit(START)
    other = far.commit({"theirs.yaml": "t"}, branch="other")
    base = far.commit({"ours.yaml": "o", "README.md": None})
    async with opened(far) as repository:
        await repository.fetch()
        far.force(other)
        await repository.fetch()
        merged = await repository.merge(base, other)
    assert merged.tree is not None
    wanted = ["gamekeeper.yaml", "ours.yaml", "rooms/eu/a.yaml", "theirs.yaml"]
    assert sorted(merged.tree.entries) == wanted


async def test_a_conflicting_merge_names_its_paths(far: Upstream) -> None:
    far.commit(START)
    other = far.commit({"gamekeeper.yaml": "kind: Theirs\n"}, branch="other")
    base = far.commit({"gamekeeper.yaml": "kind: Ours\n"})
    async with opened(far) as repository:
        await repository.fetch()
        far.force(other)
        await repository.fetch()
        merged = await repository.merge(base, other)
    assert merged.tree is None
    assert merged.conflicts == ("gamekeeper.yaml",)


async def test_merging_what_is_behind_changes_nothing(far: Upstream) -> None:
    first = far.commit(START)
    second = far.commit({"a.yaml": "a"})
    async with opened(far) as repository:
        await repository.fetch()
        merged = await repository.merge(second, first)
        forward = await repository.merge(first, second)
        wanted = await repository.tree(second)
    assert merged.tree is not None
    assert forward.tree is not None
    assert merged.tree.entries == wanted.entries == forward.tree.entries
    assert forward.tree.commit == ""
    assert forward.tree.parents == (first, second)


async def test_a_missing_branch_is_misconfigured_and_heals(far: Upstream) -> None:
    first = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        far.delete_branch()
        with pytest.raises(Misconfigured, match="branch"):
            await repository.fetch()
        assert "gamekeeper.yaml" in (await repository.tree(first)).entries
        second = far.commit({"gamekeeper.yaml": "kind: New\n"})
        assert (await repository.fetch()).commit == second
        assert await repository.relation(first, second) is Relation.DIVERGED


async def test_a_missing_repository_is_misconfigured_and_heals(far: Upstream) -> None:
    first = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        far.vanish()
        with pytest.raises(Misconfigured):
            await repository.fetch()
        assert "gamekeeper.yaml" in (await repository.tree(first)).entries
        far.heal()
        assert (await repository.fetch()).commit == first


async def test_an_empty_repository_is_misconfigured(far: Upstream) -> None:
    async with opened(far) as repository:
        with pytest.raises(Misconfigured, match="branch"):
            await repository.fetch()


@pytest.mark.parametrize("far", ["memory", "http", *REAL], indirect=True)
async def test_a_host_that_is_down_is_unavailable_and_what_was_fetched_stays(
    far: Upstream,
) -> None:
    first = far.commit(START)
    async with opened(far) as repository:
        await repository.fetch()
        far.down()
        with pytest.raises(Unavailable):
            await repository.fetch()
        assert "gamekeeper.yaml" in (await repository.tree(first)).entries
        far.heal()
        assert (await repository.fetch()).commit == first


async def test_two_repositories_of_one_host_do_not_disturb_each_other(far: Upstream) -> None:
    first = far.commit(START)
    async with opened(far) as one, opened(far) as other:
        await one.fetch()
        second = far.commit({"a.yaml": "a"})
        assert (await other.fetch()).commit == second
        assert (await one.tree(first)).commit == first
        assert (await one.fetch()).commit == second
