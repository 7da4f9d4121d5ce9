"""Error is not empty: the ways in which a spec can vanish without anybody having removed it.

A deletion is planned only when a complete read of a fast-forward head with a valid Config lacks
that kind and name (DESIGN §2 rule 3). Everything here is a reason to hold deletions and to ask.
"""

from reconciler.core.mistakes import listed, word
from reconciler.model.findings import Severity
from reconciler.model.holds import HoldKind
from reconciler.model.readings import Reading
from reconciler.model.specs import Config
from reconciler.model.trees import NOT_FORWARD, Relation

EMPTY_FILE = "empty-file"
"""The rule of the Finding about a file without any document."""


def head_problem(
    relation: Relation | None, same_repository: bool, branch: str
) -> tuple[HoldKind, str] | None:
    """Return why a head as such cannot be trusted with deletions, None when it can.

    `relation` is how it stands to the accepted commit, None when none is on record.
    """
    if not same_repository:
        return (
            HoldKind.REPOSITORY_CHANGED,
            "the repository, branch or path is another one than that of the accepted commit",
        )
    if relation is None:
        return (HoldKind.NO_ACCEPTED_COMMIT, "no accepted commit is on record to compare with")
    if relation in NOT_FORWARD:
        return (HoldKind.FORCE_PUSHED, f"{branch} was force-pushed: it lacks the accepted commit")
    return None


def content_problem(
    accepted_config: Config | None, head: Reading, accepted_specs: int, *, others: bool = False
) -> tuple[HoldKind, str] | None:
    """Return why what a head holds cannot be trusted with deletions, None when it can.

    `others` is whether it has specs that are no part of `head`, for a freeze keeps them waiting.
    """
    if accepted_config and head.config and set(accepted_config.paths) - set(head.config.paths):
        lost = listed(sorted(set(accepted_config.paths) - set(head.config.paths)))
        return (HoldKind.PATHS_CHANGED, f"gamekeeper.yaml does not list {lost} any more")
    if accepted_specs and not (head.workloads or head.invalid or others):
        return (HoldKind.LAST_SPEC, "not one spec is left in the repository")
    return None


def directory_problem(file: str, head: Reading) -> tuple[HoldKind, str] | None:
    """Return whether the directory that held a spec's file is gone as a whole."""
    parent = file.rpartition("/")[0]
    if parent and parent not in head.directories:
        return (HoldKind.PATH_VANISHED, f"{file} went with the whole directory {parent}")
    gone = [path for path in head.missing_paths if file.startswith(f"{path}/") or file == path]
    return (HoldKind.PATH_VANISHED, f"the path {word(gone[0])} is gone") if gone else None


def file_problem(file: str, head: Reading) -> tuple[HoldKind, str] | None:
    """Return whether the file that held a spec is there still, but in no state to be believed.

    An editor that saved nothing, and a name mistyped beside, look like a spec taken out.
    """
    if file in head.unreadable:
        return None  # which holds every deletion, not only those of this file
    found = [finding for finding in head.findings if finding.file == file]
    if any(finding.rule == EMPTY_FILE for finding in found):
        return (HoldKind.FILE_IN_DOUBT, f"{file} is there, but holds no document: delete it")
    mistakes = [finding for finding in found if finding.severity is Severity.ERROR]
    if not mistakes:
        return None
    where = f"{file}:{mistakes[0].line}" if mistakes[0].line else file
    return (HoldKind.FILE_IN_DOUBT, f"{where} has a mistake: mend it, then what left {file} goes")
