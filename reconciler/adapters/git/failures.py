"""What git's words on stderr mean for the loop: try again, ask a person, or rebuild the mirror."""

import re
from collections.abc import Callable

from reconciler.adapters.git.urls import redacted
from reconciler.model.errors import Denied, Misconfigured, PortError, Unavailable
from reconciler.model.masks import redact


class Damaged(Exception):
    """The mirror's own files are broken. Never leaves the adapter: the mirror is made anew."""


_DAMAGE = re.compile(
    r"is corrupt|corrupted|bad object|unable to read (?:tree|sha1)|missing blob|missing tree"
    r"|unable to unpack|inflate: data stream|object file .* is empty|file size .* is too small"
    r"|packfile .* (?:cannot|does not|is)|index file .* (?:is|does)|bad config|bad tree object"
    r"|not a tree object"
    r"|not a git repository: '?\.?/?$|invalid object|bad (?:pack|tree|ref|signature)|unknown object"
    r"|could not parse (?:commit|object)|loose object|garbage at end|hash mismatch|not our ref"
    r"|unable to (?:find|parse|get) .*(?:object|header|type|size)|failed to read object"
    r"|bad offset|failed to (?:parse|unpack|traverse)|non-monotonic index|cannot read object"
    r"|object corrupt|malformed|premature end of pack|cannot use .* as .*commit"
    r"|bad default revision|could not read [0-9a-f]{40}|did not send all necessary objects"
    r"|unresolved deltas|not a valid object|wrong (?:index|pack)|is not a valid|incorrect header",
    re.IGNORECASE,
)

_SHORT_OF = (
    r"no space left|disk quota|read-only file system|unable to write|cannot (?:allocate|fork)"
    r"|out of memory|too many open files|unable to create|resource temporarily unavailable"
    r"|out of diskspace|couldn't write '"
)
_SHORTAGE = re.compile(_SHORT_OF, re.IGNORECASE)

_NO_BRANCH = re.compile(r"couldn't find remote ref|remote branch .* not found", re.IGNORECASE)

EMPTY_OR_NO_HOST = "it has no branch yet, or a web page answers there and no Git host"
"""Git itself takes any page for a host that holds nothing."""

_Error = Callable[[str], PortError]
_MEANINGS: tuple[tuple[re.Pattern[str], _Error, str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), error, advice)
    for pattern, error, advice in (
        (
            _NO_BRANCH.pattern,
            Misconfigured,
            "the branch is not there: name one that is, or push it",
        ),
        (
            _SHORT_OF,
            Unavailable,
            "the disk or memory of this machine is short: make room in the cache directory",
        ),
        (
            r"file too large|file size limit|exceeds",
            Misconfigured,
            "the repository is larger than 1 GiB: keep specs in a repository of their own",
        ),
        (
            r"identification has changed",
            Misconfigured,
            "the host shows another key than the known-hosts file has: ask its owner whether it "
            "was changed, and only then write the new one in place of the old",
        ),
        (
            r"host key verification failed|no .* host key is known",
            Misconfigured,
            "add the host's key to the known-hosts file, after checking it with its owner",
        ),
        (
            r"(?:code|response|returned error:) 407|(?:code|response) 40[13] from proxy"
            r"|connect tunnel failed, response 40[13]",
            Denied,
            "the proxy does not let us through: check the user and password in HTTPS_PROXY, and "
            "whom it lets through",
        ),
        (
            r"could not resolve proxy|connect to proxy|proxy connect|from proxy|connect tunnel",
            Unavailable,
            "see whether HTTPS_PROXY names the proxy, and whether it runs",
        ),
        (
            r"unprotected private key|permissions \d+ for .* are too open",
            Misconfigured,
            "ssh takes no key that others may read: chmod 600 the key file (of a mounted Secret: "
            "defaultMode: 0400)",
        ),
        (
            r"authentication failed|could not read (?:username|password)|permission denied"
            r"|returned error: 40[13]|http basic: access denied|access denied|unauthorized"
            r"|too many authentication failures",
            Denied,
            "check the token or key: whether it has expired, and what it may do in this repository",
        ),
        (
            r"dubious ownership",
            Denied,
            "the repository belongs to another user: run as that user, or serve it by ssh or https",
        ),
        (
            r"redirect|returned error: 30\d",
            Misconfigured,
            "the host redirects, which is not followed: give the address it redirects to",
        ),
        (
            r"repository .*not found|does not appear to be a git repository|returned error: 404"
            r"|not a git repository|repository not found|does not exist|no such file or directory"
            r"|returned error: 410",
            Misconfigured,
            "check the address, and that the credentials may see it (hosts hide private ones)",
        ),
        (
            r"transport '.*' not allowed|unsupported protocol|dumb http",
            Misconfigured,
            "use https, ssh or file",
        ),
        (
            r"mismatched algorithms",
            Misconfigured,
            "the repository uses SHA-256 object ids, which are not supported: use one with SHA-1",
        ),
    )
)
_LOOKED_AT = 8192
Hide = Callable[[str], str]
"""Take out of a host's words what we authenticated by."""
_NOISE = re.compile(
    r"^(?:remote: *$|warning:|hint:|please make sure|and the repository exists|debug)",
    re.IGNORECASE,
)


