"""A campaign that is cut off goes on where it was, on any machine; another program's is void."""

from pathlib import Path
from textwrap import dedent

import pytest

from tests import seeds
from tests.campaign.ledger import Ledger, Played, report
from tests.campaign.pieces import ANYWHERE, Piece, pieces, taken
from tests.scorecard import ASKED, ROWS
from tests.unit.campaign.scoring import Scoring, Texts

ROOT = Path(__file__).parents[3]
SHORT, LONG = Piece("short", ("a",), rows=(1, 3)), Piece("long", ("b",), rows=(1, 2))
KILLS, MORE = Piece("kills", ("c",), waits=True), Piece("more", ("d",), waits=True)
BOTH = [SHORT, LONG]


def _ledger(*played: Played, program: int = 7) -> Ledger:
    ledger = Ledger(program, BOTH)
    for each in played:
        ledger.add(each)
    return ledger


def _played(name: str, passed: bool = True, points: int = 10, program: int = 7) -> Played:
    figures = {1: {"points": points, "failed": 0}}
    date, said = "2026-11-25 20:15", "" if passed else "why"
    return Played(name, program, "abc1234", date, 60, passed, figures, said)


def test_what_was_played_is_there_again(tmp_path: Path) -> None:
    path = tmp_path / "campaign.jsonl"
    ledger = _ledger(_played("short"))
    ledger.write(path)
    assert Ledger.read(path, 7, BOTH) == ledger
    assert Ledger.read(path, 7, BOTH).left == [LONG]


def test_each_piece_is_a_line_with_its_program_commit_date_and_seconds(tmp_path: Path) -> None:
    path = tmp_path / "campaign.jsonl"
    _ledger(_played("long", passed=False), _played("short")).write(path)
    assert path.read_text(encoding="utf-8").splitlines() == [
        '{"name": "short", "program": 7, "commit": "abc1234", "date": "2026-11-25 20:15", '
        '"seconds": 60, "passed": true, "figures": {"1": {"points": 10, "failed": 0}}}',
        '{"name": "long", "program": 7, "commit": "abc1234", "date": "2026-11-25 20:15", '
        '"seconds": 60, "passed": false, "figures": {"1": {"points": 10, "failed": 0}}, '
        '"said": "why"}',
    ]


def test_pieces_of_another_program_are_kept_and_told_and_not_added_up(tmp_path: Path) -> None:
    path = tmp_path / "campaign.jsonl"
    _ledger(_played("short"), _played("long")).write(path)
    ledger = Ledger.read(path, 8, BOTH)
    assert ledger.left == BOTH
    assert set(ledger.void) == {"short", "long"}
    assert "2 more were played of other programs" in "\n".join(report(ledger))
    ledger.add(_played("short", points=5, program=8))
    ledger.write(path)
    assert Ledger.read(path, 8, BOTH).figures() == {1: {"points": 5, "failed": 0}}
    assert set(Ledger.read(path, 7, BOTH).played) == {"long"}, "the old program's stays"


def test_what_is_cut_otherwise_by_now_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "campaign.jsonl"
    _ledger(_played("short"), _played("long")).write(path)
    assert Ledger.read(path, 7, [LONG]).figures() == {1: {"points": 10, "failed": 0}}


def test_without_a_file_all_is_to_be_played(tmp_path: Path) -> None:
    assert Ledger.read(tmp_path / "none.jsonl", 7, BOTH).left == BOTH


def test_what_failed_is_played_again_and_told() -> None:
    ledger = _ledger(_played("short", passed=False))
    assert ledger.left == BOTH
    said = "\n".join(report(ledger))
    assert "0 of 2 pieces" in said
    assert "**Failed:** short" in said
    assert "why" in said


def test_figures_add_up_beside_what_is_asked_and_a_row_without_any_says_so() -> None:
    said = "\n".join(report(_ledger(_played("short"), _played("long", points=1_000))))
    assert "2 of 2 pieces" in said
    assert "| 1,010 points, 0 failed | 1,000 points |" in said
    assert f"| 2 | {ROWS[2]} | **not played yet** |" in said


def test_fewer_than_the_issue_asks_for_are_told_as_such() -> None:
    said = "\n".join(report(_ledger(_played("short"), _played("long", points=989))))
    assert "| 999 points, 0 failed: **fewer than asked** | 1,000 points |" in said


def test_a_row_of_which_some_pieces_are_played_says_how_many() -> None:
    said = "\n".join(report(_ledger(_played("short", points=1_000))))
    assert "| 1,000 points, 0 failed (**1 of 2 pieces**) | 1,000 points |" in said
    said = "\n".join(report(_ledger(_played("short", points=1_000), _played("long", passed=False))))
    assert "| 1,010 points, 0 failed (**1 of 2 pieces**) | 1,000 points |" in said
    said = "\n".join(report(_ledger(_played("short"), _played("long", points=990))))
    assert "| 1,000 points, 0 failed | 1,000 points |" in said


