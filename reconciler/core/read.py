"""Read a whole tree: every document of every spec file, all mistakes of all of them.

What cannot be told is never taken for absent (DESIGN §2 rule 3): a document with a mistake is
`invalid`, and one whose kind or name is in doubt makes its file `unreadable`.
"""

from collections.abc import Iterator
from dataclasses import replace

from reconciler.core.compile import compile_config, compile_workload
from reconciler.core.document_shelf import DocumentShelf
from reconciler.core.documents import Document, ParsedFile
from reconciler.core.mistakes import MOST_MISTAKES, Mistake, likely, shown
from reconciler.core.namesakes import find_namesakes
from reconciler.core.numbers import Number, read_numbers
from reconciler.core.places import place_of_value
from reconciler.core.spec_files import (
    REPLICAS_FILE,
    missing_paths,
    paths_of,
    read_entry,
    spec_files,
)
from reconciler.core.spec_kit import SpecKit
from reconciler.core.unread import find_unread
from reconciler.core.validate import check_config, doubt_branch
from reconciler.core.values import Values, in_doubt, read_values
from reconciler.core.vanish import EMPTY_FILE
from reconciler.model.findings import Finding, Severity
from reconciler.model.readings import Reading
from reconciler.model.specs import Config, Permissions, Workload
from reconciler.model.trees import CONFIG_FILE, Folder, Tree


def read_tree(tree: Tree, permissions: Permissions, kit: SpecKit) -> Reading:
    """Return everything a tree says, right or wrong; never raises for what users wrote."""
    values = read_values(tree, permissions.values, kit)
    config, paths, findings = _read_config(tree, kit, permissions.tracked, values)
    version = (config or Config()).kubernetes_version
    version = version if version in kit.versions else kit.versions[-1]
    numbers = read_numbers(tree, kit, (config or Config()).write_back)
    shelf = DocumentShelf(kit, permissions, version, [*findings, *numbers.findings], numbers)
    shelf.values, shelf.apart = values, _is_apart(values, permissions, config)
    if numbers.listed.unreadable:
        shelf.unreadable.add(REPLICAS_FILE)
    files = spec_files(tree, paths, permissions.values)
    for file in files:
        _shelve(shelf, file, read_entry(file, tree.entries[file]))
    if config is not None:
        shelf.findings.extend(find_unread(tree, paths, files))
    shelf.look_for_objects(tree)
    shelf.refuse_duplicates()
    shelf.refuse_taken_namespaces()
    shelf.findings.extend(find_namesakes(shelf.documents))
    if not shelf.unreadable:
        shelf.findings.extend(numbers.listed.of_nobody(shelf.documents.keys()))
        shelf.findings.extend(values.of_nobody(shelf.documents.keys()))
    sound = {
        key: _compiled(documents[0], shelf.counted.get(key))
        for key, documents in sorted(shelf.documents.items())
        if key not in shelf.invalid
    }
    counted = {key: number for key, number in shelf.counted.items() if key in sound}
    return Reading(
        commit=tree.commit,
        config=config,
        workloads=sound,
        invalid={key: tuple(sorted(found)) for key, found in sorted(shelf.invalid.items())},
        unreadable=tuple(sorted(shelf.unreadable)),
        missing_paths=missing_paths(tree, paths),
        findings=tuple(sorted(set(shelf.findings))),
        directories=frozenset(tree.directories),
        counts=numbers.listed.counts,
        over=numbers.over.counts if numbers.over else {},
        own={key: number.own for key, number in counted.items() if number.own is not None},
        unnumbered=frozenset(key for key, number in counted.items() if number.source is None),
    )


def _shelve(shelf: DocumentShelf, file: str, parsed: ParsedFile) -> None:
    if parsed.unreadable is not None:
        shelf.findings.append(parsed.unreadable)
        shelf.unreadable.add(parsed.unreadable.file)
    elif not any(document.value is not None for document in parsed.documents):
        message = "the file holds no document: what stood in it before is not deleted"
        fix = "delete the file, or take its documents back"
        shelf.findings.append(Finding(file, 0, 0, "", message, fix, EMPTY_FILE, Severity.WARNING))
    before = len(shelf.findings)
    for document in parsed.documents:
        if len(shelf.findings) - before >= MOST_MISTAKES:
            message = f"more than {MOST_MISTAKES} mistakes: from here on the file is not read"
            fix = "mend the first ones and look again, or move what is no spec elsewhere"
            shelf.findings.append(document.finding(Mistake((), message, fix, "mistakes")))
            shelf.unreadable.add(file)
            return
        shelf.add(document)


