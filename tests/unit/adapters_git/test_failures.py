"""What git says, word for word, and what it means for the loop."""

import pytest

from reconciler.adapters.git import failures, verdicts, writing
from reconciler.cli.failures import paragraph_of
from reconciler.model.errors import Denied, Misconfigured, PortError, Unavailable

URL = "https://git.example/fleet"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("fatal: couldn't find remote ref refs/heads/main", Misconfigured),
        (f"fatal: repository '{URL}/' not found", Misconfigured),
        ("remote: Repository not found.\nfatal: repository 'x' not found", Misconfigured),
        (
            "ERROR: Repository not found.\nfatal: Could not read from remote repository.\n\n"
            "Please make sure you have the correct access rights\nand the repository exists.",
            Misconfigured,
        ),
        ("fatal: '/srv/x' does not appear to be a git repository", Misconfigured),
        ("fatal: unable to access 'x': The requested URL returned error: 404", Misconfigured),
        (f"fatal: Authentication failed for '{URL}/'", Denied),
        (f"fatal: could not read Username for '{URL}': terminal prompts disabled", Denied),
        ("git@h: Permission denied (publickey).\nfatal: Could not read from remote", Denied),
        (f"fatal: unable to access '{URL}/': The requested URL returned error: 403", Denied),
        ("Host key verification failed.\nfatal: Could not read from remote", Misconfigured),
        ("fatal: detected dubious ownership in repository at '/srv/x'", Denied),
        (f"fatal: unable to access '{URL}/': The requested URL returned error: 301", Misconfigured),
        (f"fatal: unable to access '{URL}/': Could not resolve host: git.example", Unavailable),
        ("ssh: Could not resolve hostname h: Temporary failure in name resolution", Unavailable),
        ("ssh: connect to host h port 22: Connection refused", Unavailable),
        (f"fatal: unable to access '{URL}/': The requested URL returned error: 429", Unavailable),
        ("error: RPC failed; HTTP 503 curl 22", Unavailable),
        ("fatal: unable to access 'x': Received HTTP code 407 from proxy after CONNECT", Denied),
        ("fatal: unable to access 'x': CONNECT tunnel failed, response 407", Denied),
        ("fatal: unable to access 'x': CONNECT tunnel failed, response 403", Denied),
        ("fatal: unable to access 'x': The requested URL returned error: 407", Denied),
        ("fatal: unable to access 'x': CONNECT tunnel failed, response 502", Unavailable),
        ("fatal: unable to access 'x': Could not resolve proxy: p.test", Unavailable),
        ("fatal: the remote end hung up unexpectedly", Unavailable),
        ("fatal: write error: No space left on device", Unavailable),
        ("fatal: unable to create thread: Resource temporarily unavailable", Unavailable),
        ("fatal: write error: File too large", Misconfigured),
        ("fatal: transport 'ext' not allowed", Misconfigured),
        ("fatal: mismatched algorithms: client sha1; server sha256", Misconfigured),
        ("", Unavailable),
    ],
)
def test_what_git_says_is_told_apart(said: str, kind: type[PortError]) -> None:
    error = failures.transport_failure(URL, "main", said)
    assert type(error) is kind
    assert URL in str(error)
    assert "'main'" in str(error)


def test_a_host_cannot_forge_lines_or_colours_in_a_message() -> None:
    error = failures.transport_failure(URL, "main", "remote: \x1b[31mred\x1b[0m\nremote: a\rb\x07")
    assert str(error).isprintable()


def test_a_host_cannot_flood_a_message() -> None:
    assert len(str(failures.transport_failure(URL, "main", "x" * 100_000))) < 700


def test_credentials_in_what_git_says_are_not_repeated() -> None:
    said = "fatal: unable to access 'https://bot:s3cret@git.example/fleet/': boom"
    assert "s3cret" not in str(failures.transport_failure(URL, "main", said))


