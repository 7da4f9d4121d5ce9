"""What git and Git hosts say of what strangers pushed: listings, commits, and refusals in words."""

import io
import json
import struct

from reconciler.adapters.git import failures, frames, verdicts
from reconciler.adapters.git.commits import header, split
from reconciler.adapters.git.failures import Damaged
from reconciler.adapters.git.listing import entry_of, line_of, parsed_listing
from reconciler.adapters.git.trailers import approved
from reconciler.model.errors import Misconfigured, PortError
from tests.fuzz.forging import Forge
from tests.fuzz.playing import Target, search

BLOB = b"100644 blob " + b"a" * 40 + b"     120\t"
TREE = b"040000 tree " + b"b" * 40 + b"       -\t"
LISTINGS = Forge(
    [
        BLOB + b"gamekeeper.yaml\0" + TREE + b"schedulers\0" + BLOB + b"schedulers/arena.yaml\0",
        b"120000 blob "
        + b"c" * 40
        + b"       9\tlink\0"
        + b"160000 commit "
        + b"d" * 40
        + b" -\tsub\0",
    ],
    (b"\0", b"\t", BLOB, TREE, b"/", b".git", b"..", b"BAD", b"99999999999", b"\xb2"),
    30_000,
)
SIGNED = b"""\
tree %(a)s
parent %(a)s
author Ada <ada@example.com> 1760000000 +0000
committer Ada <ada@example.com> 1760000000 +0000
gpgsig -----BEGIN SSH SIGNATURE-----
 U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAg
 -----END SSH SIGNATURE-----

Let it through

Gamekeeper-Approve: 0a1b2c3d4e5f
Signed-off-by: Ada
""" % {b"a": b"a" * 40}
OPENPGP = SIGNED.replace(b"SSH", b"PGP").replace(
    b"BEGIN PGP SIGNATURE-----\n", b"BEGIN PGP SIGNATURE-----\n \n"
)
COMMITS = Forge(
    [SIGNED, OPENPGP, SIGNED.replace(b"gpgsig ", b"mergetag object x\n gpgsig ")],
    (b"gpgsig ", b"gpgsig-sha256 ", b"\n\n", b"\n ", b"Gamekeeper-Approve: ", b"-----", b"\r\n"),
    70_000,
)
MAIN = b"refs/heads/main:refs/heads/main"
PUSHES = Forge(
    [
        b"To https://git.example.com/fleet\n!\t%b\t[rejected] (fetch first)\nDone\n" % MAIN,
        b"=\t%b\t[up to date]\n*\trefs/heads/x:refs/heads/main\t[new branch]\n" % MAIN,
        b" \taaaa:refs/heads/main\t1a2b3c4..5d6e7f8\nremote: error: GH006: Protected\x1b[31m\n",
        b"remote: =====\nremote: https://u:p@host/x token=abc\n ! [rejected] (hook declined)\n",
        b"fatal: Authentication failed for 'https://git.example.com/fleet/'\nwarning: redirect\n",
    ],
    (b"refs/heads/main", b"\t", b" (", b"remote:", b"remote: a.a", b"x://", b"token=", b"\x1b]"),
    66_000,
)


def listed(data: bytes) -> None:
    """A listing is read, or refused; its entries go through the pipe as they are."""
    try:
        listing = parsed_listing(data)
    except (Misconfigured, Damaged) as error:
        str(error).encode()
        return
    for entry in listing.entries:
        assert entry_of(line_of(entry)) == entry
    json.dumps([[line_of(entry) for entry in listing.entries], listing.directories])


def framed(data: bytes) -> None:
    """A frame that is cut off is none, and a whole one is what was sent."""
    text = data.decode("utf-8", "replace")
    whole = frames.packed({"path": text}, data)
    assert frames.receive(io.BytesIO(whole)) == ({"path": text}, data)
    assert frames.receive(io.BytesIO(whole[: struct.calcsize(">II") + len(data) // 2])) is None


def signed(data: bytes) -> None:
    """A commit is taken apart, and only what stands in its last paragraph approves."""
    found = split(data)
    assert bool(found.kind) is not bool(found.problem)
    if found.kind:
        assert found.signature in data.replace(b"\n ", b"\n") + b"\n"
        assert b"\ngpgsig " not in b"\n" + found.payload.partition(b"\n\n")[0]
    assert len(header(data, b"parent")) <= data.count(b"parent")
    for change_hash in approved(data.partition(b"\n\n")[2]):
        last = data.strip().replace(b"\r\n", b"\n").rpartition(b"\n\n")[2].lower()
        assert change_hash.encode() in last


def pushed(data: bytes) -> None:
    """Whatever a host says to a push or a fetch, it is an error of ports in printable words."""
    words = data.decode("utf-8", "replace")
    answer = verdicts.parsed(words, "refs/heads/main")
    told = [verdicts.sentence(answer, words), failures.last_words(words)]
    try:
        verdicts.check("https://git.example.com", "main", answer, words)
    except PortError as error:
        told.append(str(error))
    told.append(str(verdicts.unmoved("https://git.example.com", "main", answer, words)))
    told.append(str(failures.transport_failure("https://git.example.com", "main", words)))
    told.append(str(failures.local_failure(1, words)))
    assert all(each.isprintable() for each in told)


def test_no_listing_of_a_tree_is_too_much() -> None:
    search(Target("listing", 840_000, LISTINGS, listed))


def test_no_frame_is_taken_for_another() -> None:
    search(Target("frame", 126_000, LISTINGS, framed))


def test_no_commit_is_too_much() -> None:
    search(Target("commit", 630_000, COMMITS, signed))


def test_no_words_of_a_host_are_too_much() -> None:
    search(Target("push", 10_500, PUSHES, pushed))