def _compiled(document: Document, number: Number | None) -> Workload:
    workload = compile_workload(document)
    at = number.source if number else None
    return workload if at is None else replace(workload, replicas_source=at)


def _is_apart(values: Values, permissions: Permissions, config: Config | None) -> bool:
    """Whether counts of this environment come into no file of another one."""
    if not permissions.values or config is None or config.write_back.mode == "off":
        return True
    return values.names_branch and config.write_back.branch != permissions.tracked


def _read_config(
    tree: Tree, kit: SpecKit, tracked: str, values: Values
) -> tuple[Config | None, tuple[str, ...], list[Finding]]:
    entry = tree.entries.get(CONFIG_FILE)
    if entry is None:
        return None, Config().paths, [_no_config(tree)]
    parsed = read_entry(CONFIG_FILE, entry)
    if parsed.unreadable is not None:
        return None, Config().paths, [parsed.unreadable]
    documents = [one for one in parsed.documents if one.value is not None]
    if not documents:
        message = "the file holds no document"
        fix = "write apiVersion: gamekeeper.dev/v1 and kind: Config"
        return (
            None,
            Config().paths,
            [Finding(CONFIG_FILE, 0, 0, "", message, fix, "config-missing")],
        )
    first = values.over_config(documents[0])
    mistakes = _config_mistakes(first, kit, tracked)
    findings = [*first.findings, *(first.finding(mistake) for mistake in mistakes)]
    for extra in documents[1:]:
        message = f"{CONFIG_FILE} holds one document, the Config, and nothing else"
        fix = "move schedulers to a file under spec.paths"
        findings.append(extra.finding(Mistake((), message, fix, "config-extra")))
    paths = paths_of(first.value)
    doubt = in_doubt(values)
    findings += [*values.findings, *([doubt] if doubt else [])]
    if findings:
        return None, paths, findings
    config = _placed(compile_config(first.value), first)
    doubts = (*_absent_paths(tree, config), *doubt_branch(config, tracked))
    return config, paths, [first.finding(one) for one in doubts]


_NO_FOLDERS = {
    Folder.ABSENT: "there is no folder",
    Folder.FILE: "a file stands where there should be the folder",
    Folder.SYMLINK: "a symbolic link, which is not followed, stands in the way to the folder",
    Folder.SUBMODULE: "a submodule, which is not read, stands in the way to the folder",
}


def _no_config(tree: Tree) -> Finding:
    if tree.folder is not Folder.THERE:
        message = f"{_NO_FOLDERS[tree.folder]} {shown(tree.path)} in the repository"
        fix = "bring it back, or name another one with --path"
        return Finding(CONFIG_FILE, 0, 0, "", message, fix, "folder-missing")
    where = f"folder {shown(tree.path)}" if tree.path else "root"
    message = f"there is no gamekeeper.yaml at the {where} of the repository"
    fix = "add one (apiVersion: gamekeeper.dev/v1, kind: Config), or name its folder with --path"
    return Finding(CONFIG_FILE, 0, 0, "", message, fix, "config-missing")


def _placed(config: Config, document: Document) -> Config:
    """Return a Config whose freezes know on which line they stand."""
    windows = enumerate(config.freeze)
    lines = (place_of_value(document.places, ("spec", "freeze", n))[0] for n, _ in windows)
    freeze = tuple(replace(one, line=at) for one, at in zip(config.freeze, lines, strict=True))
    return replace(config, freeze=freeze)


def _config_mistakes(document: Document, kit: SpecKit, tracked: str) -> list[Mistake]:
    if not isinstance(document.value, dict):
        fix = "begin it with apiVersion: gamekeeper.dev/v1, and kind: Config on the next line"
        return [Mistake((), "must be a mapping of properties", fix, "type")]
    return check_config(document.value, kit, tracked)


def _absent_paths(tree: Tree, config: Config) -> Iterator[Mistake]:
    for missing in missing_paths(tree, config.paths):
        at = ("spec", "paths", config.paths.index(missing))
        near = likely(missing, tree.directories)
        fix = f"did you mean {shown(near)}?" if near else "make it, or take the line out"
        message = f"there is no directory {shown(missing)}: deletions are held"
        yield Mistake(at, message, fix, "path-missing", severity=Severity.WARNING)
