"""A piece of a campaign ends: by itself, or after its hour, and then it has failed."""

import json
import time
from pathlib import Path

from tests.campaign.ledger import Played
from tests.campaign.pieces import Piece
from tests.campaign.playing import LONGEST_SECONDS, play


def piece(folder: Path, text: str) -> Piece:
    path = folder / "test_piece.py"
    path.write_text(text, encoding="utf-8")
    return Piece("piece", (str(path),), rows=(1,))


def test_a_piece_that_takes_too_long_is_ended_and_has_failed(tmp_path: Path) -> None:
    assert LONGEST_SECONDS == 60 * 60
    began = time.monotonic()
    sleeps = piece(tmp_path, "import time\n\ndef test_it():\n    time.sleep(600)\n")
    played = play(sleeps, 7, "abc1234", longest_seconds=0.6)

    assert time.monotonic() - began < 300
    assert not played.passed
    assert played.said.endswith("timeout: it took longer than 0.01 minutes and was ended")
    line = json.loads(played.line())
    assert Played(**{**line, "figures": {}}) == played, "and it stands in the ledger"


def test_one_that_ends_in_time_passes_or_fails_by_itself(tmp_path: Path) -> None:
    good = play(piece(tmp_path, "def test_it():\n    pass\n"), 7, "abc1234")
    bad = play(piece(tmp_path, "def test_it():\n    assert 1 == 2\n"), 7, "abc1234")

    assert (good.passed, good.said) == (True, "")
    assert not bad.passed
    assert "assert 1 == 2" in bad.said
    assert bad.said.endswith("it ended with 1")
