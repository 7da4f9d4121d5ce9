"""Which repository a clone address names, and the requests that set a status there.

The shapes are those of GitHub's and GitLab's own documents of their APIs; Gitea's is tried on a
real one (tests/codehost).
"""

from typing import Literal

import pytest

from reconciler.core.code_hosts import (
    Host,
    Hosted,
    Unhosted,
    hosted_of,
    is_open,
    proof_of,
    request_of,
)
from reconciler.model.notifications import CommitState, Verdict

COMMIT = "ab" * 20
Asked = Literal["auto", "github", "gitlab", "gitea"]


@pytest.mark.parametrize(
    ("repository", "asked", "api", "steps"),
    [
        pytest.param("https://github.com/studio/fleet.git", "auto",
                     "https://api.github.com", ("studio", "fleet"), id="GitHub"),
        pytest.param("git@github.com:studio/fleet.git", "auto",
                     "https://api.github.com", ("studio", "fleet"), id="GitHub by ssh"),
        pytest.param("https://gitlab.com/studio/games/fleet", "auto",
                     "https://gitlab.com/api/v4", ("studio", "games", "fleet"), id="GitLab"),
        pytest.param("ssh://git@git.example.com:2222/studio/fleet.git", "gitlab",
                     "https://git.example.com/api/v4", ("studio", "fleet"), id="a port of ssh"),
        pytest.param("https://codeberg.org/studio/fleet/", "auto",
                     "https://codeberg.org/api/v1", ("studio", "fleet"), id="Codeberg"),
        pytest.param("https://ghe.example.com/studio/fleet.git", "github",
                     "https://ghe.example.com/api/v3", ("studio", "fleet"), id="GitHub of ours"),
        pytest.param("http://127.0.0.1:3000/studio/fleet.git", "gitea",
                     "http://127.0.0.1:3000/api/v1", ("studio", "fleet"), id="a Gitea here"),
    ],
)  # fmt: skip
def test_a_clone_address_names_one_repository(
    repository: str, asked: Asked, api: str, steps: tuple[str, ...]
) -> None:
    hosted = hosted_of(repository, asked)
    assert (hosted.api, hosted.steps) == (api, steps)


@pytest.mark.parametrize(
    ("repository", "asked"),
    [
        pytest.param("https://git.example.com/studio/fleet.git", "auto", id="an unknown host"),
        pytest.param("https://github.com.evil.example/studio/fleet", "auto", id="a look-alike"),
        pytest.param("https://github.com/studio/fleet/../../other/repo", "auto", id="dots"),
        pytest.param("https://github.com/studio/..", "auto", id="a parent"),
        pytest.param("https://github.com/studio", "auto", id="no name"),
        pytest.param("https://github.com/studio/games/fleet", "auto", id="too many steps"),
        pytest.param("https://github.com/studio/fl%2Feet", "auto", id="an escape"),
        pytest.param("https://github.com/studio/fleet?x=/y/z", "auto", id="a query"),
        pytest.param("https://github.com/studio/fleet#x", "auto", id="a fragment"),
        pytest.param("https://github.com/studio//fleet", "auto", id="an empty step"),
        pytest.param("https://me:pw@github.com/studio/fleet", "auto", id="a user"),
        pytest.param("/srv/git/fleet.git", "gitea", id="a path"),
        pytest.param("file:///srv/git/fleet.git", "gitea", id="a file"),
        pytest.param("git@github.com:studio/fleet:x", "auto", id="a second colon"),
        pytest.param("git@github.com:stu dio/fleet", "auto", id="a space"),
        pytest.param("git@github.com:studio/fleet\n", "auto", id="a line"),
    ],
)
def test_what_could_mean_another_repository_is_refused(repository: str, asked: Asked) -> None:
    with pytest.raises(Unhosted):
        hosted_of(repository, asked)


def test_another_address_of_the_api_is_the_operators() -> None:
    hosted = hosted_of("git@git.example.com:a/b", "gitea", "https://code.example.com/gitea/api/v1/")
    assert hosted.api == "https://code.example.com/gitea/api/v1"
    with pytest.raises(Unhosted, match="--commit-status-url"):
        hosted_of("git@git.example.com:a/b", "gitea", "code.example.com")


def test_a_token_is_not_for_everyone_to_see() -> None:
    assert is_open(Hosted(Host.GITEA, "http://git.example.com/api/v1", ("a", "b")))
    assert not is_open(Hosted(Host.GITEA, "http://127.0.0.1:3000/api/v1", ("a", "b")))
    assert not is_open(Hosted(Host.GITEA, "https://git.example.com/api/v1", ("a", "b")))


VERDICT = Verdict(COMMIT, CommitState.ERROR, "held", "x")


def test_a_request_to_github() -> None:
    request = request_of(hosted_of("https://github.com/a/b", "auto"), VERDICT, "gamekeeper/m/l", "")
    assert request.url == f"https://api.github.com/repos/a/b/statuses/{COMMIT}"
    assert request.headers["Accept"] == "application/vnd.github+json"
    assert request.body == {"state": "error", "description": "held", "context": "gamekeeper/m/l"}
    assert proof_of(Host.GITHUB, "t") == {"Authorization": "Bearer t"}


def test_a_request_to_gitlab_which_knows_no_error() -> None:
    hosted = hosted_of("https://gitlab.com/a/b/c", "auto")
    request = request_of(hosted, VERDICT, "gamekeeper/m/l", "https://d.example.com/")
    assert request.url == f"https://gitlab.com/api/v4/projects/a%2Fb%2Fc/statuses/{COMMIT}"
    assert request.body == {
        "state": "failed",
        "description": "held",
        "name": "gamekeeper/m/l",
        "target_url": "https://d.example.com/",
    }
    assert proof_of(Host.GITLAB, "t") == {"PRIVATE-TOKEN": "t"}


@pytest.mark.parametrize("commit", ["", "main", "a" * 39, "../x", "AB" * 20])
def test_only_a_commit_has_a_status(commit: str) -> None:
    hosted = hosted_of("https://github.com/a/b", "auto")
    with pytest.raises(Unhosted):
        request_of(hosted, Verdict(commit, CommitState.PENDING, "", ""), "c", "")
