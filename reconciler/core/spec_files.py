"""Which files of a tree hold specs, and what of them cannot be read as text at all."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from reconciler.core.documents import ParsedFile
from reconciler.core.pod_parts import child
from reconciler.core.yaml_strict import MOST_BYTES, parse_file
from reconciler.model.findings import Finding
from reconciler.model.printable import escaped
from reconciler.model.refs import Json
from reconciler.model.specs import Config
from reconciler.model.trees import CONFIG_FILE, Entry, EntryKind, Folder, Tree, is_template

REPLICAS_FILE = "replicas.yaml"
"""The file of counts that Gamekeeper writes, at the root."""
MOST_SPEC_BYTES = 128 * 1024
"""The accepted spec is kept in a record of 256 KiB beside much else."""
_OF_THE_ROOT = (CONFIG_FILE, REPLICAS_FILE)
_EVERYTHING = "."
_NO_UTF8 = "\ufffd"
"""What a reader of Git puts for bytes of a name that are no UTF-8."""
_LFS = b"version https://git-lfs.github.com/spec/"


def paths_of(config: Json) -> tuple[str, ...]:
    """Return the spec paths of a Config document that may have mistakes elsewhere."""
    paths = child(config, "spec").get("paths")
    if isinstance(paths, list) and paths and all(isinstance(path, str) for path in paths):
        return tuple(paths)
    return Config().paths


def spec_files(tree: Tree, paths: Iterable[str], values: Collection[str] = ()) -> list[str]:
    """Return every entry under `paths`, sorted, without the two files of the root, and `values`.

    A template is never one of them, wherever it stands: no spec can be hidden among templates.
    """
    prefixes = tuple(paths)
    return sorted(
        file
        for file in tree.entries
        if file not in (*_OF_THE_ROOT, tree.counts_file, *values)
        and not (is_template(file) and tree.entries[file].kind is EntryKind.FILE)
        and any(_under(file, prefix) for prefix in prefixes)
    )


_SOUND = (Folder.THERE, Folder.ABSENT)
"""A branch of counts without the folder has no counts for it, as one without the file."""


def lay_over(tree: Tree, branch: str, counts: Tree) -> Tree:
    """Return a tree with the `replicas.yaml` of a branch of counts over its own (ADR 17)."""
    entry, file = counts.entries.get(REPLICAS_FILE), f"/{branch}:{REPLICAS_FILE}"
    if REPLICAS_FILE in counts.directories or counts.folder not in _SOUND:
        return replace(tree, directories=tree.directories | {file}, counts_file=file)
    if entry is None:
        return tree
    return replace(tree, entries={**tree.entries, file: entry}, counts_file=file)


def missing_paths(tree: Tree, paths: Iterable[str]) -> tuple[str, ...]:
    """Return those of `paths` that the tree does not have."""
    return tuple(
        path
        for path in paths
        if path != _EVERYTHING
        and path not in tree.directories
        and not any(_under(file, path) for file in tree.entries)
    )


def read_entry(file: str, entry: Entry) -> ParsedFile:
    """Return the documents of one entry, or the Finding that says why it cannot be read."""
    text = text_of(file, entry)
    return ParsedFile([], text) if isinstance(text, Finding) else parse_file(file, text)


def text_of(file: str, entry: Entry) -> bytes | Finding:
    """Return the bytes of one entry, or the Finding that says why they cannot be read."""
    if not file.isprintable() or _NO_UTF8 in file:
        message = "the path has characters that cannot be printed, or is not UTF-8"
        return _unreadable(escaped(file), message, "rename the file", "file-name")
    if entry.kind is EntryKind.SYMLINK:
        return _unreadable(file, "a symbolic link is not followed", "put the file here", "symlink")
    if entry.kind is EntryKind.SUBMODULE:
        message = "a submodule is not read"
        return _unreadable(file, message, "put its files into this repository", "submodule")
    if entry.text is None or entry.size > MOST_BYTES:
        message = f"the file has {entry.size} bytes; at most {MOST_BYTES} are read"
        return _unreadable(file, message, "split it", "size")
    if entry.text.startswith(_LFS):
        message = "this is a pointer of Git LFS, not the file"
        return _unreadable(file, message, "keep specs out of Git LFS (.gitattributes)", "lfs")
    return entry.text


def _under(file: str, path: str) -> bool:
    return path == _EVERYTHING or file == path or file.startswith(f"{path}/")


def _unreadable(file: str, message: str, fix: str, rule: str) -> Finding:
    return Finding(file, 0, 0, "", message, fix, rule)
