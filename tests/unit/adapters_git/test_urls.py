"""Addresses, branches and revisions that reach git, and those that never do."""

import re

import pytest

from reconciler.adapters.git import urls
from reconciler.model.errors import Misconfigured


@pytest.mark.parametrize(
    ("url", "scheme", "passed"),
    [
        ("https://git.example/team/fleet.git", "https", "https://git.example/team/fleet.git"),
        ("https://git.example:8443/f", "https", "https://git.example:8443/f"),
        ("https://bot:s3@git.example/f", "https", "https://git.example/f"),
        ("ssh://git@git.example:22/f", "ssh", "ssh://git@git.example:22/f"),
        ("ssh://git:pw@git.example/f", "ssh", "ssh://git@git.example/f"),
        ("git@git.example:team/fleet.git", "ssh", "git@git.example:team/fleet.git"),
        ("https://[2001:db8::1]/f", "https", "https://[2001:db8::1]/f"),
        ("file:///srv/fleet.git", "file", "file:///srv/fleet.git"),
        ("/srv/fleet.git", "file", "/srv/fleet.git"),
        ("http://127.0.0.1:8080/f", "http", "http://127.0.0.1:8080/f"),
        ("http://localhost/f", "http", "http://localhost/f"),
    ],
)
def test_an_allowed_address_goes_to_git_without_its_password(
    url: str, scheme: str, passed: str
) -> None:
    address = urls.checked(url)
    assert (address.scheme, address.url) == (scheme, passed)


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("", id="empty"),
        pytest.param("ext::sh -c id", id="a transport that runs a command"),
        pytest.param("ext::sh", id="a transport that runs a command, without a space"),
        pytest.param("fd::17/foo", id="a transport over a descriptor"),
        pytest.param("--upload-pack=id", id="an option"),
        pytest.param("-uid", id="a short option"),
        pytest.param("ssh://-oProxyCommand=id/x", id="a host that ssh takes for an option"),
        pytest.param("ssh://-l@git.example/x", id="a user that ssh takes for an option"),
        pytest.param("ssh://%2doProxyCommand=id/x", id="a host that is an option once decoded"),
        pytest.param("-oProxyCommand=id:x", id="a scp-like option"),
        pytest.param("git@-oProxyCommand=id:x", id="a scp-like host that is an option"),
        pytest.param("git@git.example:-x", id="a scp-like path that is an option"),
        pytest.param("git.example::x", id="a scp-like remote helper"),
        pytest.param("http://git.example/f", id="plain http to a host elsewhere"),
        pytest.param("http://localhost.example/f", id="plain http to a host that looks local"),
        pytest.param("http://127.0.0.1@git.example/f", id="plain http with a local user name"),
        pytest.param("git://git.example/f", id="the git protocol without encryption"),
        pytest.param("ftp://git.example/f", id="ftp"),
        pytest.param("https:///f", id="no host"),
        pytest.param("https://git.example", id="no path"),
        pytest.param("https://git.example/f?x=1", id="a query"),
        pytest.param("https://git.example/f#x", id="a fragment"),
        pytest.param("https://git.example:x/f", id="a port that is no number"),
        pytest.param("https://git.example/f\nx", id="a line break"),
        pytest.param("https://git.example/a b", id="a space"),
        pytest.param("https://a;id/f", id="a host with a shell's separator"),
        pytest.param("file://elsewhere/srv", id="a file on another host"),
        pytest.param("file:relative", id="a file URL without slashes"),
        pytest.param("fleet", id="a relative path"),
        pytest.param("../fleet", id="a relative path upwards"),
        pytest.param("C:\\fleet", id="a drive letter"),
    ],
)
def test_any_other_address_is_refused_with_what_is_allowed(url: str) -> None:
    with pytest.raises(Misconfigured, match="Allowed: https://"):
        urls.checked(url)


def test_plain_http_elsewhere_needs_the_process_setting() -> None:
    assert urls.checked("http://git.example/f", plain_http=True).scheme == "http"


def test_a_refusal_and_a_representation_do_not_show_the_password() -> None:
    with pytest.raises(Misconfigured) as caught:
        urls.checked("https://bot:s3cret@git.example/f?x=1")
    assert "s3cret" not in str(caught.value)
    assert "bot" not in str(caught.value)
    address = urls.checked("https://bot:s3cret@git.example/f")
    assert (address.username, address.password) == ("bot", "s3cret")
    assert "s3cret" not in repr(address)


