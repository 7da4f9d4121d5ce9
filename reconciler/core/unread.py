"""Specs of ours where nobody reads them: a Fleet in `fleets/` beside `paths: [schedulers]`.

Only what says that it is ours is told of: files of others are nobody's matter here, and what lies
beside another `gamekeeper.yaml` belongs to that.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from reconciler.core.mistakes import listed
from reconciler.model.findings import Finding, Severity
from reconciler.model.trees import CONFIG_FILE, Tree, is_yaml

_GROUP = b"gamekeeper.dev/"
_OURS = re.compile(rb"""^apiVersion:[ \t]*["']?gamekeeper\.dev/""", re.MULTILINE)
_KIND = re.compile(rb"""^kind:[ \t]*["']?(Scheduler|Fleet)["']?[ \t\r]*(?:#.*)?$""", re.MULTILINE)
MOST = 20
"""So many are told of; whoever has more has made one mistake."""


def find_unread(tree: Tree, paths: Sequence[str], read: Collection[str]) -> Iterator[Finding]:
    """Yield a warning for each file, at most `MOST`, that holds a spec and is not `read`."""
    others = tuple(
        file.removesuffix(CONFIG_FILE) for file in tree.entries if file.endswith(f"/{CONFIG_FILE}")
    )
    left = MOST
    for file in sorted(tree.entries.keys() - frozenset(read)):
        text = tree.entries[file].text
        if text is None or _GROUP not in text or not is_yaml(file) or file.startswith(others):
            continue
        kind = _KIND.search(text)
        if kind is None or not _OURS.search(text) or not file.isprintable():
            continue
        if not left:
            return
        left -= 1
        yield _told(file, text.count(b"\n", 0, kind.start()) + 1, kind[1].decode(), paths)


def _told(file: str, line: int, kind: str, paths: Sequence[str]) -> Finding:
    folder = file.rpartition("/")[0] or file
    message = f"this {kind} is not read: spec.paths of {CONFIG_FILE} has only {listed(paths)}"
    fix = f"add {folder} to spec.paths, or move the file to where they say"
    return Finding(file, line, 1, "", message, fix, "unread", Severity.WARNING)
