"""`gamekeeper init`: a Git repository that works, to start from."""

import shlex
import shutil
from argparse import ArgumentParser, Namespace
from pathlib import Path

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.cli.options import add_own, own_of
from reconciler.cli.places import check_empty
from reconciler.cli.starter import files
from reconciler.kube.names import label_problem
from reconciler.setting_rows import Row

EXAMPLE = """\
gamekeeper init my-fleet
gamekeeper init my-fleet --name arena"""

NAME = Row("name", str, "arena", "", "name of the first scheduler", command="init")

NAME_LIMIT = 52
FALLBACK = ("-c", "user.name=Gamekeeper", "-c", "user.email=gamekeeper@localhost")


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("directory", metavar="DIR", help="where: a new or an empty directory")
    add_own(parser, NAME)


def run(arguments: Namespace, console: Console) -> int:
    """Make the repository with its first commit."""
    folder = Path(arguments.directory)
    name = own_of(arguments, console.environment, NAME)
    _check(folder, name)
    for path, text in files(name).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _git(folder, "add", "--all")
    known = _has_identity(folder)
    identity = () if known else FALLBACK
    _git(folder, *identity, "commit", "--quiet", "--message", "A fleet of two rooms to start from")
    if not known:
        console.note(
            "Git knows neither your name nor your address: the first commit is by Gamekeeper. "
            "Set them with `git config --global user.name` and `user.email`."
        )
    where = shlex.quote(str(folder))
    console.print(f"Made {folder}: a Git repository with one scheduler, {name}. Next:")
    console.print(f"  gamekeeper validate {where}")
    console.print(f"  gamekeeper render {where}")
    return 0


def _check(folder: Path, name: str) -> None:
    problem = label_problem(name)
    if problem is None and len(name) > NAME_LIMIT:
        problem = f"must be no more than {NAME_LIMIT} characters"
    if problem:
        raise Failure(f'--name "{name}" {problem}', fix="Choose another name")
    if shutil.which("git") is None:
        raise Failure("git is not installed", fix="Install git and run init again")
    check_empty(folder, "init")


def _has_identity(folder: Path) -> bool:
    return all(
        _run_git(folder, "config", "--get", key)[0] == 0 for key in ("user.name", "user.email")
    )


def _git(folder: Path, *words: str) -> None:
    status, said = _run_git(folder, *words)
    if status:
        raise Failure(
            f"git {words[0]} failed in {folder}",
            said,
            "The files are written; commit them yourself",
        )


def _run_git(folder: Path, *words: str) -> tuple[int, str]:
    from git.cmd import Git  # late: help does not need it

    command = ["git", *words]
    done = Git(folder).execute(command, with_extended_output=True, with_exceptions=False)
    status, out, errors = done
    return int(status), str(errors or out).strip()
