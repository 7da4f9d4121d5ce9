"""Change single numbers of YAML text and not one byte beside them, or refuse with the reason.

Digits are put where the parser says that the number stands; then the text is parsed again and
must say the same as before, event by event, with those numbers changed and nothing else.
"""

from collections.abc import Sequence

from reconciler.core.edit_check import says_the_same
from reconciler.core.edit_pages import Book, Inexact, Page
from reconciler.core.edit_splice import is_about, is_decimal, number_at
from reconciler.model.edits import Edit, Refusal

BOM = "\ufeff"


def edit(data: bytes, edits: Sequence[Edit]) -> tuple[bytes, tuple[Refusal, ...]]:
    """Return the text with the numbers changed, and the edits that were not made, with reasons.

    Documents are found by what they say of themselves. A refusal leaves its number untouched and
    keeps no other edit from being made, save those that only parsing again found wrong.
    """
    try:
        whole = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = "this is not UTF-8 text: save the file as UTF-8"
        return data, tuple(Refusal(one, line, reason) for one in edits)
    body = whole.removeprefix(BOM)
    book = Book(body)
    refused: dict[int, Refusal] = {}
    for number, one in enumerate(edits):
        try:
            _plan(one, book)
        except Inexact as doubt:
            refused[number] = Refusal(one, doubt.line, doubt.reason)
    lost = {one for page in book.pages if page.changes for one in _write(page)}
    reason = "with the number changed the document would say something else: write it in plain form"
    refused |= {at: Refusal(one, 0, reason) for at, one in enumerate(edits) if one in lost}
    after = whole[: len(whole) - len(body)] + "".join(page.text for page in book.pages)
    return after.encode(), tuple(refused[number] for number in sorted(refused))


def _plan(one: Edit, book: Book) -> None:
    """Put an edit to the changes of its page. Raises Inexact."""
    where = one.where
    found = [
        (page, root)
        for page in book.pages_about(where)
        for root in page.documents()
        if is_about(root, where)
    ]
    if not found:
        raise Inexact(0, f"there is no document of {where} in this file")
    page, root = found[-1]
    if len(found) > 1:
        lines = " and ".join(str(each.line_of(top.index)) for each, top in found[:2])
        reason = f"{where} stands in this file twice, from lines {lines} on: keep one of them"
        raise Inexact(page.line_of(root.index), reason)
    node = number_at(root, one.path, page)
    if not is_decimal(f"{one.value:d}"):
        raise Inexact(page.line_of(node.index), f"{one.value} has more than 63 bits")
    _, other = page.changes.setdefault(node.order, (node, one))
    if other.value != one.value:
        reason = f"it shall be {other.value} by another edit: ask for one number"
        raise Inexact(page.line_of(node.index), reason)


def _write(page: Page) -> list[Edit]:
    """Make the changes of a page, or none of them: then return them all."""
    text, at = [], 0
    digits = {order: f"{one.value:d}" for order, (_, one) in page.changes.items()}
    for order in sorted(digits):
        node = page.changes[order][0]
        text += [page.text[at : node.end - len(node.text or "")], digits[order]]
        at = node.end
    after = "".join([*text, page.text[at:]])
    if not says_the_same(page.events, after, digits):
        return [one for _, one in page.changes.values()]
    page.text = after
    return []
