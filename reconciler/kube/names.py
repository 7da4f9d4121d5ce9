"""What Kubernetes accepts as a name, a label or an environment variable, and why not.

Each check returns None for a good text, else the sentence the API server gives for a bad one, so
that a mistake reads the same offline, in the sandbox and in a real cluster.
"""

import difflib
import re
from collections.abc import Iterable

_ALNUM = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL = re.compile(_ALNUM)
_SUBDOMAIN = re.compile(rf"{_ALNUM}(\.{_ALNUM})*")
_NAME_PART = re.compile(_QUALIFIED)
_LABEL_VALUE = re.compile(rf"({_QUALIFIED})?")
_ENV_NAME = re.compile(r"[ -<>-~]+")

_LABEL_SENTENCE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "
    f"used for validation is '{_ALNUM}')"
)
_SUBDOMAIN_SENTENCE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{_SUBDOMAIN.pattern}')"
)
_VALUE_SENTENCE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', "
    f" or '12345', regex used for validation is '({_QUALIFIED})?')"
)
_CHARACTERS = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    f"validation is '{_QUALIFIED}')"
)


def label_problem(text: str) -> str | None:
    """Say what keeps a text from being a DNS-1123 label (namespaces, containers)."""
    if len(text) <= 63 and "." in text and _SUBDOMAIN.fullmatch(text):
        return "must not contain dots"
    return _problem(text, _LABEL, _LABEL_SENTENCE, most=63)


def subdomain_problem(text: str) -> str | None:
    """Say what keeps a text from being a DNS-1123 subdomain (the names of most objects)."""
    return _problem(text, _SUBDOMAIN, _SUBDOMAIN_SENTENCE, most=253)


def label_value_problem(text: str) -> str | None:
    """Say what keeps a text from being the value of a label."""
    return _problem(text, _LABEL_VALUE, _VALUE_SENTENCE, most=63, unit="bytes")


def label_key_problem(text: str) -> str | None:
    """Say what keeps a text from being the key of a label or annotation."""
    prefix, slash, name = text.rpartition("/")
    if slash and not prefix:
        return "prefix part must be non-empty"
    if "/" in prefix:
        return (
            f"a valid label key {_CHARACTERS} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')"
        )
    at_fault = _problem(prefix, _SUBDOMAIN, _SUBDOMAIN_SENTENCE, most=253, unit="bytes")
    problems = [("prefix part", at_fault if slash else None)]
    problems.append(("name part", _name_part_problem(name)))
    return "; ".join(f"{part} {problem}" for part, problem in problems if problem) or None


def env_name_problem(text: str) -> str | None:
    """Say what keeps a text from being the name of an environment variable."""
    if not text:
        return "environment variable name must be non-empty"
    if _ENV_NAME.fullmatch(text):
        return None
    return (
        "a valid environment variable name must consist only of printable ASCII characters "
        "other than '='"
    )


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Find the known word that was most likely meant; None when nothing is close."""
    by_folded = {name.casefold(): name for name in sorted(known, reverse=True)}
    close = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[close[0]] if close else None


def _name_part_problem(name: str) -> str | None:
    if not name:
        return "must be non-empty"
    return _problem(name, _NAME_PART, _CHARACTERS, most=63, unit="bytes")


def _problem(
    text: str, shape: re.Pattern[str], sentence: str, *, most: int, unit: str = "characters"
) -> str | None:
    if len(text.encode(errors="replace")) > most:
        return f"must be no more than {most} {unit}"
    return None if shape.fullmatch(text) else sentence