@pytest.mark.parametrize("password", ["s3/cret", "s3@cret", "s3#cret", "s3?cret"])
def test_a_password_that_should_be_escaped_is_not_shown_by_the_refusal(password: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        urls.checked(f"http://bot:{password}@git.example/f")
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("bot:s3cret@git.example/team/fleet.git", id="git would take bot for a host"),
        pytest.param("bot:s3/cret@git.example/fleet.git", id="a slash in the password"),
        pytest.param("bot:s3@cret@git.example/fleet.git", id="an @ in the password"),
        pytest.param("bot:s3cret@git.example", id="no path"),
        pytest.param("me@corp.example:s3cret@git.example/fleet.git", id="a mail address as user"),
        pytest.param("me@corp.example:s3/cret@git.example/f", id="a mail address, and a slash"),
        pytest.param(
            "me@corp.example:@s3cret@git.example/f", id="a password that begins with an @"
        ),
        pytest.param("s3cret:@git.example/fleet.git", id="a token as user"),
    ],
)
def test_an_address_whose_scheme_was_forgotten_is_no_host_and_path(url: str) -> None:
    """All that is told of a host and path holds them whole."""
    with pytest.raises(Misconfigured, match="write https:// before it") as caught:
        urls.checked(url)
    assert "s3" not in str(caught.value)
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("s3cret@git.example/team/fleet.git", "***@git.example/team/fleet.git"),
        ("bot:s3://cret@git.example/fleet.git", "***@git.example/fleet.git"),
        ("https://bot:s3/cret@git.example/f", "https://***@git.example/f"),
        ("https://bot:s3\u2100cret@git.example/f", "https://***@git.example/f"),
        ("https://bot:12/s3cret@git.example/f", "https://***@git.example/f"),
        ("https://s3/cret@git.example/f", "https://***@git.example/f"),
        ("https://git.example/f?private_token=s3cret", "https://git.example/f?***"),
        ("https://git.example/f#s3cret", "https://git.example/f?***"),
    ],
)
def test_an_address_that_cannot_be_read_is_shown_without_what_may_be_its_password(
    url: str, shown: str
) -> None:
    with pytest.raises(Misconfigured, match=f"URL '{re.escape(shown)}' is refused") as caught:
        urls.checked(url)
    assert "s3" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("url", "ways"),
    [
        ("host:x@v1", ("ssh://host/x@v1", "git@host:x@v1")),
        ("gh:@scope/fleet.git", ("ssh://gh/@scope/fleet.git", "git@gh:@scope/fleet.git")),
        ("git@host:team@eu/fleet.git", ("ssh://git@host/team@eu/fleet.git",)),
    ],
)
def test_a_path_of_ssh_with_an_at_sign_is_told_how_it_can_be_written(
    url: str, ways: tuple[str, ...]
) -> None:
    with pytest.raises(Misconfigured) as caught:
        urls.checked(url)
    reason = str(caught.value).partition("is refused: ")[2].partition(". Allowed")[0]
    assert "ssh://host/path" in reason
    assert ("or user@host:path" in reason) == (len(ways) > 1)
    for way in ways:
        assert urls.checked(way).url == way


def test_an_escaped_password_is_what_the_host_wants_to_hear() -> None:
    assert urls.checked("https://bot:a%40b%2F@git.example/f").password == "a@b/"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://bot:pw@h/x failed", "https://***@h/x failed"),
        ("a ssh://git@h/x b https://t0ken@h/y", "a ssh://***@h/x b https://***@h/y"),
        ("https://h/x@y", "https://h/x@y"),
        ("https://bot:p@w@h/x failed", "https://***@h/x failed"),
        ("nothing here", "nothing here"),
    ],
)
def test_userinfo_is_taken_out_of_every_url_of_a_text(text: str, shown: str) -> None:
    assert urls.redacted(text) == shown


@pytest.mark.parametrize("branch", ["main", "release/1.2", "feature/a_b-c", "ünïcode", "a@b"])
def test_a_branch_name_that_git_takes_is_taken(branch: str) -> None:
    assert urls.check_branch(branch) == branch


@pytest.mark.parametrize(
    "branch",
    [
        *("", "-x", "--all", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a/"),
        *("/a", "a.lock", "a.lock/b", "a//b", "a/.b", ".a", "a.", "a@{1}", "a\x00", "a\x7f"),
        "x" * 201,
    ],
)
def test_a_branch_name_that_git_does_not_take_is_misconfigured(branch: str) -> None:
    with pytest.raises(Misconfigured, match="no branch name"):
        urls.check_branch(branch)
