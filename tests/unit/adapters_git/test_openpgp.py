"""OpenPGP signatures of commits: real gpg, real keys, and signatures that lie."""

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reconciler.adapters.git.commits import Signed, split
from reconciler.adapters.git.openpgp import OpenPgp
from reconciler.adapters.git.signatures import Unverifiable
from tests.gitservers.openpgp import Keyring, keyring, signed

RAW = (
    b"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
    b"author Anna <anna@example.test> 1700000000 +0000\n"
    b"committer Anna <anna@example.test> 1700000000 +0000\n\nChange\n"
)
SHORT = ("--default-sig-expire", "seconds=5")
NOT_GOOD = "signed with a signature that is not good"
NOT_ALLOWED = "signed with a key that is not allowed"
EXPIRED = "signed with a key that has expired"


@dataclass(frozen=True, slots=True)
class Scene:
    ring: Keyring
    keys: Path

    def verdict(self, commit: Signed, allowed: str, now: float | None = None) -> str:
        self.keys.write_text(allowed)
        with OpenPgp.with_keys(str(self.keys), now or time.time()) as openpgp:
            signer, problem = openpgp.signer(commit)
        return signer.name if signer else problem

    def made(self, name: str, *words: str) -> Signed:
        return split(signed(RAW, self.ring.signature(name, RAW, *words)))


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with keyring() as ring:
        ring.create("anna")
        yield Scene(ring, tmp_path / "keys.asc")


@pytest.mark.real
def test_an_allowed_key_is_told_by_its_name_and_its_whole_fingerprint(scene: Scene) -> None:
    scene.keys.write_text(scene.ring.exported("anna"))
    with OpenPgp.with_keys(str(scene.keys), time.time()) as openpgp:
        signer, problem = openpgp.signer(scene.made("anna"))
    assert signer is not None
    assert (signer.name, problem) == ("anna <anna@example.test>", "")
    assert signer.key == scene.ring.fingerprint("anna")


@pytest.mark.real
def test_who_is_not_among_the_keys_or_was_revoked_or_has_expired_signs_nothing(
    scene: Scene,
) -> None:
    scene.ring.create("bea")
    scene.ring.create("carl", expires="1d")
    commit, short = scene.made("anna"), scene.made("carl")
    allowed = scene.ring.exported("anna")
    assert scene.verdict(commit, scene.ring.exported("bea")) == NOT_ALLOWED
    assert scene.verdict(commit, allowed).startswith("anna")
    revoked = allowed + scene.ring.revocation("anna")
    assert scene.verdict(commit, revoked) == "signed with a key that was revoked"
    both = allowed + scene.ring.exported("carl")
    assert scene.verdict(short, both).startswith("carl")
    assert scene.verdict(short, both, time.time() + 3 * 86400) == EXPIRED
    assert scene.verdict(commit, both, time.time() + 3 * 86400).startswith("anna")


@pytest.mark.real
@pytest.mark.parametrize(
    ("lie", "said"),
    [
        pytest.param(
            lambda raw, sign: signed(raw.replace(b"Change", b"Charge"), sign(raw)), NOT_GOOD,
            id="other words under the signature",
        ),
        pytest.param(
            lambda raw, sign: signed(raw, sign(raw, "--detach-sign", "--textmode")), NOT_GOOD,
            id="a signature over text",
        ),
        pytest.param(
            lambda raw, sign: signed(raw, sign(raw, "--sign").replace("MESSAGE", "SIGNATURE")),
            NOT_GOOD,
            id="a whole signed message in its place",
        ),
        pytest.param(
            lambda raw, sign: signed(raw, sign(raw, *SHORT, "--detach-sign")),
            "signed with a signature that has expired",
            id="a signature that expired",
        ),
    ],
)  # fmt: skip
def test_a_signature_that_lies_names_nobody(
    scene: Scene, lie: Callable[[bytes, Callable[..., str]], bytes], said: str
) -> None:
    made = split(lie(RAW, lambda raw, *words: scene.ring.signature("anna", raw, *words)))
    assert made.kind == "openpgp"
    assert scene.verdict(made, scene.ring.exported("anna"), time.time() + 10) == said


@pytest.mark.real
def test_two_signatures_in_one_are_none(scene: Scene) -> None:
    scene.ring.create("bea")
    people = ("--local-user", "bea@example.test", "--detach-sign")
    made = scene.made("anna", *people)
    assert scene.verdict(made, scene.ring.exported("anna", "bea")) == NOT_GOOD
    assert scene.verdict(made, scene.ring.exported("anna")) == NOT_ALLOWED


@pytest.mark.real
def test_keys_that_cannot_be_used_are_told_and_no_file_or_agent_is_left(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    secret = scene.ring.run("--armor", "--export-secret-keys", "anna@example.test")
    for text, said in ((secret, "holds a private key"), ("", "no OpenPGP key"), ("x", "no Open")):
        with pytest.raises(Unverifiable, match=said):
            scene.verdict(Signed(), text)
    with (
        pytest.raises(Unverifiable, match="cannot be read"),
        OpenPgp.with_keys(str(tmp_path / "no"), 0.0),
    ):
        pass
    assert scene.verdict(scene.made("anna"), scene.ring.exported("anna")).startswith("anna")
    assert list(folder.iterdir()) == []
    told = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if _is_there(path)]
    assert not [line for line in told if str(folder).encode() in line]


def _is_there(path: Path) -> bool:
    try:
        return bool(path.read_bytes())
    except OSError:
        return False


def test_without_gpg_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    found = shutil.which("git")
    assert found
    (programs / "git").symlink_to(found)
    monkeypatch.setenv("PATH", str(programs))
    (tmp_path / "keys").write_text("-----BEGIN PGP PUBLIC KEY BLOCK-----\n")
    with (
        pytest.raises(Unverifiable, match="install GnuPG"),
        OpenPgp.with_keys(str(tmp_path / "keys"), 0.0),
    ):
        pass
