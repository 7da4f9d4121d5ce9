"""Where the templates of additional objects stand, and what of them is wrong before they render."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from reconciler.core.documents import Document
from reconciler.core.mistakes import Mistake, likely, shown, word
from reconciler.core.pod_parts import child
from reconciler.core.spec_files import text_of
from reconciler.model.additional import Template
from reconciler.model.findings import Finding
from reconciler.model.trees import Entry, Tree, is_template

SUFFIX = ".yaml.j2"
MOST_TEMPLATES = 20
_AT = ("spec", "objects")


def templates_by_directory(tree: Tree) -> dict[str, list[str]]:
    """Return the paths of all templates of a tree, sorted, by the directory they stand in."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(filter(is_template, tree.entries)):
        found[path.rpartition("/")[0]].append(path)
    return found


def check_directory(
    document: Document, templates: Mapping[str, Sequence[str]], directories: Collection[str]
) -> Iterator[Mistake]:
    """Yield what is wrong with the directory that a document names.

    One without templates is a mistake, and no wish for no objects: it may have been moved.
    """
    directory = child(document.value, "spec").get("objects")
    if not isinstance(directory, str) or not directory:
        return
    there = len(templates.get(directory, ()))
    if there == 0:
        near = likely(directory, directories)
        fix = f"did you mean {shown(near)}?" if near and near != directory else ""
        fix = fix or f"add one, as {word(directory)}/configmap.yaml.j2, or take the line out"
        yield Mistake(_AT, f"there is no template in {shown(directory)}", fix, "objects")
    elif there > MOST_TEMPLATES:
        message = f"there are {there} templates in {shown(directory)}"
        yield Mistake(_AT, message, f"at most {MOST_TEMPLATES} are taken", "objects")


def template_of(path: str, entry: Entry) -> Template:
    """Return what a template holds, or why it cannot be read."""
    text = text_of(path, entry)
    if isinstance(text, Finding):
        return Template(path, "", text)
    if not path.endswith(SUFFIX):
        message = f"a template's name ends in {SUFFIX}, in small letters"
        return Template(path, "", Finding(path, 0, 0, "", message, "rename it", "file-name"))
    try:
        return Template(path, text.decode())
    except UnicodeDecodeError:
        message = "the file is not UTF-8"
        return Template(path, "", Finding(path, 0, 0, "", message, "save it as UTF-8", "syntax"))
