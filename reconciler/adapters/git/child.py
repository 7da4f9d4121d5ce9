"""The child that runs git: `python -m reconciler.adapters.git.child`, frames on stdin and stdout.

One request at a time. When the parent goes away the whole process group ends with it. Deadlines
are the parent's: it kills the group and starts another child.
"""

import os
import queue
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from reconciler.adapters.core_dumps import refuse_core_dumps
from reconciler.adapters.git import frames, local, logs, trailers, verify, worktree
from reconciler.adapters.git.failures import Damaged, one_line
from reconciler.adapters.git.folders import from_top
from reconciler.adapters.git.listing import Listing, line_of
from reconciler.adapters.git.objects import Objects
from reconciler.adapters.git.pushing import Pushing
from reconciler.adapters.git.source import Source
from reconciler.adapters.git.store import Store
from reconciler.adapters.git.verified import Verified
from reconciler.model.errors import Misconfigured, PortError, Unavailable
from reconciler.model.signatures import SigningRules, Span

Answer = tuple[Mapping[str, Any], bytes]
_FILE_LIMIT_BYTES = 1024 * 1024 * 1024
_MEMORY_LIMIT_BYTES = 1024 * 1024 * 1024
_LAST_WORDS_SECONDS = 1.0


class Session:
    """What this child has open: a mirror or a checkout."""

    def __init__(self) -> None:
        self._store: Store | None = None
        self._checkout: local.Checkout | None = None
        self._folder = ""
        self._fetched = ""
        self._verified = Verified()
        self.attached = b""
        """The bytes that came with the request."""

    def open_mirror(self, source: Mapping[str, Any], cache_directory: str) -> Answer:
        """Take a mirror directory and make it usable."""
        made = Source(**source)
        self._folder = made.path
        self._store = Store(made, cache_directory)
        return {"directory": self._store.directory}, b""

    def open_checkout(self, path: str, folder: str) -> Answer:
        """Find a checkout or plain directory."""
        found = self._checkout = local.opened(path, folder)
        self._folder = found.prefix
        told = {"root": found.root, "path": found.prefix, "branch": found.branch}
        return told, b""

    def fetch(self) -> Answer:
        """Bring the mirror up to date; of a checkout, describe HEAD."""
        if self._store is None:
            return self.head()
        head = self._store.fetch()
        self._fetched = head["commit"]
        return head, b""

    def head(self) -> Answer:
        """Describe HEAD of a checkout."""
        objects = self._objects()
        return objects.describe(self._resolved(objects, "HEAD")), b""

    def renew(self) -> Answer:
        """Begin an empty mirror."""
        if self._store is not None:
            self._store.renew()
        self._fetched = ""
        return {}, b""

    def tidy(self) -> Answer:
        """Pack the mirror when it needs it."""
        if self._store is not None:
            self._store.tidy()
        return {}, b""

    def resolve(self, revision: str) -> Answer:
        """Return the commit id of a revision."""
        return {"commit": self._resolved(self._objects(), revision)}, b""

    def listing(self, revision: str) -> Answer:
        """List a commit."""
        objects = self._objects()
        head = objects.describe(self._resolved(objects, revision))
        return {**head, **self._listed(objects, head["commit"])}, b""

    def blobs(self, identities: list[str]) -> Answer:
        """Read blobs; the body is their contents, one after the other."""
        found = self._objects().blobs(identities)
        return {"sizes": [len(content) for content in found]}, b"".join(found)

    def working(self) -> Answer:
        """Read the working tree; the body is the content of the readable entries."""
        checkout = self._checkout
        if checkout is None:
            raise Unavailable("the Git process has nothing open; it is started again")
        listing, contents = worktree.of_checkout(checkout)
        return {"commit": "", "parents": [], **self._fields(listing)}, b"".join(contents)

    def relation(self, old: str, new: str) -> Answer:
        """Say how `new` stands to `old`."""
        return {"relation": self._objects().relation(old, new).value}, b""

    def history(
        self, base: str, head: str, signers_file: str, now: float, ours: Sequence[str]
    ) -> Answer:
        """Read the commits of `base..head`, what they approve and who signed them."""
        objects, mine = self._objects(), frozenset(ours)
        found = trailers.history(objects, base, head, signers_file, now, mine)
        return asdict(found), b""

    def verify(self, span: Mapping[str, Any], rules: Mapping[str, Any], now: float) -> Answer:
        """Say which commits of a span no allowed key signed."""
        objects, ours = self._objects(), frozenset(span["ours"])
        tip = self._resolved(objects, span["tip"])
        asked = Span(tip, tuple(span["known"]), ours)
        found = verify.verify(objects, asked, SigningRules(**rules), now, self._verified)
        return asdict(found), b""

    def merge(self, base: str, head: str) -> Answer:
        """Merge two commits and list the result."""
        objects = self._objects()
        parents = [self._resolved(objects, base), self._resolved(objects, head)]
        tree, conflicts = objects.merge(*parents)
        if tree is None:
            return {"conflicts": conflicts}, b""
        listed = self._listed(objects, tree)
        return {"conflicts": (), "commit": "", "parents": parents, **listed}, b""

    def log(self, revision: str, paths: list[str], limit: int, before: str) -> Answer:
        """Read the newest commits of a revision."""
        found = logs.log(self._objects(), revision, self._folder, paths, limit, before)
        return {"commits": [asdict(entry) for entry in found]}, b""

    def lineage(self, base: str, head: str, limit: int) -> Answer:
        """Name the commits between two."""
        return asdict(logs.lineage(self._objects(), base, head, limit)), b""

    def blob(self, revision: str, path: str) -> Answer:
        """Read one file; the body is its content."""
        found = logs.blob(self._objects(), revision, from_top(self._folder, path))
        return {"found": found is not None}, found or b""

    def tip(self, branch: str) -> Answer:
        """Fetch another branch."""
        return {"commit": self._pushing().tip(branch)}, b""

    def holds(self, commit: str, beside: str) -> Answer:
        """Say whether a commit is here, or in the mirror beside, which is read with ours then."""
        store = self._opened()
        found = store.objects().find(commit)
        if found is None and beside and store.read_beside(beside):
            found = store.objects().find(commit)
        return {"holds": found is not None}, b""

    def write(self, change: Mapping[str, Any]) -> Answer:
        """Make a commit of the files that came with the request."""
        files = [(from_top(self._folder, path), size) for path, size in change["files"]]
        return {"commit": self._pushing().write({**change, "files": files}, self.attached)}, b""

    def try_key(self, key: Mapping[str, str]) -> Answer:
        """Try whether a key signs."""
        self._pushing().try_key(key)
        return {}, b""

    def push(self, change: Mapping[str, Any], commit: str) -> Answer:
        """Push a commit that was written."""
        return {"head": self._pushing().push(change, commit)}, b""

    def landed(self, branch: str, commit: str) -> Answer:
        """Look whether a commit is on a branch of the host."""
        return {"head": self._pushing().landed(branch, commit)}, b""

    def _pushing(self) -> Pushing:
        return Pushing(self._opened())

    def _opened(self) -> Store:
        if self._store is None:
            raise Unavailable("the Git process has no mirror open; it is started again")
        return self._store

    def _objects(self) -> Objects:
        if self._store is not None:
            return self._store.objects()
        if self._checkout is None:
            raise Unavailable("the Git process has nothing open; it is started again")
        return self._checkout.objects()

    def _resolved(self, objects: Objects, revision: str) -> str:
        try:
            return objects.resolve(revision)
        except Misconfigured as error:
            if revision == self._fetched:
                raise Damaged(f"commit {revision} cannot be read any more") from error
            raise

    def _listed(self, objects: Objects, treeish: str) -> Mapping[str, Any]:
        return self._fields(objects.listing(treeish, self._folder))

    def _fields(self, listing: Listing) -> Mapping[str, Any]:
        lines = [line_of(entry) for entry in listing.entries]
        place = {"path": self._folder, "folder": listing.folder.value}
        return {"entries": lines, "directories": listing.directories, **place}


