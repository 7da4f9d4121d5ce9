"""Who moved counts in Git since a head that was accepted."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.model.intents import Passage
from reconciler.model.refs import WorkloadKey

Counts = Mapping[WorkloadKey, int]
Passages = Mapping[WorkloadKey, tuple[Passage, ...]]


@dataclass(frozen=True, slots=True)
class Moves:
    """Who moved the counts of workloads that have a policy: people on either branch, and we."""

    tracked: Passages = field(default_factory=dict)
    """The commits of people on the tracked branch."""
    apart: Passages = field(default_factory=dict)
    """The same of the branch of counts."""
    wrote: Counts | None = None
    """The counts that our newest commits wrote; None: nobody can tell."""
    stale: Counts = field(default_factory=dict)
    """Lines of the branch of counts that are no news, though they lay over nothing before."""
    joined: Counts = field(default_factory=dict)
    """What commits of ours wrote that a merge of the branch of counts brought to the tracked."""
    begun: Counts = field(default_factory=dict)
    """The counts that our commits wrote where none stood."""
    taken_out: Mapping[WorkloadKey, Passage] = field(default_factory=dict)
    """People's commits that took a count out of Git, so that it stands nowhere."""
