"""Commits as they are stored: their bytes, their headers, and the signature in them. Child only."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reconciler.adapters.git.failures import Damaged
from reconciler.adapters.git.objects import Objects, object_id

_SSH = re.compile(
    rb"-----BEGIN SSH SIGNATURE-----\n[A-Za-z0-9+/=\n]+\n-----END SSH SIGNATURE-----\n*"
)
_OPENPGP = re.compile(
    rb"-----BEGIN PGP SIGNATURE-----\n(?:(?!-----)[ -~]*\n)+-----END PGP SIGNATURE-----\n*"
)
SIGNATURE_LIMIT_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Signed:
    """A commit taken apart: what was signed, and the armored signature of one `kind`.

    `kind` is "ssh" or "openpgp". Where there is not exactly one signature that may be checked it
    is "", and `problem` completes the sentence "the commit is".
    """

    payload: bytes = b""
    signature: bytes = b""
    kind: str = ""
    problem: str = ""


def texts(objects: Objects, identities: Sequence[str], limit_bytes: int) -> dict[str, bytes]:
    """Read commits as they are stored, each checked against its id; too large ones are empty.

    Raises Damaged.
    """
    if not identities:
        return {}
    asked = "".join(f"{identity}\n" for identity in identities).encode()
    sizes = objects.commands.read("cat-file", "--batch-check", stdin=asked).splitlines()
    found: dict[str, bytes] = {}
    small: list[str] = []
    for identity, line in zip(identities, sizes, strict=True):
        words = line.split()
        if len(words) != 3 or words[1] != b"commit":
            raise Damaged(f"commit {identity} cannot be read")
        if int(words[2]) > limit_bytes:
            found[identity] = b""
        else:
            small.append(identity)
    asked = "".join(f"{identity}\n" for identity in small).encode()
    output, at = objects.commands.read("cat-file", "--batch", stdin=asked), 0
    for identity in small:
        end = output.find(b"\n", at)
        size = int(output[at:end].split()[2])
        found[identity] = output[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
        if object_id("commit", found[identity], len(identity)) != identity:
            raise Damaged(f"commit {identity} has other content")
    return found


def trees(objects: Objects, identities: Sequence[str]) -> dict[str, str]:
    """Return the id of each commit's tree, however large the commit is. Raises Damaged.

    Git checks a commit against its id before it follows it to its tree; that a name is an id, and
    not a branch that a header names, is checked here.
    """
    if not identities:
        return {}
    asked = "".join(f"{identity}\n{identity}^{{tree}}\n" for identity in identities).encode()
    told = objects.commands.read("cat-file", "--batch-check", stdin=asked).decode().splitlines()
    found: dict[str, str] = {}
    for identity, itself, tree in zip(identities, told[::2], told[1::2], strict=True):
        if itself.split()[:2] != [identity, "commit"] or tree.split()[1:2] != ["tree"]:
            raise Damaged(f"commit {identity} cannot be read")
        found[identity] = tree.split()[0]
    return found


def header(text: bytes, name: bytes) -> list[str]:
    """Return every value of a header of a commit."""
    lines = text.partition(b"\n\n")[0].split(b"\n")
    return [
        line[len(name) + 1 :].decode("ascii", "replace")
        for line in lines
        if line.startswith(name + b" ")
    ]


def split(commit: bytes) -> Signed:
    """Take a commit apart as git does where it signs one: the signature out, all else as it is.

    What a header of another name holds (a merged tag and its signature) is what was signed.
    """
    if b"\0" in commit:
        return Signed(problem="not readable: it holds a NUL byte, behind which git shows nothing")
    headers, blank, message = commit.partition(b"\n\n")
    if b"\ngpgsig-" in headers:
        return Signed(problem="signed for another object format")
    kept: list[bytes] = []
    signature: list[bytes] = []
    inside = False
    for line in headers.split(b"\n"):
        if line.startswith(b"gpgsig "):
            if signature:
                return Signed(problem="signed twice")
            signature, inside = [line.removeprefix(b"gpgsig ")], True
        elif inside and line.startswith(b" "):
            signature.append(line[1:])
        else:
            inside = False
            kept.append(line)
    if not signature:
        return Signed(problem="not signed")
    payload, text = b"\n".join(kept) + blank + message, b"\n".join(signature) + b"\n"
    return _armored(payload, text)


def _armored(payload: bytes, text: bytes) -> Signed:
    if len(text) > SIGNATURE_LIMIT_BYTES:
        return Signed(problem="signed with a signature that is larger than 64 KiB")
    if _SSH.fullmatch(text):
        return Signed(payload, text, "ssh")
    if _OPENPGP.fullmatch(text):
        return Signed(payload, text, "openpgp")
    return Signed(problem="signed with what is no signature of SSH or OpenPGP")
