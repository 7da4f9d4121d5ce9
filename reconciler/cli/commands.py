"""The commands: a new one is a line here and a module beside this one.

A command's module is imported when it is called, so that `--help` stays quick. It has
`configure(parser)`, `run(arguments, console) -> exit code` and `EXAMPLE`, which ends its help.
"""

import importlib
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from typing import Protocol, cast

from reconciler.cli.console import Console


class CommandModule(Protocol):
    """What `main` asks of a command's module."""

    EXAMPLE: str

    def configure(self, parser: ArgumentParser) -> None:
        """Add the command's arguments."""

    def run(self, arguments: Namespace, console: Console) -> int:
        """Do the work and return the exit code."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its name, its module in this package, and what it does in a line.

    `compiles` is for one that always reads specs, and that somebody waits for.
    """

    name: str
    module: str
    text: str
    compiles: bool = False

    def load(self) -> CommandModule:
        """Import the module."""
        return cast(CommandModule, importlib.import_module(f"reconciler.cli.{self.module}"))


COMMANDS = (
    Command("init", "init", "make a Git repository that works, to start from"),
    Command("validate", "validate", "name every mistake at once, with its place and its fix", True),
    Command("render", "render", "print the manifests, as YAML that kubectl accepts", True),
    Command("diff", "diff", "say what a change would do, offline or against the cluster", True),
    Command("apply", "apply", "bring the cluster to what the commit says, once", True),
    Command("status", "status", "what is wanted, what is there, what is held and why"),
    Command("rooms", "rooms", "every room: what it is, where it runs, whether it leaves"),
    Command("room", "room", "all that is known of one room"),
    Command("drain", "drain", "ask a room, or all of a node, to leave once nobody plays there"),
    Command("logs", "logs", "what a room prints"),
    Command("explain", "explain", "why a room or a workload is as it is, and what happens next"),
    Command("history", "history", "how a count came to be what it is, from the log of Git"),
    Command("undo", "undo", "take back what a commit did to a count, as a commit of your own"),
    Command("demand", "demand", "import or export the demand that adaptive learns from"),
    Command("approve", "approve", "let a refused change through, for an hour"),
    Command("reconcile", "reconcile", "ask the running loop to look at Git now"),
    Command("adopt", "adopt", "make rooms of pods that run already, without a restart"),
    Command("rbac", "rbac", "print the roles that a configuration needs, for kubectl apply"),
    Command("run", "run", "run the loop: keep the cluster the way the repository says"),
    Command("uninstall", "uninstall", "take our records out of a cluster; its rooms run on"),
    Command("sandbox", "sandbox", "run a small cluster in this process, for kubectl and for run"),
    Command("demo", "demo", "all of it together on this machine, told as a story"),
)
