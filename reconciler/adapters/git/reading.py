"""What a repository can be asked through a child; a blob that was read is not read again."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from reconciler.adapters.git.listing import entry_of
from reconciler.adapters.git.process import GitProcess
from reconciler.adapters.git.urls import check_revision
from reconciler.adapters.git.wire import check_path, logged_of
from reconciler.model.pushes import Lineage, Logged
from reconciler.model.signatures import SigningRules, Span, Unsigned, Verification
from reconciler.model.trailers import History, SignedCommit, Signer
from reconciler.model.trees import Entry, EntryKind, Folder, Head, Merged, Relation, Tree

_TREES_KEPT = 3
_VERIFY_DEADLINE_SECONDS = 180.0
"""A thousand signatures on a busy machine."""


class Reader:
    """Reads through a child; the blobs of the last few trees are kept by their id.

    Every method raises PortError, or Damaged when the object store is broken.
    """

    def __init__(self, process: GitProcess, deadline_seconds: float) -> None:
        self._process = process
        self._deadline_seconds = deadline_seconds
        self._kept: list[Mapping[str, bytes]] = []
        self._trees: list[Tree] = []

    async def fetch(self, branch: str, deadline_seconds: float) -> Head:
        """Fetch (a mirror), and describe the head."""
        answer, _ = await self._process.ask("fetch", deadline_seconds)
        return Head(
            commit=answer["commit"],
            branch=branch,
            author=answer["author"],
            subject=answer["subject"],
            committed_at=answer["committed_at"],
        )

    async def resolve(self, revision: str) -> str:
        """Return the commit id of a revision."""
        answer, _ = await self._ask("resolve", revision=check_revision(revision))
        return str(answer["commit"])

    async def relation(self, old: str, new: str) -> Relation:
        """Say how `new` stands to `old`."""
        asked = {"old": check_revision(old), "new": check_revision(new)}
        answer, _ = await self._ask("relation", **asked)
        return Relation(answer["relation"])

    async def merge(self, base: str, head: str) -> Merged:
        """Merge `head` into `base` in the object store, and read the result."""
        asked = {"base": check_revision(base), "head": check_revision(head)}
        answer, _ = await self._ask("merge", **asked)
        if answer["conflicts"]:
            return Merged(None, tuple(answer["conflicts"]))
        return Merged(await self._completed(answer))

    async def history(
        self, base: str, head: str, signers: str, now: float, ours: Collection[str]
    ) -> History:
        """Read the commits of `base..head`, what they approve and who signed them."""
        asked = {"base": check_revision(base), "head": check_revision(head)}
        answer, _ = await self._ask(
            "history", **asked, signers_file=signers, now=now, ours=sorted(ours)
        )
        return History(tuple(_commit(item) for item in answer["commits"]), answer["problem"])

    async def verify(self, span: Span, rules: SigningRules, now: float) -> Verification:
        """Say which commits of a span no allowed key signed."""
        commits = [check_revision(each) for each in (span.tip, *span.known)]
        asked = {"tip": commits[0], "known": commits[1:], "ours": sorted(span.ours)}
        deadline = max(self._deadline_seconds, _VERIFY_DEADLINE_SECONDS)
        answer, _ = await self._process.ask(
            "verify", deadline, span=asked, rules=asdict(rules), now=now
        )
        unsigned = tuple(Unsigned(**item) for item in answer["unsigned"])
        return Verification(answer["tip"], answer["by"], unsigned, answer["cut"])

    async def log(
        self, revision: str, paths: Sequence[str], limit: int, before: str
    ) -> Sequence[Logged]:
        """Read the newest commits of a revision."""
        asked = {"revision": check_revision(revision), "paths": [check_path(p) for p in paths]}
        answer, _ = await self._ask("log", **asked, limit=max(1, limit), before=before)
        return tuple(logged_of(entry) for entry in answer["commits"])

    async def lineage(self, base: str, head: str, limit: int) -> Lineage:
        """Name the commits between two."""
        asked = {"base": check_revision(base), "head": check_revision(head)}
        answer, _ = await self._ask("lineage", **asked, limit=max(1, limit))
        return Lineage(tuple(answer["commits"]), tuple(answer["first_parents"]), answer["cut"])

    async def blob(self, revision: str, path: str) -> bytes | None:
        """Read one file, None where there is none."""
        asked = {"revision": check_revision(revision), "path": check_path(path)}
        known = next((tree for tree in self._trees if tree.commit == revision), None)
        entry = known.entries.get(path) if known else None
        if entry is not None and entry.kind is EntryKind.FILE and entry.text is not None:
            return entry.text  # whoever commits was just shown the tree
        answer, body = await self._ask("blob", **asked)
        return body if answer["found"] else None

    async def tree(self, revision: str) -> Tree:
        """Read a commit."""
        listing, _ = await self._ask("listing", revision=check_revision(revision))
        tree = await self._completed(listing)
        self._trees = [tree, *self._trees[: _TREES_KEPT - 1]]
        return tree

    async def working(self) -> Tree:
        """Read the working tree."""
        listing, body = await self._ask("working")
        texts = await asyncio.to_thread(_cut_working, listing, body)
        return await asyncio.to_thread(_tree, listing, texts)

    async def _ask(self, operation: str, **arguments: Any) -> tuple[Mapping[str, Any], bytes]:
        return await self._process.ask(operation, self._deadline_seconds, **arguments)

    async def _completed(self, listing: Mapping[str, Any]) -> Tree:
        """Make the tree of a listing, reading the blobs not seen before."""
        texts, missing = await asyncio.to_thread(_known, listing, tuple(self._kept))
        if missing:
            texts.update(await self._read(missing))
        self._kept = [texts, *self._kept[: _TREES_KEPT - 1]]
        return await asyncio.to_thread(_tree, listing, texts)

    async def _read(self, identities: list[str]) -> dict[str, bytes]:
        answer, body = await self._ask("blobs", identities=identities)
        return await asyncio.to_thread(_cut, identities, answer["sizes"], body)


def _commit(item: Mapping[str, Any]) -> SignedCommit:
    signer = item["signer"]
    known = signer and Signer(tuple(signer["principals"]), signer["key"])
    return SignedCommit(**{**item, "approves": tuple(item["approves"]), "signer": known})


def _known(
    listing: Mapping[str, Any], kept: Sequence[Mapping[str, bytes]]
) -> tuple[dict[str, bytes], list[str]]:
    """Return what earlier trees hold of a listing, and the blobs that are to be read."""
    texts: dict[str, bytes] = {}
    missing: dict[str, None] = {}
    for _, _, blob, _, readable in map(entry_of, listing["entries"]):
        if readable and blob not in texts:
            known = next((blobs[blob] for blobs in kept if blob in blobs), None)
            if known is None:
                missing[blob] = None
            else:
                texts[blob] = known
    return texts, list(missing)


def _cut(identities: Sequence[str], sizes: Sequence[int], body: bytes) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    at = 0
    for identity, size in zip(identities, sizes, strict=True):
        found[identity] = body[at : at + size]
        at += size
    return found


def _cut_working(listing: Mapping[str, Any], body: bytes) -> dict[str, bytes]:
    readable = [entry for entry in map(entry_of, listing["entries"]) if entry[-1]]
    return _cut([entry[2] for entry in readable], [entry[3] for entry in readable], body)


def _tree(listing: Mapping[str, Any], texts: Mapping[str, bytes]) -> Tree:
    entries = {
        path: Entry(EntryKind(kind), blob, size, texts[blob] if readable else None)
        for path, kind, blob, size, readable in map(entry_of, listing["entries"])
    }
    return Tree(
        commit=listing["commit"],
        entries=entries,
        directories=frozenset(listing["directories"]),
        parents=tuple(listing["parents"]),
        path=listing["path"],
        folder=Folder(listing["folder"]),
    )
