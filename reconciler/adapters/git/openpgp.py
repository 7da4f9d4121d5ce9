"""OpenPGP signatures of commits, checked with the operator's keys alone. Child process only.

`gpg` and not `gpgv`: that one takes expired and revoked keys. It works in a folder of its own that
is thrown away, asks no network and no user's configuration, and leaves no agent behind.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self
from urllib.parse import unquote

from reconciler.adapters.git.commands import Output
from reconciler.adapters.git.commits import Signed
from reconciler.adapters.git.failures import one_line
from reconciler.adapters.git.signatures import (
    EXPIRED,
    NOT_ALLOWED,
    NOT_GOOD,
    Unverifiable,
    checked_by,
    file_of_keys,
)
from reconciler.adapters.git.verified import KEYS
from reconciler.model.trailers import Signer

_DETACHED = "00"
"""The class of a signature over bytes as they are, which is how git signs."""
_REMEDY = "install GnuPG 2.2 or newer, or leave --commit-keys out"
_WRONG = (
    ("REVKEYSIG", "signed with a key that was revoked"),
    ("EXPKEYSIG", EXPIRED),
    ("EXPSIG", "signed with a signature that has expired"),
    ("NO_PUBKEY", NOT_ALLOWED),
    ("ERRSIG", NOT_ALLOWED),
    ("BADSIG", NOT_GOOD),
)


class OpenPgp:
    """Checks signatures at one moment, with one state of the file of keys."""

    def __init__(self, folder: str, now: float) -> None:
        self._folder = folder
        self._moment = int(now)

    @classmethod
    @contextmanager
    def with_keys(cls, keys_file: str, now: float) -> Iterator[Self]:
        """Take the keys in; `now` is Unix seconds.

        Raises Unverifiable where there are none, and without gpg.
        """
        keys = file_of_keys(keys_file, KEYS)
        with tempfile.TemporaryDirectory(prefix="gamekeeper-keys-") as folder:
            openpgp = cls(folder, now)
            openpgp._import(keys, keys_file)
            yield openpgp

    def signer(self, commit: Signed) -> tuple[Signer | None, str]:
        """Return who signed a commit, or None and why that is not known. Raises Unverifiable."""
        signature = os.path.join(self._folder, "signature")
        with open(signature, "wb") as stream:
            stream.write(commit.signature)
        output = self._run("--verify", "--", signature, "-", stdin=commit.payload)
        told = _told(output)
        for word, problem in _WRONG:
            if word in told:
                return None, problem
        good, valid = told.get("GOODSIG", []), told.get("VALIDSIG", [])
        once = len(told.get("NEWSIG", [])) == len(good) == len(valid) == 1
        if output.status or not once or len(valid[0]) < 10 or valid[0][8] != _DETACHED:
            return None, NOT_GOOD
        name = one_line(unquote(" ".join(good[0][1:])), 100)
        return Signer((name,), valid[0][9]), ""

    def _import(self, keys: bytes, source: str) -> None:
        if b"PRIVATE KEY" in keys:
            raise Unverifiable(
                f"the file of {KEYS} {source} holds a private key: write it with "
                "gpg --armor --export"
            )
        # With it no gpg looks for a daemon of keys.
        with open(os.path.join(self._folder, "common.conf"), "wb"):
            pass
        output = self._run("--import", stdin=keys)
        if "IMPORT_OK" not in _told(output):
            raise Unverifiable(
                f"the file of {KEYS} {source} holds no OpenPGP key: write it with "
                "gpg --armor --export"
            )

    def _run(self, *words: str, stdin: bytes) -> Output:
        argv = [
            "gpg", "--homedir", self._folder, "--no-options", "--batch", "--no-tty",
            "--no-autostart", "--disable-dirmngr", "--no-auto-key-retrieve", "--lock-never",
            "--no-auto-check-trustdb", "--trust-model", "always", "--display-charset", "utf-8",
            "--faked-system-time", f"{self._moment}!", "--status-fd", "1", *words,
        ]  # fmt: skip
        return checked_by(argv, stdin, {"GNUPGHOME": self._folder}, _REMEDY)


def _told(output: Output) -> dict[str, list[list[str]]]:
    """Return the words of each status line, by its first one."""
    found: dict[str, list[list[str]]] = {}
    for line in output.stdout.decode("utf-8", "replace").splitlines():
        mark, *words = line.split(" ")
        if mark == "[GNUPG:]" and words:
            found.setdefault(words[0], []).append(words[1:])
    return found