def test_what_looks_like_a_token_in_what_git_says_is_not_repeated() -> None:
    said = "remote: token glpat-abcdefghij0123456789 expired\nfatal: Authentication failed\n"
    told = str(failures.transport_failure(URL, "main", said))
    assert "remote: token *** expired" in told
    assert "glpat" not in told


def test_words_are_judged_as_they_came_and_shown_without_secrets() -> None:
    said = "fatal: Authentication failed for 'x'"
    error = failures.transport_failure(URL, "main", said, hide=without("Authentication"))
    assert type(error) is Denied
    assert "fatal: *** failed" in str(error)


def test_a_secret_is_hidden_before_its_words_are_cut() -> None:
    said = "remote: s3cret" + "." * (failures._LOOKED_AT - 3)
    told = str(failures.transport_failure(URL, "main", said, hide=without("s3cret")))
    assert "ret" not in told.partition("example")[2]


def without(secret: str) -> failures.Hide:
    return lambda text: text.replace(secret, "***")


@pytest.mark.parametrize("doing", ["fetch", "push to"])
def test_no_next_try_is_promised_where_a_command_that_was_typed_makes_none(doing: str) -> None:
    error = failures.transport_failure(URL, "main", "error: 503", doing=doing)
    assert isinstance(error, Unavailable)
    told = paragraph_of(error)
    assert "is tried again" not in told
    assert told.endswith(". This may pass: try again.")


def test_a_fetch_says_of_no_command_that_something_stays_in_force() -> None:
    told = str(failures.transport_failure(URL, "main", "error: 503"))
    assert told.endswith(". A loop that runs goes on with what it fetched before")


BANNER = "@" * 59
OPEN_KEY = f"""{BANNER}
@         WARNING: UNPROTECTED PRIVATE KEY FILE!          @
{BANNER}
Permissions 0644 for '/run/key' are too open.
It is required that your private key files are NOT accessible by others.
This private key will be ignored.
Load key "/run/key": bad permissions
git@h: Permission denied (publickey).
fatal: Could not read from remote repository.
"""
OTHER_HOST = f"""{BANNER}
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
{BANNER}
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
Someone could be eavesdropping on you right now (man-in-the-middle attack)!
It is also possible that a host key has just been changed.
Host key verification failed.
fatal: Could not read from remote repository.
"""


@pytest.mark.parametrize(
    ("said", "words", "advice"),
    [
        pytest.param(OPEN_KEY, "Permissions 0644 for", "chmod 600 the key file", id="a key's mode"),
        pytest.param(
            OTHER_HOST,
            "SOMETHING NASTY",
            "shows another key than the known-hosts",
            id="another key",
        ),
        pytest.param(
            "Host key verification failed.", "", "add the host's key to the", id="no key is known"
        ),
    ],
)
def test_what_ssh_says_of_keys_has_its_own_advice(said: str, words: str, advice: str) -> None:
    error = failures.transport_failure("ssh://git@h/f", "main", said)
    told = str(error)
    assert type(error) is Misconfigured
    assert words in told
    assert advice in told.partition("To do: ")[2]
    assert "@@" not in told


def test_nor_where_this_machine_or_a_proxy_is_in_trouble() -> None:
    full = "fatal: write error: No space left on device"
    key = {"kind": "ssh", "key": "/key"}
    said = "fatal: unable to access 'x': Could not resolve proxy: p.test"
    with pytest.raises(Unavailable) as stored:
        verdicts.check(URL, "main", verdicts.Answer(), full)
    for error in (
        failures.transport_failure(URL, "main", said),
        failures.local_failure(128, full),
        writing._unsigned(key, full),
        stored.value,
    ):
        assert isinstance(error, Unavailable)
        assert "tried again" not in str(error)
        assert paragraph_of(error).endswith(". This may pass: try again.")


def test_what_git_ends_with_a_full_stop_has_one_of_ours() -> None:
    said = "ssh: no route.\nfatal: Could not read from remote repository.\n"
    told = str(failures.transport_failure(URL, "main", said))
    assert "ssh: no route; fatal: Could not read from remote repository. A loop that" in told
