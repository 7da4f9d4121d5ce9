"""What a run says, listened to where it is said; a canary in it is a leak.

The real parts run. Around the functions through which their words leave stands one more that reads
along: no test has to remember to look.
"""

import logging
import subprocess
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from reconciler.adapters.git.memory_host import MemoryHost
from reconciler.adapters.http.api import RoomsApi
from reconciler.adapters.http.ask import Answer, Ask
from reconciler.adapters.outside.exchange import Exchange, Question
from reconciler.cli.console import Console
from reconciler.model.errors import PortError
from reconciler.sandbox.cluster import Sandbox
from reconciler.sandbox.requests import Request
from reconciler.service.logs import JsonLines, TextLines
from reconciler.service.metrics import Metrics
from tests.canaries.places import HOLDERS, TEXTS, places_in

SEARCHED: Counter[str] = Counter()
"""How many outputs of each kind were looked through."""
_LEAKS: list["Leak"] = []
_FILES: dict[str, int] = {}
"""Files into which processes speak, and how many bytes of each were looked through."""
_LONGEST_FORM = 64


@dataclass(frozen=True, slots=True)
class Leak:
    """A canary of `place` stood in `output`; `where` says in which."""

    place: str
    output: str
    where: str

    def __str__(self) -> str:
        return f"{self.place} in {self.output}: {self.where}"


def look(output: str, content: bytes | str, where: str = "") -> None:
    """Look through one output of a kind."""
    SEARCHED[output] += 1
    text = content.encode(errors="replace") if isinstance(content, str) else content
    for place in places_in(text):
        leak = Leak(place, output, where)
        if leak not in _LEAKS:
            _LEAKS.append(leak)


def look_through_repository(bare: Path) -> None:
    """Look through every object of a bare repository: commits with their messages, and files."""
    argv = ["git", "-C", str(bare), "cat-file", "--batch-all-objects", "--batch", "--buffer"]
    done = subprocess.run(argv, capture_output=True, check=True)
    look("a commit", done.stdout, str(bare))


def read_files() -> None:
    """Look through what processes have said since, in the files into which they speak."""
    for path, seen in list(_FILES.items()):
        try:
            with open(path, "rb") as file:
                file.seek(max(0, seen - _LONGEST_FORM))
                if said := file.read():
                    look("output of a process", said, path)
                _FILES[path] = file.tell()
        except FileNotFoundError:
            continue


def taken() -> list[Leak]:
    """Return the leaks since this was last asked."""
    read_files()
    leaks = _LEAKS[:]
    _LEAKS.clear()
    return leaks


def begin_anew() -> None:
    """Forget what was heard before: a child that was forked tells of itself alone."""
    SEARCHED.clear()
    _LEAKS.clear()


def given_out() -> tuple[Counter[str], list[Leak]]:
    """Return what a child heard, for its parent to `take_in`."""
    return SEARCHED, _LEAKS


def take_in(searched: Counter[str], leaks: list[Leak]) -> None:
    """Add what a child heard."""
    SEARCHED.update(searched)
    _LEAKS.extend(leak for leak in leaks if leak not in _LEAKS)


@contextmanager
def apart() -> Iterator[list[Leak]]:
    """Give the leaks of a block to whoever makes them on purpose."""
    before = taken()
    counted = SEARCHED.copy()
    leaks: list[Leak] = []
    try:
        yield leaks
    finally:
        leaks += taken()
        _LEAKS[:] = before
        SEARCHED.clear()
        SEARCHED.update(counted)


def listen(patch: pytest.MonkeyPatch) -> None:
    """Listen from now on, until `patch` is undone."""
    patch.setattr(logging.Logger, "handle", _before(_hear_record, logging.Logger.handle))
    patch.setattr(PortError, "__init__", _before(_hear_error, Exception.__init__))
    for name in ("print", "note"):
        patch.setattr(Console, name, _before(_hear_line, getattr(Console, name)))
    patch.setattr(Sandbox, "handle", _before(_hear_request, Sandbox.handle))
    patch.setattr(MemoryHost, "take", _before(_hear_push, MemoryHost.take))
    patch.setattr(Exchange, "ask", _before(_hear_question, Exchange.ask))
    patch.setattr(Metrics, "text", _after(_hear_page, Metrics.text))
    for name in ("read", "readline"):
        patch.setattr(HTTPResponse, name, _after(_hear_answer, getattr(HTTPResponse, name)))
    patch.setattr(RoomsApi, "answer", _hearing_api(RoomsApi.answer))
    patch.setattr(subprocess.Popen, "__init__", _hearing_start(subprocess.Popen.__init__))
    patch.setattr(subprocess.Popen, "communicate", _hearing_end(subprocess.Popen.communicate))


