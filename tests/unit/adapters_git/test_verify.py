"""Commits made to deceive, merges, and keys of both kinds: what `verify` makes of each."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from reconciler.adapters.git.checkout import LocalCheckout
from reconciler.model.errors import Misconfigured
from reconciler.model.signatures import SigningRules, Span, Verification
from tests.gitservers.openpgp import keyring, land, signed
from tests.gitservers.repositories import BareRepository
from tests.gitservers.signing import Person, commit, signers_file
from tests.unit.adapters_git.repositories import bare, mirror

NOW = 1_800_000_000.0
NOT_GOOD = "signed with a signature that is not good"


@dataclass(slots=True)
class Scene:
    """A repository of which the first commit was accepted, and two people who may sign."""

    folder: Path
    bare: BareRepository
    anna: Person
    base: str
    rules: SigningRules

    async def ask(self, rules: SigningRules | None = None, now: float = NOW) -> Verification:
        asked = rules or self.rules
        made = mirror(self.bare, self.folder / "cache")
        try:
            head = await made.fetch()
            return await made.verify(Span(head.commit, (self.base,)), asked, now)
        finally:
            await made.close()

    async def problem(self) -> str:
        found = await self.ask()
        return found.unsigned[0].problem if found.unsigned else found.by.partition(" (")[0]

    def raw(self) -> bytes:
        """The head as it is stored."""
        return self.bare.git("cat-file", "commit", self.bare.head() or "").encode() + b"\n"

    def ssh_signature(self, payload: bytes, namespace: str = "git") -> str:
        file = self.folder / "payload"
        file.write_bytes(payload)
        file.with_suffix(".sig").unlink(missing_ok=True)
        words = ("ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", str(self.anna.key_file))
        subprocess.run([*words, str(file)], check=True, capture_output=True)
        return file.with_suffix(".sig").read_text()


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    repository = bare(tmp_path)
    anna = Person.create(tmp_path, "anna")
    base = commit(repository, {"a.yaml": "a"}, "Start")
    signers = signers_file(tmp_path, anna)
    made = Scene(tmp_path, repository, anna, base, SigningRules(True, signers))
    commit(repository, {"a.yaml": "b"}, "Change\n", anna)
    return made


def _twice(raw: bytes) -> bytes:
    start, end = raw.index(b"gpgsig "), raw.index(b"\n\n")
    return raw[:end] + b"\n" + raw[start:end] + raw[end:]


def _also_for_sha256(raw: bytes) -> bytes:
    start, end = raw.index(b"gpgsig "), raw.index(b"\n\n")
    other = raw[start:end].replace(b"gpgsig ", b"gpgsig-sha256 ")
    return raw[:end] + b"\n" + other + raw[end:]


def _huge(raw: bytes) -> bytes:
    return raw.replace(b"\n -----END SSH", b"\n " + b"A" * 70_000 + b"\n -----END SSH")


@pytest.mark.long
@pytest.mark.parametrize(
    ("lie", "said"),
    [
        pytest.param(lambda raw: raw, "signed by anna@example.test", id="as it was signed"),
        pytest.param(lambda raw: raw.replace(b"Change", b"Charge"), NOT_GOOD, id="other words"),
        pytest.param(_twice, "signed twice", id="several signatures"),
        pytest.param(
            lambda raw: raw.replace(b"gpgsig ", b"gpgsig-sha256 "),
            "signed for another object format",
            id="a signature of another object format",
        ),
        pytest.param(
            _also_for_sha256, "signed for another object format", id="one of each object format"
        ),
        pytest.param(_huge, "signed with a signature that is larger than 64 KiB", id="huge"),
        pytest.param(
            lambda raw: raw.replace(b"Change", b"Cha\0nge"),
            "not readable: it holds a NUL byte, behind which git shows nothing",
            id="a NUL byte",
        ),
        pytest.param(
            lambda raw: raw.replace(b"Change", b"Change" * 200_000),
            "not readable: it is larger than 1 MiB",
            id="a huge commit",
        ),
        pytest.param(
            lambda raw: raw[: raw.index(b"\ngpgsig ")] + raw[raw.index(b"\n\n") :],
            "not signed",
            id="the signature taken out",
        ),
        pytest.param(
            lambda raw: raw.replace(b"\ngpgsig ", b"\n\ngpgsig ", 1), "not signed",
            id="a signature in the message",
        ),
        pytest.param(
            lambda raw: raw.replace(b"\ngpgsig ", b"\nmergetag object 0\n ", 1), "not signed",
            id="a signature in a merged tag",
        ),
        pytest.param(
            lambda raw: raw.replace(b"SSH SIGNATURE", b"SSH MESSAGE"),
            "signed with what is no signature of SSH or OpenPGP",
            id="no signature at all",
        ),
        pytest.param(
            lambda raw: raw.replace(b"SSH SIGNATURE", b"PGP SIGNATURE"),
            "signed with a GPG key, and --commit-keys names no file",
            id="a signature of the other kind",
        ),
    ],
)  # fmt: skip
async def test_a_commit_is_what_it_is_said_to_be(
    scene: Scene, lie: Callable[[bytes], bytes], said: str
) -> None:
    land(scene.bare, lie(scene.raw()))
    assert await scene.problem() == said


async def test_a_signature_for_something_else_is_not_one_for_git(scene: Scene) -> None:
    raw = scene.raw()
    plain = raw[: raw.index(b"\ngpgsig ")] + raw[raw.index(b"\n\n") :]
    land(scene.bare, signed(plain, scene.ssh_signature(plain)))
    assert await scene.problem() == "signed by anna@example.test"
    land(scene.bare, signed(plain, scene.ssh_signature(plain, "file")))
    assert await scene.problem() == NOT_GOOD


async def test_a_merged_tag_is_part_of_what_was_signed(scene: Scene) -> None:
    raw = scene.raw()
    plain = raw[: raw.index(b"\ngpgsig ")] + raw[raw.index(b"\n\n") :]
    tag = b"object 0\n type commit\n tag v1\n \n -----BEGIN PGP SIGNATURE-----\n x\n"
    head, _, message = plain.partition(b"\n\n")
    merged = head + b"\nmergetag " + tag.rstrip(b"\n") + b"\n\n" + message
    land(scene.bare, signed(merged, scene.ssh_signature(merged)))
    assert await scene.problem() == "signed by anna@example.test"
    land(scene.bare, signed(merged.replace(b"tag v1", b"tag v2"), scene.ssh_signature(merged)))
    assert await scene.problem() == NOT_GOOD


async def test_both_sides_of_a_merge_and_the_merge_itself_are_asked(scene: Scene) -> None:
    main = scene.bare.head() or ""
    scene.bare.reset(scene.base)
    side = commit(scene.bare, {"b.yaml": "b"}, "On a side")
    tree = scene.bare.git("rev-parse", f"{main}^{{tree}}")
    words = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={scene.anna.key_file}")
    parents = ("-p", main, "-p", side, "-m", "Merge")
    merge = scene.bare.git(*words, "commit-tree", "-S", tree, *parents)
    scene.bare.reset(merge)
    assert [each.commit for each in (await scene.ask()).unsigned] == [side]
    scene.bare.reset(scene.bare.git("commit-tree", tree, *parents))
    found = [each.commit for each in (await scene.ask()).unsigned]
    assert found == [scene.bare.head(), side]


async def test_configuration_and_programs_of_a_repository_do_not_matter(scene: Scene) -> None:
    evil = scene.folder / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {scene.folder}/ran\necho 'Good \"git\" signature for x'\n")
    evil.chmod(0o755)
    commit(scene.bare, {"allowed_signers": "x"}, "Evil", Person.create(scene.folder, "mallory"))
    for name in ("gpg.program", "gpg.ssh.program", "gpg.ssh.allowedSignersFile", "gpg.format"):
        scene.bare.git("config", name, str(evil))
    checkout = LocalCheckout(str(scene.bare.path))
    try:
        asked = Span(scene.bare.head() or "", (scene.base,))
        found = await checkout.verify(asked, scene.rules, NOW)
    finally:
        await checkout.close()
    assert [each.problem for each in found.unsigned] == ["signed with a key that is not allowed"]
    assert not (scene.folder / "ran").exists()


async def test_more_commits_than_are_looked_at_are_said_and_none_is_checked(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = [f"reset refs/heads/main\nfrom {scene.base}\n"]
    stream += [
        "commit refs/heads/main\ncommitter A <a@example.test> 1700000000 +0000\ndata 1\nx\n"
        for _ in range(1001)
    ]
    scene.bare.git("fast-import", "--quiet", "--force", stdin="".join(stream).encode())
    found = await scene.ask()
    assert (found.cut, found.unsigned) == (True, ())


@pytest.mark.real
async def test_keys_of_both_kinds_count_side_by_side(scene: Scene) -> None:
    with keyring() as ring:
        ring.create("bea")
        keys = scene.folder / "keys.asc"
        keys.write_text(ring.exported("bea"))
        tip = ring.commit(scene.bare, "bea", "Second")
        now, both = time.time() + 60, replace(scene.rules, keys_file=str(keys))
        found = await scene.ask(both, now)
        assert (found.tip, found.unsigned) == (tip, ())
        assert found.by == f"signed by bea <bea@example.test> ({ring.fingerprint('bea')})"
        found = await scene.ask(SigningRules(True, "", str(keys)), now)
        said = "signed with an SSH key, and --commit-signers names no file"
        assert [each.problem for each in found.unsigned] == [said]
        keys.write_text("")
        with pytest.raises(Misconfigured, match="holds no OpenPGP key"):
            await scene.ask(both, now)


async def test_a_commit_is_verified_once_for_as_long_as_the_keys_are_the_same(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, calls = scene.folder / "programs", scene.folder / "calls"
    programs.mkdir()
    counting = programs / "ssh-keygen"
    counting.write_text(f'#!/bin/sh\necho >> {calls}\nexec {shutil.which("ssh-keygen")} "$@"\n')
    counting.chmod(0o755)
    commit(scene.bare, {"a.yaml": "c"}, "Unsigned")
    commit(scene.bare, {"a.yaml": "d"}, "Signed", scene.anna)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    made = mirror(scene.bare, scene.folder / "cache")

    async def looked_at() -> tuple[int, list[str], str]:
        """How many were, in two calls each, and what came of it."""
        calls.write_text("")
        head = await made.fetch()
        found = await made.verify(Span(head.commit, (scene.base,)), scene.rules, NOW)
        problems = [each.problem for each in found.unsigned]
        return len(calls.read_text()) // 2, problems, found.by.partition(" (")[0]

    by_anna = "signed by anna@example.test"
    try:
        assert await looked_at() == (2, ["not signed"], by_anna)
        assert await looked_at() == (0, ["not signed"], by_anna)
        commit(scene.bare, {"a.yaml": "e"}, "Signed too", scene.anna)
        assert await looked_at() == (1, ["not signed"], by_anna)
        signers_file(scene.folder, Person.create(scene.folder, "bea"))
        nobody = "signed with a key that is not allowed"
        assert (await looked_at())[1:] == ([nobody, nobody, "not signed", nobody], "")
        signers_file(scene.folder, scene.anna)
        assert await looked_at() == (3, ["not signed"], by_anna)
    finally:
        await made.close()
