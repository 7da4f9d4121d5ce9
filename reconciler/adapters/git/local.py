"""A user's own repository or plain directory, read in place and never written. Child only."""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass

from reconciler.adapters.git.commands import Commands
from reconciler.adapters.git.failures import last_words
from reconciler.adapters.git.objects import Objects
from reconciler.model.errors import Denied, Misconfigured
from reconciler.model.trees import CONFIG_FILE


@dataclass(frozen=True, slots=True)
class Checkout:
    """Where the specs are: `root` on disk, `prefix` in the repository (empty: its top).

    `root` is `top` of the work tree, or plain directory, with `prefix`; it may not be there.
    `branch` is the one that is checked out, "" for none.
    """

    top: str
    prefix: str
    commands: Commands | None
    bare: bool
    scratch: "tempfile.TemporaryDirectory[str] | None" = None
    branch: str = ""

    @property
    def root(self) -> str:
        """The folder on disk that paths are from."""
        return os.path.join(self.top, self.prefix) if self.prefix else self.top

    def objects(self) -> Objects:
        """Return a reader of commits. Raises Misconfigured when this is no repository."""
        if self.commands is None:
            raise Misconfigured(
                f"{self.top} is no Git repository, so it has no revisions: run this in a "
                "checkout, with --repo where the command takes it (diff with --live), or read it "
                "without a revision"
            )
        return Objects(self.commands, self.root)


def opened(path: str, below: str) -> Checkout:
    """Find the specs at or above `path`, within its repository. Raises Misconfigured, Denied.

    With `below` they are in that folder of the repository, wherever in it `path` is.
    """
    start = os.path.realpath(path)
    if not os.path.exists(start):
        raise Misconfigured(f"there is no file or directory {path}")
    folder = start if os.path.isdir(start) else os.path.dirname(start)
    found = Commands(("-C", folder)).run(
        "rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--absolute-git-dir"
    )
    if "dubious ownership" in found.stderr:
        raise Denied(
            f"{folder} belongs to another user and git refuses it. To trust it: "
            f"git config --global --add safe.directory {folder}"
        )
    if found.status and "not a git repository" not in found.stderr:
        raise Misconfigured(f"git cannot read {folder}: {last_words(found.stderr)}")
    if found.status:
        return Checkout(folder, below, None, bare=False)
    bare, inside, directory = found.stdout.decode("utf-8", "replace").splitlines()
    if bare == "true" or inside != "true":
        return _with_scratch(
            Checkout(directory, below, Commands((f"--git-dir={directory}",)), bare=True)
        )
    top = os.path.realpath(_line(folder, "--show-toplevel"))
    place = below or os.path.relpath(_nearest(folder, top), top)
    prefix = "" if place == "." else place
    return _with_scratch(Checkout(top, prefix, Commands(("-C", top)), bare=False))


def _nearest(folder: str, top: str) -> str:
    """Return the nearest directory with a Config at or above `folder`, else `folder` itself."""
    looked = folder
    while True:
        if os.path.lexists(os.path.join(looked, CONFIG_FILE)):
            return looked
        if looked in (top, os.path.dirname(looked)):
            return folder
        looked = os.path.dirname(looked)


def _with_scratch(checkout: Checkout) -> Checkout:
    """Let merges write their trees into a directory of ours, not into the user's repository."""
    if checkout.commands is None:
        return checkout
    where = checkout.commands.where
    text = Commands(where).read("rev-parse", "--path-format=absolute", "--git-path", "objects")
    scratch = tempfile.TemporaryDirectory(prefix="gamekeeper-merge-")
    environment: Mapping[str, str] = {
        "GIT_OBJECT_DIRECTORY": scratch.name,
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(os.fsdecode(text.rstrip(b"\n"))),
    }
    commands = Commands(where, environment)
    return Checkout(
        checkout.top, checkout.prefix, commands, checkout.bare, scratch, _branch(commands)
    )


def _branch(commands: Commands) -> str:
    found = commands.run("symbolic-ref", "--quiet", "HEAD")
    return found.stdout.decode("utf-8", "replace").strip().removeprefix("refs/heads/")


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _line(folder: str, option: str) -> str:
    return os.fsdecode(Commands(("-C", folder)).read("rev-parse", option).rstrip(b"\n"))
