"""Inputs as strangers might write them: real ones, changed by chance and spliced with each other.

Each is made from the numbers of a `Random` alone, so that its case can be played again.
"""

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

import yaml

PLAIN: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
YAML: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_WORD = re.compile(rb"[A-Za-z0-9_.+-]+|[^\sA-Za-z0-9]")
_DULL = re.compile(rb"[A-Za-z]")
NASTY = (
    *(
        b"",
        b"0",
        b"-1",
        b"1e999",
        b"0x1F",
        b"1_000",
        b"9" * 25,
        b"1" + b"0" * 400,
        b"-0.0",
        b".inf",
    ),
    *(b"null", b"~", b"true", b"no", b"NaN", b"[]", b"{}", b"[[", b"{{", b"}}", b"{%", b"%}", b"'"),
    *(b'"', b"\\", b"\\u0000", b"\\ud800", b"\x00", b"\x1b]", b"\x7f", b"\x85", b"\xff", b"\xc3"),
    *(b"\xe2\x80\xa8", b"\xe2\x80\xae", b"\xef\xbb\xbf", b"\xf0\x9f\x8e\xb2", b"\xd9\xa1"),
    *(b"\r\n", b"\n", b"\t", b" ", b"\n\n", b"---\n", b"...\n", b"%YAML 1.1\n---\n", b"#", b": "),
    *(b"- ", b"? ", b"&a ", b"*a", b"<<: *a\n", b"!!int ", b"!x ", b"|\n", b">-\n", b"../", b"/"),
    *(b"://", b"@", b"=", b"&", b";", b",", b".", b"-", b":", b"a" * 64, b"2001-02-30", b"%00"),
)
"""What breaks parsers, whatever they parse."""
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**31, 2**63, 2**64, 10**30, 0.5, -0.0, 1e308, "", "a", "0", "-1"),
    *(
        "\x00",
        "\ud800",
        "\u2028",
        "é" * 70,
        "x" * 5000,
        [],
        {},
        [[]],
        [None],
        {"": None},
        {"a": {}},
    ),
)
_CHANGES_EACH = (1, 1, 1, 1, 2, 3, 6)
"""Mostly one: of what is changed in many places little is looked at behind the first."""
_LONGEST_RUN = 60_000


