import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from reconciler.core import ordinals
from reconciler.core.ordinals import BLIND_SECONDS
from reconciler.model.records import Ordinals
from tests.unit.core.making import NOW, a_pod, pods


@pytest.mark.parametrize(
    ("record", "highest", "seen", "following"),
    [
        pytest.param(Ordinals(5), None, [], 5, id="the record says"),
        pytest.param(Ordinals(5), None, [7], 8, id="a live room above it is passed"),
        pytest.param(Ordinals(5), 9, [7], 10, id="so is the highest of the state record"),
        pytest.param(None, 9, [7], 10, id="a lost record goes on after the highest"),
        pytest.param(None, 7, [9], 10, id="or after the rooms that live"),
        pytest.param(None, 0, [], 1, id="be the highest the first"),
        pytest.param(None, None, [], int(NOW), id="nothing known starts at the Unix time"),
        pytest.param(None, None, [int(NOW) + 5], int(NOW) + 6, id="or above what lives"),
    ],
)
def test_the_next_name_is(
    record: Ordinals | None, highest: int | None, seen: list[int], following: int
) -> None:
    there = [a_pod(n) for n in seen]
    assert ordinals.first(record, highest, there, NOW + 0.9).next == following


@pytest.mark.parametrize(
    ("record", "highest", "seen", "following"),
    [
        pytest.param(None, None, [], 0, id="0 where nothing was ever named"),
        pytest.param(Ordinals(5), None, [], 5, id="as its record says where it has one"),
        pytest.param(None, 2, [], 3, id="after the highest that was raised"),
        pytest.param(None, None, [1], int(NOW), id="the Unix time where a pod is there"),
        pytest.param(None, None, [-1], int(NOW), id="be it one that we did not make"),
    ],
)
def test_a_new_workload_starts_at(
    record: Ordinals | None, highest: int | None, seen: list[int], following: int
) -> None:
    there = [a_pod(n) for n in seen]
    assert ordinals.first(record, highest, there, NOW, newborn=True).next == following


def test_a_lost_record_has_no_outstanding_names() -> None:
    assert not ordinals.first(None, 9, pods(3), NOW).outstanding


@pytest.mark.parametrize(
    ("number", "taken", "raised"),
    [
        pytest.param(0, (), Ordinals(12), id="none: the others are struck off"),
        pytest.param(1, (8,), Ordinals(12, frozenset({8})), id="an old name, the other struck off"),
        pytest.param(
            3,
            (8, 10, 12),
            Ordinals(13, frozenset({8, 10, 12})),
            id="old names first, then new ones",
        ),
    ],
)
def test_taking(number: int, taken: tuple[int, ...], raised: Ordinals) -> None:
    assert ordinals.take(Ordinals(12, frozenset({10, 8})), number) == (taken, raised)


def test_a_name_whose_room_is_there_is_settled_be_it_terminating() -> None:
    record = Ordinals(12, frozenset({8, 10, 11}))
    there = [a_pod(8), a_pod(10, terminating=True)]
    assert ordinals.settled(record, there) == Ordinals(12, frozenset({11}))


@pytest.mark.parametrize(
    ("version", "age_seconds", "blind"),
    [
        pytest.param(99, 0, True, id="older than the last room made"),
        pytest.param(100, 0, False, id="as new as the last room made"),
        pytest.param(99, BLIND_SECONDS, False, id="a restored server's versions begin anew"),
        pytest.param(99, -BLIND_SECONDS, False, id="a clock set back blinds nobody for long"),
    ],
)
def test_a_view_is_blind(version: int, age_seconds: float, blind: bool) -> None:
    record = Ordinals(5, seen=100, seen_at=NOW)
    assert ordinals.is_blind(record, version, NOW + age_seconds) is blind


class Names(RuleBasedStateMachine):
    """One workload's names through batches, crashes, hands that delete, and lost records."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.record: Ordinals | None = None
        self.highest: int | None = None
        self.newborn = True
        self.alive: set[int] = set()
        self.spent: set[int] = set()
        """Names that were made, or given up, and are outstanding no more."""

    def there(self) -> Ordinals:
        found = [a_pod(n) for n in self.alive]
        first = ordinals.first(self.record, self.highest, found, self.now, newborn=self.newborn)
        return ordinals.settled(first, found)

    def keep(self, record: Ordinals) -> None:
        before = self.record.outstanding if self.record else frozenset()
        self.spent |= before - record.outstanding
        self.record = record

    @rule(number=st.integers(0, 5), made=st.sets(st.integers(0, 4)), crash=st.booleans())
    def make(self, number: int, made: set[int], crash: bool) -> None:
        """Raise the records, POST some of the batch, and strike off what is done, or crash."""
        taken, raised = ordinals.take(self.there(), number)
        assert len(set(taken)) == number
        assert not set(taken) & (self.spent | self.alive), "a name came back"
        assert all(n < raised.next for n in taken)
        self.highest = max(-1 if self.highest is None else self.highest, raised.next - 1)
        self.keep(raised)
        posted = {n for place, n in enumerate(taken) if place in made}
        self.alive |= posted
        if not crash:
            self.keep(Ordinals(raised.next, frozenset(taken) - posted))
        self.now += number

    @rule(which=st.integers(0, 9))
    @precondition(lambda self: self.alive)
    def delete_by_hand(self, which: int) -> None:
        """A room goes after a tick has seen it."""
        self.keep(self.there())
        gone = sorted(self.alive)[which % len(self.alive)]
        self.alive.discard(gone)
        self.spent.add(gone)

    @rule()
    @precondition(lambda self: self.highest is not None)
    def lose_the_ordinal_record(self) -> None:
        """Where the state record is lost too, that is `lose_both`."""
        self._forget_ordinals()

    def _forget_ordinals(self) -> None:
        self.spent |= self.record.outstanding if self.record else set()
        self.record = None

    @rule()
    @precondition(lambda self: self.record is not None)
    def lose_the_state_record(self) -> None:
        self._forget_state()

    def _forget_state(self) -> None:
        """The next head sees that it was known, and is named by its record or by the clock."""
        self.highest = None
        self.newborn = False

    @rule(later=st.integers(10, 1000))
    def lose_both(self, later: int) -> None:
        self.now += later
        self._forget_ordinals()
        self._forget_state()

    @rule(back=st.integers(1, 10**6))
    @precondition(lambda self: self.highest is not None or self.record)
    def set_the_clock_back_and_forth(self, back: int) -> None:
        """While a record stands, names do not depend on the clock."""
        straight = self.there()
        self.now -= back
        assert self.there() == straight
        self.now += back


Names.TestCase.settings = settings(max_examples=150, stateful_step_count=25, deadline=None)
test_no_name_comes_back = Names.TestCase
