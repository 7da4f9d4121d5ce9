"""What happens to a repository, step by step, as `story.yaml` of a case tells it.

A story is a list of steps; the loop looks after each. A step is a map with one key:

    commit: {path: content}     # on top of the branch; `null` removes a file or a folder
    rewrite: {path: content}    # force-pushed: a root commit with these files and no others
    merge: {path: content}      # a merge of a root commit with these files into the branch
    move: {from: to}            # a file or a folder, with its content
    tree: {name: content}       # on top, a tree with just these names, which Git itself refuses
    reset: 1                    # force-pushed back to where the branch was after step 1 (0: before)
    branch: {name: content}     # a commit on the branch `other`
    run: [git words]            # anything else, by git in the bare repository

`<host>` in it is a directory of the case: a `<host>/owned` in the end was made by what came in.

A path is percent-decoded, so that it may be of any bytes. Content is text, or a map of one key:

    symlink: target             submodule: commit id        bytes: "percent-decoded"
    repeat: [text, times]       executable: text            lfs: size in bytes
    join: [content, content]    each: [content, times]      base64: text

`each` makes `times` files with one content: `{n}` in the path is their number, a thousand to a
directory (git's fast-import takes quadratic time for those of one).
"""

import base64
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from tests.gitservers.repositories import BareRepository

BASE_TIME_SECONDS = 1_700_000_000
FILE, EXECUTABLE, LINK, COMMIT = b"100644", b"100755", b"120000", b"160000"
Entries = Iterator[tuple[bytes, bytes, bytes | None]]
"""Path, mode, bytes (None: removed)."""


class Host:
    """The far side of a story: a bare repository that real git serves."""

    def __init__(self, root: Path, base: Mapping[str, Any]) -> None:
        self.bare = BareRepository.create(root, "team/fleet.git")
        self._steps = 0
        self._tips: list[str] = []
        self._commit(base)
        self.remember()

    def play(self, what: str, about: Any) -> None:
        """Let one step of a story happen."""
        self._steps += 1
        getattr(self, f"_{what}")(about)
        self.remember()

    def remember(self) -> None:
        """Keep where the branch stands, for `reset`."""
        self._tips.append(self.bare.head() or (self._tips[-1] if self._tips else ""))

    def _commit(self, files: Mapping[str, Any]) -> None:
        parent = self.bare.head()
        self._import(files, "refs/heads/main", [parent] if parent else [])

    def _rewrite(self, files: Mapping[str, Any]) -> None:
        self.bare.git("update-ref", "-d", "refs/heads/main")
        self._import(files, "refs/heads/main", [])

    def _merge(self, files: Mapping[str, Any]) -> None:
        self._import(files, "refs/heads/side", [])
        heads = [self.bare.head(), self.bare.head("side")]
        self._import({}, "refs/heads/main", [head for head in heads if head])

    def _move(self, moves: Mapping[str, str]) -> None:
        parent = self.bare.head()
        lines = [b"R %s %s\n" % (_quoted(_path(a)), _quoted(_path(b))) for a, b in moves.items()]
        self._send(b"".join(lines), "refs/heads/main", [parent] if parent else [])

    def _branch(self, files: Mapping[str, Any]) -> None:
        self._import(files, "refs/heads/other", [self._tips[-1]])

    def _reset(self, step: int) -> None:
        self.bare.reset(self._tips[step])

    def _run(self, words: list[str]) -> None:
        self.bare.git(*words)

    def _tree(self, files: Mapping[str, Any]) -> None:
        """Write a tree as bytes: fast-import and mktree refuse what a hostile host may send."""
        rows = b""
        for path, mode, data in sorted(_entries(files)):
            made = self.bare.git("hash-object", "-w", "--stdin", stdin=data or b"")
            rows += mode + b" " + path + b"\0" + bytes.fromhex(made)
        words = ("hash-object", "-t", "tree", "-w", "--literally", "--stdin")
        tree = self.bare.git(*words, stdin=rows)
        text = (
            f"tree {tree}\nparent {self.bare.head()}\n"
            f"author {self._author}\ncommitter {self._author}\n\nA tree by hand\n"
        )
        words = ("hash-object", "-t", "commit", "-w", "--literally", "--stdin")
        self.bare.reset(self.bare.git(*words, stdin=text.encode()))

    @property
    def _author(self) -> str:
        return f"A Player <player@example.test> {BASE_TIME_SECONDS + self._steps} +0000"

    def _import(self, files: Mapping[str, Any], ref: str, parents: list[str]) -> None:
        lines = []
        for path, mode, data in _entries(files):
            if data is None:
                lines.append(b"D %s\n" % _quoted(path))
            elif mode == COMMIT:
                lines.append(b"M 160000 %s %s\n" % (data, _quoted(path)))
            else:
                head = b"M %s inline %s\n" % (mode, _quoted(path))
                lines.append(head + b"data %d\n%s\n" % (len(data), data))
        self._send(b"".join(lines), ref, parents)

    def _send(self, lines: bytes, ref: str, parents: list[str]) -> None:
        head = f"commit {ref}\nauthor {self._author}\ncommitter {self._author}\n".encode()
        head += b"data 6\nchange\n"
        for word, parent in zip(("from", "merge"), parents, strict=False):
            head += f"{word} {parent}\n".encode()
        self.bare.git("fast-import", "--quiet", "--force", stdin=head + lines)


def content_of(content: Any) -> bytes:
    """Return the bytes of a content that is a regular file."""
    if isinstance(content, str):
        return content.encode()
    ((kind, about),) = content.items()
    return _MADE[kind](about)


def _entries(files: Mapping[str, Any]) -> Entries:
    for path, content in files.items():
        if content is None:
            yield _path(path), FILE, None
        elif isinstance(content, str):
            yield _path(path), FILE, content.encode()
        else:
            yield from _special(path, content)


def _special(path: str, content: Mapping[str, Any]) -> Entries:
    ((kind, about),) = content.items()
    if kind == "each":
        each, times = about
        data = content_of(each)
        for number in range(times):
            place = f"{number // 1000}/{number % 1000}"
            yield _path(path.replace("{n}", place)), FILE, data
    else:
        modes = {"symlink": LINK, "submodule": COMMIT, "executable": EXECUTABLE}
        data = about.encode() if kind in modes else content_of(content)
        yield _path(path), modes.get(kind, FILE), data


_MADE: Mapping[str, Callable[[Any], bytes]] = {
    "bytes": unquote_to_bytes,
    "base64": base64.b64decode,
    "repeat": lambda about: about[0].encode() * about[1],
    "join": lambda about: b"".join(content_of(part) for part in about),
    "lfs": lambda size: (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n"
        % (b"4d7a2146" * 8, size)
    ),
}


def _path(path: str) -> bytes:
    return unquote_to_bytes(path)


def _quoted(path: bytes) -> bytes:
    return b'"' + b"".join(b"\\%03o" % byte for byte in path) + b'"'
