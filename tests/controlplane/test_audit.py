"""The log of an API server that writes on."""

from pathlib import Path

from tests.controlplane import audit


def test_a_line_that_is_being_written_is_not_read_yet(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_text('{"verb":"get","of":"a"}\n{"verb":"list","of":"a"}\n{"verb":"get","of":1')
    assert list(audit.events(log)) == [{"verb": "get", "of": "a"}, {"verb": "list", "of": "a"}]
    assert list(audit.events(log, '"of":"a"', "get")) == [{"verb": "get", "of": "a"}]
    log.write_text('{"verb":"get"')
    assert list(audit.events(log)) == []
