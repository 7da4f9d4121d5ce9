"""A campaign that is cut off goes on where it was; one of another program begins anew."""

from pathlib import Path

from tests.campaign.ledger import Ledger, Played, report
from tests.campaign.pieces import Piece, pieces

SHORT, LONG = Piece("short", ("a",)), Piece("long", ("b",))


def _ledger(*played: Played) -> Ledger:
    return Ledger(7, {each.name: each for each in played})


def _played(name: str, passed: bool = True, points: int = 10) -> Played:
    return Played(name, passed, 60.0, {1: {"points": points, "failed": 0}}, "" if passed else "why")


def test_what_was_played_is_there_again(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "campaign.json"
    ledger = _ledger(_played("short"))
    ledger.write(path)
    assert Ledger.read(path, 7) == ledger
    assert Ledger.read(path, 7).left([SHORT, LONG]) == [LONG]


def test_pieces_of_another_program_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "campaign.json"
    _ledger(_played("short")).write(path)
    assert Ledger.read(path, 8).left([SHORT, LONG]) == [SHORT, LONG]


def test_without_a_file_all_is_to_be_played(tmp_path: Path) -> None:
    assert Ledger.read(tmp_path / "none.json", 7).left([SHORT]) == [SHORT]


def test_what_failed_is_played_again_and_told() -> None:
    ledger = _ledger(_played("short", passed=False))
    assert ledger.left([SHORT]) == [SHORT]
    said = "\n".join(report(ledger, [SHORT, LONG], "today"))
    assert "0 of 2 pieces" in said
    assert "**Failed:** short" in said
    assert "why" in said


def test_figures_add_up() -> None:
    ledger = _ledger(_played("short"), _played("long", points=1_000))
    said = "\n".join(report(ledger, [SHORT, LONG], "today"))
    assert "2 of 2 pieces" in said
    assert "1,010 points, 0 failed" in said


def test_of_the_longest_time_of_two_pieces_the_longer_one_is_told() -> None:
    short, long = (Played(name, True, 1.0, {9: {"kills": 2}}) for name in ("short", "long"))
    for played, milliseconds in ((short, 900), (long, 800)):
        played.figures[9]["most_ms_to_converge"] = milliseconds
    assert _ledger(short, long).figures()[9] == {"kills": 4, "most_ms_to_converge": 900}


def test_no_two_pieces_are_of_one_name() -> None:
    names = [piece.name for piece in pieces()]
    assert len(names) == len(set(names))
