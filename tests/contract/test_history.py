"""What every Repository keeps of `history`: the same tests on memory and on git with real keys."""

import pytest

from reconciler.model.errors import Misconfigured
from reconciler.model.trailers import SignedCommit
from tests.contract.far import NOW, Far

HASH, OTHER = "d1007e0425df", "bd7085a350de"


async def test_a_history_is_newest_first_with_changes_trailers_and_signers(far: Far) -> None:
    base = far.commit({"a.yaml": "a"}, "Start")
    made = far.commit({"a.yaml": "b"}, "Change", far.anna)
    words = f"Let it go\n\nBecause.\n\nGamekeeper-Approve: {HASH}\nGamekeeper-Approve: {OTHER}\n"
    approved = far.commit({}, words, far.bea)
    stranger = far.commit({"a.yaml": "c"}, "Stranger", far.carl)
    plain = far.commit({"a.yaml": "d"}, "Plain")
    repository = far.repository()
    try:
        await repository.fetch()
        found = await repository.history(base, plain, far.signers, NOW)
        nothing = await repository.history(plain, plain, far.signers, NOW)
    finally:
        await repository.close()
    assert found.problem == ""
    assert [
        (item.commit, item.parent, item.changes, item.approves, item.signer and item.signer.name)
        for item in found.commits
    ] == [
        (plain, stranger, True, (), None),
        (stranger, approved, True, (), None),
        (approved, made, False, (HASH, OTHER), "bea@example.test"),
        (made, base, True, (), "anna@example.test"),
    ]
    assert [item.problem for item in found.commits] == [
        "not signed with an SSH key",
        "signed with a key that is not allowed",
        "",
        "",
    ]
    keys = {item.signer.key for item in found.commits if item.signer}
    assert len(keys) == 2
    assert (nothing.commits, nothing.problem) == ((), "")


@pytest.mark.parametrize(
    ("message", "found"),
    [
        pytest.param(f"x\n\nGamekeeper-Approve: {HASH}", (HASH,), id="a last paragraph"),
        pytest.param(f"x\n\nGAMEKEEPER-approve:{HASH}  \n\n\n", (HASH,), id="any case"),
        pytest.param(f"x\n\nSigned-off-by: A\nGamekeeper-Approve: {HASH}", (HASH,), id="others"),
        pytest.param(f"x\n\nGamekeeper-Approve: {HASH}\n\nmore words", (), id="an earlier one"),
        pytest.param(f"Gamekeeper-Approve: {HASH}", (), id="a subject"),
        pytest.param(f"x\n\nGamekeeper-Approve: {HASH}a", (), id="a longer word"),
        pytest.param(f"x\n\n Gamekeeper-Approve: {HASH}", (), id="an indented line"),
        pytest.param(f"x\n\n> Gamekeeper-Approve: {HASH}", (), id="a quoted line"),
        pytest.param("x\n\nGamekeeper-Approve: *", (), id="everything"),
    ],
)
async def test_a_trailer_is_a_whole_line_of_the_last_paragraph(
    far: Far, message: str, found: tuple[str, ...]
) -> None:
    base = far.commit({"a.yaml": "a"}, "Start")
    head = far.commit({}, message, far.bea)
    repository = far.repository()
    try:
        await repository.fetch()
        history = await repository.history(base, head, far.signers, NOW)
    finally:
        await repository.close()
    assert [item.approves for item in history.commits] == [found]


async def test_an_approval_counts_upon_commits_of_any_size(far: Far) -> None:
    base = far.commit({"a.yaml": "a"}, "Start\n\n" + "x" * 2_000_000)
    above = far.commit({}, f"Let it go\n\nGamekeeper-Approve: {OTHER}\n", far.anna)
    moved = "  2026-01-01T00:00:00Z 3 -> 4 (occupancy): because\n" * 10_000
    ours = far.commit({"a.yaml": "b"}, f"Counts\n\n{moved}")
    approved = far.commit({}, f"Let it go\n\nGamekeeper-Approve: {HASH}\n", far.bea)
    repository = far.repository()
    try:
        await repository.fetch()
        found = await repository.history(base, approved, far.signers, NOW, [ours])
    finally:
        await repository.close()
    assert found.problem == ""
    assert [
        (item.commit, item.changes, item.approves, item.signer and item.signer.name)
        for item in found.commits
    ] == [
        (approved, False, (HASH,), "bea@example.test"),
        (ours, True, (), None),
        (above, False, (OTHER,), "anna@example.test"),
    ]


@pytest.mark.long
async def test_a_base_that_is_no_ancestor_and_too_long_a_history_are_said(far: Far) -> None:
    base = far.commit({"a.yaml": "a"}, "Start")
    left = far.commit({"a.yaml": "left"}, "Left")
    repository = far.repository()
    try:
        await repository.fetch()
        far.force(base)
        right = far.commit({"a.yaml": "right"}, "Right")
        await repository.fetch()
        apart = await repository.history(left, right, far.signers, NOW)
        unknown = await repository.history("0" * 40, right, far.signers, NOW)
        with pytest.raises(Misconfigured, match="revision"):
            await repository.history(base, "0" * 40, far.signers, NOW)
        for number in range(100):
            head = far.commit({"a.yaml": str(number)}, "More")
        await repository.fetch()
        long = await repository.history(base, head, far.signers, NOW)
        short = await repository.history(right, head, far.signers, NOW)
        known = await repository.history(base, head, far.signers, NOW, [right, "0" * 40])
    finally:
        await repository.close()
    assert apart.problem == f"commit {left[:12]} is no ancestor of {right[:12]}"
    assert "no ancestor" in unknown.problem
    assert (long.commits, long.problem) == ((), f"more than 100 commits since {base[:12]}")
    assert len(short.commits) == 100
    assert known.commits[:-1] == short.commits
    assert known.commits[-1] == SignedCommit(right, base, changes=True, problem="not checked")


@pytest.mark.long
async def test_a_log_tells_of_commits_whose_messages_are_many_megabytes(far: Far) -> None:
    plain = far.commit({"a.yaml": "a"}, "Start\n\nIn few words.")
    many = [
        far.commit({"a.yaml": f"{number}"}, f"Change {number}\n\n{'x' * 20_000_000}")
        for number in range(6)
    ]
    newest = far.commit({"a.yaml": "z"}, f"{'y' * 30_000_000}\n\nIn many words.")
    repository = far.repository()
    try:
        await repository.fetch()
        found = await repository.log(newest)
    finally:
        await repository.close()
    assert [each.commit for each in found] == [newest, *reversed(many), plain]
    subjects = [each.subject for each in found]
    assert subjects[1:] == [*(f"Change {number}" for number in reversed(range(6))), "Start"]
    assert subjects[0].startswith("yyy")
    assert found[-1].body == "In few words."
    assert {each.author for each in found[:-1]} == {found[-1].author}


@pytest.mark.long
async def test_a_page_of_long_messages_tells_those_that_fit_the_newest_first(far: Far) -> None:
    commits = [
        far.commit({"a.yaml": f"{number}"}, f"Change {number}\n\n{'x' * 700_000}")
        for number in range(40)
    ]
    repository = far.repository()
    try:
        await repository.fetch()
        found = await repository.log(commits[-1], limit=40)
    finally:
        await repository.close()
    assert [each.commit for each in found] == commits[::-1]
    assert {len(each.body) for each in found[:30]} == {700_000}
    assert {each.subject.partition(" ")[0] for each in found} == {"Change"}
