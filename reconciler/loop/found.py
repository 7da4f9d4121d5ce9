"""What was found out of each workload and is not looked for at each turn; a new process looks anew.

Nothing of it is on record: at worst something is compared, or asked of a cluster, once more.
"""

from dataclasses import dataclass, field

from reconciler.core.carrying import carry
from reconciler.core.lasting import Basis, basis_of, is_lasting
from reconciler.model.copies import NOT_LOOKED, Looked
from reconciler.model.plan_objects import Confirmed
from reconciler.model.plans import Plan, Situation
from reconciler.model.refs import WorkloadKey

_NOTHING: frozenset[Confirmed] = frozenset()


@dataclass(slots=True)
class Found:
    """The last plans that last, with what they were made of, and what looks found beside them."""

    _plans: dict[WorkloadKey, tuple[Basis, Plan]] = field(default_factory=dict)
    _confirmed: dict[WorkloadKey, frozenset[Confirmed]] = field(default_factory=dict)
    _drifted: dict[WorkloadKey, frozenset[Confirmed]] = field(default_factory=dict)
    _looked: dict[WorkloadKey, Looked] = field(default_factory=dict)

    def confirmed(self, key: WorkloadKey) -> frozenset[Confirmed]:
        """Return the pairs that a comparison or a dry-run apply found equal."""
        return self._confirmed.get(key, _NOTHING)

    def drifted(self, key: WorkloadKey) -> frozenset[Confirmed]:
        """Return the pairs that a dry run found to differ."""
        return self._drifted.get(key, _NOTHING)

    def looked(self, key: WorkloadKey) -> Looked:
        """Return what the last look at the sources of copies found."""
        return self._looked.get(key, NOT_LOOKED)

    def recall(self, situation: Situation) -> Plan | None:
        """Return the plan of a situation by the last that lasts, None where it must be made."""
        known = self._plans.get(situation.key)
        if known is None:
            return None
        before, basis = known[0], basis_of(situation)
        plan = known[1] if before == basis else carry(known[1], before, situation)
        if plan is None:
            return None
        self._plans[situation.key] = basis, plan  # no second copy of equal things is kept
        return plan

    def remember(self, plan: Plan, situation: Situation) -> None:
        """Keep a plan that lasts, and what it found equal: what it did not see is no more."""
        if is_lasting(plan, situation):
            self._plans[plan.key] = basis_of(situation), plan
        else:
            self._plans.pop(plan.key, None)
        if plan.confirmed:
            self._confirmed[plan.key] = plan.confirmed
        else:
            self._confirmed.pop(plan.key, None)

    def confirm(self, key: WorkloadKey, pair: Confirmed) -> None:
        """Keep what a dry run found equal."""
        self._confirmed[key] = self.confirmed(key) | {pair}

    def note_drift(self, key: WorkloadKey, pair: Confirmed) -> None:
        """Keep what a dry run found to differ, in place of what it said of the object before."""
        others = (each for each in self.drifted(key) if each[0] != pair[0])
        self._drifted[key] = frozenset({pair, *others})

    def note_look(self, key: WorkloadKey, looked: Looked) -> None:
        """Keep what a look at the sources of copies found."""
        self._looked[key] = looked

    def forget(self, key: WorkloadKey) -> None:
        """Drop what was found out of a workload."""
        self._plans.pop(key, None)
        self._confirmed.pop(key, None)
        self._drifted.pop(key, None)
        self._looked.pop(key, None)
