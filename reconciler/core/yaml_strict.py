"""Strict YAML: strangers' text to documents, in bounded time and memory (DESIGN §2 rule 7)."""

import re
from typing import Any

import yaml

from reconciler.core.document_builder import DocumentBuilder, Stop, line_and_column
from reconciler.core.documents import ParsedFile
from reconciler.model.findings import Finding

MOST_BYTES = 1 << 20

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
"""What no editor shows. libyaml refuses some of it without a place, and takes three of them for the
end of a line, as YAML 1.1 has it: a value could go on as a property that no reviewer saw."""
_ENDS_A_LINE = "\x85\u2028\u2029"

LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""libyaml's parser where it was built in, eight times as fast as the one in Python."""


def parse_file(file: str, data: bytes, loader: Any = LOADER) -> ParsedFile:
    """Read every document of a file; never raises for what stands in it."""
    if len(data) > MOST_BYTES:
        size = f"{len(data)} bytes; at most {MOST_BYTES} are read"
        return ParsedFile([], Finding(file, 0, 0, "", f"the file has {size}", "split it", "size"))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = "this is not UTF-8 text"
        return ParsedFile([], Finding(file, line, column, "", message, "save as UTF-8", "encoding"))
    unseen = _UNSEEN.search(text)
    if unseen is not None:
        return ParsedFile([], _hidden(file, text, unseen.start()))
    return _documents(file, text, loader)


def _documents(file: str, text: str, loader: Any) -> ParsedFile:
    builder = DocumentBuilder(file)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
    except Stop as stop:
        finding = _unreadable(file, stop.mark, stop.message, stop.fix, stop.rule)
    except yaml.MarkedYAMLError as error:
        finding = _broken(file, error)
    except (yaml.YAMLError, ValueError) as error:
        first = (str(error).splitlines() or ["broken text"])[0]
        fix = "save it anew, as YAML in UTF-8"
        finding = _unreadable(file, None, f"this is not YAML: {first}", fix, "syntax")
    else:
        return ParsedFile(builder.done)
    return ParsedFile(builder.done, finding)


def _hidden(file: str, text: str, at: int) -> Finding:
    before = text[:at]
    line = before.count("\n") + 1
    column = at - before.rfind("\n")
    what = "the end of a line that no editor shows" if text[at] in _ENDS_A_LINE else "not text"
    message = f"this is not YAML: the character U+{ord(text[at]):04X} is {what}"
    fix = f'take it out; where it is meant, write "\\u{ord(text[at]):04x}" in double quotes'
    return Finding(file, line, column, "", message, fix, "syntax")


def _broken(file: str, error: yaml.MarkedYAMLError) -> Finding:
    problem = error.problem or error.context or "broken syntax"
    mark = error.problem_mark or error.context_mark
    fix = _syntax_fix(problem)
    if "unexpected end of stream" in problem and error.context_mark is not None:
        mark, problem, fix = error.context_mark, "the quotes opened here never close", "close them"
    return _unreadable(file, mark, f"this is not YAML: {problem}", fix, "syntax")


def _unreadable(file: str, mark: Any, message: str, fix: str, rule: str) -> Finding:
    line, column = line_and_column(mark) if mark is not None else (0, 0)
    return Finding(file, line, column, "", message, fix, rule)


def _syntax_fix(problem: str) -> str:
    if "cannot start any token" in problem:
        return "indent with spaces, not tabs; quote text that starts with @, ` or %"
    if "mapping values are not allowed" in problem or "did not find expected" in problem:
        return "check the indentation, and quote text that holds a colon, { or ["
    return "check the indentation and the quotes of this line and the one above"
