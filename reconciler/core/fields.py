"""The fields in which two JSON documents differ, as paths people write; secrets masked.

Masked are: the value of an environment variable that is named like a secret, the data of a Secret
and of an object that is annotated `gamekeeper.dev/sensitive: "true"`, entries of a ConfigMap,
annotations and labels that are named like secrets, what kubectl remembers of an object, what
stands behind an argument that is a secret's flag, and in texts what `secret_texts` finds there.
What a name means is a guess, and it is made so that more is masked rather than less.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from reconciler.core.secret_texts import is_secret_name, takes_secret, without_secrets
from reconciler.model import labels
from reconciler.model.changes import FieldChange
from reconciler.model.masks import MASK, redact, without_keys

_SHELL = re.compile(r"(?:command|args)\[\d++\]$")
"""The path of what a shell may read."""
_IMAGE = re.compile(r"ontainers\[\d++\]\.image$")
"""A reference holds no secret, and is what a review is about: `private.registry:5000/game:2`."""
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_DATA = frozenset({"data", "stringData", "binaryData"})
_NAMED_BY_PEOPLE = frozenset({*_DATA, "annotations", "labels"})
"""Mappings of an object whose names are people's, wherever the object stands in the document."""


def compare_fields(before_json: str, after_json: str) -> tuple[FieldChange, ...]:
    """Return the smallest set of fields that differ, in document order.

    What may be secret is masked: that it changes is seen, and not from what to what.
    """
    return tuple(differing(json.loads(before_json), json.loads(after_json), ""))


def differing(before: Any, after: Any, path: str) -> Iterator[FieldChange]:
    """Yield the fields that differ below `path`; lists of equal length are compared by place."""
    if isinstance(before, dict) and isinstance(after, dict):
        hidden = _hidden(before, path) | _hidden(after, path)
        for name in [*before, *(name for name in after if name not in before)]:
            inner = f"{path}.{name}" if path else str(name)
            found = differing(before.get(name), after.get(name), inner)
            yield from (_unseen(item) for item in found) if name in hidden else found
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        flagged = _flagged(before) | _flagged(after)
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            found = differing(one, other, f"{path}[{index}]")
            yield from (_unseen(item) for item in found) if index in flagged else found
    # In Python 1 == True; in a document they are not the same.
    elif before != after or type(before) is not type(after):
        yield FieldChange(path, _masked(before, "before", path), _masked(after, "after", path))


def _unseen(change: FieldChange) -> FieldChange:
    return FieldChange(change.path, _mask("before"), _mask("after"))


def _hidden(value: dict[str, Any], path: str) -> set[str]:
    """Return the names in a mapping whose values are not shown."""
    names = {_LAST_APPLIED}
    if is_secret_name(str(value.get("name", ""))):
        names.add("value")
    if path.rpartition(".")[2] in _NAMED_BY_PEOPLE:
        names.update(name for name in value if is_secret_name(name))
    metadata = value.get("metadata")
    notes = metadata.get("annotations") if isinstance(metadata, dict) else None
    told = isinstance(notes, dict) and notes.get(labels.SENSITIVE) == "true"
    if told or value.get("kind") == "Secret":
        names |= _DATA
    return names


def _flagged(items: list[Any]) -> set[int]:
    """Return the places in a list that stand behind a flag which takes a secret."""
    words = [item if isinstance(item, str) else "" for item in items]
    places = enumerate(zip(["", *words], words, words[1:], strict=False), 1)
    return {
        place for place, (one, flag, value) in places if flag and takes_secret(one, flag, value)
    }


def _masked(value: Any, side: str, path: str) -> Any:
    if isinstance(value, str):
        # Keys first: who masks the first line of one as a value leaves nothing to know it by.
        told = without_keys(value)
        if not _IMAGE.search(path):
            told = without_secrets(told, in_shell=bool(_SHELL.search(path)))
        # The rest last: of `pass: a;b c` it takes `a` alone, and a mask is all of a value.
        told = redact(told)
        return value if told == value else f"{told} ({side})"
    if isinstance(value, list):
        flagged = _flagged(value)
        return [
            _mask(side) if place in flagged else _masked(item, side, f"{path}[{place}]")
            for place, item in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    hidden = _hidden(value, path)
    return {
        name: _mask(side) if name in hidden else _masked(item, side, f"{path}.{name}".strip("."))
        for name, item in value.items()
    }


def _mask(side: str) -> str:
    return f"{MASK} ({side})"
