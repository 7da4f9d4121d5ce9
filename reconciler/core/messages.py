"""Findings as people and pull requests show them."""

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
    properties = {"file": finding.file}
    if finding.line:
        properties |= {"line": str(finding.line), "col": str(finding.column)}
    properties["title"] = finding.path or finding.rule
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    message = f"{finding.message}\n{finding.fix}" if finding.fix else finding.message
    return f"::{finding.severity.value} {listed}::{_escaped(message)}"


def _printable(text: str) -> str:
    # A file may be called anything: no line of it may pass for one of ours.
    return "".join(c if c.isprintable() else "?" for c in text)


def _escaped(text: str) -> str:
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return _printable(escaped)


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
