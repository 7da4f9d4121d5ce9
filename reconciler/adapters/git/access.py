"""How git authenticates: environment and configuration of a mirror; no secret in an argv."""

import errno
import os
import shlex
import stat
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import unquote, urlsplit

from reconciler.adapters.git.source import Source
from reconciler.adapters.git.urls import Address
from reconciler.adapters.proxy_urls import HTTP_SCHEMES, checked_proxy, with_scheme
from reconciler.model.errors import Denied, Misconfigured
from reconciler.model.hiding import hidden

PROXIES = ("https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY")
"""The variables by which git finds a proxy. It reads no HTTP_PROXY: a web server's request may
set that."""
PROXY_SCHEMES = (*HTTP_SCHEMES, "socks4", "socks4a", "socks5", "socks5h")

# Asked by git for a user name and password; it reads the token anew each time. Of the repository's
# host alone: git asks it too for what the address of a proxy leaves out.
_CREDENTIAL_HELPER = (
    '!f() { test \\"$1\\" = get || return 0; '
    'grep -qxF \\"host=$GAMEKEEPER_GIT_HOST\\" || return 0; '
    'printf \\"username=%s\\\\n\\" \\"$GAMEKEEPER_GIT_USERNAME\\"; '
    'if test -n \\"$GAMEKEEPER_GIT_TOKEN_FILE\\"; '
    'then printf \\"password=%s\\\\n\\" \\"$(head -n 1 \\"$GAMEKEEPER_GIT_TOKEN_FILE\\")\\"; '
    'else printf \\"password=%s\\\\n\\" \\"$GAMEKEEPER_GIT_PASSWORD\\"; fi; }; f'
)

_LONGEST_LINE = 65_536
_LEAST_SECRET, _LEAST_TOKEN = 4, 20

_CONFIGURATION = f"""\
[core]
\trepositoryFormatVersion = 0
\tbare = true
\thooksPath = /dev/null
\tfsync = committed
\tbigFileThreshold = 1m
[protocol]
\tallow = never
[http]
\tfollowRedirects = false
\tlowSpeedLimit = 1
\tlowSpeedTime = 30
[fetch]
\trecurseSubmodules = false
\twriteCommitGraph = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[credential]
\thelper = "{_CREDENTIAL_HELPER}"
"""


def configuration(address: Address, *, credentials: bool) -> str:
    """Return the mirror's own configuration: one transport, no hooks, no redirects."""
    text = _CONFIGURATION if credentials else _CONFIGURATION.partition("[credential]")[0]
    return f'{text}[protocol "{address.scheme}"]\n\tallow = always\n'


def environment(source: Source, address: Address) -> Mapping[str, str]:
    """Return the environment of git for one fetch.

    Raises Denied for an unreadable secret, Misconfigured for a proxy that is of no use.
    """
    found = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ALLOW_PROTOCOL": address.scheme,
        "GIT_SSH_COMMAND": _ssh_command(source),
        "GIT_SSH_VARIANT": "ssh",
    }
    if address.scheme in HTTP_SCHEMES:
        found |= _proxies()
        if source.token_file:
            _check_readable(source.token_file, "token file")
            _check_token(source.token_file)
        if source.certificate_authority_file:
            _check_readable(source.certificate_authority_file, "certificate authority file")
            found["GIT_SSL_CAINFO"] = source.certificate_authority_file
        found["GAMEKEEPER_GIT_HOST"] = urlsplit(address.url).netloc
        found["GAMEKEEPER_GIT_USERNAME"] = address.username or source.username
        found["GAMEKEEPER_GIT_TOKEN_FILE"] = source.token_file
        found["GAMEKEEPER_GIT_PASSWORD"] = address.password
    return found


def without_secrets(text: str, source: Source, address: Address) -> str:
    """Return what git said without what it authenticated by: a host may say back what it heard.

    A word of a few letters stays, for git's own words may hold it: it keeps nobody out. What git
    said is judged as it came (failures, verdicts): a password may be a word of the host's.
    """
    name, found = address.username or source.username, [address.password]
    with suppress(OSError):
        if source.token_file:
            with open(source.token_file, encoding="utf-8", errors="replace") as stream:
                found.append(stream.readline(_LONGEST_LINE).strip())
    pairs = [(name, word) for word in found if word]
    if address.scheme in HTTP_SCHEMES:
        pairs += _proxy_logins()
    words = [each for name, word in pairs for each in (f"{name}:{word}", word)]
    # Some hosts take a token as the name, and any password.
    words += [name] if len(name) >= _LEAST_TOKEN else []
    return hidden(text, [word for word in words if len(word) >= _LEAST_SECRET])


def _proxies() -> dict[str, str]:
    """Return the proxies of this process, checked: git would pass by one that it cannot read, or
    tell a part of its password.
    """
    named = {name: os.environ[name] for name in PROXIES if os.environ.get(name)}
    return {
        name: checked_proxy(with_scheme(text), name, PROXY_SCHEMES) for name, text in named.items()
    }


def _proxy_logins() -> list[tuple[str, str]]:
    """Return the user and password of each proxy of this process that asks for one."""
    parts = [urlsplit(proxy) for proxy in _proxies().values()]
    return [
        (unquote(each.username or ""), unquote(each.password)) for each in parts if each.password
    ]


def _ssh_command(source: Source) -> str:
    options = [
        "BatchMode=yes",
        "StrictHostKeyChecking=yes",
        "ConnectTimeout=15",
        "ServerAliveInterval=10",
        "ServerAliveCountMax=2",
        "ForwardAgent=no",
        "ClearAllForwardings=yes",
        "PermitLocalCommand=no",
    ]
    words = ["ssh"]
    if source.known_hosts_file:
        _check_readable(source.known_hosts_file, "known-hosts file")
        options += [
            f"UserKnownHostsFile={_quoted_for_ssh(source.known_hosts_file)}",
            "GlobalKnownHostsFile=/dev/null",
        ]
    if source.ssh_key_file:
        _check_readable(source.ssh_key_file, "SSH key file")
        options += ["IdentitiesOnly=yes", "IdentityAgent=none"]
        words += ["-F", "/dev/null", "-i", source.ssh_key_file]
    for option in options:
        words += ["-o", option]
    return shlex.join(words)


def _quoted_for_ssh(path: str) -> str:
    if '"' in path:
        raise Misconfigured(f"the path {path!r} holds a quote, which ssh cannot take")
    return f'"{path}"' if " " in path else path


def _check_readable(path: str, what: str) -> None:
    try:
        # Asked for, not opened: to open what is no plain file may wait for ever.
        is_folder = stat.S_ISDIR(os.stat(path).st_mode)
    except OSError as error:
        why = error.strerror
    else:
        why = os.strerror(errno.EISDIR if is_folder else errno.EACCES)
        if not is_folder and os.access(path, os.R_OK):
            return
    raise Denied(
        f"the {what} {path} cannot be read ({why}): mount it, or correct its path, owner and mode"
    )


def _check_token(path: str) -> None:
    """Raise Denied for a first line that the host would refuse without telling which file it is."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            line = stream.readline(_LONGEST_LINE).rstrip("\r\n")
    except OSError as error:
        raise Denied(f"the token file {path} cannot be read: {error.strerror}") from error
    if not line.strip():
        raise Denied(f"the first line of the token file {path} is empty: write the token there")
    if line != line.strip().removeprefix("\ufeff"):
        raise Denied(
            f"the first line of the token file {path} has spaces or a byte order mark around the "
            "token: take them out"
        )
