"""What hosts answer to a push, word for word, and what it means."""

import pytest

from reconciler.adapters.git import verdicts
from reconciler.adapters.git.verdicts import Answer
from reconciler.model.errors import Conflict, Denied, Misconfigured, PortError, Unavailable

URL = "https://git.example/fleet"
REF = "refs/heads/main"
BOTH = f"1111111:{REF}"
GITEA = "remote: \nremote: Gitea: Not allowed to push to protected branch main\nremote: \n"
GITHUB = (
    "remote: error: GH006: Protected branch update failed for refs/heads/main.        \n"
    "remote: error: Changes must be made through a pull request.        \n"
    "To https://git.example/fleet\n"
)
GITLAB = (
    "remote: ========================================================================\n"
    "remote: \n"
    "remote: ERROR: \n"
    "remote: GitLab: You are not allowed to push code to protected branches on this project.\n"
    "remote: ========================================================================\n"
)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        pytest.param(
            f" \t{BOTH}\t1111111..2222222",
            Answer(" ", "1111111..2222222", "1111111..2222222"),
            id="a fast-forward",
        ),
        pytest.param(
            f"*\t{BOTH}\t[new branch]",
            Answer("*", "[new branch]", "[new branch]"),
            id="a new branch",
        ),
        pytest.param(
            f"!\t{BOTH}\t[rejected] (stale info)",
            Answer("!", "[rejected]", "stale info"),
            id="a lost race",
        ),
        pytest.param(
            f"!\t{BOTH}\t[remote rejected] (cannot lock ref 'x' (again))",
            Answer("!", "[remote rejected]", "cannot lock ref 'x' (again)"),
            id="brackets in a reason",
        ),
        pytest.param(
            "!\t1:refs/heads/other\t[rejected] (stale info)", Answer(), id="another branch"
        ),
        pytest.param("no line of a push", Answer(), id="anything else"),
    ],
)
def test_the_line_of_our_branch_is_found(line: str, answer: Answer) -> None:
    assert verdicts.parsed(f"To {URL}\n{line}\nDone\n", REF) == answer
    assert answer.taken == (answer.flag in {" ", "*"})


def refused(reason: str) -> Answer:
    return Answer("!", "[remote rejected]", reason)


@pytest.mark.parametrize(
    ("reason", "said", "kind", "shown"),
    [
        pytest.param(
            "pre-receive hook declined",
            GITEA,
            Denied,
            "Gitea: Not allowed to push to protected branch main",
            id="gitea protects",
        ),
        pytest.param(
            "protected branch hook declined",
            GITHUB,
            Denied,
            "error: Changes must be made through a pull request",
            id="github protects",
        ),
        pytest.param(
            "pre-receive hook declined",
            GITLAB,
            Denied,
            "GitLab: You are not allowed to push code to protected branches",
            id="gitlab protects",
        ),
        pytest.param(
            "unpacker error",
            "remote: fatal: write error: No space left on device\n",
            Unavailable,
            "No space left on device",
            id="the host's disk is full",
        ),
        pytest.param("pre-receive hook declined", "", Denied, "hook declined", id="a mute hook"),
    ],
)
def test_a_refusal_is_told_in_the_hosts_words(
    reason: str, said: str, kind: type[PortError], shown: str
) -> None:
    with pytest.raises(kind) as raised:
        verdicts.check(URL, "main", refused(reason), said)
    assert shown in str(raised.value)
    assert "====" not in str(raised.value)


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        pytest.param("failed to update ref", Conflict, id="somebody held the lock"),
        pytest.param(
            "cannot lock ref 'refs/heads/main': File exists", Conflict, id="the lock itself"
        ),
        pytest.param("we do not like it", Denied, id="words that nobody knows"),
    ],
)
def test_where_the_branch_did_not_move_the_words_decide(reason: str, kind: type[PortError]) -> None:
    verdicts.check(URL, "main", refused(reason), "")
    assert type(verdicts.unmoved(URL, "main", refused(reason), "")) is kind


def test_a_branch_below_the_name_of_another_is_a_mistake_and_no_race() -> None:
    there = "'refs/heads/main' exists; cannot create 'refs/heads/main/counts'"
    said = f"remote: error: cannot lock ref 'refs/heads/main/counts': {there}\n"
    told = verdicts.unmoved(URL, "main/counts", refused("failed to update ref"), said)
    assert type(told) is Misconfigured
    assert "'refs/heads/main' exists" in str(told)
    assert "writeBack.branch" in str(told)


def test_a_branch_that_moved_away_and_back_is_a_conflict() -> None:
    answer = Answer("!", "[rejected]", "stale info")
    assert type(verdicts.unmoved(URL, "main", answer, "")) is Conflict


def test_a_sentence_is_printable_short_and_without_colours() -> None:
    title = "\x1b]0;title\x07"
    said = f"remote: {title}\x1b[31mNo\x1b[0m\u202e way\x07{'!' * 5000}\x1b[K\nremote: https://a:b@c/\n"
    sentence = verdicts.sentence(refused("hook declined"), said)
    assert sentence.startswith("No  way")
    assert sentence.isprintable()
    assert len(sentence) <= 300
    assert "[31m" not in sentence
    told = verdicts.sentence(refused("x"), "remote: see https://bot:s3cret@git.example/x\n")
    assert told == "see https://***@git.example/x"


def test_a_sentence_repeats_no_secret_that_a_hook_says() -> None:
    said = "remote: no ticket; token=ghp_abcdefghijklmnopqrstuvwxyz012345 is known here\n"
    told = verdicts.sentence(refused("pre-receive hook declined"), said)
    assert told == "no ticket; token=*** is known here"


@pytest.mark.parametrize("secret", ["remote:", "s3cr  et", "hunter2"])
def test_a_sentence_is_found_and_then_shown_without_what_we_authenticated_by(secret: str) -> None:
    said = f"remote: the word \x1b[0m{secret[:3]}\x1b[1m{secret[3:]} is old\n"
    told = verdicts.sentence(refused("x"), said, lambda text: text.replace(secret, "***"))
    assert told == "the word *** is old"


def test_a_reason_is_judged_as_it_was_said_and_shown_without_secrets() -> None:
    answer = refused("hook declined by hunter2")
    with pytest.raises(Denied) as raised:
        verdicts.check(URL, "main", answer, "", lambda text: text.replace("declined", "***"))
    assert "hook *** by hunter2" in str(raised.value)
