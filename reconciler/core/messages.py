"""Findings as people and pull requests show them."""

from collections.abc import Mapping

from reconciler.model.findings import Finding


def as_text(finding: Finding) -> str:
    """Return `file:line:column: error: path: message`, and the fix on a line of its own."""
    where = _printable(finding.file)
    if finding.line:
        where += f":{finding.line}:{finding.column}"
    path = f"{finding.path}: " if finding.path else ""
    text = f"{where}: {finding.severity.value}: {_printable(path + finding.message)}"
    return f"{text}\n  {_printable(finding.fix)}" if finding.fix else text


def as_github(finding: Finding) -> str:
    """Return the workflow command that makes GitHub show the finding beside its line."""
    place = placed(finding.file, finding.line, finding.column)
    message = f"{finding.message}\n{finding.fix}" if finding.fix else finding.message
    title = finding.path or finding.rule
    return workflow_command(finding.severity.value, {**place, "title": title}, message)


def placed(file: str, line: int, column: int) -> dict[str, str]:
    """Return the place of an annotation; line 0 is the whole file."""
    return {"file": file} | ({"line": str(line), "col": str(column)} if line else {})


def workflow_command(level: str, properties: Mapping[str, str], message: str) -> str:
    """Return one line that GitHub takes for an annotation, whatever stands in its parts."""
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {listed}::{_escaped(message)}"


def _printable(text: str) -> str:
    # A file may be called anything: no line of it may pass for one of ours.
    return "".join(c if c.isprintable() else "?" for c in text)


def _escaped(text: str) -> str:
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return _printable(escaped)


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
