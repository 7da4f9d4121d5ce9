"""YAML that wants to run away, for tests and benchmarks: what it is, and the rule that stops it."""

import itertools


def laughs(links: int, width: int) -> str:
    """Return lists of references to lists of references, so many links deep."""
    names = "abcdefghijklmnopqrst"[: links + 1]
    lines = [f"a: &a [{', '.join('x' * width)}]"]
    for before, name in itertools.pairwise(names):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * width)}]")
    return "\n".join(lines)


def hostile_texts() -> dict[str, tuple[str, str]]:
    """Return text and rule by what it is."""
    return {
        "a billion laughs": (laughs(9, 9), "nodes"),
        "101 aliases": ("a: &a [x]\nb: [" + "*a, " * 101 + "]", "aliases"),
        "1,001 anchors": ("a: [" + "&a x, " * 1001 + "]", "anchors"),
        "as many in two documents": (("---\n" + "- &a [x]\n" * 501) * 2, "anchors"),
        "100,001 values in two documents": (("---\n" + "- x\n" * 50_000) * 2, "nodes"),
        "a value that contains itself": ("a: &a\n  b: *a\n", "aliases"),
        "an alias of nothing": ("a: *nobody\n", "aliases"),
        "a merge key": ("a: &a {x: 1}\nb:\n  <<: *a\n", "merge-key"),
        "a merge-key bomb": ("x: &x {a: 1}\n" + "y: {<<: [*x, *x, *x]}\n", "merge-key"),
        "5,000 brackets": ("[" * 5000, "depth"),
        "5,000 braces": ("{a: " * 5000, "depth"),
        "3,000 nested lists": ("- " * 3000 + "x", "depth"),
        "5,000 duplicate keys": ("a: 1\n" * 5000, "mistakes"),
        "200 tags that run code elsewhere": ("a: !!python/name:x 1\n" * 200, "mistakes"),
        "a list as property name": ("? [a]\n: b\n", "key"),
        "1,500 documents": ("a: 1\n---\n" * 1500, "documents"),
        "a tab": ("a: b\n\tc: d\n", "syntax"),
        "quotes that never close": ("a: 'b\n", "syntax"),
        "a control character": ("a: \x07\n", "syntax"),
        "a list that never closes": ("a: [1, 2\n", "syntax"),
        "an alias as property name": ("&a a: 1\n*a : 2\n", "aliases"),
    }