def last_words(stderr: str, limit: int = 300) -> str:
    """Return what git said, as one printable line without credentials.

    Without its full stops: who tells it goes on with words of their own.
    """
    lines = [line.strip(" \t\r@").rstrip(".") for line in stderr.splitlines()]
    told = [line for line in lines if line and not _NOISE.match(line)]
    line = "; ".join(dict.fromkeys(told)) or "git gave no reason"
    return one_line(redact(line), limit)


def one_line(text: str, limit: int = 200) -> str:
    """Return text of strangers as one printable line without credentials."""
    printable = "".join(c if c.isprintable() else " " for c in redacted(text))
    return printable if len(printable) <= limit else printable[: limit - 1] + "…"


def means_shallow(stderr: str) -> bool:
    """Tell whether a fetch left the branch out, for its history there is cut off; git exits 0."""
    return "shallow roots are not allowed" in stderr[-_LOOKED_AT:]


def has_no_branch(stderr: str) -> bool:
    """Tell whether a fetch failed because the branch is not there."""
    return bool(_NO_BRANCH.search(stderr[-_LOOKED_AT:]))


def transport_failure(
    shown_url: str,
    branch: str,
    stderr: str,
    there: str = "",
    *,
    doing: str = "fetch",
    hide: Hide = str,
) -> PortError:
    """Say what a failed fetch or push means; what is unknown is Unavailable.

    That a try follows is not promised: a loop makes one, a command that a person typed does not.

    `there` is what the repository has instead, `doing` "fetch" or "push to". The words are judged
    as they came, and are hidden before they are cut: half a secret is not found any more.
    """
    words = last_words(hide(stderr)[-_LOOKED_AT:])
    stderr = stderr[-_LOOKED_AT:]
    what = f"cannot {doing} branch {branch!r} of {shown_url}: {words}"
    what = f"{what}; {there}" if there else what
    for pattern, error, advice in _MEANINGS:
        if pattern.search(stderr):
            told = without_branch(there) if there == EMPTY_OR_NO_HOST else advice
            return error(f"{what}. To do: {told}")
    until = "A loop that runs goes on with what it fetched before"
    if doing != "fetch":
        until = "Whether the commit arrived all the same is seen by the next try"
    return Unavailable(f"{what}. {until}")


def without_branch(there: str) -> str:
    """Say what to do where a branch is not there, by what the repository has instead."""
    if there == EMPTY_OR_NO_HOST:
        return "check the address, and where it is right push the branch"
    return "name one that is, or push it"


def means_damage(stderr: str) -> bool:
    """Tell whether a failed fetch may have failed on our own broken files."""
    return bool(_DAMAGE.search(stderr[-_LOOKED_AT:]))


def means_shortage(stderr: str) -> bool:
    """Tell whether a command may have failed for want of disk or memory."""
    return bool(_SHORTAGE.search(stderr[-_LOOKED_AT:]))


def local_failure(status: int, stderr: str) -> Exception:
    """Say what the failure of a local command is that succeeds on a sound repository.

    Damaged, unless the machine is short of something or git was killed.
    """
    words = f"git ended with {status}: {last_words(stderr)}"
    if status < 0 or means_shortage(stderr):
        return Unavailable(f"{words}. See to disk and memory of this machine")
    return Damaged(words)
