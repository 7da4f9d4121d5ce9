"""Logs, ids of commits between two, and single files. Child process only."""

import secrets
from collections.abc import Sequence
from dataclasses import replace

from reconciler.adapters.git.failures import Damaged, one_line
from reconciler.adapters.git.folders import from_folder, from_top
from reconciler.adapters.git.listing import SIZE_LIMIT_BYTES
from reconciler.adapters.git.objects import Objects, seconds_of
from reconciler.model.errors import Misconfigured
from reconciler.model.pushes import MESSAGE_LIMIT_BYTES, Lineage, Logged, Person

_FIELDS = ("%H", "%P", "%an", "%ae", "%cn", "%ce", "%ct", "%s", "%b")
_LONG = ("%an", "%ae", "%cn", "%ce", "%s")
_SHORT = (*(f"%<(1000,trunc){each}" if each in _LONG else each for each in _FIELDS[:-1]), "")
"""Of a commit that is larger than any of ours, or too much for its page: it tells nothing below its
first line."""
_COMMIT_LIMIT = MESSAGE_LIMIT_BYTES + 256 * 1024
"""A message of ours, and what stands above it: a signature, names."""
_PAGE_LIMIT = 24 * 1024 * 1024
_PATHS_SHOWN = 1000


def log(
    objects: Objects, revision: str, folder: str, paths: Sequence[str], limit: int, before: str
) -> list[Logged]:
    """Read the newest commits of a revision. Raises Misconfigured, Damaged.

    All paths are from `folder`; those that are not in it have a slash in front.
    """
    every = [from_top(folder, path) for path in paths]
    commits = _touching(objects, revision, every, 0 if before else limit)
    if before:
        if before not in commits:
            raise Misconfigured(f"commit {before[:12]} is not in this log: begin at its head")
        commits = commits[commits.index(before) + 1 :]
    return _read(objects, commits[:limit], folder)


def _read(objects: Objects, commits: Sequence[str], folder: str) -> list[Logged]:
    """Read commits. One with a message of megabytes is shortened by git: a page must fit."""
    if not commits:
        return []
    asked = "".join(f"{commit}\n" for commit in commits).encode()
    sized = objects.commands.read(
        "cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=asked
    )
    sizes = dict(line.split() for line in sized.decode().splitlines())
    if not all(size.isdigit() for size in sizes.values()):
        raise Damaged("a commit cannot be read")
    plain, left = list[str](), _PAGE_LIMIT
    for commit in commits:
        if (size := int(sizes[commit])) <= min(left, _COMMIT_LIMIT):
            plain.append(commit)
            left -= size
    huge = [commit for commit in commits if commit not in plain]
    found = _shown(objects, plain, _FIELDS, folder) + _shown(objects, huge, _SHORT, folder)
    if any(not logged.parents for logged in found) and objects.shallow():
        found = [replace(logged, cut=_is_cut(objects, logged)) for logged in found]
    by_commit = {logged.commit: logged for logged in found}
    return [by_commit[commit] for commit in commits]


def _is_cut(objects: Objects, logged: Logged) -> bool:
    """Whether a shallow clone ends with a commit, which has parents in truth."""
    if logged.parents:
        return False
    head = objects.commands.read("cat-file", "commit", logged.commit).partition(b"\n\n")[0]
    return b"\nparent " in head


def _shown(
    objects: Objects, commits: Sequence[str], fields: Sequence[str], folder: str
) -> list[Logged]:
    if not commits:
        return []
    # A tree that git did not write holds paths of any letters: none can begin as commits do here.
    mark = f"/{secrets.token_hex(16)}/"
    words = mark + "%x00".join(fields) + "%x00"
    output = objects.commands.read(
        "log", "-z", "--no-color", "--no-show-signature", "--no-mailmap", "--no-renames",
        "--no-ext-diff", "--no-textconv", "--encoding=UTF-8", "--diff-merges=first-parent",
        "--name-only", "--no-walk=unsorted", f"--format={words}", "--stdin",
        stdin="".join(f"{commit}\n" for commit in commits).encode(),
    )  # fmt: skip
    return _parsed(output, mark, folder)


def _touching(objects: Objects, revision: str, paths: Sequence[str], limit: int) -> Sequence[str]:
    """Return the ids of commits that touch the paths, newest first; all without a limit."""
    bound = (f"--max-count={limit}",) if limit else ()
    start = objects.resolve(revision)
    # A checkout may be a folder of its repository; paths are from the top all the same.
    literal = [f":(top,literal){path}" for path in paths]
    words = ("rev-list", "--topo-order", "--full-history", *bound, start, "--", *literal)
    return objects.commands.read(*words).decode().split()


def lineage(objects: Objects, base: str, head: str, limit: int) -> Lineage:
    """Name the commits between two. Raises Misconfigured, Damaged."""
    span = f"{objects.resolve(base)}..{objects.resolve(head)}"
    bound = ("rev-list", "--topo-order", f"--max-count={limit + 1}")
    every = objects.commands.read(*bound, span).decode().split()
    straight = objects.commands.read(*bound, "--first-parent", span).decode().split()
    return Lineage(tuple(every[:limit]), tuple(straight[:limit]), len(every) > limit)


def blob(objects: Objects, revision: str, path: str) -> bytes | None:
    """Read a file, None where there is none. Raises Misconfigured, Damaged."""
    commit = objects.resolve(revision)
    literal = f":(literal){path}"
    listed = objects.commands.read("ls-tree", "-z", "--full-tree", commit, "--", literal)
    for line in listed.split(b"\0")[:-1]:
        attributes, _, name = line.partition(b"\t")
        mode, what, identity = attributes.decode().split()
        if name == path.encode() and what == "blob" and mode != "120000":
            return _content(objects, identity, path)
    return None


def _content(objects: Objects, identity: str, path: str) -> bytes:
    size = int(objects.commands.read("cat-file", "-s", identity))
    if size > SIZE_LIMIT_BYTES:
        raise Misconfigured(f"{one_line(path, 100)!r} is larger than 1 MiB")
    return objects.blobs([identity])[0]


def _parsed(output: bytes, mark: str, folder: str) -> list[Logged]:
    found: list[Logged] = []
    tokens = output.decode("utf-8", "replace").split("\0")
    at = 0
    while at < len(tokens) and tokens[at].startswith(mark):
        fields = [tokens[at].removeprefix(mark), *tokens[at + 1 : at + len(_FIELDS)]]
        if len(fields) != len(_FIELDS):
            raise Damaged("a commit cannot be read")
        # After the fields one empty token, then the paths, the first after a line break.
        first = last = at + len(_FIELDS) + 1
        while last < len(tokens) and not tokens[last].startswith(mark):
            last += 1
        names = "\0".join(tokens[first:last]).removeprefix("\n").split("\0")
        found.append(_logged(fields, [from_folder(folder, name) for name in names if name]))
        at = last
    return found


def _logged(fields: Sequence[str], paths: Sequence[str]) -> Logged:
    commit, parents, author, email, committer, address, at, subject, body = fields
    return Logged(
        commit,
        tuple(parents.split()),
        Person(one_line(author.rstrip()), one_line(email.rstrip())),
        Person(one_line(committer.rstrip()), one_line(address.rstrip())),
        seconds_of(at),
        one_line(subject.rstrip()),
        "\n".join(one_line(line, MESSAGE_LIMIT_BYTES) for line in body.splitlines()),
        tuple(one_line(path, 1000) for path in paths[:_PATHS_SHOWN]),
    )
