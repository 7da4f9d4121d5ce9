"""Questions to the person at the terminal."""

import sys

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure


def confirm(console: Console, question: str, *, yes: bool) -> bool:
    """Ask a yes-or-no question; `yes` answers it. Raises Failure where nobody can answer."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise Failure(
            f"{question} Nobody can answer", "Standard input is no terminal", "Pass --yes to agree"
        )
    console.out.flush()
    console.err.write(f"{question} [y/N] ")
    console.err.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
