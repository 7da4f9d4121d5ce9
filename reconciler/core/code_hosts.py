"""Which repository of which code host a clone address names, and how a status is set there.

A status is a claim about a commit, so its address is read strictly: what could mean another
repository is refused.
"""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from reconciler.core.addresses import is_loopback
from reconciler.core.egress import Place, place_of
from reconciler.model.notifications import CommitState, Verdict


class Host(StrEnum):
    """A kind of code host; a label of metrics too."""

    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"


_KNOWN = {
    "github.com": Host.GITHUB,
    "gitlab.com": Host.GITLAB,
    "gitea.com": Host.GITEA,
    "codeberg.org": Host.GITEA,
}
_APIS = {Host.GITHUB: "/api/v3", Host.GITLAB: "/api/v4", Host.GITEA: "/api/v1"}
_GITHUB_API = "https://api.github.com"
_SSH = re.compile(
    r"(?:ssh://)?(?:[A-Za-z0-9_][\w.-]*@)?(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*)"
    r"(?::(?P<port>[0-9]{1,5})(?=/))?[:/](?P<path>[^:]+)"
)
_STEP = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_MOST_STEPS = 20
_GITLAB_STATES = {CommitState.FAILURE: "failed", CommitState.ERROR: "failed"}


@dataclass(frozen=True, slots=True)
class Hosted:
    """A repository on a code host: where its API is, and the steps of its path (owner, name)."""

    host: Host
    api: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StatusRequest:
    """A POST that sets a status, without what proves who we are."""

    url: str
    headers: dict[str, str]
    body: dict[str, str] = field(repr=False)


class Unhosted(Exception):
    """An address names no repository of a host that we know; the message says what to write."""


def hosted_of(
    repository: str, asked: Literal["auto", "github", "gitlab", "gitea"], api_url: str = ""
) -> Hosted:
    """Return where the statuses of a repository are set, by its clone address. Raises Unhosted."""
    origin, path = _taken_apart(repository)
    host = Host(asked) if asked != "auto" else _KNOWN.get(origin.partition("://")[2])
    if host is None:
        raise Unhosted("its host is not known: write --commit-status=github, gitlab or gitea")
    steps = tuple(path.strip("/").removesuffix(".git").split("/"))
    fits = len(steps) == 2 or (host is Host.GITLAB and 2 < len(steps) <= _MOST_STEPS)
    if not fits or not all(_is_step(step) for step in steps):
        raise Unhosted(f"its path is no {'group/name' if host is Host.GITLAB else 'owner/name'}")
    return Hosted(host, _api(host, origin, api_url), steps)


def request_of(hosted: Hosted, verdict: Verdict, context: str, target_url: str) -> StatusRequest:
    """Return the request that sets a commit's status. Raises Unhosted for what is no commit."""
    if not _COMMIT.fullmatch(verdict.commit):
        raise Unhosted("there is no commit to set a status of")
    state, body = str(verdict.state), {"description": verdict.description}
    if target_url:
        body["target_url"] = target_url
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if hosted.host is Host.GITLAB:
        project = "%2F".join(hosted.steps)
        url = f"{hosted.api}/projects/{project}/statuses/{verdict.commit}"
        return StatusRequest(
            url, headers, {**body, "state": _GITLAB_STATES.get(verdict.state, state),
                           "name": context},
        )  # fmt: skip
    if hosted.host is Host.GITHUB:
        headers |= {
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
    url = f"{hosted.api}/repos/{'/'.join(hosted.steps)}/statuses/{verdict.commit}"
    return StatusRequest(url, headers, {**body, "state": state, "context": context})


def proof_of(host: Host, token: str) -> dict[str, str]:
    """Return the header that shows a token to a host."""
    if host is Host.GITLAB:
        return {"PRIVATE-TOKEN": token}
    return {"Authorization": f"{'Bearer' if host is Host.GITHUB else 'token'} {token}"}


def _taken_apart(repository: str) -> tuple[str, str]:
    """Return scheme://host[:port] of the web server and the path. Raises Unhosted."""
    if repository.startswith(("https://", "http://")):
        place = place_of(repository)
        if place is None or "?" in place.path:
            raise Unhosted("its address cannot be read")
        return _web(place), place.path
    found = _SSH.fullmatch(repository)
    if found is None or "://" in found["path"] or repository.startswith("/"):
        raise Unhosted("its address is none of https://, ssh:// or user@host:path")
    # The port of ssh says nothing of the API's.
    return f"https://{found['host'].lower()}", found["path"]


def _api(host: Host, origin: str, api_url: str) -> str:
    if not api_url:
        return _GITHUB_API if origin == "https://github.com" else origin + _APIS[host]
    place = place_of(api_url.rstrip("/"))
    if place is None or "?" in place.path:
        raise Unhosted("--commit-status-url is no address: write https://git.example.com/api/v1")
    return (_web(place) + place.path).rstrip("/")


def is_open(hosted: Hosted) -> bool:
    """Whether a token on its way there could be read by everyone."""
    place = place_of(hosted.api)
    if place is None or place.origin.scheme == "https":
        return False
    return not (is_loopback(place.origin.host) or place.origin.host == "localhost")


def _web(place: Place) -> str:
    written = place.origin.written
    return written if "://" in written else f"https://{written}"


def _is_step(step: str) -> bool:
    return _STEP.fullmatch(step) is not None and not step.endswith((".git", "."))
