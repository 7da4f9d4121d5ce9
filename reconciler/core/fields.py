"""The fields in which two JSON documents differ, as paths people write; secrets masked.

Masked are: the value of an environment variable that is named like a secret, the data of a Secret
and of an object that is annotated `gamekeeper.dev/sensitive: "true"`, entries of a ConfigMap,
annotations and labels that are named like secrets, what kubectl remembers of an object, and in
texts, such as the arguments of a container, what stands behind a flag or a variable that is named
like a secret, the password of a `-u user:password`, and what a server's own configuration gives to
such a name, in JSON and YAML too, to the end of its line. What a name means is a guess, and it is
made so that more is masked rather than less. What such a name has on later lines is shown: a list
of several lines, the text behind `pass: |`.
"""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from reconciler.model import labels
from reconciler.model.changes import FieldChange
from reconciler.model.masks import MASK, redact

_SECRET_NAME = re.compile(
    r"token|secret|passw|passphrase|pwd|credential|private|api_?key|webhook|authorization|cookie",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_ENDS = ("auth", "cred", "creds", "dsn", "jwt", "key", "keys", "pass", "pat", "psk", "pw")
"""Too short to be looked for anywhere in a name: `MAX_PASSENGERS` and `KEYBOARD` are none. With
one of them a word ends that is a secret's name, for many a name is one word: `DBPASS`, `sshkey`."""
_FLAG = re.compile(r"[-+]{1,2}([A-Za-z][\w.-]*)")
_GIVEN = re.compile(
    r"(?<![^\s\"'=])(?:[-+]{1,2}(?P<flag>[A-Za-z][\w.-]*+)(?:=|\s++(?:[=:]\s++)?+)|"
    r"(?P<variable>[A-Za-z_]\w*+)=)"
)
"""`--db-pass=`, `+rcon_password `, `-psk = `, `RCON_PWD=` in a text, within quotes too."""
_WORD = re.compile(r"(?:\\.|\"(?:\\.|[^\"\\])*+\"|'[^']*+'|\S)++")
"""One word of a shell: `x`, `"x y"`, `"$A":'b c'`. A quote that nothing ends is a letter."""
_ENTRY = re.compile(
    r"(?:(?P<begins>^|;)|[{,])[ \t]*+(?!-[A-Za-z][\w.-]*+(?:=|[ \t]++(?:[=:][ \t]++)?+)\*{3}"
    r"(?=[ \t]++[-+]{1,2}[A-Za-z]|[ \t]*+(?:;|$)))"
    r"(?:(?:-|#++|//++)[ \t]*+)?(?:(?:set[a-z]?|export)[ \t]++)?(?P<quote>[\"']?)"
    r"(?P<name>[A-Za-z_][\w.-]*+)[\"']?(?:[ \t]*+[=:]|(?(begins)(?=[ \t])|(?!)))[ \t]*+",
    re.MULTILINE,
)
"""What stands before a value in a server's own configuration: `rcon_password `, `- pass: `,
`DB_PWD = `, `"psk":`. A name that only a blank ends begins a line or a command. A
flag whose word is masked is no entry where another one follows, or nothing: of other words behind
it nobody knows whether they are the secret's, as in `-Dkeystore.password=correct horse`."""
_ENDED = re.compile(r"(?=[ \t]*+(?:[,;})\]]|//|#|$))", re.MULTILINE)
_QUOTED = rf"(?:\"(?:\\.|[^\"\\\n])*+\"|'[^'\n]*+'){_ENDED.pattern}"
_VALUE = re.compile(rf"{_QUOTED}|(?![{{\[][ \t]*+$)[^\n]++", re.MULTILINE)
"""All of a line that no quotes end: of `correct horse battery` each word is one of the secret."""
_VALUE_IN_SHELL = re.compile(rf"{_QUOTED}|[^\s\"']++", re.MULTILINE)
"""In a shell a word that others follow is none: `auth-server --map ice`, `DB_PASS=x run`. With a
semicolon it is one, all of it: arguments that no shell reads may hold a secret that has one."""
_LITERAL = re.compile(
    r"(?:-?+\d[\d.eE+-]*+|true|false|null)(?=[ \t}\]]*+(?:,[ \t]*+[\"{\[]|,?+[ \t]*+$))",
    re.MULTILINE,
)
"""What JSON has without quotes: behind `"enableAuth": true` the line goes on with other names."""
_SHELL = re.compile(r"(?:command|args)\[\d++\]$")
"""The path of what a shell may read."""
_IMAGE = re.compile(r"ontainers\[\d++\]\.image$")
"""A reference holds no secret, and is what a review is about: `private.registry:5000/game:2`."""
_LOGIN_FLAG = r"(?:-[A-Za-z]{0,8}[uU]|--(?:proxy-)?user)"
_LOGIN = re.compile(
    rf"(?<![^\s\"'])(?:{_LOGIN_FLAG}(?:=|\s++)|-[A-Za-z]{{0,8}}[uU])(?!{_LOGIN_FLAG}[=\s])"
)
"""`curl -u `, `--user=`, `-u` before what it names; a flag behind a flag is no user."""
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


def is_secret_name(name: str) -> bool:
    """Whether a variable, flag or entry of this name holds a secret, as far as names tell."""
    if _SECRET_NAME.search(name):
        return True
    return any(word.lower().endswith(_SECRET_ENDS) for word in _WORDS.findall(name))


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
    found = (_FLAG.fullmatch(item) if isinstance(item, str) else None for item in items)
    named = {place + 1 for place, flag in enumerate(found) if flag and is_secret_name(flag[1])}
    texts = [item if isinstance(item, str) else "" for item in items]
    pairs = enumerate(pairwise(texts), 1)
    return named | {
        place
        for place, (flag, value) in pairs
        if re.fullmatch(_LOGIN_FLAG, flag) and _password_in(value)
    }


def _password_in(value: str) -> str:
    """Return what stands for a password in `user:password`; numbers are a user and its group."""
    user, _, password = (part.strip("\"'") for part in value.partition(":"))
    # `-url=s3://maps` is no `-u`: it is a flag of a game, and what it names an address.
    is_named = "=" in user or user.lower() in ("http", "https")
    is_url = is_named and password.startswith("//")
    return "" if is_url or (user.isdigit() and password.isdigit()) else password


def _masked(value: Any, side: str, path: str) -> Any:
    if isinstance(value, str):
        told = redact(value)
        if not _IMAGE.search(path):
            told = _without_passwords(_without_secrets(told))
            told = _without_entries(told, _VALUE_IN_SHELL if _SHELL.search(path) else _VALUE)
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


def _without_secrets(text: str) -> str:
    """Mask the word behind each flag or variable that is named like a secret.

    The word behind any other may be such a flag itself, or hold one: `sh -c "run --db-pass x"`.
    """
    parts, at = [], 0
    for found in _GIVEN.finditer(text):
        if found.end() < at or not is_secret_name(found["flag"] or found["variable"]):
            continue
        word = _WORD.match(text, found.end())
        if word:
            parts += [text[at : word.start()], MASK]
            at = word.end()
    return "".join([*parts, text[at:]])


def _without_passwords(text: str) -> str:
    """Mask the password of each login; its quotes stay.

    A word is read once, whatever flags stand inside it: a long one costs no more than its length.
    """
    parts, at, end = [], 0, 0
    for found in _LOGIN.finditer(text):
        word = _WORD.match(text, found.end()) if found.end() >= end else None
        if word is None:
            continue
        end = word.end()
        if password := _password_in(word[0]):
            start = text.index(password, text.index(":", word.start()))
            parts += [text[at:start], MASK]
            at = start + len(password)
    return "".join([*parts, text[at:]])


def _without_entries(text: str, form: re.Pattern[str]) -> str:
    """Mask what is of `form` behind each name of a secret in a server's own configuration.

    What was read as a value is read once, whatever names stand in it.
    """
    parts, at, end = [], 0, 0
    for found in _ENTRY.finditer(text):
        if found.end() < end or not is_secret_name(found["name"]):
            continue
        literal = _LITERAL.match(text, found.end()) if found["quote"] else None
        if value := literal or form.match(text, found.end()):
            end = value.end()
            if ";" in value[0] or _ENDED.match(text, end):
                parts += [text[at : value.start()], MASK]
                at = end
    return "".join([*parts, text[at:]])


def _mask(side: str) -> str:
    return f"{MASK} ({side})"
