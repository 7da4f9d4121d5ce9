"""The files that hold counts, with some of them changed: what a commit of ours is made of."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from reconciler.core.count_edits import with_counts
from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.model.edits import Refusal
from reconciler.model.refs import WorkloadKey
from reconciler.model.trees import is_plain
from reconciler.ports import Repository

BIG_FILE_BYTES = 20_000
"""From here on a file is edited beside the event loop: that takes more than some milliseconds."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The new content of every file that changed.

    `refused` are edits that cannot be made exactly; `gone` are the lines that were taken out.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    refused: tuple[Refusal, ...] = ()
    gone: frozenset[WorkloadKey] = frozenset()


async def rewrite(
    repository: Repository,
    commit: str,
    counts: Mapping[str, Mapping[WorkloadKey, int]],
    gone: Collection[WorkloadKey],
) -> Rewritten:
    """Return the files of `commit` with these counts, told by file.

    `gone` are lines of `replicas.yaml` that nobody needs. Raises the errors of the repository.
    """
    files: dict[str, bytes] = {}
    refused: list[Refusal] = []
    out = frozenset[WorkloadKey]()
    for file in sorted({*counts, *([REPLICAS_FILE] if gone else [])}):
        # What no commit of ours may name cannot be asked for either: it is refused unread.
        data = (await repository.blob(commit, file) or b"") if is_plain(file) else b""
        asked = counts.get(file, {}), gone if file == REPLICAS_FILE else ()
        if len(data) < BIG_FILE_BYTES:
            after, problems, left = _written(file, data, *asked)
        else:
            after, problems, left = await asyncio.to_thread(_written, file, data, *asked)
        refused += problems
        out |= left
        if after != data:
            files[file] = after
    return Rewritten(files, tuple(refused), out)


def _written(
    file: str, data: bytes, counts: Mapping[WorkloadKey, int], gone: Collection[WorkloadKey]
) -> tuple[bytes, tuple[Refusal, ...], frozenset[WorkloadKey]]:
    after, refused = with_counts(file, data, counts, gone)
    # Of a file in another form the lines stay.
    left = bool(gone) and after != with_counts(file, data, counts)[0]
    return after, refused, frozenset(gone) if left else frozenset()
