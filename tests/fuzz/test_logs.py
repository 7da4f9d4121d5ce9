"""What `git log` says of strangers' commits: every text is its author's, and stays where it is."""

import json
import random
from dataclasses import asdict, dataclass
from typing import Any

from reconciler.adapters.git.commands import Commands, Output
from reconciler.adapters.git.logs import log
from reconciler.adapters.git.objects import Objects
from tests.fuzz.forging import Forge
from tests.fuzz.playing import Target, search

WORDS = (
    b"/" + b"a" * 40,
    b"\n/",
    b"\n\n",
    b"token=abc",
    b"://u:p@h/",
    b"\x1b[31m",
    b"\xe2\x80\xae",
)
NAMES = Forge([b"Ada Lovelace", b"ada@example.com", "Grüße".encode()], WORDS, 2_000)
BODIES = Forge(
    [
        b"Because.\n\nGamekeeper-Approve: 0a1b2c3d4e5f\nSigned-off-by: Ada <ada@example.com>\n",
        b"Scheduler/arena/arena: 10 -> 12: more players\n",
    ],
    WORDS,
    20_000,
)
PATHS = Forge([b"schedulers/arena.yaml", b"rooms/1.yaml", b"a\nb"], WORDS, 5_000)
MOST_PATHS = 1000
DATES = {"0": 0, "1": 1, "1760000000": 1_760_000_000, "8589934592": 2**33} | dict.fromkeys(
    ("", "soon", "1" + "0" * 12, "1" + "0" * 26), 0
)
"""What git may print for the time of a commit, and when that is."""


@dataclass(frozen=True, slots=True)
class Far(Commands):
    """Git, as it answers what a log asks: `texts` are its commits, without how each begins."""

    commits: tuple[str, ...] = ()
    texts: tuple[bytes, ...] = ()

    def run(self, *arguments: str, stdin: bytes = b"", **_: Any) -> Output:
        return Output(0, self._said(arguments, stdin), "")

    def read(self, *arguments: str, stdin: bytes = b"", **_: Any) -> bytes:
        return self._said(arguments, stdin)

    def _said(self, arguments: tuple[str, ...], stdin: bytes) -> bytes:
        if arguments[0] == "cat-file":
            return b"".join(b"%s 1000\n" % line for line in stdin.split())
        if arguments[0] != "log":
            return "\n".join(self.commits).encode()
        (form,) = (word for word in arguments if word.startswith("--format="))
        mark = form.removeprefix("--format=").partition("%H")[0].encode()
        return b"".join(mark + text for text in self.texts)


def commits_of(chance: random.Random) -> bytes:
    """Return some commits as a list of their fields and paths, a byte to a letter."""
    made = []
    for number in range(chance.randint(1, 4)):
        texts = [_text(NAMES, chance) for _ in range(4)]
        at, subject = chance.choice(list(DATES)), _text(NAMES, chance)
        fields = [f"{number:040x}", chance.choice(("", "b" * 40, f"{'b' * 40} {'c' * 40}"))]
        fields += [*texts, at, subject.replace("\n", " "), _text(BODIES, chance)]
        paths = [_path(chance) for _ in range(chance.randint(0, 4))]
        if chance.random() < 0.02:
            paths = (paths or ["a"]) * (MOST_PATHS + 1)
        made.append([fields, paths])
    return json.dumps(made).encode()


def logged(data: bytes) -> None:
    """Of each commit there is what it says, in printable words, and nothing of another's."""
    made: list[tuple[list[str], list[str]]] = json.loads(data)
    known = [fields[0] for fields, _ in made]
    texts = tuple(_as_git(*each) for each in made)
    objects = Objects(Far((), commits=tuple(known), texts=texts), "it")
    found = log(objects, known[0], "rooms", [], len(made), "")

    assert [each.commit for each in found] == known
    for each, (fields, paths) in zip(found, made, strict=True):
        assert list(each.parents) == fields[1].split()
        assert each.at == DATES[fields[6]]
        assert len(each.paths) == min(len(paths), MOST_PATHS)
        people = (each.author.name, each.author.email, each.committer.name, each.committer.email)
        assert all(text.isprintable() for text in (*people, each.subject, *each.paths))
        assert all(line.isprintable() for line in each.body.split("\n"))
    json.dumps([asdict(each) for each in found], ensure_ascii=False).encode()


def _as_git(fields: list[str], paths: list[str]) -> bytes:
    """Return a commit as `git log -z --name-only` writes it for the format of a log."""
    text = "\0".join(fields) + "\0\0"
    return (text + ("\n" + "\0".join(paths) + "\0" if paths else "")).encode("latin-1")


def _text(forge: Forge, chance: random.Random) -> str:
    """Return a text without NUL, which no field of a commit can hold."""
    seldom = chance.random() < 0.6
    return (b"Ada" if seldom else forge(chance)).decode("latin-1").replace("\0", "")


def _path(chance: random.Random) -> str:
    """Return a path as a tree may hold them that git did not write: of any letters but NUL."""
    return PATHS(chance).decode("latin-1").replace("\0", "") or "a"


def test_no_log_of_strangers_commits_is_too_much() -> None:
    search(Target("log", 8_400, commits_of, logged))
