"""A bare mirror on disk with one owner: made, locked, swept, fetched into. Child only."""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from reconciler.adapters.git import access
from reconciler.adapters.git.commands import Commands, Output, failed
from reconciler.adapters.git.failures import (
    EMPTY_OR_NO_HOST,
    Damaged,
    has_no_branch,
    means_damage,
    means_shallow,
    one_line,
    transport_failure,
    without_branch,
)
from reconciler.adapters.git.objects import Objects
from reconciler.adapters.git.source import Source
from reconciler.adapters.git.urls import check_branch, checked, redacted
from reconciler.model.errors import Misconfigured, PortError, Unavailable

_SLOTS = 8
_ORPHANS_SECONDS = 3.0
"""How long gits of a killed child may still hold its lock."""
_SEEN_LIMIT = 500
_LOOSE_LIMIT = 6000
"""Loose objects at which the mirror is packed; git's own limit is 6,700."""
_BRANCHES_SHOWN = 8
_INCOMING = "refs/gamekeeper/incoming"
_SEEN = "refs/gamekeeper/seen/"


class Store:
    """The mirror of one source below `cache_directory`; this process is its only writer.

    `directory` is where it is, `shown` its address for people.
    """

    def __init__(self, source: Source, cache_directory: str) -> None:
        self._source = source
        self._address = checked(source.url, plain_http=source.plain_http)
        self._tip = f"refs/heads/{check_branch(source.branch)}"
        self.shown = redacted(self._address.url)
        try:
            self.directory, self._lock_fd = _locked_directory(cache_directory, self._address.url)
            _sweep(self.directory)
            self._lay_out()
        except OSError as error:
            raise Unavailable(
                f"the cache directory {cache_directory} cannot be used: {error.strerror}. "
                "Make it writable, or make room on its disk"
            ) from error

    def objects(self) -> Objects:
        """Return a reader of what was fetched."""
        return Objects(self._commands({}), self.shown)

    @property
    def url(self) -> str:
        """The address without credentials, as git takes it."""
        return self._address.url

    def network(self) -> Commands:
        """Return git as it may speak to the host. Raises Denied for an unreadable secret."""
        return self._commands(access.environment(self._source, self._address))

    def without_secrets(self, text: str) -> str:
        """Return what git said without what it authenticated by."""
        return access.without_secrets(text, self._source, self._address)

    def fetch_into(self, branch: str, ref: str) -> Output:
        """Fetch one branch to where it is now, under a name of ours.

        Raises Denied, Unavailable, and Misconfigured for a repository whose history is cut off.
        """
        output = self.network().run(
            "fetch", "--quiet", "--no-tags", "--no-auto-gc", "--no-write-fetch-head",
            "--no-recurse-submodules", "--", self._address.url, f"+refs/heads/{branch}:{ref}",
        )  # fmt: skip
        if means_shallow(output.stderr):
            raise Misconfigured(
                f"cannot fetch branch {branch!r} of {self.shown}: that is a shallow clone, its "
                "history is cut off. To do: run `git fetch --unshallow` there, or name the "
                "repository that it was cloned from"
            )
        return output

    def fetch(self) -> Mapping[str, Any]:
        """Follow the tracked branch to where it is now, and describe its head.

        Old heads stay reachable when the branch was rewritten. Raises Damaged, PortError.
        """
        output = self.fetch_into(self._source.branch, _INCOMING)
        if output.status:
            raise self._failure(output.stderr)
        objects = self.objects()
        incoming = objects.find(_INCOMING)
        if incoming is None:
            raise Damaged("the commit that was fetched cannot be read")
        head = objects.describe(incoming)
        self._advance(objects, incoming)
        return head

    def renew(self) -> None:
        """Throw the mirror away and begin an empty one."""
        graveyard = f"{self.directory}.broken"
        shutil.rmtree(graveyard, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            os.rename(self.directory, graveyard)
        shutil.rmtree(graveyard, ignore_errors=True)
        self._lay_out()

    def read_beside(self, directory: str) -> bool:
        """Read the objects of another mirror of the same source with ours; False where that is so.

        They cost no fetch. Should they go away, ours is found damaged and made anew without them.
        """
        folder = os.path.join(directory, "objects")
        told = f"{json.dumps(folder, ensure_ascii=False)}\n"
        return _write(os.path.join(self.directory, "objects", "info", "alternates"), told)

    def tidy(self) -> None:
        """Pack when many small fetches left many files, and forget the oldest rewritten heads."""
        commands = self._commands({})
        listed = commands.run("for-each-ref", "--sort=-creatordate", "--format=%(refname)", _SEEN)
        old = listed.stdout.decode().split()[_SEEN_LIMIT:]
        if old:
            lines = "".join(f"delete {ref}\n" for ref in old).encode()
            commands.run("update-ref", "--stdin", stdin=lines)
        if _loose_objects(os.path.join(self.directory, "objects")) > _LOOSE_LIMIT:
            commands.read("gc", "--quiet", "--prune=1.day.ago")

    def _commands(self, environment: Mapping[str, str]) -> Commands:
        closed = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
        where, tidied = (f"--git-dir={self.directory}",), partial(_tidied, self.directory)
        return Commands(where, {**closed, **environment}, self._lock_fd, tidied)

    def _advance(self, objects: Objects, incoming: str) -> None:
        before = objects.find(self._tip)
        if before == incoming:
            return
        commands = objects.commands
        steps = [f"update {self._tip} {incoming}"]
        if before is not None:
            ancestry = commands.run("merge-base", "--is-ancestor", before, incoming)
            if ancestry.status > 1:
                raise failed(ancestry)
            if ancestry.status == 1:
                steps.append(f"update {_SEEN}{before} {before}")
        commands.read("update-ref", "--stdin", stdin="".join(f"{s}\n" for s in steps).encode())

    def _failure(self, stderr: str) -> Exception:
        there = self._branches() if has_no_branch(stderr) else ""
        error: PortError = transport_failure(
            self.shown, self._source.branch, stderr, there, hide=self.without_secrets
        )
        if not isinstance(error, Unavailable) or not means_damage(stderr):
            return error
        # The words may be the host's, about its own files: ours are judged by themselves.
        check = self._commands({}).run("fsck", "--connectivity-only", "--no-dangling")
        return Damaged(str(error)) if check.status else error

    def without(self, branch: str) -> str:
        """Say that a branch is not there, and what is."""
        there = self._branches()
        told = f"; {there}" if there else ""
        return f"{self.shown} has no branch {branch!r}{told}. To do: {without_branch(there)}"

    def _branches(self) -> str:
        """Say which branches the repository has, "" where it does not tell."""
        asked = self.network().run("ls-remote", "--heads", "--", self._address.url)
        if asked.status:
            return ""
        lines = asked.stdout.decode("utf-8", "replace").splitlines()
        names = [line.partition("refs/heads/")[2] for line in lines]
        hidden = map(self.without_secrets, names[:_BRANCHES_SHOWN])
        shown = ", ".join(one_line(name, 60) for name in hidden)
        more = len(names) - _BRANCHES_SHOWN
        if not names and self._address.scheme in ("http", "https"):
            return EMPTY_OR_NO_HOST
        return f"it has {shown or 'no branch yet'}" + (f" and {more} more" if more > 0 else "")

    def _lay_out(self) -> None:
        for part in ("objects/info", "objects/pack", "refs/heads"):
            os.makedirs(os.path.join(self.directory, part), mode=0o700, exist_ok=True)
        _write(os.path.join(self.directory, "HEAD"), f"ref: {self._tip}\n")
        credentials = bool(self._source.token_file or self._address.password)
        _write(
            os.path.join(self.directory, "config"),
            access.configuration(self._address, credentials=credentials),
        )


def _locked_directory(cache_directory: str, url: str) -> tuple[str, int]:
    """Take the first directory that nobody else owns: processes may share a cache."""
    os.makedirs(cache_directory, mode=0o700, exist_ok=True)
    label = re.sub(r"[^A-Za-z0-9]+", "-", urlsplit(url).path.rpartition("/")[2])[:30].strip("-")
    digest = hashlib.sha256(url.encode()).hexdigest()[:16]
    for slot in range(_SLOTS):
        directory = os.path.join(cache_directory, f"{label}-{digest}-{slot}.git")
        lock_fd = os.open(f"{directory}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        if _locked(lock_fd):
            _sign(lock_fd)
            return directory, lock_fd
        os.close(lock_fd)
    raise Unavailable(
        f"{_SLOTS} processes mirror {redacted(url)} in {cache_directory}: end some, or set another "
        "cache directory"
    )


def _locked(lock_fd: int) -> bool:
    until = time.monotonic() + _ORPHANS_SECONDS
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if _owner_lives(lock_fd) or time.monotonic() >= until:
            return False
        time.sleep(0.02)


def _sign(lock_fd: int) -> None:
    """Write who owns the lock; on a full disk the old name stays, and costs others a wait."""
    with contextlib.suppress(OSError):
        os.pwrite(lock_fd, f"{os.getpid():<19}\n".encode(), 0)


def _owner_lives(lock_fd: int) -> bool:
    try:
        os.kill(int(os.pread(lock_fd, 20, 0)), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def _loose_objects(folder: str) -> int:
    fans = [name for name in os.listdir(folder) if len(name) == 2]
    return sum(len(os.listdir(os.path.join(folder, name))) for name in fans)


def _sweep(directory: str) -> None:
    """Remove what killed git processes left: locks and half-written packs and objects."""
    for folder, _, names in os.walk(directory):
        for name in names:
            if name.endswith(".lock") or name.startswith(("tmp_", ".tmp-")):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(folder, name))
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(os.path.join(directory, "objects")):
            if name.startswith(("tmp_objdir", "incoming")):
                shutil.rmtree(os.path.join(directory, "objects", name), ignore_errors=True)


def _tidied(directory: str, stderr: str) -> bool:
    """Take away the locks of a git that was killed alone, as by a machine short of memory.

    We are the only writer of this mirror and run one git at a time, so whose lock stands in the
    way is no more. What a host says of its own locks names another place.
    """
    name = re.escape(os.path.basename(directory))
    if not re.search(rf"Unable to create '[^']*/{name}/[^']+\.lock': File exists", stderr):
        return False
    _sweep(directory)
    return True


def _write(path: str, text: str) -> bool:
    """Write a file whole; False where it says that already: a full disk must not stop readers."""
    with contextlib.suppress(OSError, UnicodeDecodeError), open(path, encoding="utf-8") as stream:
        if stream.read() == text:
            return False
    with open(f"{path}.new", "w", encoding="utf-8") as stream:
        stream.write(text)
    os.replace(f"{path}.new", path)
    return True
