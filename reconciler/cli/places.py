"""Where a command may write: nowhere that a person's files are."""

from pathlib import Path

from reconciler.cli.failures import Failure

FIX = "Name a directory that is new or empty"


def check_empty(folder: Path, command: str) -> None:
    """Raise Failure unless a directory is new or empty."""
    if folder.exists() and not folder.is_dir():
        raise Failure(f"{folder} is a file", fix=FIX)
    if folder.is_dir() and any(folder.iterdir()):
        raise Failure(f"{folder} is not empty", f"{command} never writes over files of yours", FIX)
