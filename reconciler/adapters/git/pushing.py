"""Push one commit, and say what became of it. Child process only.

The branch is compared and swapped: `--force-with-lease` names the commit that it must stand at.
Where that is the base, the commit's only parent, the push is a fast-forward or nothing; git's
plain push would also move a branch on that people had set back to an older commit.
"""

import contextlib
import hashlib
import os
from collections.abc import Mapping
from typing import Any

from reconciler.adapters.git import verdicts, wire, writing
from reconciler.adapters.git.commands import failed
from reconciler.adapters.git.failures import has_no_branch, transport_failure
from reconciler.adapters.git.store import Store
from reconciler.adapters.git.urls import check_branch
from reconciler.model.errors import Conflict, Misconfigured, PortError, Unavailable

_TIPS = "refs/gamekeeper/tips/"
_PUSH = (
    "push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed",
    "--recurse-submodules=no",
)  # fmt: skip


class Pushing:
    """Writes commits into a mirror, and takes them to its host."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def write(self, change: Mapping[str, Any], body: bytes) -> str:
        """Make the commit and return its id. Raises PortError, Damaged."""
        folder = os.path.join(self._store.directory, "writing")
        return writing.write(self._store.objects(), folder, change, body)

    def try_key(self, key: Mapping[str, str]) -> None:
        """Sign something that is thrown away. Raises Misconfigured, Unavailable."""
        writing.try_key(self._store.objects().commands, key)

    def tip(self, branch: str) -> str:
        """Fetch a branch beside the tracked one; "" when there is none. Raises PortError."""
        # A digest: of two names one may be a directory of the other.
        ref = _TIPS + hashlib.sha256(check_branch(branch).encode()).hexdigest()[:16]
        output = self._store.fetch_into(branch, ref)
        if output.status == 0:
            return self._store.objects().resolve(ref)
        if not has_no_branch(output.stderr):
            raise self._failure("fetch", branch, output.stderr)
        self._store.objects().commands.run("update-ref", "-d", ref)
        return ""

    def landed(self, branch: str, commit: str) -> str:
        """Return where the branch stands when `commit` is on it, else "". Raises PortError."""
        tip = self.tip(branch)
        return tip if tip and self._holds(tip, commit) else ""

    def push(self, change: Mapping[str, Any], commit: str) -> str:
        """Push `commit`, which was written of `change`; return where the branch stands then.

        Raises Conflict, Denied, Misconfigured, Unavailable; the last where it is not known.
        """
        self._check(change, commit)
        branch, at = change["branch"], wire.expected(change)
        ref = f"refs/heads/{branch}"
        output = self._store.network().run(
            *_PUSH, f"--force-with-lease={ref}:{at}", "--", self._store.url, f"{commit}:{ref}"
        )
        answer = verdicts.parsed(output.stdout.decode("utf-8", "replace"), ref)
        if output.status == 0 and answer.taken:
            return commit
        stderr, hide = output.stderr, self._store.without_secrets
        if not answer.reason or answer.unknown:
            return self._unanswered(branch, commit, stderr)
        if not answer.moved:
            verdicts.check(self._store.shown, branch, answer, stderr, hide)
        tip = self.tip(branch)
        if tip and self._holds(tip, commit):
            return tip
        if tip != at:
            raise self._lost(branch, at, tip)
        raise verdicts.unmoved(self._store.shown, branch, answer, stderr, hide)

    def _unanswered(self, branch: str, commit: str, stderr: str) -> str:
        """Return where the branch stands where it has `commit` all the same.

        A proxy may refuse what the host behind it took. Raises what git's words mean.
        """
        failure = self._failure("push to", branch, stderr)
        if not isinstance(failure, Unavailable):  # that is looked for with a deadline of its own
            with contextlib.suppress(PortError):
                tip = self.landed(branch, commit)
                if tip:
                    return tip
        raise failure

    def _check(self, change: Mapping[str, Any], commit: str) -> None:
        parents = self._store.objects().parents(commit)
        if parents is None:
            raise Conflict(f"commit {commit[:12]} is not in the mirror: fetch, decide again")
        if parents != [change["base"]]:
            raise Misconfigured(f"commit {commit[:12]} was not made from {change['base'][:12]}")

    def _holds(self, tip: str, commit: str) -> bool:
        objects = self._store.objects()
        if objects.find(commit) is None:
            return False
        ancestry = objects.commands.run("merge-base", "--is-ancestor", commit, tip)
        if ancestry.status > 1:
            raise failed(ancestry)
        return ancestry.status == 0

    def _lost(self, branch: str, at: str, tip: str) -> Exception:
        if not tip:
            return Misconfigured(self._store.without(branch))
        return Conflict(
            f"branch {branch!r} of {self._store.shown} does not stand at {at[:12] or 'nothing'} "
            "any more: somebody else pushed; fetch, decide again"
        )

    def _failure(self, doing: str, branch: str, stderr: str) -> Exception:
        hide = self._store.without_secrets
        return transport_failure(self._store.shown, branch, stderr, doing=doing, hide=hide)
