"""People with real OpenPGP keys, in a folder of their own that leaves no agent behind."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.gitservers.repositories import BareRepository


@dataclass(frozen=True, slots=True)
class Keyring:
    """A GNUPGHOME with the secret keys of several people."""

    home: Path

    def create(self, name: str, *, expires: str = "0") -> None:
        """Make a key that signs; `expires` as gpg takes it."""
        words = ("--passphrase", "", "--quick-gen-key", f"{name} <{name}@example.test>")
        self.run(*words, "ed25519", "sign", expires)

    def exported(self, *names: str) -> str:
        """The public keys of people, armored."""
        return self.run("--armor", "--export", *(f"{name}@example.test" for name in names))

    def revocation(self, name: str) -> str:
        """What revokes a key: gpg wrote it when it made the key."""
        key = self.fingerprint(name)
        text = (self.home / "openpgp-revocs.d" / f"{key}.rev").read_text()
        return text[text.index(":-----BEGIN") + 1 :]

    def fingerprint(self, name: str) -> str:
        """The whole fingerprint of a key."""
        listed = self.run("--with-colons", "--list-keys", f"{name}@example.test")
        return next(line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr"))

    def signature(self, name: str, payload: bytes, *words: str) -> str:
        """Sign bytes as git does; with `words` otherwise."""
        user = f"{name}@example.test"
        return self.run(
            "--local-user", user, "--armor", *(words or ("--detach-sign",)), given=payload
        )

    def commit(self, bare: BareRepository, name: str, message: str) -> str:
        """Commit on top of main, signed, and move main there."""
        plain = bare.commit({f"{message}.txt": message}, message)
        raw = bare.git("cat-file", "commit", plain).encode() + b"\n"
        return land(bare, signed(raw, self.signature(name, raw)))

    def run(self, *words: str, given: bytes = b"") -> str:
        """Run gpg with this keyring."""
        argv = ("gpg", "--homedir", str(self.home), "--batch", "--quiet", "--no-tty", *words)
        done = subprocess.run(argv, input=given, capture_output=True, check=True)
        return done.stdout.decode()


def signed(raw: bytes, signature: str) -> bytes:
    """Put a signature into a commit, as git stores it."""
    lines = signature.rstrip("\n").split("\n")
    head, _, message = raw.partition(b"\n\n")
    return head + b"\ngpgsig " + "\n ".join(lines).encode() + b"\n\n" + message


def land(bare: BareRepository, raw: bytes) -> str:
    """Make a commit object of these bytes the head of main."""
    made = bare.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=raw)
    bare.reset(made)
    return made


@contextmanager
def keyring() -> Iterator[Keyring]:
    """Make a keyring; its agent ends with the block."""
    # Sockets of the agent take short paths only.
    folder = Path(tempfile.mkdtemp(prefix="gk-pgp-"))
    folder.chmod(0o700)
    try:
        yield Keyring(folder)
    finally:
        environment = {**os.environ, "GNUPGHOME": str(folder)}
        subprocess.run(["gpgconf", "--kill", "all"], env=environment, check=True)
        shutil.rmtree(folder, ignore_errors=True)
