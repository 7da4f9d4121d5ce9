import sys

import pytest

from reconciler.cli import init, main
from reconciler.cli.failures import Failure, known_of, paragraph_of
from reconciler.cli.prompts import confirm
from reconciler.model.errors import Conflict, Denied, Misconfigured, Mistaken, Unavailable
from reconciler.setting_rows import BadSetting
from tests.unit.cli.screens import Screen, console, text_of


@pytest.mark.parametrize(
    ("error", "paragraph"),
    [
        pytest.param(
            Failure("cannot serve", "The port is taken", "Choose another"),
            "cannot serve. The port is taken. Choose another.",
            id="what, why and what to do are sentences",
        ),
        pytest.param(
            Misconfigured("no such branch: x\n\nsay another"),
            "no such branch: x say another.",
            id="one paragraph, whatever the message",
        ),
        pytest.param(
            Mistaken("n.yaml:7:5: error: a\n  b\nn.yaml:9:5: error: c"),
            "n.yaml:7:5: error: a\n  b\nn.yaml:9:5: error: c",
            id="each mistake of a file on lines of its own",
        ),
        pytest.param(
            Unavailable("git is down"), "git is down. This may pass: try again.", id="unavailable"
        ),
        pytest.param(
            Conflict("taken"),
            "taken. Somebody else changed it meanwhile: run the command again.",
            id="conflict",
        ),
        pytest.param(
            Denied("no"),
            "no. Check the credentials that the flags and the environment name.",
            id="denied",
        ),
        pytest.param(
            FileNotFoundError(2, "No such file or directory", "/x"),
            "/x: No such file or directory.",
            id="a file that is not there",
        ),
        pytest.param(
            OSError(24, "Too many open files"),
            "Too many open files. Let this process open more: `ulimit -n 256` or higher.",
            id="a limit that is too low",
        ),
        pytest.param(
            Failure("my-fleet is not empty", "init never writes over it"),
            "my-fleet is not empty. init never writes over it.",
            id="a user's own word is never given a capital",
        ),
        pytest.param(
            Unavailable("list Pod: https://u:hunter2@api and /x?code=hunter2 tell nothing"),
            "list Pod: https://***@api and /x?code=*** tell nothing. This may pass: try again.",
            id="a password in an address is masked",
        ),
        pytest.param(BadSetting("--qps is 0"), "--qps is 0.", id="a flag stays as it is spelled"),
    ],
)
def test_a_failure_is_one_paragraph(error: Exception, paragraph: str) -> None:
    assert paragraph_of(error) == paragraph


def test_of_tasks_that_failed_together_the_first_is_told() -> None:
    first = Unavailable("git is down")
    inner = ExceptionGroup("views", [first, OSError(24, "Too many open files")])
    assert known_of(ExceptionGroup("lanes", [inner])) is first


def test_a_defect_among_failures_shows_its_traceback() -> None:
    assert known_of(ExceptionGroup("lanes", [Unavailable("git is down"), KeyError("x")])) is None


def test_yes_answers_the_prompt_unasked() -> None:
    screen = console()
    assert confirm(screen, "Remove 3 rooms?", yes=True)
    assert text_of(screen.err) == ""


def test_without_a_terminal_nobody_can_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Screen())
    with pytest.raises(Failure, match="Pass --yes to agree"):
        confirm(console(), "Remove 3 rooms?", yes=False)


@pytest.mark.parametrize(("typed", "agreed"), [("y\n", True), ("YES\n", True), ("\n", False)])
def test_a_person_agrees_by_typing_yes(
    monkeypatch: pytest.MonkeyPatch, typed: str, agreed: bool
) -> None:
    stdin = Screen(tty=True)
    stdin.write(typed)
    stdin.seek(0)
    monkeypatch.setattr(sys, "stdin", stdin)
    assert confirm(console(tty=True), "Remove 3 rooms?", yes=False) is agreed


def test_the_traceback_of_a_defect_shows_no_secret_and_gives_no_orders(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(arguments: object, screen: object) -> int:
        raise ValueError("no such text: https://me:hunter2@git.example/x \x1b[2J")

    monkeypatch.setattr(init, "run", run)
    assert main.main(["init", "x"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("Traceback (most recent call last):\n")
    assert "ValueError: no such text: https://***@git.example/x" in said
    assert "\x1b" not in said
