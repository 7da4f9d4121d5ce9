"""Which references of images container runtimes take, as the distribution project writes them.

The API server takes any text; a room of one that no runtime takes stays `InvalidImageName`.
"""

import re

_PATH_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_HOST_PART = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_HOST = rf"(?:{_HOST_PART}(?:\.{_HOST_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_DIGEST = r"sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}"
_REFERENCE = re.compile(
    rf"(?:{_HOST}/)?(?P<path>{_PATH_PART}(?:/{_PATH_PART})*)"
    rf"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}})?(?:@(?:{_DIGEST}))?"
)
_IDENTIFIER = re.compile("[a-f0-9]{64}")
"""The id of an image on some node: no name that another one could pull by."""
_LONGEST_PATH = 255


def is_reference(text: str) -> bool:
    """Whether a text is `[registry[:port]/]repository[:tag][@digest]`."""
    found = _REFERENCE.fullmatch(text)
    if found is None or _IDENTIFIER.fullmatch(text):
        return False
    return len(found["path"]) <= _LONGEST_PATH


def in_lower_case(text: str) -> str:
    """Return a text with its repository in lower case; registry, tag and digest stay."""
    name, at, digest = text.partition("@")
    around, slash, last = name.rpartition("/")
    last, colon, tag = last.partition(":")
    registry, inner, path = around.partition("/")
    if not _is_registry(registry):
        registry = registry.lower()
    return f"{registry}{inner}{path.lower()}{slash}{last.lower()}{colon}{tag}{at}{digest}"


def _is_registry(part: str) -> bool:
    """Whether runtimes take what stands before the first '/' for a host."""
    return "." in part or ":" in part
