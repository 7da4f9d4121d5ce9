"""Words that are known secrets, taken out of text that goes to people, however they are written.

What only looks like a secret is told in `model/masks.py`. Whoever judges by such text judges it as
it came, and hides what is shown: a secret may be one of the words that are looked for.
"""

import base64
import html
import json
import re
from collections.abc import Iterable

from reconciler.model.masks import MASK


def hidden(text: str, secrets: Iterable[str]) -> str:
    """Return the text with `***` for each of the secrets, plain, escaped or in base64.

    Secrets may hold one another, or overlap: what any of them covers is gone, and no end of a
    longer one is left beside the mask of a shorter.
    """
    patterns = {pattern for secret in secrets if secret for pattern in _patterns(secret)}
    spans = sorted(
        found.span(1) for pattern in patterns for found in re.finditer(f"(?=({pattern}))", text)
    )
    kept, done = [], 0
    for begin, end in spans:
        if begin >= done:
            kept += [text[done:begin], MASK]
        done = max(done, end)
    return "".join(kept) + text[done:]


def _patterns(secret: str) -> tuple[str, ...]:
    encoded = secret.encode("utf-8", "replace")
    coded = {base64.b64encode(encoded).decode(), base64.urlsafe_b64encode(encoded).decode()}
    ended = (f"{re.escape(each.rstrip('='))}=*" for each in coded)
    return re.escape(secret), "".join(map(_spelt, secret)), *ended


def _spelt(letter: str) -> str:
    """Return a pattern of the ways in which hosts, shells, pages and git write a letter.

    It takes the longest and no other: of a host's words each letter is looked at a few times only.
    """
    if letter.isascii() and letter.isalnum():
        return letter
    code, encoded = ord(letter), letter.encode("utf-8", "replace")
    ways = {letter, f"\\{letter}", rf"\u{code:04x}", repr(letter)[1:-1], json.dumps(letter)[1:-1]}
    ways |= {html.escape(letter), f"&#{code};", f"&#0{code};", f"&#x{code:x};"}
    ways |= {"".join(form % byte for byte in encoded) for form in ("%%%02X", r"\%03o")}
    ways |= set(_OF_THEIR_OWN.get(letter, ()))
    written = sorted(ways, key=len, reverse=True)
    return f"(?>(?i:{'|'.join(map(re.escape, written))}))"


_OF_THEIR_OWN = {" ": ("+",), "'": (r"'\''", "&apos;")}
