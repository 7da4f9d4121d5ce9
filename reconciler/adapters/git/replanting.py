"""Change files of a tree, folder by folder: what stands beside them is named to nobody.

No index: git takes none of a tree that holds a name such as `.git` or `git~1` anywhere, and every
other count of that repository would stay out of Git. Child process only.

    trees, from the top down -> the entries that change -> trees, from the bottom up
"""

import stat
from collections.abc import Collection, Iterable, Mapping, Sequence

from reconciler.adapters.git.commands import Commands, failed
from reconciler.adapters.git.failures import Damaged, last_words, one_line
from reconciler.model.errors import Misconfigured

_REGULAR, _FOLDER, _SUBMODULE = b"100644", b"40000", b"160000"
_KINDS = {_FOLDER: b"tree", _SUBMODULE: b"commit"}
"""What an entry of a mode is, where it is no blob."""
_ID_BYTES = 20
_ODD = ("contains slash", "specified type was")
"""What git says of a tree that no git would make, and makes of its entries no other one."""

_Entries = dict[bytes, tuple[bytes, str]]
"""What a folder holds: mode and object of each name."""


def replanted(commands: Commands, base: str, blobs: Mapping[str, str | None]) -> str | None:
    """Return the tree of commit `base` with these files, None where nothing would change.

    A file whose blob is None is taken away. Raises Misconfigured for a path that is none,
    Unavailable, Damaged.
    """
    wanted = {folder for path in blobs for folder in _folders(path)}
    known = _read_down(commands, base, wanted)
    changed = [path for path, blob in blobs.items() if _put(known, wanted, path, blob)]
    if not changed:
        return None
    touched = {folder for path in changed for folder in _folders(path)}
    return _made_up(commands, known, touched)


def _folders(path: str) -> Sequence[str]:
    """Return the folders in which a file stands, the top first, which is ""."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(len(parts) + 1)]


def _split(path: str) -> tuple[str, bytes]:
    folder, _, name = path.rpartition("/")
    return folder, name.encode()


def _by_depth(folders: Iterable[str]) -> Sequence[Sequence[str]]:
    """Return folders with those of one depth together, the top first."""
    depths: dict[int, list[str]] = {}
    for folder in sorted(folders):
        depths.setdefault(folder.count("/") + 1 if folder else 0, []).append(folder)
    return [depths[depth] for depth in sorted(depths)]


def _read_down(commands: Commands, base: str, wanted: Collection[str]) -> dict[str, _Entries]:
    """Return what stands in each folder; one that is not there yet is empty."""
    known: dict[str, _Entries] = {}
    for folders in _by_depth(wanted):
        names = {folder: _tree_of(known, folder) if folder else f"{base}^{{tree}}"
                 for folder in folders}  # fmt: skip
        there = [folder for folder in folders if names[folder]]
        known |= {folder: {} for folder in folders}
        known |= zip(there, _trees(commands, [names[folder] for folder in there]), strict=True)
    return known


def _tree_of(known: Mapping[str, _Entries], folder: str) -> str:
    """Return the tree of a folder, "" where there is none. Raises Misconfigured."""
    parent, name = _split(folder)
    mode, tree = known[parent].get(name, (_FOLDER, ""))
    if mode != _FOLDER:
        raise _refused(folder, "a file stands where a directory would be")
    return tree


def _trees(commands: Commands, names: Sequence[str]) -> list[_Entries]:
    if not names:
        return []
    asked = "".join(f"{name}\n" for name in names).encode()
    output, at, found = commands.read("cat-file", "--batch", stdin=asked), 0, list[_Entries]()
    for name in names:
        head, _, _ = output[at : at + 200].partition(b"\n")
        words = head.split()
        if len(words) != 3 or words[1] != b"tree":
            raise Damaged(f"{name} is no tree: {one_line(head.decode('utf-8', 'replace'))}")
        start, size = at + len(head) + 1, int(words[2])
        found.append(_entries(output[start : start + size]))
        at = start + size + 1
    return found


def _entries(tree: bytes) -> _Entries:
    found: _Entries = {}
    at = 0
    try:
        while at < len(tree):
            end = tree.index(b"\0", at)
            mode, _, name = tree[at:end].partition(b" ")
            if name in found:
                raise ValueError  # of two, one would be gone without a word
            found[name] = _canonical(mode), tree[end + 1 : end + 1 + _ID_BYTES].hex()
            at = end + 1 + _ID_BYTES
    except ValueError as error:
        raise Misconfigured(
            "git makes no such tree: an entry cannot be read, or is there twice"
        ) from error
    return found


def _canonical(mode: bytes) -> bytes:
    """Return a mode as git writes it; it reads those of old tools, padded or with odd bits, too.

    Raises ValueError for what is none.
    """
    bits = int(mode, 8)
    kind = stat.S_IFMT(bits)
    if kind == stat.S_IFREG:
        return b"100755" if bits & stat.S_IXUSR else _REGULAR
    return b"%o" % kind


def _put(
    known: Mapping[str, _Entries], folders: Collection[str], path: str, blob: str | None
) -> bool:
    """Change one file; whether that is a change. Raises Misconfigured for a path that is none."""
    parent, name = _split(path)
    entries = known[parent]
    mode, before = entries.get(name, (_REGULAR, None))
    if mode == _FOLDER or path in folders:
        raise _refused(path, "it is a directory")
    if not mode.startswith(b"100"):
        raise _refused(path, "it is a link or a submodule")
    if blob == before:
        return False
    if blob is None:
        del entries[name]
    else:
        entries[name] = mode, blob
    return True


def _made_up(commands: Commands, known: Mapping[str, _Entries], touched: set[str]) -> str:
    """Make the trees of folders anew, and return that of the top. An empty folder is none."""
    for folders in reversed(_by_depth(touched - {""})):
        full = [folder for folder in folders if known[folder]]
        made = dict(zip(full, _made(commands, [known[folder] for folder in full]), strict=True))
        for folder in folders:
            parent, name = _split(folder)
            known[parent].pop(name, None)
            if folder in made:
                known[parent][name] = _FOLDER, made[folder]
    [top] = _made(commands, [known[""]])
    return top


def _made(commands: Commands, several: Sequence[_Entries]) -> Sequence[str]:
    """Make trees. Raises Misconfigured for one with an entry that git would not make."""
    if not several:
        return []
    told = b"\0".join(b"".join(_line(*entry) for entry in each.items()) for each in several)
    # One alone may be empty; of several none is.
    batch = ("--batch",) if len(several) > 1 else ()
    output = commands.run("mktree", "-z", *batch, stdin=told)
    if any(odd in output.stderr for odd in _ODD):
        # No damage: it was pushed so, and would be fetched so again.
        raise Misconfigured(f"git makes no such tree: {last_words(output.stderr)}")
    # Where the disk is full it says so, and ends with 0 all the same.
    if output.status or "error:" in output.stderr:
        raise failed(output)
    return output.stdout.decode().split()


def _line(name: bytes, entry: tuple[bytes, str]) -> bytes:
    mode, known = entry
    return b"%s %s %s\t%s\0" % (mode, _KINDS.get(mode, b"blob"), known.encode(), name)


def _refused(path: str, problem: str) -> Misconfigured:
    return Misconfigured(f"{one_line(path, 100)!r} cannot be written: {problem}")