def test_a_piece_tells_of_its_rows_and_of_secrets() -> None:
    assert [row for row in ROWS if SHORT.counts(row)] == [1, 3, 22]


def test_of_the_longest_time_of_two_pieces_the_longer_one_is_told() -> None:
    short, long = _played("short"), _played("long")
    for played, milliseconds in ((short, 900), (long, 800)):
        played.figures.clear()
        played.figures[9] = {"kills": 2, "most_ms_to_converge": milliseconds}
    assert _ledger(short, long).figures()[9] == {"kills": 4, "most_ms_to_converge": 900}


def test_what_waits_is_played_beside_what_computes() -> None:
    queue = [SHORT, LONG, KILLS, MORE]
    first = taken(queue, [])
    assert first is KILLS
    assert taken(queue, [first]) is SHORT
    assert taken(queue, [SHORT]) is MORE
    assert taken(queue, [MORE]) is LONG
    assert queue == []
    assert taken([MORE], [KILLS]) is MORE, "there is nothing else left"


def test_no_two_pieces_are_of_one_name_and_each_plays_what_is_there() -> None:
    everything = list(pieces())
    assert len({piece.name for piece in everything}) == len(everything)
    assert all((ROOT / piece.arguments[0]).exists() for piece in everything)


def test_each_row_has_its_pieces_and_each_piece_its_rows() -> None:
    everything = list(pieces())
    assert all(piece.rows for piece in everything)
    assert {row for piece in everything for row in piece.rows} == set(ROWS)


def test_each_test_that_tells_figures_is_played_by_a_piece() -> None:
    played = [piece.arguments for piece in pieces() if piece.rows != (ANYWHERE,)]
    told = list(Texts(ROOT).scoring())
    assert (
        Scoring("tests/corpora/test_yaml.py", "test_what_comes_of_a_file_stands_beside_it") in told
    )
    left = [each for each in told if not any(map(each.is_played_by, played))]
    assert not left, "their figures are in no campaign"


@pytest.mark.parametrize(
    ("arguments", "is_played"),
    [
        (("tests/a/test_it.py",), True),
        (("tests/b", "tests/a"), True),
        (("tests/a", "-m", "not real"), True),
        (("tests/b",), False),
        (("tests/a/test_it.py", "-k", "fails"), False),
        (("tests/a/test_it.py", "-k", "fails or opened"), True),
    ],
)
def test_a_piece_plays_a_test_of_its_files_whose_name_has_one_of_its_words(
    arguments: tuple[str, ...], is_played: bool
) -> None:
    test = Scoring("tests/a/test_it.py", "test_a_watch_that_cannot_be_opened")
    assert test.is_played_by(arguments) is is_played


def test_what_is_more_than_words_is_not_taken_for_them() -> None:
    with pytest.raises(ValueError, match="not words"):
        Scoring("a.py", "test_a").is_played_by(("a.py", "-k", "a and not b"))


def test_a_test_tells_figures_by_its_fixtures_too_and_by_what_others_do_for_it(
    tmp_path: Path,
) -> None:
    texts = {
        "a/scoring.py": """
            from tests.scorecard import score
            class Judge:
                def end(self): score(1, points=1)
        """,
        "a/conftest.py": """
            from tests.a.scoring import Judge
            def judge(): return Judge()
        """,
        "a/b/test_it.py": """
            def test_one(judge): pass
            def test_two(other): pass
            async def test_three(): helped()
            def helped(): return judged
            def judged(judge): pass
        """,
        "c/test_it.py": "def test_four(judge): pass",
        "scorecard.py": "def score(row, **figures): pass",
    }
    for path, text in texts.items():
        file = tmp_path / "tests" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text), encoding="utf-8")
    told = [each.name for each in Texts(tmp_path).scoring()]
    assert told == ["test_one", "test_three"]


def test_what_is_asked_is_asked_of_a_row_that_is_told() -> None:
    assert set(ASKED) <= set(ROWS)


@pytest.mark.parametrize("part", ["reconciler/a.py", "schemas/a.json", "templates/a.yaml.j2"])
def test_another_module_schema_or_template_is_another_program(part: str, tmp_path: Path) -> None:
    digest_of = seeds.digest_of.__wrapped__
    file = tmp_path / part
    file.parent.mkdir()
    found = {digest_of(tmp_path)}
    for text in ("one", "another"):
        file.write_text(text, encoding="utf-8")
        found.add(digest_of(tmp_path))
    assert len(found) == 3
    (tmp_path / "README.md").write_text("no part of it", encoding="utf-8")
    assert digest_of(tmp_path) in found
