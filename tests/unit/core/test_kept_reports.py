"""What is kept of a room's last report on its pod, and read back."""

from dataclasses import replace

import pytest

from reconciler.core.kept_reports import LONGEST_KEPT, heard_of, kept_of
from reconciler.model.rooms import GameState, Health, Heard, Said

NOW = 1_800_000_000.0


@pytest.mark.parametrize("both", [False, True])
def test_what_is_kept_is_read_back_as_it_was(both: bool) -> None:
    heard = Heard(
        at=NOW,
        periodic=both,
        mixed=both,
        said=Said.OCCUPIED,
        matches=3,
        players=10**6,
        health=Health.HEALTHY,
        game_state=GameState.POST_MATCH,
        said_since=NOW,
        runs=tuple([10_000] * 20),
        counted=1_800_000_001,
    )
    text = kept_of(heard)
    assert heard_of(text, NOW) == heard
    assert len(text.encode()) <= LONGEST_KEPT
    assert kept_of(replace(heard, at=NOW + 9, said_since=NOW - 9)) == text
    in_doubt = replace(heard, over_runs=heard.runs, long_ago=True)
    assert heard_of(kept_of(in_doubt), NOW) == in_doubt
    assert len(kept_of(in_doubt).encode()) <= LONGEST_KEPT
    for runs in (heard.runs, tuple([10_001] * 20), ()):
        over = replace(heard, said=Said.TERMINATED, over_runs=runs, begun=False)
        assert heard_of(kept_of(over), NOW) == over
        assert len(kept_of(over).encode()) <= LONGEST_KEPT


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="none"),
        pytest.param("players: 3", id="no JSON"),
        pytest.param("[]", id="no object"),
        pytest.param("{}", id="no count"),
        pytest.param('{"players":true}', id="a truth value"),
        pytest.param('{"players":-1}', id="less than none"),
        pytest.param('{"players":1e999}', id="infinity"),
        pytest.param('{"players":NaN}', id="no number"),
        pytest.param('{"players":"3"}', id="a text"),
        pytest.param('{"players":9999999999}', id="too many"),
        pytest.param('{"players":3,"runs":[-1]}', id="fewer restarts than none"),
        pytest.param('{"players":3,"runs":7}', id="restarts of nothing"),
        pytest.param('{"players":3,"health":"Splendid"}', id="a health that there is not"),
        pytest.param('{"players":3,"said":["ready"]}', id="a state that is no text"),
        pytest.param('{"players":3,"x":"' + "x" * 400 + '"}', id="too long"),
        pytest.param("[" * 190, id="deep"),
    ],
)
def test_a_text_that_is_not_ours_was_never_said(text: str) -> None:
    assert heard_of(text) is None
