"""Commits that were found signed under one state of the operator's files: looked at once.

A head that is held is asked about again with every commit that follows it, each time with all that
leads to it, and one SSH signature costs two programs. An id stands for every byte of a commit, so
what was good under the same files is good. What was not good is looked at again: keys become valid.
"""

import hashlib
from collections import OrderedDict

from reconciler.adapters.git.signatures import file_of_keys
from reconciler.model.signatures import SigningRules

SIGNERS = "commit signers"
KEYS = "commit keys"
MOST_COMMITS = 4000


class Verified:
    """Who signed which commit, by its id; nothing once the files have changed."""

    def __init__(self) -> None:
        self._digest = ""
        self._signed: OrderedDict[str, str] = OrderedDict()

    def under(self, digest: str) -> None:
        """Forget what was found under another state of the files."""
        if digest != self._digest:
            self._digest = digest
            self._signed.clear()

    def by(self, commit: str) -> str:
        """Return who signed a commit, "" where that is not known."""
        return self._signed.get(commit, "")

    def keep(self, commit: str, by: str) -> None:
        """Remember it, the newest few thousand."""
        self._signed[commit] = by
        while len(self._signed) > MOST_COMMITS:
            self._signed.popitem(last=False)


def digest_of(rules: SigningRules) -> str:
    """Return the digest of what the files of keys hold now. Raises Unverifiable."""
    files = ((rules.signers_file, SIGNERS), (rules.keys_file, KEYS))
    parts = (file_of_keys(path, what) if path else b"" for path, what in files)
    return "".join(hashlib.sha256(part).hexdigest() for part in parts)