def _before(hear: Callable[..., None], told: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(told)
    def both(*words: Any, **named: Any) -> Any:
        hear(*words, **named)
        return told(*words, **named)

    return both


def _after(hear: Callable[..., None], told: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(told)
    def both(*words: Any, **named: Any) -> Any:
        result = told(*words, **named)
        hear(words[0], result)
        return result

    return both


def _hear_error(error: PortError, *words: object, **_: object) -> None:
    look("an error", " ".join(map(str, words)), type(error).__name__)


def _hear_line(_: Console, text: str = "") -> None:
    look("a line of a command", text)


def _hear_request(_: Sandbox, request: Request, now: float) -> None:
    if request.body and not any(part in request.path for part in HOLDERS):
        look("a write to the cluster", request.body, f"{request.method} {request.path}")


def _hear_push(host: MemoryHost, commit: str, branch: str, expected: str) -> None:
    made = host.commits[commit]
    before = [host.commits[parent].files for parent in made.parents]
    known = {id(content) for files in before for content in files.values()}
    new = [content for content in made.files.values() if id(content) not in known]
    look("a commit", b"\n".join([f"{made.author} {made.subject}".encode(), *new]), branch)


def _hear_question(_: Exchange, question: Question) -> None:
    if question.body is not None:
        look("a notification or a question", question.body, question.who)


def _hear_page(_: Metrics, page: bytes) -> None:
    look("a page of metrics", page)


def _hear_answer(answer: HTTPResponse, content: bytes) -> None:
    # urllib tells an answer its address.
    url = getattr(answer, "url", "")
    if not any(part in url for part in HOLDERS):
        look("an answer over HTTP", content, url.partition("?")[0])


def _hear_record(_: logging.Logger, record: logging.LogRecord) -> None:
    said = [record.getMessage(), repr(getattr(record, "fields", ""))]
    if record.exc_info:
        said += traceback.format_exception(record.exc_info[1])
    if any(text in each for each in said for text in TEXTS):
        # What leaves the process is the line, and lines are masked.
        look("the log", TextLines().format(record) + JsonLines().format(record), record.name)
    else:
        SEARCHED["the log"] += 1


def _hearing_api(told: Callable[[RoomsApi, Ask], Awaitable[Answer]]) -> Callable[..., Any]:
    @wraps(told)
    async def both(api: RoomsApi, ask: Ask) -> Answer:
        answer = await told(api, ask)
        look("an answer over HTTP", answer.body, ask.path)
        return answer

    return both


def _is_ours(argv: object) -> bool:
    """Whether a process is the program, and no tool of a test."""
    return isinstance(argv, list | tuple) and Path(str(argv[0])).name == "gamekeeper"


class _Heard:
    """A pipe out of a process, whose lines are looked through as they are read."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[Any]:
        while line := self.readline():
            yield line

    def read(self, *size: int) -> Any:
        """Read on."""
        return self._told(self._stream.read(*size))

    def readline(self, *size: int) -> Any:
        """Read a line."""
        return self._told(self._stream.readline(*size))

    def _told(self, said: Any) -> Any:
        look("output of a process", said or "")
        return said


def _hearing_start(start: Callable[..., None]) -> Callable[..., None]:
    @wraps(start)
    def both(self: Any, args: Any, *words: Any, **named: Any) -> None:
        start(self, args, *words, **named)
        if not _is_ours(args):
            return
        for name in ("stdout", "stderr"):
            path = getattr(named.get(name), "name", None)
            if isinstance(path, str):
                _FILES.setdefault(path, 0)
            elif getattr(self, name) is not None:
                setattr(self, name, _Heard(getattr(self, name)))

    return both


def _hearing_end(end: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(end)
    def both(self: Any, *words: Any, **named: Any) -> Any:
        said = end(self, *words, **named)
        if _is_ours(self.args):
            for each in said:
                look("output of a process", each or "", " ".join(self.args[:2]))
        return said

    return both
