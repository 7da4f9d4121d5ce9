"""Findings as text and as GitHub's annotations, whatever stands in them."""

import pytest

from reconciler.core.messages import as_github, as_text, placed, workflow_command
from reconciler.model.findings import Finding, Severity

FULL = Finding("a.yaml", 3, 5, "spec.x", "unknown property", 'did you mean "y"?', "unknown")


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        pytest.param(
            FULL,
            'a.yaml:3:5: error: spec.x: unknown property\n  did you mean "y"?',
            id="everything",
        ),
        pytest.param(Finding("a.yaml", 0, 0, "", "gone"), "a.yaml: error: gone", id="a whole file"),
        pytest.param(
            Finding("a.yaml", 1, 1, "", "doubtful", severity=Severity.WARNING),
            "a.yaml:1:1: warning: doubtful",
            id="a warning",
        ),
        pytest.param(
            Finding("a\n::b.yaml", 1, 1, "p\x1b", "m\r\n::error::x"),
            "a?::b.yaml:1:1: error: p?: m??::error::x",
            id="control characters",
        ),
    ],
)
def test_a_finding_is_a_line_of_text_and_its_fix(finding: Finding, text: str) -> None:
    assert as_text(finding) == text


@pytest.mark.parametrize(
    ("finding", "command"),
    [
        pytest.param(
            FULL,
            '::error file=a.yaml,line=3,col=5,title=spec.x::unknown property%0Adid you mean "y"?',
            id="everything",
        ),
        pytest.param(
            Finding("a.yaml", 0, 0, "", "gone", rule="size"),
            "::error file=a.yaml,title=size::gone",
            id="a whole file",
        ),
        pytest.param(
            Finding("a,b:c.yaml", 1, 2, "", "50% \n::error::x", "", "r", Severity.WARNING),
            "::warning file=a%2Cb%3Ac.yaml,line=1,col=2,title=r::50%25 %0A::error::x",
            id="characters that would end the command",
        ),
    ],
)
def test_a_finding_is_one_workflow_command(finding: Finding, command: str) -> None:
    assert as_github(finding) == command
    assert "\n" not in as_github(finding)


def test_a_place_without_a_line_is_the_whole_file() -> None:
    assert placed("a.yaml", 0, 1) == {"file": "a.yaml"}
    assert placed("a.yaml", 2, 5) == {"file": "a.yaml", "line": "2", "col": "5"}


def test_an_annotation_is_escaped_as_githubs_own_toolkit_does_it() -> None:
    said = workflow_command("notice", {"title": "a,b:c%\r\n"}, "100%: a, b\r\nc\u2028d")
    assert said == "::notice title=a%2Cb%3Ac%25%0D%0A::100%25: a, b%0D%0Ac?d"