class Forge:
    """Makes inputs of at most `most_bytes` from `seeds`; `words` mean something to the parser."""

    def __init__(
        self, seeds: Sequence[bytes], words: Sequence[bytes] = (), most_bytes: int = 100_000
    ) -> None:
        self._seeds = sorted(set(seeds))
        self._words = (*NASTY, *words, *words)
        self._most_bytes = most_bytes

    def __call__(self, chance: random.Random) -> bytes:
        """Return an input."""
        data = chance.choice(self._seeds)
        for _ in range(chance.choice(_CHANGES_EACH)):
            data = chance.choice(_CHANGES)(self, data, chance)[: self._most_bytes]
        return data

    def spliced(self, data: bytes, chance: random.Random) -> bytes:
        """Go on with another one somewhere."""
        other = chance.choice(self._seeds)
        return data[: _place(data, chance)] + other[_place(other, chance) :]

    def grafted(self, data: bytes, chance: random.Random) -> bytes:
        """Put a piece of another one somewhere."""
        other, at = chance.choice(self._seeds), _place(data, chance)
        begin, end = sorted((_place(other, chance), _place(other, chance)))
        return data[:at] + other[begin:end] + data[at:]

    def reworded(self, data: bytes, chance: random.Random) -> bytes:
        """Put something nasty, or a word of the parser's, in the place of a word."""
        begin, end = _span_of_a_word(data, chance)
        return data[:begin] + chance.choice(self._words) + data[end:]

    def inserted(self, data: bytes, chance: random.Random) -> bytes:
        """Put it between two words."""
        at = chance.choice((_span_of_a_word(data, chance)[1], _place(data, chance)))
        return data[:at] + chance.choice(self._words) + data[at:]

    def drawn_out(self, data: bytes, chance: random.Random) -> bytes:
        """Say a word, a line or a piece over and over: what takes too long then is quadratic."""
        if chance.random() < 0.5:
            begin, end = _span_of_a_word(data, chance)
        else:
            begin = _place(data, chance)
            end = begin + chance.randint(1, 40)
        piece = data[begin:end] or chance.choice(self._words)
        times = chance.choice((2, 10, 100, 2000, 50_000))
        run = (piece * min(times, _LONGEST_RUN // max(1, len(piece)) + 1))[:_LONGEST_RUN]
        return data[:begin] + run + data[end:]


def flipped(_: Forge, data: bytes, chance: random.Random) -> bytes:
    """Change a byte."""
    at = _place(data, chance)
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def cut(_: Forge, data: bytes, chance: random.Random) -> bytes:
    """Take a piece out, or the rest."""
    begin = _place(data, chance)
    end = len(data) if chance.random() < 0.2 else begin + chance.randint(1, 30)
    return data[:begin] + data[end:]


def shuffled(_: Forge, data: bytes, chance: random.Random) -> bytes:
    """Let lines change places, come twice, go, or stand elsewhere."""
    lines = data.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    what = chance.randrange(4)
    if what == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif what == 1:
        lines.insert(one, lines[other])
    elif what == 2:
        del lines[one]
    else:
        indent = b" " * chance.randrange(6)
        lines[one] = indent + lines[one].lstrip(b" ")
    return b"\n".join(lines)


_CHANGES: tuple[Callable[[Forge, bytes, random.Random], bytes], ...] = (
    *(Forge.spliced, Forge.grafted, Forge.reworded, Forge.reworded, Forge.inserted),
    *(Forge.drawn_out, flipped, cut, shuffled),
)


def altered(value: Any, chance: random.Random, others: Sequence[Any] = ()) -> Any:
    """Return a JSON value with one to six places in it changed: its type, its names, its length."""
    for _ in range(chance.choice(_CHANGES_EACH)):
        value = _altered(value, chance, (*_VALUES, *others))
    return value


def in_yaml(documents: Sequence[Any], chance: random.Random, others: Sequence[Any]) -> bytes:
    """Return YAML that can be read, of a document with some of its values changed."""
    flow, quotes = chance.choice((None, False, False, True)), chance.choice((None, None, None, "'"))
    parts = [chance.choice(documents) for _ in range(chance.choice((1, 1, 1, 2)))]
    parts = [altered(part, chance, others) if chance.random() < 0.8 else part for part in parts]
    try:
        texts = [_dumped(part, flow, quotes) for part in parts]
    except UnicodeEncodeError:
        # Half a character: JSON writes that, too, and is YAML.
        texts = [json.dumps(part) + "\n" for part in parts]
    return "---\n".join(texts).encode()


def _dumped(value: Any, flow: bool | None, quotes: str | None) -> str:
    text: str = yaml.dump(
        value,
        Dumper=YAML,
        allow_unicode=True,
        sort_keys=False,
        default_flow_style=flow,
        default_style=quotes,
    )
    return text


def documents_of(texts: Sequence[bytes]) -> list[Any]:
    """Return the mappings in YAML texts, of those that can be read and hold nothing twice.

    What an alias stands for would be written out, and of some texts that has no end.
    """
    found: list[Any] = []
    for text in texts:
        if b"&" in text:
            continue
        try:
            found += [one for one in yaml.load_all(text, Loader=PLAIN) if isinstance(one, dict)]
        except (yaml.YAMLError, ValueError, RecursionError):
            continue
    return [one for one in found if _is_named(one)]


def _is_named(value: Any) -> bool:
    """Whether a value is of JSON: all its names are text."""
    if isinstance(value, dict):
        return all(isinstance(name, str) and _is_named(each) for name, each in value.items())
    if isinstance(value, list):
        return all(map(_is_named, value))
    return value is None or isinstance(value, str | int | float)


def written(value: Any, chance: random.Random) -> bytes:
    """Return a value as JSON; now and then with a byte of it changed."""
    text = json.dumps(value, ensure_ascii=chance.random() < 0.9).encode("utf-8", "surrogatepass")
    return _worse(text, chance) if chance.random() < 0.1 else text


def _altered(value: Any, chance: random.Random, others: Sequence[Any]) -> Any:
    deeper = isinstance(value, dict | list) and len(value) > 0 and chance.random() < 0.85
    if not deeper:
        return [value] if chance.random() < 0.05 else chance.choice(others)
    if isinstance(value, list):
        return _altered_list(value, chance, others)
    name, what = chance.choice(sorted(value)), chance.random()
    changed = dict(value)
    if what < 0.1:
        del changed[name]
    elif what < 0.15:
        changed[str(chance.choice(others))] = changed.pop(name)
    elif what < 0.2:
        changed[name] = changed[chance.choice(sorted(changed))]
    else:
        changed[name] = _altered(changed[name], chance, others)
    return changed


def _altered_list(value: list[Any], chance: random.Random, others: Sequence[Any]) -> list[Any]:
    at, what = chance.randrange(len(value)), chance.random()
    if what < 0.1:
        return value[:at] + value[at + 1 :]
    if what < 0.2:
        return value[:at] + [value[at]] * chance.choice((2, 3, 500)) + value[at:]
    return [*value[:at], _altered(value[at], chance, others), *value[at + 1 :]]


def _worse(text: bytes, chance: random.Random) -> bytes:
    change = chance.choice((flipped, cut, shuffled))
    return change(Forge([text]), text, chance)


def _place(data: bytes, chance: random.Random) -> int:
    return chance.randrange(len(data) + 1)


def _span_of_a_word(data: bytes, chance: random.Random) -> tuple[int, int]:
    """Return where a word stands near some place: to find them all would take longer."""
    found = _WORD.search(data, max(0, _place(data, chance) - 1))
    if found is None:
        return len(data), len(data)
    if _DULL.match(found[0]) and chance.random() < 0.3:
        found = _WORD.search(data, found.end()) or found
    return found.span()
