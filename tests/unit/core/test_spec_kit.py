"""Schemas are compiled once and templates judged once, as long as nothing about them changes."""

from reconciler.core.mistakes import Mistake
from reconciler.core.spec_kit import SpecKit


def test_a_template_is_judged_once_by_content() -> None:
    judged = []

    def judge(name: str) -> tuple[Mistake, ...]:
        judged.append(name)
        return (Mistake((name,), "wrong"),)

    kit = SpecKit({}, {}, {}, {})
    first = kit.remembered(("1.36", "a"), lambda: judge("a"))
    again = kit.remembered(("1.36", "a"), lambda: judge("a"))
    kit.remembered(("1.35", "a"), lambda: judge("b"))

    assert first is again
    assert judged == ["a", "b"]


def test_what_is_remembered_is_bounded() -> None:
    kit = SpecKit({}, {}, {}, {})
    for number in range(10_000):
        kit.remembered((str(number),), lambda: ())

    mistakes = (Mistake((), "judged again"),)

    assert kit.remembered(("0",), lambda: mistakes) == mistakes
