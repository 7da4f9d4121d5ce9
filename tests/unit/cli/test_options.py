import argparse
import re

import pytest

from reconciler.cli import reconcile, sandbox, validate
from reconciler.cli.commands import COMMANDS, Command
from reconciler.cli.failures import Failure
from reconciler.cli.options import add_settings, command_parser, own_of, settings_of
from reconciler.setting_rows import BadSetting
from reconciler.settings import rows


def every_setting() -> argparse.ArgumentParser:
    parser = command_parser("run", "run", "gamekeeper run")
    groups = ("git", "identity", "cluster", "loop", "safety", "scaling", "serving", "telling")
    add_settings(parser, *groups, "rooms", "log")
    return parser


def test_every_setting_is_a_flag_with_its_environment_name_in_the_help() -> None:
    text = " ".join(every_setting().format_help().split())
    for row in rows():
        flag = "--no-" + row.flag[2:] if row.default is True else row.flag
        assert f"{flag} " in text
        assert f"[{row.environment}]" in text


def test_a_flag_that_turns_something_off_says_so() -> None:
    text = " ".join(every_setting().format_help().split())
    assert "--no-lease take no Lease" in text
    assert all(row.off_text for row in rows() if row.default is True)


@pytest.mark.parametrize("words", [["--repo", "../fleet"], ["--repo=../fleet"]])
def test_a_repository_that_is_an_argument_is_told_as_that(words: list[str]) -> None:
    parser = command_parser("validate", "validate", "gamekeeper validate")
    validate.configure(parser)
    with pytest.raises(Failure) as told:
        parser.parse_args(words)
    assert "is named without a flag: gamekeeper validate PATH|REV." in str(told.value)


def test_flags_become_settings() -> None:
    words = "--repo ./x --no-lease --qps 5 --insecure-skip-tls-verify --reserved-namespaces a,b"
    as_kubectl = "-n ours -s https://h:6443 --request-timeout 1m --as u --as-group a --as-group b"
    settings = settings_of(every_setting().parse_args(f"{words} {as_kubectl}".split()), {})
    assert settings.namespace == "ours"
    assert settings.server == "https://h:6443"
    assert settings.request_timeout_seconds == 60.0
    assert (settings.as_user, settings.as_groups) == ("u", ("a", "b"))
    assert settings.repo == "./x"
    assert settings.lease is False
    assert settings.qps == 5.0
    assert settings.insecure_skip_tls_verify is True
    assert settings.reserved_namespaces == ("a", "b")


def test_a_flag_that_is_not_given_leaves_the_environment_its_say() -> None:
    settings = settings_of(every_setting().parse_args([]), {"GAMEKEEPER_LEASE": "false"})
    assert settings.lease is False


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        pytest.param("--request-timeout soon", "'soon': write a time as 45s", id="a time"),
        pytest.param("--burst 2.5", "'2.5': write a whole number", id="a whole number"),
        pytest.param("--qps fast", "'fast': write a number", id="a number"),
    ],
)
def test_a_flag_that_cannot_be_read_says_what_to_write(words: str, wanted: str) -> None:
    with pytest.raises(Failure, match=wanted):
        every_setting().parse_args(words.split())


def test_a_misspelled_flag_names_the_nearest() -> None:
    with pytest.raises(Failure, match="Did you mean --branch"):
        every_setting().parse_args(["--brnch", "x"])


def test_a_flag_is_never_completed_silently() -> None:
    with pytest.raises(Failure, match="Did you mean --insecure-skip-tls-verify"):
        every_setting().parse_args(["--insecure"])


NO_SETTING = {
    "--help": "a question, not a setting",
    "--output": "the form of one answer: commands know different ones",
    "--yes": "agreeing is said where the plan is asked for, never left standing in an environment",
    "--selector": "names what this call alone is about",
    "--as-current": "asked for with each adoption, never left standing in an environment",
    "--remove-objects": "asked for with each uninstall, never left standing in an environment",
    "--dry-run": "says which of two things this call does",
    "--live": "says which of two things this call compares with",
    "--watch": "says whether this call ends",
    "--csv": "names what this call alone reads",
    "--prometheus-json": "names what this call alone reads",
    "--replace": "overwriting is said where it is asked for, never left standing in an environment",
    "--undo": "says which of two things this call does",
}
"""Flags without an environment name, and why."""


def flags_of(command: Command) -> list[argparse.Action]:
    parser = command_parser(command.name, command.text, "")
    command.load().configure(parser)
    return [action for action in parser._actions if action.option_strings]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command.name))
def test_every_flag_has_an_environment_name_that_its_help_shows(command: Command) -> None:
    for action in flags_of(command):
        flag = action.option_strings[-1]
        named = re.search(r"\[(GAMEKEEPER_[A-Z_]+)\]$", action.help or "")
        assert bool(named) == (flag not in NO_SETTING), flag


def test_an_environment_name_means_one_flag() -> None:
    meant: dict[str, set[str]] = {}
    for command in COMMANDS:
        for action in flags_of(command):
            for name in re.findall(r"\[(GAMEKEEPER_[A-Z_]+)\]$", action.help or ""):
                meant.setdefault(name, set()).add(f"{action.option_strings[-1]} {action.help}")
    assert len(meant) > 40
    assert [said for said in meant.values() if len(said) != 1] == []


def test_the_own_settings_of_commands_come_from_flags_and_environment() -> None:
    parser = command_parser("sandbox", "sandbox", "")
    sandbox.configure(parser)
    environment = {"GAMEKEEPER_SANDBOX_NODES": "7", "GAMEKEEPER_KUBECONFIG": "precious"}
    given, none = parser.parse_args(["--nodes", "8"]), parser.parse_args([])
    assert own_of(given, environment, sandbox.NODES) == 8
    assert own_of(none, environment, sandbox.NODES) == 7
    assert own_of(none, {}, sandbox.NODES) == 3
    assert own_of(none, environment, sandbox.KUBECONFIG) == ""
    with pytest.raises(BadSetting, match="is 10001: write from 0 to 10000"):
        own_of(none, {"GAMEKEEPER_SANDBOX_NODES": "10001"}, sandbox.NODES)


def test_a_wait_is_written_as_kubectl_writes_it() -> None:
    parser = command_parser("reconcile", "reconcile", "")
    reconcile.configure(parser)
    given = parser.parse_args(["--wait", "--timeout", "1m30s"])
    assert own_of(given, {}, reconcile.TIMEOUT) == 90.0
    assert own_of(given, {}, reconcile.WAIT) is True
    assert own_of(parser.parse_args([]), {"GAMEKEEPER_RECONCILE_WAIT": "yes"}, reconcile.WAIT)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command.name))
def test_the_help_of_every_command_ends_with_an_example(command: object) -> None:
    chosen = next(known for known in COMMANDS if known is command)
    module = chosen.load()
    parser = command_parser(chosen.name, chosen.text, module.EXAMPLE)
    module.configure(parser)
    _, _, example = parser.format_help().partition("\nexample:\n")
    lines = example.strip().splitlines()
    assert lines
    for line in lines:
        assert line.strip().startswith(f"gamekeeper {chosen.name}")
