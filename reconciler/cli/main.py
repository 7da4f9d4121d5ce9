"""`gamekeeper`: find the command, run it, and turn what went wrong into a paragraph."""

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from reconciler.cli.commands import COMMANDS, Command
from reconciler.cli.console import Console

INTERRUPTED = 130
PIPE_CLOSED = 141
ENTRANCE = """\
Gamekeeper keeps fleets of game servers on Kubernetes the way a Git repository says.

usage: gamekeeper COMMAND [ARGUMENTS]

commands:
{commands}

`gamekeeper COMMAND --help` tells more. Exit codes: 0 done, 1 error, 2 changes (diff).

example:
  gamekeeper init my-fleet
  gamekeeper validate my-fleet"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    console = Console.of_process()
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(words, console)
        console.out.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read us has left; the interpreter's last flush must not complain about it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        console.note(f"error: the result cannot be written: {error.strerror}")
        return 1
    except Exception as defect:  # ours, whatever it is; what it says may be a stranger's
        console.note(_traceback_of(defect))
        return 1
    return code


def _traceback_of(defect: Exception) -> str:
    """Return what Python itself would print, without secrets."""
    from traceback import format_exception

    from reconciler.model.masks import redact

    return redact("".join(format_exception(defect)).rstrip())


def _dispatch(words: list[str], console: Console) -> int:
    name = words[0] if words else "--help"
    if name == "help":
        name, words = (words[1], [words[1], "--help"]) if words[1:] else ("--help", [])
    if name in ("-h", "--help"):
        console.print(_entrance())
        return 0
    if name == "--version":
        from importlib.metadata import version

        console.print(f"gamekeeper {version('gamekeeper')}")
        return 0
    command = next((known for known in COMMANDS if known.name == name), None)
    if command is None:
        console.note(_unknown(name))
        return 1
    with _with_compiler(command, words[1:]):
        return _run(command, words[1:], console)


def _run(command: Command, words: list[str], console: Console) -> int:
    # Late, since `gamekeeper --help` needs neither argparse nor what failures know.
    from reconciler.cli.failures import KNOWN, known_of, paragraph_of
    from reconciler.cli.options import command_parser

    try:
        module = command.load()
        parser = command_parser(command.name, command.text, module.EXAMPLE)
        module.configure(parser)
        arguments = parser.parse_args(words)
        return module.run(arguments, console)
    except SystemExit as leaving:
        return int(leaving.code or 0)
    except BrokenPipeError:
        raise
    except KNOWN as error:
        failure: Exception = error
    except BaseExceptionGroup as group:
        known = known_of(group)
        if known is None:
            raise
        failure = known
    console.note(f"{console.paint('error:', 'red', on=console.err)} {paragraph_of(failure)}")
    return 1


def _with_compiler(command: Command, words: list[str]) -> AbstractContextManager[None]:
    """Begin the process that reads specs, where it will be needed, before anything is imported."""
    if not command.compiles or {"-h", "--help"} & set(words):
        return nullcontext()
    from reconciler.wiring.compilers import begun_early

    return begun_early()


def _entrance() -> str:
    wide = max(len(command.name) for command in COMMANDS)
    lines = (f"  {command.name:<{wide}}  {command.text}" for command in COMMANDS)
    return ENTRANCE.format(commands="\n".join(lines))


def _unknown(name: str) -> str:
    from reconciler.kube.names import nearest

    near = nearest(name, [command.name for command in COMMANDS])
    hint = f" Did you mean `{near}`?" if near else ""
    return f'error: there is no command "{name}".{hint} `gamekeeper --help` lists all of them.'


if __name__ == "__main__":
    sys.exit(main())
