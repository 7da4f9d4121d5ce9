"""What an undo changes, byte for byte, and how that is shown."""

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.cli.log_reading import GitSide
from reconciler.core.count_edits import with_counts
from reconciler.model.refs import WorkloadKey
from reconciler.model.signatures import SigningRules, Span
from reconciler.model.undo import Undo

COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_COUNT = re.compile(
    r"[ \t]*+[\"']?(?:replicas|[A-Z][a-z]++/[a-z0-9./-]++)[\"']?[ \t]*+:[ \t]++\d++[ \t]*+"
)
"""A count in a line of its own, in a spec or in the file of counts."""
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Edited:
    """The undone numbers, and the files that hold them: as they are, and as they will be.

    All of them stand on `branch`, at commit `base`; `signed` is whether that carries a signature.
    """

    undos: tuple[Undo, ...]
    branch: str
    base: str
    signed: bool
    before: Mapping[str, bytes]
    files: Mapping[str, bytes]


async def edited(side: GitSide, undos: tuple[Undo, ...]) -> Edited:
    """Put the numbers back in the files of their branch.

    Raises Failure where that cannot be done exactly, and the repository's errors.
    """
    branch, *others = sorted({each.branch for each in undos})
    if others:
        raise Failure(
            f"the numbers stand on two branches, {branch} and {others[0]}: that is no one commit",
            fix="Undo each workload by its name",
        )
    base = side.tip_of(branch)
    counts: dict[str, dict[WorkloadKey, int]] = {}
    for each in undos:
        counts.setdefault(each.file, {})[each.key] = each.back
    before, files = {}, {}
    for file, wanted in counts.items():
        data = await side.repository.blob(base, file) or b""
        before[file] = data
        files[file], refused = with_counts(file, data, wanted, values=side.permissions.values)
        for refusal in refused:
            where = f"{file}:{refusal.line}" if refusal.line else file
            raise Failure(
                f"{refusal.edit.where} cannot be put back: {where}: {refusal.reason}",
                fix=f"Change the number by hand, and commit it; git revert {undos[0].commit[:12]} "
                "takes back all that the commit did",
            )
    return Edited(undos, branch, base, await _is_signed(side, base), before, files)


async def _is_signed(side: GitSide, commit: str) -> bool:
    """Whether a commit carries a signature, whoever's. Raises the repository's errors."""
    found = await side.repository.verify(Span(commit), SigningRules(strict=False), time.time())
    return any(each.signed for each in found.unsigned)


def remarks_on(side: GitSide, undos: tuple[Undo, ...]) -> Iterator[str]:
    """Say of numbers that do not act as they are written why that is so."""
    for each in undos:
        workload = side.reading.workloads.get(each.key)
        if workload is None:
            first = side.reading.invalid[each.key][0]
            yield (
                f"{each.key} has a mistake: {first.file}:{first.line}: {first.message}. Its number "
                "acts once that is mended."
            )
        elif workload.scales and workload.autoscaling is not None:
            bounds = workload.autoscaling.bounds
            if bounds.clamp(each.back) != each.back:
                yield (
                    f"{each.back} is outside of the bounds of {each.key}, {bounds.minimum} to "
                    f"{bounds.maximum} by now: it acts until its policy goes on, which obeys them."
                )


def print_diff(console: Console, change: Edited) -> None:
    """Print the change: a number in a line of its own with git's head, any other by its place."""
    for file in change.files:
        for line in _diff(change, file):
            colour = "bold" if line.startswith(("+++", "---")) else COLOURS.get(line[:1], "")
            console.print(console.paint(line, colour) if colour else line)


def _diff(change: Edited, file: str) -> Iterator[str]:
    """Yield the lines of numbers that change, and no word that stands beside a number.

    What does may be a secret of the spec. An edit changes digits within their lines, so there are
    as many lines before as after. They are counted as git does: a form feed ends none, nor U+2028.
    """
    old, new = (
        [line.decode("utf-8", "replace").removesuffix("\r") for line in data.split(b"\n")]
        for data in (change.before[file], change.files[file])
    )
    lines = enumerate(zip(old, new, strict=True), 1)
    changed = [(number, was, will) for number, (was, will) in lines if was != will]
    if any(_COUNT.fullmatch(was) for _, was, _ in changed):
        yield from (f"--- a/{file}", f"+++ b/{file}")
    for number, was, will in changed:
        if _COUNT.fullmatch(was):
            yield from (f"@@ -{number} +{number} @@", f"-{was}", f"+{will}")
            continue
        for one, other in zip(_DIGITS.findall(was), _DIGITS.findall(will), strict=True):
            if one != other:
                whose = _named(change, file, int(one), int(other))
                yield f"{file}:{number}: {whose}replicas: {one} -> {other}"


def _named(change: Edited, file: str, now: int, back: int) -> str:
    """Return whose number of a file goes from `now` to `back`: a line may have several.

    Of two workloads that change alike neither is named.
    """
    found = [each for each in change.undos if each.file == file]
    keys = [str(each.key) for each in found if (each.now, each.back) == (now, back)]
    return f"{keys[0]}: " if len(keys) == 1 else ""
