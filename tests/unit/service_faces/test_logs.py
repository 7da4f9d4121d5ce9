import io
import json
import logging

import pytest

from reconciler.model.masks import redact
from reconciler.service.logs import JsonLines, TextLines


def record(message: str, *words: object, **fields: object) -> logging.LogRecord:
    made = logging.LogRecord("gamekeeper", logging.INFO, "x.py", 1, message, words, None)
    made.created, made.msecs = 0.0, 7.0
    made.fields = fields
    return made


def test_a_text_line_has_time_level_message_and_fields() -> None:
    line = TextLines().format(record("create %s", "room arena-1", reason="too few rooms", n=2))
    assert line == ('1970-01-01T00:00:00.007Z info create room arena-1 reason="too few rooms" n=2')


def test_a_json_line_is_one_object_with_the_fields_beside_the_message() -> None:
    line = JsonLines().format(record("held: %s", "a\nb", workload="Scheduler/arena"))
    assert json.loads(line) == {
        "workload": "Scheduler/arena",
        "time": "1970-01-01T00:00:00.007Z",
        "level": "info",
        "logger": "gamekeeper",
        "message": "held: a\nb",
    }
    assert "\n" not in line


def test_a_message_cannot_forge_a_second_line() -> None:
    line = TextLines().format(record("no file %s", "x\n1970 info all is well\x1b[2J"))
    assert "\n" not in line
    assert "\x1b" not in line


def test_a_traceback_follows_its_line_without_secrets() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(TextLines())
    try:
        raise ValueError("https://me:hunter2@git.example/x")
    except ValueError as error:
        made = record("defect")
        made.exc_info = (ValueError, error, error.__traceback__)
        handler.emit(made)
    assert "ValueError: https://***@git.example/x" in stream.getvalue()


@pytest.mark.parametrize("lines", [TextLines(), JsonLines()])
def test_a_traceback_forges_no_line_and_gives_no_orders(lines: logging.Formatter) -> None:
    try:
        raise ValueError("no file x\n1970-01-01T00:00:00.007Z info all is well\x1b[2J\x9b2J\u202e")
    except ValueError as error:
        made = record("defect")
        made.exc_info = (ValueError, error, error.__traceback__)
        line = lines.format(made)
    assert not {"\x1b", "\x9b", "\u202e"} & set(line)
    assert "\n1970" not in line


def test_a_json_line_is_without_secrets_and_orders_however_deep_they_stand() -> None:
    secret = "https://me:hunter2@git.example/x"
    fields = {"list": [{"at": secret}], "pair": (1, secret), "odd": ValueError(secret)}
    line = JsonLines().format(record("\x9b2J\u202e", **fields))
    assert "hunter2" not in line
    assert line.isprintable()
    told = json.loads(line)
    assert told["message"] == "\x9b2J\u202e"
    assert told["list"] == [{"at": "https://***@git.example/x"}]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        pytest.param("fetch https://me:hunter2@git.example/x", "hunter2", id="password of a URL"),
        pytest.param("https://hunter2token@git.example/x", "hunter2token", id="user of a URL"),
        pytest.param("Authorization: Bearer abcdefghijkl", "abcdefghijkl", id="bearer token"),
        pytest.param("Basic bWU6aHVudGVyMg==", "bWU6aHVudGVyMg", id="basic credentials"),
        pytest.param("x eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrIn0.c2lnbmF0dXJl y", "c2lnbmF0", id="JWT"),
        pytest.param("refused ghp_abcdefghijklmnop", "abcdefghijklmnop", id="GitHub token"),
        pytest.param("glpat-abcdefghijklmnop", "abcdefghijklmnop", id="GitLab token"),
        pytest.param('{"token": "s3cr3t"}', "s3cr3t", id="token in JSON"),
        pytest.param("password=s3cr3t&x=1", "s3cr3t", id="password in a query"),
        pytest.param("GAMEKEEPER_TOKEN=s3cr3t", "s3cr3t", id="token in the environment"),
    ],
)
def test_secrets_are_masked(text: str, secret: str) -> None:
    assert secret not in redact(text)
    assert "***" in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "create room arena-7",
        "https://git.example.com/studio/fleet.git",
        "ssh://git.example.com/x and me@example.com",
        "spec.template.spec.containers[0].image: busybox:1.37",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text
