"""What commands take as arguments, and what their help says."""

from argparse import ArgumentParser

from reconciler.cli import approve, diff
from reconciler.cli.options import command_parser


def test_approve_takes_a_hash_in_capitals_as_a_trailer_does() -> None:
    parser = ArgumentParser()
    approve.configure(parser)
    assert parser.parse_args(["D1007E0425DF"]).hash == "d1007e0425df"


def test_the_help_of_diff_states_its_exit_codes() -> None:
    parser = command_parser("diff", "compare", diff.EXAMPLE)
    diff.configure(parser)
    said = parser.format_help()
    assert "0 nothing to do, 2 changes (also refused or held ones), 1 an error" in said