_OPERATIONS: Mapping[str, Callable[..., Answer]] = {
    operation.__name__: operation
    for operation in (
        Session.open_mirror,
        Session.open_checkout,
        Session.fetch,
        Session.renew,
        Session.tidy,
        Session.resolve,
        Session.listing,
        Session.blobs,
        Session.working,
        Session.relation,
        Session.history,
        Session.verify,
        Session.merge,
        Session.log,
        Session.lineage,
        Session.blob,
        Session.tip,
        Session.holds,
        Session.try_key,
        Session.write,
        Session.push,
        Session.landed,
    )
}


def answer(session: Session, request: Mapping[str, Any], attached: bytes = b"") -> Answer:
    """Do one operation; a failure becomes an answer that names its class."""
    session.attached = attached
    try:
        operation = _OPERATIONS[request["operation"]]
        return operation(session, **request["arguments"])
    except (PortError, Damaged) as error:
        return {"error": type(error).__name__, "message": str(error)}, b""
    except Exception as error:  # the boundary: the parent must hear of it, whatever it is
        text = one_line(f"{type(error).__name__}: {error}", 300)
        return {"error": "Oddity", "message": f"the Git process failed: {text}"}, b""


def main() -> None:
    """Answer requests until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    refuse_core_dumps()
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_LIMIT_BYTES, _FILE_LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_LIMIT_BYTES, _MEMORY_LIMIT_BYTES))
    requests: queue.SimpleQueue[tuple[frames.Header, bytes] | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    session = Session()
    while (request := requests.get()) is not None:
        sys.stdout.buffer.write(frames.packed(*answer(session, *request)))
        sys.stdout.buffer.flush()


def _listen(requests: "queue.SimpleQueue[tuple[frames.Header, bytes] | None]") -> None:
    while (frame := frames.receive(sys.stdin.buffer)) is not None:
        requests.put(frame)
    requests.put(None)
    time.sleep(_LAST_WORDS_SECONDS)
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main()
