"""Read a working tree or plain directory as if it were a commit; links are never followed."""

import hashlib
import os
import stat
from collections.abc import Iterator

from reconciler.adapters.git.commands import Commands, failed
from reconciler.adapters.git.listing import SIZE_LIMIT_BYTES, Listing, check_count
from reconciler.adapters.git.local import Checkout
from reconciler.adapters.git.objects import blob_id
from reconciler.model.errors import Misconfigured
from reconciler.model.trees import EntryKind, Folder, is_read


def of_checkout(checkout: Checkout) -> tuple[Listing, list[bytes]]:
    """Read what lies in the folder of a checkout. Raises Misconfigured, Denied."""
    if checkout.bare:
        raise Misconfigured("a bare repository has no working tree: name a revision")
    folder = _folder(checkout)
    if folder is not Folder.THERE:
        return Listing(folder=folder), []
    if checkout.commands is None:
        return read(checkout.root, everything(checkout.root))
    return read(checkout.root, tracked_and_new(Commands(("-C", checkout.root))))


def _folder(checkout: Checkout) -> Folder:
    """Say what lies where the folder should be; no part of it may be a link."""
    place = os.fsencode(checkout.top)
    for name in filter(None, checkout.prefix.split("/")):
        place = os.path.join(place, os.fsencode(name))
        if os.path.islink(place):
            return Folder.SYMLINK
        if not os.path.isdir(place):
            return Folder.FILE if os.path.lexists(place) else Folder.ABSENT
    return Folder.THERE


def tracked_and_new(commands: Commands) -> list[bytes]:
    """List what `git status` would know: tracked and untracked files, without ignored ones."""
    output = commands.run("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if output.status:
        raise failed(output)
    return sorted({name.rstrip(b"/") for name in output.stdout.split(b"\0") if name})


def everything(root: str) -> list[bytes]:
    """List all files of a directory that is no repository."""
    found: list[bytes] = []
    for name in _walked(os.fsencode(root)):
        found.append(name)
        check_count(len(found))
    return sorted(found)


def read(root: str, names: list[bytes]) -> tuple[Listing, list[bytes]]:
    """Read specs below `root`: their listing, and the content of each readable one in order."""
    check_count(len(names))
    listing = Listing()
    contents: list[bytes] = []
    top = os.fsencode(root)
    directories: dict[bytes, bool] = {b"": True}
    for name in names:
        if _is_real_directory(top, os.path.dirname(name), directories):
            content = _take(listing, top, name)
            if content is not None:
                contents.append(content)
    listing.directories = [
        name.decode("utf-8", "replace") for name, real in directories.items() if name and real
    ]
    return listing, contents


def _take(listing: Listing, top: bytes, name: bytes) -> bytes | None:
    """Add one path; return its content when it is a spec that may be read."""
    path = os.path.join(top, name)
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found.st_mode):
        target = os.fsencode(os.readlink(path))
        listing.add(name, EntryKind.SYMLINK, blob_id(target), len(target))
        return None
    if stat.S_ISDIR(found.st_mode):
        listing.add(name, EntryKind.SUBMODULE, "", 0)
        return None
    if not stat.S_ISREG(found.st_mode) or not is_read(os.fsdecode(name)):
        return None
    if found.st_size > SIZE_LIMIT_BYTES:
        listing.add(name, EntryKind.FILE, _streamed_id(path, found.st_size), found.st_size)
        return None
    content = _content(path)
    listing.add(name, EntryKind.FILE, blob_id(content), len(content))
    return content if listing.entries[-1][-1] else None


def _content(path: bytes) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        shown = path.decode("utf-8", "replace")
        raise Misconfigured(
            f"{shown} cannot be read: {error.strerror}. Correct its mode"
        ) from error
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read(SIZE_LIMIT_BYTES + 1)


def _streamed_id(path: bytes, size: int) -> str:
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with open(path, "rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _is_real_directory(top: bytes, name: bytes, known: dict[bytes, bool]) -> bool:
    """Tell whether no part of `name` is a link; git, too, sees nothing behind one."""
    if name not in known:
        parent = os.path.dirname(name)
        real = _is_real_directory(top, parent, known)
        known[name] = real and not os.path.islink(os.path.join(top, name))
    return known[name]


def _walked(top: bytes) -> Iterator[bytes]:
    for folder, folders, names in os.walk(top):
        prefix = os.path.relpath(folder, top)
        inner = b"" if prefix == b"." else prefix + b"/"
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = sorted(name for name in folders if name != b".git")
        for name in (*names, *links):
            if name != b".git":
                yield inner + name
