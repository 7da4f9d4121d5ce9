"""Make a commit in the mirror with plumbing alone: no work tree, no hook. Child process only.

    contents -> blobs -> the trees of their folders -> commit

Nothing here moves a reference: a kill at any point leaves objects that nobody names.
"""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from reconciler.adapters.git.commands import Commands, failed
from reconciler.adapters.git.failures import last_words, means_shortage
from reconciler.adapters.git.objects import Objects
from reconciler.adapters.git.replanting import replanted
from reconciler.model.errors import Conflict, Misconfigured, PortError, Unavailable

_UNSYNCED = {"core.fsync": "none"}
"""What a power cut spoils is found damaged and made anew; a sync would cost 4 ms a file."""
_GPG_ID = re.compile(r"(?:0x)?[0-9A-Fa-f]{8,64}!?|[\w.+-]+@[\w.-]+", re.ASCII)
"""With `!` that very subkey signs."""


def write(objects: Objects, folder: str, change: Mapping[str, Any], body: bytes) -> str:
    """Commit on top of `base` and return the id; `base` itself where nothing would change.

    `change` is as `wire.told` makes it; `folder` is ours alone and is wiped. Raises
    Misconfigured, Conflict, Unavailable, Damaged.
    """
    base = objects.find(change["base"])
    if base is None:
        raise Conflict(f"commit {change['base'][:12]} is not in the mirror: fetch, decide again")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        os.makedirs(folder, mode=0o700)
        commands = objects.commands.within({}, _UNSYNCED)
        stored = iter(_blobs(commands, folder, change, body))
        blobs = {path: None if size is None else next(stored) for path, size in change["files"]}
        tree = replanted(commands, base, blobs)
        return base if tree is None else _commit(commands, change, base, tree)
    except OSError as error:
        raise Unavailable(
            f"the commit cannot be written into the mirror: {error.strerror}. "
            "Make room on the disk of the cache directory"
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _blobs(
    commands: Commands, folder: str, change: Mapping[str, Any], body: bytes
) -> Sequence[str]:
    """Store the contents that stand one after the other in `body`; return their ids in order."""
    names, at = [], 0
    for number, size in enumerate(size for _, size in change["files"] if size is not None):
        names.append(os.path.join(folder, str(number)))
        with open(names[-1], "wb") as stream:
            stream.write(body[at : at + size])
        at += size
    listed = "".join(f"{name}\n" for name in names).encode()
    stored = commands.read("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=listed)
    return stored.decode().split()


def try_key(commands: Commands, key: Mapping[str, str]) -> None:
    """Sign a commit that nobody names. Raises Misconfigured, Unavailable."""
    tree = commands.read("hash-object", "-w", "-t", "tree", "--stdin", stdin=b"").decode().strip()
    author = {"name": "Gamekeeper", "email": "gamekeeper@localhost"}
    trial = {"author": author, "at": 0, "signing": key, "message": "Try the key"}
    _commit(commands, trial, "", tree)


def _commit(commands: Commands, change: Mapping[str, Any], base: str, tree: str) -> str:
    moment = f"@{change['at']} +0000"
    who = {}
    for role in ("AUTHOR", "COMMITTER"):
        who[f"GIT_{role}_NAME"] = change["author"]["name"]
        who[f"GIT_{role}_EMAIL"] = change["author"]["email"]
        who[f"GIT_{role}_DATE"] = moment
    settings, option = _signing(change["signing"])
    parents = ("-p", base) if base else ()
    message = change["message"].encode("utf-8", "replace")
    made = commands.within(who, settings).run("commit-tree", *option, *parents, tree, stdin=message)
    if made.status == 0:
        return made.stdout.decode().strip()
    raise _unsigned(change["signing"], made.stderr) if option else failed(made)


def _signing(key: Mapping[str, str] | None) -> tuple[Mapping[str, str], tuple[str, ...]]:
    if key is None:
        return {}, ()
    if key["kind"] == "ssh":
        if not os.path.isabs(key["key"]) or not os.path.isfile(key["key"]):
            raise Misconfigured(f"there is no signing key {key['key']}: give its absolute path")
        return {"gpg.format": "ssh", "user.signingKey": key["key"]}, ("-S",)
    if not _GPG_ID.fullmatch(key["key"]):
        raise Misconfigured(f"{key['key']!r} is no GPG key id: give its fingerprint")
    return {"gpg.format": "openpgp"}, (f"-S{key['key']}",)


def _unsigned(key: Mapping[str, str], stderr: str) -> PortError:
    what = f"the commit cannot be signed with {key['kind'].upper()} key {key['key']}"
    if means_shortage(stderr):
        return Unavailable(f"{what}: {last_words(stderr)}")
    where = (
        "the key must be readable by this process"
        if key["kind"] == "ssh"
        else "`gpg --list-secret-keys` must show the key to this process (GNUPGHOME says where)"
    )
    return Misconfigured(
        f"{what}: {last_words(stderr)}. To do: {where}, and the key must need no passphrase"
    )
