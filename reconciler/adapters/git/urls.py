"""Which repository addresses we speak to, and how an address is shown to people."""

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from reconciler.model.errors import Misconfigured

_SCP_LIKE = re.compile(r"^(?:(?P<user>[A-Za-z0-9_][\w.-]*)@)?(?P<host>[^:/@\s]+):(?P<path>[^\s]+)$")
_HOST = re.compile(
    r"^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*)$"
)
_USERINFO = re.compile(r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+]{1,9}://)[^/\s]*@")
_BRANCH = re.compile(
    r"^(?!.*(\.\.|//|@\{|/\.|\.lock(/|$)))[^\x00-\x20\x7f~^:?*\[\\./-][^\x00-\x20\x7f~^:?*\[\\]*$"
)
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_TRANSPORTS = frozenset({"https", "http", "ssh", "file"})
_ALLOWED = "https://, ssh://, user@host:path, file:// and absolute paths"


@dataclass(frozen=True, slots=True)
class Address:
    """A checked address. `url` is free of passwords and safe as an argument of git."""

    url: str
    scheme: str
    username: str = ""
    password: str = ""

    def __repr__(self) -> str:
        return f"Address({self.url!r})"


def redacted(text: str) -> str:
    """Return `text` with the userinfo of every URL in it replaced by ***."""
    return _USERINFO.sub(r"\g<scheme>***@", text)


def checked(url: str, *, plain_http: bool = False) -> Address:
    """Check an address against the allow-list and take the password out of it.

    Plain http is for loopback only, unless `plain_http`. Raises Misconfigured.
    """
    if not url or url.startswith("-") or any(ord(c) < 33 or ord(c) == 127 for c in url):
        raise _refused(url, "it is empty, starts with '-' or holds a space or control character")
    if url.startswith("/"):
        return Address(url, "file")
    if "://" not in url:
        return _checked_scp_like(url)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        # Its words repeat what stands there, be it a password: `bot:s3/cret@` has the port `s3`.
        raise _refused(url, "its host or its port cannot be read") from None
    if parts.scheme == "file":
        return _checked_file(url, parts.netloc, parts.path)
    if parts.scheme == "http" and host not in _LOOPBACK and not plain_http:
        raise _refused(url, "plain http would show content and credentials to everyone; use https")
    return _checked_remote(url, parts, host)


def check_branch(branch: str) -> str:
    """Return `branch` when git would take it as a branch name. Raises Misconfigured."""
    if len(branch) > 200 or not _BRANCH.match(branch) or branch.endswith(("/", ".")):
        raise Misconfigured(f"{branch!r} is no branch name: give a name such as 'main'")
    return branch


def check_revision(revision: str) -> str:
    """Return `revision` when it is safe as an argument of git. Raises Misconfigured."""
    hidden = any(ord(c) < 32 or ord(c) == 127 for c in revision)
    if not revision or len(revision) > 400 or revision.startswith("-") or hidden:
        raise Misconfigured(f"{revision!r} is no revision: give a commit id, branch or tag")
    return revision


def _checked_scp_like(url: str) -> Address:
    match = _SCP_LIKE.match(url)
    if match is None or url.partition(":")[2].startswith(":") or not _HOST.match(match["host"]):
        raise _refused(url, "its form is unknown (a local path must be absolute)")
    # An address that lost its https:// reads so as well: bot:password@host/path, and with a mail
    # address as user me@corp:password@host/path. Before git@host:fleet@v2.git no https:// belongs.
    if re.search(r".@.*/" if match["user"] else "@", match["path"]):
        ways = "ssh://host/path" if match["user"] else "ssh://host/path or user@host:path"
        raise _refused(
            url,
            "what stands before its @ may be a password: write https:// before it,"
            f" or {ways} where it is one of ssh",
        )
    if match["path"].startswith("-") or "\\" in match["path"]:
        raise _refused(url, "its path starts with '-' or holds a backslash")
    if match["host"] in _TRANSPORTS:
        raise _refused(url, "a transport is followed by ://")
    return Address(url, "ssh", match["user"] or "")


def _checked_remote(url: str, parts: SplitResult, host: str) -> Address:
    user = unquote(parts.username or "")
    if parts.scheme not in ("https", "http", "ssh"):
        raise _refused(url, f"'{parts.scheme}' is no transport we use")
    if not _HOST.match(host) or not parts.path.strip("/"):
        raise _refused(url, "it has no usable host or no path")
    if parts.query or parts.fragment:
        raise _refused(url, "it has a query or fragment")
    if user.startswith("-"):
        raise _refused(url, "the user name starts with '-'")
    if parts.scheme != "ssh" and "@" in parts.path:
        # What stands before it may be a password: bot:12/cret@host has the port 12.
        raise _refused(url, "its path holds an @: write %2F for a slash of a password, or %40")
    address = parts.netloc.rpartition("@")[2]
    if parts.scheme == "ssh" and user:
        address = f"{parts.username}@{address}"
    clean = urlunsplit((parts.scheme, address, parts.path, "", ""))
    return Address(clean, parts.scheme, user, unquote(parts.password or ""))


def _checked_file(url: str, host: str, path: str) -> Address:
    if host not in ("", "localhost") or not path.startswith("/"):
        raise _refused(url, "a file URL is file:///absolute/path")
    return Address(f"file://{path}", "file")


def _refused(url: str, reason: str) -> Misconfigured:
    # Up to the last @: a password that was not escaped may hold a slash.
    shown = re.sub(r"\A(\w[\w+.-]*://)?.*@", r"\1***@", url, flags=re.DOTALL)
    shown = re.sub(r"[?#].*", "?***", shown, flags=re.DOTALL)[:200]  # of some hosts the token
    return Misconfigured(f"repository URL {shown!r} is refused: {reason}. Allowed: {_ALLOWED}")
