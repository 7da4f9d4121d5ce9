"""How results are printed: tables, JSON, and YAML that every Kubernetes tool reads alike."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from reconciler.cli.console import Console
from reconciler.model.printable import escaped

# Words that some YAML reads as no string (version 1.1 has many, and Go's reader its own);
# whatever is not plainly a word is quoted.
_WORD = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*(:[A-Za-z0-9_./-]+)*")
_NOT_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def print_json(console: Console, value: object) -> None:
    """Print a value as JSON."""
    console.print(json.dumps(value, indent=2, ensure_ascii=False))


def print_yaml(console: Console, documents: Iterable[object]) -> None:
    """Print documents as one YAML stream, keys in their own order."""
    for text in yaml_texts(documents):
        console.out.write(text)


def yaml_texts(documents: Iterable[object]) -> Iterable[str]:
    """Write documents as YAML, one text each, with its `---`."""
    import yaml

    fast: type = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper
    dumper: Any = type("Dumper", (fast,), {"ignore_aliases": lambda *_: True})
    dumper.add_representer(str, _represent)
    dumper.add_multi_representer(str, _represent)  # words of enumerations
    for document in documents:
        yield yaml.dump(
            document,
            Dumper=dumper,
            sort_keys=False,
            allow_unicode=True,
            width=4096,
            explicit_start=True,
        )


def print_table(console: Console, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table as kubectl does: capital heads, columns apart by three spaces."""
    lines = [
        [head.upper() for head in heads],
        *([escaped(str(cell)) for cell in row] for row in rows),
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        console.print("   ".join(cells).rstrip())


def _represent(dumper: Any, text: str) -> Any:
    """Quote every string that any YAML reader could take for something else."""
    tag, text = "tag:yaml.org,2002:str", str(text)
    if "\n" in text and text.replace("\n", "").isprintable():
        return dumper.represent_scalar(tag, text, style="|")
    plain = _WORD.fullmatch(text) and text.lower() not in _NOT_WORDS
    return dumper.represent_scalar(tag, text, style=None if plain else '"')
