"""What a host answered to a push (`git push --porcelain`), and what that means.

Hosts word their refusals as they like, so as little as possible is read from words: whether the
branch moved is looked up, and what is left is the host's refusal, shown as it was said but for
what we authenticated by (`hide`): that is taken out of what is shown, and never of what is judged.
"""

import re
from dataclasses import dataclass

from reconciler.adapters.git.failures import Hide, means_shortage, one_line
from reconciler.model.errors import Conflict, Denied, Misconfigured, PortError, Unavailable
from reconciler.model.masks import redact

_SENTENCE_LIMIT = 300
_TAKEN = frozenset(" *=+")
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\](?:[^\x07\x1b\n]*+(?:\x07|\x1b\\))?")
"""Orders to a terminal; of one that nothing ends its beginning alone."""
_DECORATION = re.compile(r"[\s=*#~_-]*")
_DECLINED = re.compile(
    r"hook declined|protected|not allowed|permission|denied|read.?only|prohibited|deny",
    re.IGNORECASE,
)
_PERMISSION = (
    "let this account push there, or give write-back a branch of its own (`writeBack: {branch: "
    "counts}` in gamekeeper.yaml)"
)
_ADVICE = (
    (
        re.compile(r"checked out", re.IGNORECASE),
        "somebody works on that branch there. Run `git config receive.denyCurrentBranch "
        "updateInstead` in that repository, and its files follow our commits; or set `writeBack: "
        "{branch: counts}` in gamekeeper.yaml; or use a bare repository (git clone --bare)",
    ),
    (
        re.compile(r"working (?:directory|tree)", re.IGNORECASE),
        "commit or stash what is changed in the files of that repository",
    ),
)
"""What to do about a branch that a person has checked out, by git's own reason (receive-pack)."""
_IN_THE_WAY = re.compile(r"exists; cannot create")
_LOCKED = re.compile(r"lock|failed to update ref|incorrect old value", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """The status line of our branch; all empty when there was none."""

    flag: str = ""
    summary: str = ""
    reason: str = ""

    @property
    def taken(self) -> bool:
        """Whether the branch stands at our commit."""
        return self.flag in _TAKEN if self.flag else False

    @property
    def moved(self) -> bool:
        """Whether git saw itself that the branch stands elsewhere, and sent nothing."""
        return self.summary == "[rejected]"

    @property
    def unknown(self) -> bool:
        """Whether the connection ended before the host said what it did."""
        return self.summary == "[remote failure]"


def parsed(stdout: str, ref: str) -> Answer:
    """Find the line of `ref`: flag, from:to, `[summary] (reason)` or a range of commits."""
    for line in stdout.splitlines():
        fields = line.split("\t")
        if len(fields) == 3 and fields[1].endswith(f":{ref}"):
            summary, _, reason = fields[2].partition(" (")
            return Answer(fields[0], summary, reason.removesuffix(")") or summary)
    return Answer()


def check(shown_url: str, branch: str, answer: Answer, stderr: str, hide: Hide = str) -> None:
    """Raise Denied or Unavailable for what the host refused whatever the branch stands at."""
    if "unpack" in answer.reason or means_shortage(stderr):
        words = sentence(answer, stderr, hide)
        raise Unavailable(f"{shown_url} could not store the commit: {words}")
    if _DECLINED.search(answer.reason):
        raise _denied(shown_url, branch, answer, stderr, hide)


def unmoved(
    shown_url: str, branch: str, answer: Answer, stderr: str, hide: Hide = str
) -> PortError:
    """Say what a refusal means when the branch stands where it stood."""
    if _IN_THE_WAY.search(stderr):
        words = sentence(answer, stderr, hide)
        return Misconfigured(
            f"{shown_url} cannot make branch {branch!r}: {words}. To do: git has no branch inside "
            "another one's name, so give another to `writeBack.branch` in gamekeeper.yaml"
        )
    if answer.moved or _LOCKED.search(answer.reason):
        return Conflict(
            f"branch {branch!r} of {shown_url} is being pushed to by somebody else: "
            f"{sentence(answer, stderr, hide)}; fetch, decide again"
        )
    return _denied(shown_url, branch, answer, stderr, hide)


def _denied(shown_url: str, branch: str, answer: Answer, stderr: str, hide: Hide) -> Denied:
    advice = next((told for reason, told in _ADVICE if reason.search(answer.reason)), _PERMISSION)
    words = sentence(answer, stderr, hide)
    return Denied(f"{shown_url} refuses the push to {branch!r}: {words}. To do: {advice}")


def sentence(answer: Answer, stderr: str, hide: Hide = str) -> str:
    """Return the host's own words without secrets, in one printable line of at most 300."""
    plain = _ESCAPE.sub("", stderr)
    told = [line.partition("remote:")[2] for line in plain.splitlines() if "remote:" in line[:10]]
    told = [line for line in told if not _DECORATION.fullmatch(line)]
    words = [" ".join(line.split()) for line in hide("\n".join(told)).splitlines()]
    text = " ".join(dict.fromkeys(words)) or hide(answer.reason)
    return one_line(redact(text), _SENTENCE_LIMIT).rstrip(". ")
