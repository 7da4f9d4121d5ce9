"""The file of the targets: what is taken, and every mistake at its line."""

from pathlib import Path

import jsonschema
import pytest

from reconciler import assets
from reconciler.core.notification_targets import targets_of
from reconciler.core.schemas import validator_of
from reconciler.model.notifications import Form, Topic
from tests.unit.core.test_schemas import ANNOTATIONS, KEYWORDS, nodes, properties

SCHEMA = assets.process_schema("notifications")
EXAMPLE = Path(__file__).parents[3] / "examples/notifications/a-chat-and-a-program.yaml"
HEAD = "apiVersion: gamekeeper.dev/v1\nkind: Notifications\nspec:\n  targets:\n"


def read(text: str) -> tuple[list[str], list[str]]:
    targets, findings = targets_of("n.yaml", text.encode(), validator_of(SCHEMA))
    return [each.name for each in targets], [f"{f.line}: {f.message}" for f in findings]


def test_the_example_is_taken() -> None:
    data = EXAMPLE.read_bytes()
    targets, findings = targets_of("n.yaml", data, validator_of(SCHEMA))
    assert not findings
    chat, program = targets
    assert (chat.form, chat.workloads) == (Form.SLACK, ("arena*",))
    assert Topic.APPLIED not in chat.topics
    assert (program.form, program.topics) == (Form.WEBHOOK, frozenset(Topic))
    assert program.secret_file
    assert program.give_up_seconds == 12 * 3600


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("", "0: one document is wanted, not 0", id="nothing"),
        pytest.param("a: [", "2: this is not YAML", id="no YAML"),
        pytest.param(HEAD + "  - name: A\n    slack: {urlFile: /a}\n", "5: must be 1 to 40 small",
                     id="a name"),
        pytest.param(HEAD + "  - name: a\n", "5: a target has either", id="no form"),
        pytest.param(HEAD + "  - name: a\n    slack: {urlFile: /a}\n    webhook: {url: 'https://a'}",
                     "5: a target has either", id="two forms"),
        pytest.param(HEAD + "  - name: a\n    webhook: {}\n", "6: one address is", id="no address"),
        pytest.param(HEAD + "  - name: a\n    webhook: {url: 'https://a', urlFile: /a}\n",
                     "6: one address is", id="two addresses"),
        pytest.param(HEAD + "  - name: a\n    webhook: {url: 'ftp://a'}\n", "6: this is no address",
                     id="no http"),
        pytest.param(HEAD + "  - name: a\n    slack: {urlFile: /a}\n  - name: a\n"
                     "    slack: {urlFile: /b}\n", "7: \"a\" stands in the file twice", id="twice"),
        pytest.param(HEAD + "  - name: a\n    slack: {urlFile: /a}\n    events: [aplied]\n",
                     "7: must be one of applied", id="an event"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_at_its_line(text: str, found: str) -> None:
    targets, findings = read(text)
    assert targets == []
    assert any(finding.startswith(found) for finding in findings), findings


def test_a_secret_in_the_wrong_place_is_not_repeated() -> None:
    secret = "https://hooks.example.com/services/hunter2"
    for where in ("slack: {urlFile: '%s'}", "webhook: {urlFile: /a, secretFile: '%s'}"):
        targets, findings = read(f"{HEAD}  - name: a\n    {where % secret}\n")
        assert targets == []
        assert findings
        assert "hunter2" not in str(findings)


def test_the_schema_is_sound_and_says_all_that_an_editor_shows() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for node in nodes(SCHEMA):
        assert set(node) <= ANNOTATIONS | KEYWORDS
    for name, node, is_required in properties(SCHEMA):
        assert node["description"].endswith("."), name
        assert node["x-unit"], name
        assert node["examples"], name
        assert is_required or "default" in node or name in ("webhook", "slack"), name
        for example in node["examples"]:
            jsonschema.Draft202012Validator(node).validate(example)
