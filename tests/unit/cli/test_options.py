import argparse

import pytest

from reconciler.cli.commands import COMMANDS
from reconciler.cli.failures import Failure
from reconciler.cli.options import add_settings, command_parser, settings_of
from reconciler.settings import rows


def every_setting() -> argparse.ArgumentParser:
    parser = command_parser("run", "run", "gamekeeper run")
    add_settings(parser, "git", "identity", "cluster", "loop", "safety", "serving", "log")
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
