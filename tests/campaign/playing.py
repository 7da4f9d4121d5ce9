"""Play one piece: pytest in a process of its own, for an hour at most."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from tests.campaign.ledger import Played
from tests.campaign.pieces import Piece
from tests.scorecard import SETTING

ROOT = Path(__file__).parent.parent.parent
LONGEST_SECONDS = 3600.0
"""A piece that takes longer is ended, and has failed: it stands in nobody's way for a night."""
LAST_SECONDS = 60.0
"""So long it may then take to end what it began."""
SHOWN_CHARACTERS = 3000


def play(
    piece: Piece, program: int, commit: str, longest_seconds: float = LONGEST_SECONDS
) -> Played:
    """Play a piece, and return how it went; `program` and `commit` say of what."""
    with tempfile.TemporaryDirectory() as folder:
        figures, output = Path(folder, "figures.json"), Path(folder, "output")
        environment = os.environ | {SETTING: str(figures)}
        if piece.setting:
            environment[piece.setting] = piece.value
        began = time.monotonic()
        why = _ran(piece, environment, output, longest_seconds)
        kept = json.loads(figures.read_text(encoding="utf-8")) if figures.exists() else {}
        words = output.read_text(encoding="utf-8", errors="replace")
    said = (words + why)[-SHOWN_CHARACTERS:] if why else ""
    rows = {int(row): each for row, each in kept.items() if piece.counts(int(row))}
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    seconds = round(time.monotonic() - began)
    return Played(piece.name, program, commit, date, seconds, not why, rows, said)


def _ran(piece: Piece, environment: dict[str, str], output: Path, longest_seconds: float) -> str:
    """Run a piece, and say why it failed, "" where it passed.

    What it says goes into a file: a pipe would stay open as long as anything that it began.
    """
    command = [sys.executable, "-m", "pytest", "-q", *piece.arguments]
    with (
        output.open("wb") as said,
        subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=said, stderr=subprocess.STDOUT
        ) as child,
    ):
        try:
            status = child.wait(longest_seconds)
        except subprocess.TimeoutExpired:
            _end(child)
            return f"\ntimeout: it took longer than {longest_seconds / 60:g} minutes and was ended"
    return f"\nit ended with {status}" if status else ""


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a piece as who types Ctrl-C: pytest takes down what its fixtures began."""
    child.send_signal(signal.SIGINT)
    try:
        child.wait(LAST_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
