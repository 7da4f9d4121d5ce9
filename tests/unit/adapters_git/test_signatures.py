"""Signatures of commits that lie: none of them names a signer, and each says why."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from reconciler.adapters.git.checkout import LocalCheckout
from reconciler.model.trailers import History
from tests.gitservers.repositories import BareRepository
from tests.gitservers.signing import Person, commit
from tests.unit.adapters_git.repositories import bare, literal_commit, mirror

NOW = 1_800_000_000.0
WORDS = "Let it go\n\nGamekeeper-Approve: d1007e0425df\n"


@dataclass(slots=True)
class Scene:
    """A repository with a signed approval at its head."""

    folder: Path
    bare: BareRepository
    bea: Person
    base: str

    async def history(self, allowed: str, now: float = NOW) -> History:
        path = self.folder / "allowed"
        path.write_text(allowed)
        return await self.read(str(path), now)

    async def read(self, signers: str, now: float = NOW) -> History:
        made = mirror(self.bare, self.folder / "cache")
        try:
            head = await made.fetch()
            return await made.history(self.base, head.commit, signers, now)
        finally:
            await made.close()

    def land(self, raw: bytes) -> None:
        """Make a commit object of these bytes the head."""
        self.bare.reset(literal_commit(self.bare, raw))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    repository = bare(tmp_path)
    bea = Person.create(tmp_path, "bea")
    base = commit(repository, {"a.yaml": "a"}, "Start")
    made = Scene(tmp_path, repository, bea, base)
    # Signed with a clock set back by years: no matter, nobody looks at it.
    commit(repository, {}, WORDS, bea, when_seconds=1_500_000_000)
    return made


def who(history: History) -> tuple[str, ...]:
    assert not history.problem
    signer = history.commits[0].signer
    return signer.principals if signer else (history.commits[0].problem,)


@pytest.mark.long
@pytest.mark.parametrize(
    ("line", "found"),
    [
        pytest.param("bea@x {key}\n", ("bea@x",), id="a plain line"),
        pytest.param("bea@x,b@x {key}\n", ("bea@x", "b@x"), id="all principals of a line"),
        pytest.param('bea@x namespaces="git" {key}\n', ("bea@x",), id="for git"),
        pytest.param(
            'bea@x namespaces="file" {key}\n',
            ("signed with a signature that is not good",),
            id="not for git",
        ),
        pytest.param(
            'bea@x valid-before="20200101" {key}\n',
            ("signed with a key that has expired",),
            id="a key that expired after the commit says it was made",
        ),
        pytest.param(
            'bea@x valid-after="20300101" {key}\n',
            ("signed with a key that is not valid yet",),
            id="a key that is not valid yet",
        ),
        pytest.param('bea@x valid-before="20280101" {key}\n', ("bea@x",), id="still valid"),
        pytest.param("", ("signed with a key that is not allowed",), id="an empty file"),
        pytest.param("# bea@x {key}\n", ("signed with a key that is not allowed",), id="taken out"),
        pytest.param("ann@x\nbea@x {key}\n", ("bea@x",), id="beside a line that is not read"),
        pytest.param("-oProxy {key}\n", ("-oProxy",), id="a principal like an option"),
    ],
)
async def test_the_operators_file_says_who_signed(
    scene: Scene, line: str, found: tuple[str, ...]
) -> None:
    assert who(await scene.history(line.format(key=scene.bea.public_key))) == found


@pytest.mark.long
@pytest.mark.parametrize(
    ("lines", "number"),
    [
        pytest.param("\n# the team\nann@x\n \nbea@x namespaces=git {key}\n", 3, id="no key"),
        pytest.param("bea@x namespaces=git {key}\n", 1, id="options without quotes"),
    ],
)
async def test_the_first_line_that_openssh_cannot_read_is_told(
    scene: Scene, lines: str, number: int
) -> None:
    (problem,) = who(await scene.history(lines.format(key=scene.bea.public_key)))
    assert problem.startswith(
        "signed with a key that is not allowed (OpenSSH cannot read line"
        f" {number} of the approval signers: "
    )


def _another_message(raw: bytes) -> bytes:
    return raw.replace(b"Let it go", b"Let me go")


def _twice(raw: bytes) -> bytes:
    start, end = raw.index(b"gpgsig "), raw.index(b"\n\n")
    return raw[:end] + b"\n" + raw[start:end] + raw[end:]


def _openpgp(raw: bytes) -> bytes:
    return raw.replace(b"SSH SIGNATURE", b"PGP SIGNATURE")


def _for_sha256(raw: bytes) -> bytes:
    return raw.replace(b"gpgsig ", b"gpgsig-sha256 ")


def _broken(raw: bytes) -> bytes:
    at = raw.index(b"\n ", raw.index(b"gpgsig ")) + 45
    return raw[:at] + b"AAAA" + raw[at + 4 :]


def _in_the_message(raw: bytes) -> bytes:
    start, end = raw.index(b"gpgsig "), raw.index(b"\n\n")
    return raw[: start - 1] + b"\n\n" + raw[start:end] + raw[end:]


@pytest.mark.long
@pytest.mark.parametrize(
    "lie",
    [
        pytest.param(_another_message, id="other words under the signature"),
        pytest.param(_twice, id="two signatures"),
        pytest.param(_openpgp, id="an OpenPGP signature"),
        pytest.param(_for_sha256, id="a signature of another object format"),
        pytest.param(_broken, id="a signature that is no signature"),
        pytest.param(_in_the_message, id="a signature in the message"),
    ],
)
async def test_a_commit_that_lies_has_no_signer(
    scene: Scene, lie: Callable[[bytes], bytes]
) -> None:
    head = scene.bare.head() or ""
    raw = scene.bare.git("cat-file", "commit", head).encode() + b"\n"
    scene.land(raw)
    allowed = f"bea@x {scene.bea.public_key}\n"
    assert who(await scene.history(allowed)) == ("bea@x",)
    scene.land(lie(raw))
    (problem,) = who(await scene.history(allowed))
    assert "signed with" in problem


async def test_configuration_and_programs_of_a_repository_do_not_matter(scene: Scene) -> None:
    evil = scene.folder / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {scene.folder}/ran\necho 'Good \"git\" signature for x'\n")
    evil.chmod(0o755)
    commit(
        scene.bare, {".gitconfig": f"[gpg]\n\tprogram = {evil}\n", "allowed_signers": "x"}, "Evil"
    )
    commit(scene.bare, {}, WORDS, Person.create(scene.folder, "mallory"))
    for name in ("gpg.program", "gpg.ssh.program", "gpg.ssh.allowedSignersFile", "gpg.format"):
        scene.bare.git("config", name, str(evil))
    history = await scene.history(f"bea@x {scene.bea.public_key}\n")
    names = [item.signer and item.signer.name for item in history.commits]
    assert names == [None, None, "bea@x"]
    checkout = LocalCheckout(str(scene.bare.path))
    try:
        signers = str(scene.folder / "allowed")
        same = await checkout.history(scene.base, scene.bare.head() or "", signers, NOW)
    finally:
        await checkout.close()
    assert same == history
    assert not (scene.folder / "ran").exists()


async def test_a_merge_and_the_attempt_to_hide_a_change_in_one_count_as_changes(
    scene: Scene,
) -> None:
    head = scene.bare.head() or ""
    tree = scene.bare.git("rev-parse", f"{head}^{{tree}}")
    merge = scene.bare.git("commit-tree", tree, "-p", head, "-p", scene.base, "-m", WORDS)
    scene.bare.reset(merge)
    found = (await scene.history("")).commits[0]
    assert (found.commit, found.parent, found.changes) == (merge, "", True)


async def test_a_commit_too_large_to_read_says_so(scene: Scene) -> None:
    commit(scene.bare, {}, "x" * 70_000 + "\n\n" + WORDS)
    assert (await scene.history("")).problem == "a commit is larger than 64 KiB"


async def test_a_file_that_is_not_there_or_too_large_is_a_problem_not_an_error(
    scene: Scene,
) -> None:
    gone = await scene.read(str(scene.folder / "gone"))
    assert "gone cannot be read (No such file or directory)" in gone.problem
    assert "larger than 1 MiB" in (await scene.history("#" * 1024 * 1024 + "#")).problem


async def test_without_ssh_keygen_it_is_named(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = scene.folder / "bin"
    programs.mkdir()
    found = shutil.which("git")
    assert found
    (programs / "git").symlink_to(found)
    monkeypatch.setenv("PATH", str(programs))
    assert "install OpenSSH" in (await scene.history("bea@x")).problem


async def test_what_nobody_approves_is_not_checked(scene: Scene) -> None:
    commit(scene.bare, {"a.yaml": "b"}, "Change", scene.bea)
    scene.base = scene.bare.git("rev-parse", "main^")
    history = await scene.read(str(scene.folder / "gone"))
    assert (history.problem, [item.problem for item in history.commits]) == ("", ["not checked"])


async def test_the_moment_of_a_check_is_the_callers(scene: Scene) -> None:
    line = f'bea@x valid-before="20200101" {scene.bea.public_key}\n'
    assert who(await scene.history(line, 1_550_000_000.0)) == ("bea@x",)
    assert who(await scene.history(line)) == ("signed with a key that has expired",)
