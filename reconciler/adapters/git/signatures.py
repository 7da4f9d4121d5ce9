"""SSH signatures of commits, checked against the operator's file. Child process only."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Self

from git.cmd import Git
from git.exc import GitCommandNotFound

from reconciler.adapters.git.commands import Output
from reconciler.adapters.git.commits import Signed
from reconciler.adapters.git.failures import one_line
from reconciler.model.trailers import Signer

NOT_SIGNED = "not signed with an SSH key"
NOT_ALLOWED = "signed with a key that is not allowed"
NOT_GOOD = "signed with a signature that is not good"
EXPIRED = "signed with a key that has expired"
_NAMESPACE = "git"
_LONGEST_SECONDS = 10.0
_FILE_LIMIT_BYTES = 1024 * 1024
_EMPTY_LINE = re.compile(rb"^[ \t\r]*$", re.MULTILINE)
_UNREAD = re.compile(r"allowed_signers:(\d+): (.+)")
_GOOD = re.compile(
    r'^Good "git" signature for .* with .* key (SHA256:[A-Za-z0-9+/=]+)$', re.MULTILINE
)


class Unverifiable(Exception):
    """No signature at all can be checked; the message says why and what to do."""


class Signatures:
    """Checks signatures at one moment, against one state of the allowed_signers file.

    The file is copied first: whoever replaces it halfway changes the next check, not this one.
    """

    def __init__(self, folder: str, now: float, what: str) -> None:
        self._what = what
        self._moment = datetime.fromtimestamp(now, UTC).strftime("%Y%m%d%H%M%S")
        self._signers = os.path.join(folder, "allowed_signers")
        self._signature = os.path.join(folder, "signature")

    @classmethod
    @contextmanager
    def with_signers(
        cls, signers_file: str, now: float, what: str = "approval signers"
    ) -> Iterator[Self]:
        """Copy the file, known to people as `what`; `now` is Unix seconds. Raises Unverifiable."""
        content = file_of_keys(signers_file, what)
        with tempfile.TemporaryDirectory(prefix="gamekeeper-signers-") as folder:
            signatures = cls(folder, now, what)
            with open(signatures._signers, "wb") as stream:
                # An empty line is none that OpenSSH could not read; the others keep their numbers.
                stream.write(_EMPTY_LINE.sub(b"#", content))
            yield signatures

    def signer(self, commit: Signed) -> tuple[Signer | None, str]:
        """Return who signed a commit, or None and why that is not known. Raises Unverifiable."""
        if commit.kind != "ssh":
            return None, NOT_SIGNED
        with open(self._signature, "wb") as stream:
            stream.write(commit.signature)
        found = self._run("find-principals", (), b"")
        principals = tuple(
            dict.fromkeys(
                line for line in found.stdout.decode("utf-8", "replace").splitlines() if line
            )
        )
        if found.status or not principals:
            return None, _why(found.stderr, NOT_ALLOWED + self._unread(found.stderr))
        checked = self._run("verify", ("-n", _NAMESPACE, "-I", principals[0]), commit.payload)
        good = _GOOD.search(checked.stdout.decode("utf-8", "replace"))
        if checked.status or good is None:
            return None, _why(checked.stderr, NOT_GOOD)
        shown = tuple(one_line(principal, 100) for principal in principals)
        return Signer(shown, good[1]), ""

    def _unread(self, stderr: str) -> str:
        """Return which line of the file OpenSSH could not read, "" for none: a key may stand there.

        It goes on with the next line, so one that is mistyped keeps no other signer out.
        """
        unread = _UNREAD.search(stderr)
        if unread is None:
            return ""
        return f" (OpenSSH cannot read line {unread[1]} of the {self._what}: {unread[2].strip()})"

    def _run(self, operation: str, more: tuple[str, ...], payload: bytes) -> Output:
        """Run `ssh-keygen -Y OPERATION`: no word of argv is a stranger's."""
        argv = ["ssh-keygen", "-Y", operation, "-f", self._signers, "-s", self._signature]
        argv += ["-O", f"verify-time={self._moment}", *more]
        return checked_by(argv, payload, {}, "install OpenSSH 8.9 or newer")


def file_of_keys(path: str, what: str) -> bytes:
    """Read a file of the operator's. Raises Unverifiable."""
    try:
        with open(path, "rb") as stream:
            content = stream.read(_FILE_LIMIT_BYTES + 1)
    except OSError as error:
        raise Unverifiable(
            f"the file of {what} {path} cannot be read ({error.strerror}): mount it, or correct "
            "its owner and mode"
        ) from error
    if len(content) > _FILE_LIMIT_BYTES:
        raise Unverifiable(f"the file of {what} {path} is larger than 1 MiB")
    return content


def checked_by(argv: list[str], payload: bytes, environment: dict[str, str], remedy: str) -> Output:
    """Run a program that checks signatures, for at most 10 s. Raises Unverifiable without it."""
    with tempfile.TemporaryFile() as source:
        source.write(payload)
        source.seek(0)
        try:
            status, stdout, stderr = Git("/").execute(
                argv,
                istream=source,
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                kill_after_timeout=_LONGEST_SECONDS,
                env={"LC_ALL": "C", "TZ": "UTC", **environment},
            )
        except (OSError, GitCommandNotFound) as error:
            raise Unverifiable(
                f"{argv[0]} cannot be run, so no signature can be checked: {remedy}"
            ) from error
    return Output(status, bytes(stdout), str(stderr))


def _why(stderr: str, otherwise: str) -> str:
    if "expired" in stderr:
        return EXPIRED
    return "signed with a key that is not valid yet" if "not yet valid" in stderr else otherwise
