"""What signs the commits of a person: what git signs them with where they stand."""

import subprocess
from pathlib import Path

import pytest

from reconciler.cli.failures import Failure
from reconciler.cli.identity import signing_of
from reconciler.model.pushes import Person, SigningKey

ADA = Person("Ada", "ada@studio.example")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with no configuration but its own, which is also where one stands."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(**settings: str) -> None:
    for name, value in settings.items():
        words = ["git", "config", "--global", name.replace("__", "."), value]
        subprocess.run(words, check=True)


def test_nothing_unless_git_is_told_to() -> None:
    assert signing_of(ADA) is None
    told(user__signingKey="0A1B2C3D4E5F6071", commit__gpgSign="no")
    assert signing_of(ADA) is None


def test_a_gpg_key_is_the_named_one_or_that_of_the_address() -> None:
    told(commit__gpgSign="yes")
    assert signing_of(ADA) == SigningKey("gpg", "ada@studio.example")
    told(user__signingKey="0A1B2C3D4E5F6071")
    assert signing_of(ADA) == SigningKey("gpg", "0A1B2C3D4E5F6071")


def test_an_ssh_key_is_a_file_below_home_too(home: Path) -> None:
    told(commit__gpgSign="true", gpg__format="ssh", user__signingKey="~/key.pub")
    (home / "key.pub").write_text("ssh-ed25519 AAAA ada\n")
    assert signing_of(ADA) == SigningKey("ssh", str(home / "key.pub"))


@pytest.mark.parametrize(
    ("form", "key", "said"),
    [
        pytest.param("ssh", "key::ssh-ed25519 AAAA", "user.signingKey is", id="no file"),
        pytest.param("ssh", "~/missing", "user.signingKey is", id="a file that is not there"),
        pytest.param("ssh", "", "gpg.format is ssh", id="no key at all"),
        pytest.param("x509", "cert", "gpg.format is x509", id="a format that is not known here"),
    ],
)
def test_what_cannot_sign_is_a_failure_and_never_a_commit_without(
    form: str, key: str, said: str
) -> None:
    told(commit__gpgSign="true", gpg__format=form)
    if key:
        told(user__signingKey=key)
    with pytest.raises(Failure, match=said):
        signing_of(ADA)


def test_what_git_cannot_read_is_told() -> None:
    told(commit__gpgSign="perhaps")
    with pytest.raises(Failure, match=r"cannot read commit\.gpgSign"):
        signing_of(ADA)
