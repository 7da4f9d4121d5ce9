"""YAML as anybody may write it: texts for properties, and an oracle that shares no code with us."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml
from hypothesis import strategies as st

HEAD = (
    ("apiVersion", "gamekeeper.dev/v1"),
    ("kind", "Scheduler"),
    ("metadata", "{name: arena}"),
)
_WORDS = st.sampled_from(
    (
        *(
            "arena",
            "5",
            "null",
            "~",
            "''",
            "'it''s 5'",
            '"5"',
            '"a\\tb 🎮"',
            "競技場",
            "é 5",
            "5 5",
        ),
        *("-5", "0x5", "!!str 5", "2026-01-01", "&n 7", "&m {a: 5}", "*none", "'a\n{i}  b'"),
        *("[5, 6]", "{replicas: 5}", "{replicas: 5, x: [1, {y: '}'}]}"),
        *("|\n{i}  replicas: 5\n{i}  # no comment", ">-\n{i}  a\n\n{i}  b"),
        *("\n{i}  - 5\n{i}  - replicas: 5", "\n{i}  replicas: 5"),
    )
)
_NAMES = st.sampled_from(
    ["game", "a", '"b"', "'c'", "競", "🎮", "x.y/z", "? d\n{i}", "replica", "e"]
)
_COMMENTS = st.sampled_from(["", "", "", " # five", "\t# a\ttab", " # replicas: 5 🎮", "   "])
_BETWEEN = st.sampled_from(["", "", "", "\n", "# replicas: 5\n", "  # 🎮 deep\n\n", "\n\n"])
_ANCHORS = st.sampled_from(["", "", "", "&own "])
_ENDS = st.sampled_from(["\n", "\n", "\r\n"])
_MARKS = st.sampled_from(["---\n", "--- # again\n", "...\n---\n", "...\n%YAML 1.1\n---\n"])


class Written(NamedTuple):
    """A text, and where the digits of `spec.replicas` stand in it."""

    text: str
    start: int
    end: int


@st.composite
def written(draw: st.DrawFn) -> Written:
    """Draw a file of some documents, one of them the arena's, its number written plainly."""
    others = [f"kind: Other\nreplicas: 5\nx: {draw(_WORDS).replace('{i}', '')}\n"]
    others = [text for text in others if "*none" not in text] * draw(st.integers(0, 2))
    before, number, after = draw(_arena())
    at = draw(st.integers(0, len(others)))
    start = "".join(text + draw(_MARKS) for text in others[:at])
    rest = "".join(draw(_MARKS) + text for text in others[at:])
    head, tail = start + before, after + rest
    ends = draw(_ENDS)
    head, tail = head.replace("\n", ends), tail.replace("\n", ends)
    if draw(st.booleans()):
        head = "\ufeff" + head
    if draw(st.booleans()):
        tail = tail.removesuffix(ends)
    return Written(head + number + tail, len(head), len(head) + len(number))


@st.composite
def _arena(draw: st.DrawFn) -> tuple[str, str, str]:
    number = str(draw(st.integers(0, 10_000)))
    entries = draw(st.permutations([*HEAD, ("spec", None)]))
    texts: list[str] = []
    at = 0
    for name, value in entries:
        texts.append(draw(_BETWEEN))
        if value is not None:
            texts.append(f"{name}: {value}{draw(_COMMENTS)}\n")
            continue
        before, after = draw(_flow_spec() if draw(st.booleans()) else _block_spec())
        at = len(texts) + 1
        texts += [f"spec: {before}", after]
    return "".join(texts[:at]), number, "".join(texts[at:])


@st.composite
def _block_spec(draw: st.DrawFn) -> tuple[str, str]:
    indent = " " * draw(st.integers(1, 6))
    names = draw(st.lists(_NAMES, unique=True, max_size=4))
    lines = []
    for number, name in enumerate(names):
        word = draw(_WORDS).replace("*none", "none").replace("&n", f"&n{number}")
        line = f"{name}: {word}".replace("{i}", indent)
        text = "" if "\n" in word or "|" in word else draw(_COMMENTS)
        lines.append(f"{indent}{line}{text}\n{draw(_BETWEEN)}")
    at = draw(st.integers(0, len(lines)))
    gap = draw(st.sampled_from([" ", "   ", f"\n{indent}  ", f" # rooms\n{indent} "]))
    key = draw(st.sampled_from(["replicas", '"replicas"', "'replicas'", "replicas "]))
    opening = draw(st.sampled_from(["\n", " # all\n", "&all\n", "\n\n"]))
    before = f"{opening}{''.join(lines[:at])}{indent}{key}:{gap}{draw(_ANCHORS)}"
    return before, f"{draw(_COMMENTS)}\n{draw(_BETWEEN)}{''.join(lines[at:])}"


@st.composite
def _flow_spec(draw: st.DrawFn) -> tuple[str, str]:
    words = st.sampled_from(
        ["a: 5", "'b': [1, 2]", '"c": "🎮, }"', "d: {replicas: 5}", "e: 競", "f"]
    )
    items = draw(st.lists(words, unique=True, max_size=4))
    comma = draw(st.sampled_from([", ", ",", ",\n  ", " , "]))
    at = draw(st.integers(0, len(items)))
    before = "".join(item + comma for item in items[:at])
    after = "".join(comma + item for item in items[at:])
    key = draw(st.sampled_from(["replicas: ", '"replicas":', "'replicas' : "]))
    end = draw(st.sampled_from(["}", " }", "\n }", ",}"]))
    return f"{{{before}{key}{draw(_ANCHORS)}", f"{after}{end}{draw(_COMMENTS)}\n"


def common(one: str, other: str) -> tuple[int, int]:
    """Return how many characters two texts share at the start and, of the rest, at the end."""
    most = min(len(one), len(other))
    head = next((at for at in range(most) if one[at] != other[at]), most)
    most -= head
    tail = next((at for at in range(most) if one[-1 - at] != other[-1 - at]), most)
    return head, tail


def leaves(text: str, loader: Any = yaml.SafeLoader) -> list[tuple[Any, ...]]:
    """Return every scalar of every document with its path, aliases and merge keys written out.

    By PyYAML's parser in Python, which the code under test does not use, where no other is named.
    Raises YAMLError.
    """
    found: list[tuple[Any, ...]] = []
    for number, root in enumerate(yaml.compose_all(text, Loader=loader)):
        if root is not None:
            found.extend(_below(root, (number,), 0))
    return found


def _below(node: Any, path: tuple[Any, ...], depth: int) -> Iterator[tuple[Any, ...]]:
    if depth > 20:
        return  # an alias that holds itself
    if isinstance(node, yaml.ScalarNode):
        yield path, node.tag, node.value, node.style
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _below(item, (*path, index), depth + 1)
    else:
        for index, (name, value) in enumerate(node.value):
            step = name.value if isinstance(name, yaml.ScalarNode) else index
            yield from _below(name, (*path, index, "name"), depth + 1)
            yield from _below(value, (*path, step), depth + 1)
