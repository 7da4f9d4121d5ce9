"""A file of allowed signers is refused as a whole only where it names nobody for certain."""

from base64 import b64encode
from pathlib import Path

import pytest

from reconciler.adapters.git.signatures import Unverifiable
from reconciler.adapters.git.verify import check_signers


def blob(kind: str, length: int | None = None) -> str:
    said = len(kind) if length is None else length
    return b64encode(said.to_bytes(4) + kind.encode() + b"\0" * 40).decode()


@pytest.mark.parametrize("kind", ["ssh-rsa", "rsa-sha2-256", "rsa-sha2-512"])
@pytest.mark.parametrize("options", ["", 'namespaces="git, file" '])
def test_a_key_may_stand_under_another_name_of_its_type(
    tmp_path: Path, kind: str, options: str
) -> None:
    """OpenSSH takes RSA keys under the names of their signatures, too."""
    file = tmp_path / "allowed_signers"
    file.write_text(f"# ours\nanna@example.com {options}{kind} {blob('ssh-rsa')} anna\n")
    check_signers(str(file))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"ssh-rsa {blob('ssh-rsa')} anna", "does not begin with a name and a type"),
        (f"anna@example.com {blob('ssh-rsa')}", "does not begin with a name and a type"),
        ("anna@example.com ssh-rsa", "has no public key"),
        ("anna@example.com ssh-rsa AAAA", "has no public key"),
        (f"anna@example.com ssh-rsa {blob('')}", "has no public key"),
        (f"anna@example.com ssh-rsa {blob('ssh-rsa', 2**31)}", "has no public key"),
        ("anna@example.com works/for+anna twice", "has no public key"),
    ],
)
def test_what_names_nobody_is_told_with_its_line(tmp_path: Path, line: str, why: str) -> None:
    file = tmp_path / "allowed_signers"
    file.write_text(f"{line}\n")
    with pytest.raises(Unverifiable, match=f"names nobody: line 1 {why}"):
        check_signers(str(file))
