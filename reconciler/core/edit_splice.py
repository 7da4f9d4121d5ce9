"""Find the one number of a document that an edit means, or say why it is not one number alone."""

from reconciler.core import scalars
from reconciler.core.edit_pages import Inexact, Page
from reconciler.core.mistakes import shown
from reconciler.core.places import Path, written
from reconciler.core.yaml_marks import Node
from reconciler.model.refs import WorkloadKey

API_GROUP = "gamekeeper.dev/"
REPLICAS = WorkloadKey("Replicas", "", "")
"""Where a count stands that is kept in the machine-owned file: its document has no name."""
VALUES = WorkloadKey("Values", "", "")
"""Where a count stands that an environment has for itself: that document has no name either."""


def is_about(root: Node, where: WorkloadKey) -> bool:
    """Return whether a document of ours may be the one about `where`; duplicates count for all."""
    if not any(value.startswith(API_GROUP) for value in _texts(root, "apiVersion")):
        return False
    if where.kind not in _texts(root, "kind"):
        return False
    if not where.name:
        return True
    named = {name for inside in _inside(root, "metadata") for name in _texts(inside, "name")}
    if where.name not in named:
        return False
    if where.kind != "Fleet":
        return where.namespace == where.name
    spoken = {one for inside in _inside(root, "spec") for one in _texts(inside, "namespace")}
    return where.namespace in (spoken or {where.name})


def number_at(root: Node, path: Path, page: Page) -> Node:
    """Return the scalar at `path`: a plain decimal number that no other place shares.

    Raises Inexact.
    """
    for at in (("apiVersion",), ("kind",), ("metadata", "name"), ("spec", "namespace")):
        _refuse_doubled(root, at, page)
    node = root
    _refuse_shared(node, (), page)
    for depth, step in enumerate(path):
        node = _step(node, path[: depth + 1], step, page)
        _refuse_shared(node, path[: depth + 1], page)
    _refuse_no_number(node, path, page)
    return node


def _texts(around: Node, name: str) -> set[str]:
    values = (value.followed() for _, value in around.entries_of(name))
    # A null is not written, to the reader; in quotes it is a word.
    return {one.text for one in values if one.text and (one.event.style or one.text != "null")}


def _inside(root: Node, name: str) -> list[Node]:
    return [value.followed() for _, value in root.entries_of(name)]


def _refuse_doubled(root: Node, path: tuple[str, ...], page: Page) -> None:
    node = root
    for depth, name in enumerate(path):
        found = node.entries_of(name)
        if len(found) > 1:
            raise _doubled(found, path[: depth + 1], page)
        if not found:
            return
        node = found[0][1].followed()


def _doubled(found: list[tuple[Node, Node]], path: Path, page: Page) -> Inexact:
    first, second = (page.line_of(name.index) for name, _ in found[:2])
    reason = f"{written(path)} is written twice, on lines {first} and {second}: keep one of them"
    return Inexact(second, reason)


def _step(node: Node, path: Path, step: str | int, page: Page) -> Node:
    around = written(path[:-1]) or "the document"
    if isinstance(step, int) and node.is_list and 0 <= step < len(node.parts):
        return node.parts[step]
    found = node.entries_of(step) if isinstance(step, str) else []
    if len(found) > 1:
        raise _doubled(found, path, page)
    if found:
        return found[0][1]
    if any(_is_merge(name) for name, _ in node.entries):
        reason = f"{written(path)} comes from a merge key (<<) of {around}: write it out there"
    else:
        reason = f"{written(path)} is not written in the file: write it, and edits will follow"
    raise Inexact(page.line_of(node.index), reason)


def _is_merge(name: Node) -> bool:
    return name.text == "<<" and not name.event.style


def _refuse_shared(node: Node, path: Path, page: Page) -> None:
    """Refuse what a change would change elsewhere, too."""
    what = written(path) or "the document"
    if node.target is not None:
        line = page.line_of(node.target.index)
        reason = (
            f"{what} is the alias *{node.event.anchor} of what line {line} writes: "
            "a change would change both, so write it out"
        )
        raise Inexact(page.line_of(node.index), reason)
    if node.use is not None:
        line = page.line_of(node.use.index)
        reason = (
            f"{what} is used again as *{node.event.anchor} on line {line}: "
            "a change would change both, so write it out there"
        )
        raise Inexact(line, reason)


def _refuse_no_number(node: Node, path: Path, page: Page) -> None:
    what, text = written(path), node.text
    if page.text.startswith("{{", node.index):
        reason = (
            f"{what} is made by a template ({{{{ }}}}): only a number that is written can change"
        )
    elif text is None:
        reason = f"{what} is {'a mapping' if node.is_map else 'a list'}, not a number"
    elif node.event.tag is not None:
        reason = f"{what} has the tag {shown(node.event.tag)}: write the number without it"
    elif node.event.style:
        reason = f"{what} is the text {shown(text)}: write the number without quotes"
    elif text == "":
        reason = f"{what} is empty: write a number there"
    elif not is_decimal(text):
        reason = f"{what} is {shown(text)}: write a whole number in decimal digits"
    elif page.text[node.end - len(text) : node.end] != text:
        reason = f"{what} does not stand where the parser says: write the document in plain form"
    else:
        return
    raise Inexact(page.line_of(node.index), reason)


def is_decimal(text: str) -> bool:
    """Return whether a plain word is a whole number to whoever reads specs."""
    try:
        return type(scalars.meaning(text)) is int
    except scalars.TooLarge:
        return False
