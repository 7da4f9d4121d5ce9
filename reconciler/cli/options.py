"""Flags: the parser that speaks our errors, settings as flags, and `--output`."""

import argparse
import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from reconciler.cli.failures import Failure
from reconciler.setting_rows import Row, value_of
from reconciler.settings import Settings, rows

GROUPS = {
    "git": "the repository",
    "identity": "this installation",
    "cluster": "the cluster, as kubectl's flags",
    "loop": "the loop",
    "safety": "what a repository may do",
    "scaling": "autoscaling",
    "serving": "serving",
    "telling": "who is told",
    "rooms": "rooms that report",
    "log": "log",
}


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are failures of ours: exit code 1, since 2 means `changes`."""

    def error(self, message: str) -> NoReturn:
        """Raise the mistake, with the nearest flag where one was misspelled."""
        flags = [flag for action in self._actions for flag in action.option_strings]
        _, _, rest = message.partition("unrecognized arguments: ")
        word = rest.split(" ", 1)[0].partition("=")[0]
        begun = [flag for flag in flags if word.startswith("--") and flag.startswith(word)]
        near = begun or (difflib.get_close_matches(word, flags) if word[:1] == "-" else [])
        hint = f"Did you mean {near[0]}?" if near else ""
        places = [action.metavar for action in self._actions if action.dest == "place"]
        if word == "--repo" and places:
            hint = f"What is read is named without a flag: {self.prog} {places[0]}"
        raise Failure(message, hint, f"See `{self.prog} --help`.")


def command_parser(name: str, text: str, example: str) -> Parser:
    """Return the empty parser of a command; its help ends with the example."""
    return Parser(
        prog=f"gamekeeper {name}",
        description=text[:1].upper() + text[1:] + ".",
        epilog=f"example:\n{_indented(example)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_settings(
    parser: argparse.ArgumentParser, *groups: str, without: Iterable[str] = ()
) -> None:
    """Add the flags of these groups of settings, or of single settings by name."""
    left_out = frozenset(without)
    headed = {
        group: parser.add_argument_group(GROUPS[group]) for group in groups if group in GROUPS
    }
    for row in rows():
        if row.name in left_out:
            continue
        if row.group in headed:
            _add_flag(headed[row.group], row)
        elif row.name in groups:
            _add_flag(parser, row)


def add_own(parser: argparse.ArgumentParser, *own: Row) -> None:
    """Add the flags of settings that this command alone has."""
    for row in own:
        _add_flag(parser, row)


def own_of(arguments: argparse.Namespace, environment: Mapping[str, str], row: Row) -> Any:
    """Return the value of a setting that this command alone has. Raises BadSetting."""
    return value_of(row, environment, vars(arguments))


def settings_of(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Settings:
    """Return the settings of this run. Raises BadSetting."""
    return Settings.read(environment, vars(arguments))


def is_written(arguments: argparse.Namespace, environment: Mapping[str, str], name: str) -> bool:
    """Whether a setting was written, as a flag or in the environment, and is no default."""
    (row,) = (row for row in rows() if row.name == name)
    return vars(arguments).get(name) is not None or bool(environment.get(row.environment))


def add_output(parser: argparse.ArgumentParser, *formats: str) -> None:
    """Add `--output`, the first format being the default."""
    parser.add_argument(
        "-o",
        "--output",
        choices=formats,
        default=formats[0],
        help=f"how to print the result (default {formats[0]})",
    )


def _add_flag(parser: argparse._ActionsContainer, row: Row) -> None:
    text = f"{row.off_text or row.text}{_default(row)} [{row.environment}]".replace("%", "%%")
    if row.kind is bool:
        # One flag only, the one that differs from the default.
        flag = "--no-" + row.flag[2:] if row.default else row.flag
        names = filter(None, (row.short, flag))
        parser.add_argument(
            *names, dest=row.name, action="store_const", const=not row.default, help=text
        )
    elif row.kind is tuple:
        parser.add_argument(
            row.flag, action="extend", type=_words, metavar="A,B", help=text, dest=row.name
        )
    else:
        parser.add_argument(
            *filter(None, (row.short, row.flag)),
            type=_reader(row),
            choices=row.choices or None,
            metavar=None if row.choices else _metavar(row),
            help=text,
            dest=row.name,
        )


def _reader(row: Row) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            return row.read(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r}: write {row.wanted}") from None

    return read


def _metavar(row: Row) -> str:
    return "DURATION" if row.is_duration else (row.unit or row.kind.__name__).upper()


def _default(row: Row) -> str:
    if row.kind is bool or row.default in ("", (), 0):
        return ""
    value = ",".join(row.default) if row.kind is tuple else row.default
    value = f"{value:g}" if row.kind is float else value
    return f" (default {value})"


def _words(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.strip().splitlines())
