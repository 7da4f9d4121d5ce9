"""SSH signatures of commits, checked against the operator's file. Child process only."""

import os
import re
import tempfile
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from git.cmd import Git
from git.exc import GitCommandNotFound

from reconciler.adapters.git.commands import Output
from reconciler.adapters.git.failures import one_line
from reconciler.model.trailers import Signer

NOT_SIGNED = "not signed with an SSH key"
_NAMESPACE = "git"
_LONGEST_SECONDS = 10.0
_FILE_LIMIT_BYTES = 1024 * 1024
_SIGNATURE = re.compile(
    rb"-----BEGIN SSH SIGNATURE-----\n[A-Za-z0-9+/=\n]+\n-----END SSH SIGNATURE-----\n?"
)
_GOOD = re.compile(
    r'^Good "git" signature for .* with .* key (SHA256:[A-Za-z0-9+/=]+)$', re.MULTILINE
)


class Unverifiable(Exception):
    """No signature at all can be checked; the message says why and what to do."""


class Signatures:
    """Checks signatures at one moment, against one state of the allowed_signers file.

    The file is copied first: whoever replaces it halfway changes the next check, not this one.
    """

    def __init__(self, signers_file: str, now: float) -> None:
        self._source = signers_file
        self._moment = datetime.fromtimestamp(now, UTC).strftime("%Y%m%d%H%M%S")
        self._folder = tempfile.TemporaryDirectory(prefix="gamekeeper-signers-")
        self._signers = os.path.join(self._folder.name, "allowed_signers")
        self._signature = os.path.join(self._folder.name, "signature")

    def __enter__(self) -> Self:
        """Copy the file. Raises Unverifiable."""
        try:
            with open(self._source, "rb") as stream:
                content = stream.read(_FILE_LIMIT_BYTES + 1)
            with open(self._signers, "wb") as stream:
                stream.write(content)
        except OSError as error:
            self._folder.cleanup()
            raise Unverifiable(
                f"the file of approval signers {self._source} cannot be read "
                f"({error.strerror}): mount it, or correct its owner and mode"
            ) from error
        if len(content) > _FILE_LIMIT_BYTES:
            self._folder.cleanup()
            raise Unverifiable(f"the file of approval signers {self._source} is larger than 1 MiB")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def signer(self, commit: bytes) -> tuple[Signer | None, str]:
        """Return who signed a commit as it is stored, or None and why that is not known.

        Raises Unverifiable.
        """
        payload, signature = _split(commit)
        if not signature:
            return None, NOT_SIGNED
        with open(self._signature, "wb") as stream:
            stream.write(signature)
        found = self._run("find-principals", (), b"")
        principals = tuple(
            dict.fromkeys(
                line for line in found.stdout.decode("utf-8", "replace").splitlines() if line
            )
        )
        if found.status or not principals:
            return None, _why(found.stderr, "signed with a key that is not allowed")
        checked = self._run("verify", ("-n", _NAMESPACE, "-I", principals[0]), payload)
        good = _GOOD.search(checked.stdout.decode("utf-8", "replace"))
        if checked.status or good is None:
            return None, _why(checked.stderr, "signed with a signature that is not good")
        shown = tuple(one_line(principal, 100) for principal in principals)
        return Signer(shown, good[1]), ""

    def _run(self, operation: str, more: tuple[str, ...], payload: bytes) -> Output:
        """Run `ssh-keygen -Y OPERATION`: a fixed program, and no word of argv is a stranger's."""
        argv = ["ssh-keygen", "-Y", operation, "-f", self._signers, "-s", self._signature]
        with tempfile.TemporaryFile() as source:
            source.write(payload)
            source.seek(0)
            try:
                status, stdout, stderr = Git("/").execute(
                    [*argv, "-O", f"verify-time={self._moment}", *more],
                    istream=source,
                    with_extended_output=True,
                    with_exceptions=False,
                    stdout_as_string=False,
                    kill_after_timeout=_LONGEST_SECONDS,
                    env={"LC_ALL": "C", "TZ": "UTC"},
                )
            except (OSError, GitCommandNotFound) as error:
                raise Unverifiable(
                    "ssh-keygen cannot be run, so no signature can be checked: install OpenSSH "
                    "8.9 or newer"
                ) from error
        return Output(status, bytes(stdout), str(stderr))


def _split(commit: bytes) -> tuple[bytes, bytes]:
    """Return what was signed and the signature; none where there is not exactly one."""
    headers, blank, message = commit.partition(b"\n\n")
    kept: list[bytes] = []
    signature: list[bytes] = []
    inside = False
    for line in headers.split(b"\n"):
        if line.startswith(b"gpgsig"):
            if signature or not line.startswith(b"gpgsig "):
                return b"", b""
            signature, inside = [line.removeprefix(b"gpgsig ")], True
        elif inside and line.startswith(b" "):
            signature.append(line[1:])
        else:
            inside = False
            kept.append(line)
    text = b"\n".join(signature) + b"\n"
    if not _SIGNATURE.fullmatch(text):
        return b"", b""
    return b"\n".join(kept) + blank + message, text


def _why(stderr: str, otherwise: str) -> str:
    if "expired" in stderr:
        return "signed with a key that has expired"
    return "signed with a key that is not valid yet" if "not yet valid" in stderr else otherwise
