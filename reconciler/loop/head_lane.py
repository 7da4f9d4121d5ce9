"""What the repository lane holds between two looks: the branch, its head, and what was judged."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.core.approval import Approval
from reconciler.loop.dates import Dates
from reconciler.loop.lane import Lane
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.signatures import SigningRules
from reconciler.model.specs import Budgets, Permissions
from reconciler.model.trees import Head
from reconciler.ports import Compiler, Repository


@dataclass(slots=True)
class HeadLane:
    """The tracked branch and what is needed to take its head in.

    `url`, `branch` and `path` name what is tracked in the records. `ceiling` is the operator's
    budget.
    `judged_at` is when the head was last judged (Unix seconds), 0 where what is on record may
    have changed since; `counts` are those of the last two heads, by commit. `approvals_changed`
    is where a person may have given one, `records_doubted` where one asks whether all records are
    there. `approval_signers` is the file of who may approve by a signed trailer; without it none
    counts. `rules` say who must have signed what acts, None where nobody asks; `signs` is whether
    commits of ours are signed.
    """

    url: str
    branch: str
    repository: Repository
    compiler: Compiler
    permissions: Permissions
    ceiling: Budgets
    home: Lane
    head: Head | None = None
    reading: Reading | None = None
    counts: Mapping[str, Mapping[WorkloadKey, int]] = field(default_factory=dict)
    judged_at: float = 0.0
    approvals_changed: bool = True
    records_doubted: bool = False
    approval_signers: str = ""
    rules: SigningRules | None = None
    signs: bool = False
    path: str = ""
    dates: Dates = field(default_factory=Dates)
    given: Mapping[str, Approval] = field(default_factory=dict)
