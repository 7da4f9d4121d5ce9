"""An edit changes one number and not one byte beside it, or is refused and changes nothing.

`tests/golden/edits` has the cases that people thought of; here are those that nobody did.
"""

import pytest
import yaml
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from reconciler.core.edits import edit
from reconciler.core.yaml_strict import parse_file
from reconciler.model.edits import Edit
from reconciler.model.refs import WorkloadKey
from tests.unit.core.yaml_texts import HEAD, Written, common, leaves, written

ARENA = WorkloadKey("Scheduler", "arena", "arena")
REPLICAS = ("spec", "replicas")
COUNTS = st.integers(0, 10_000)
MUTATIONS = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.integers(0, 3),
        st.sampled_from(
            (
                *"&*!|>'\"%@`{}[],:?-# \t\n\r0123x~<é🎮",
                *("\ufeff", "\u2028", "---", "...", "\n---\n", "<<: ", "&n ", "*n", "!!int "),
                *("replicas: 5\n", "\n  ", "{{ x }}", "spec: ", "\ny: *own\n", "\nz: *all\n"),
            )
        ),
    ),
    min_size=1,
    max_size=4,
)


@settings(deadline=None)
@given(written(), COUNTS)
def test_a_number_that_is_written_plainly_is_changed_and_nothing_else(
    about: Written, value: int
) -> None:
    text, start, end = about

    after, refusals = edit(text.encode(), [Edit(ARENA, REPLICAS, value)])

    assert refusals == ()
    assert after.decode() == f"{text[:start]}{value}{text[end:]}"


@settings(deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(written(), COUNTS, MUTATIONS)
def test_a_hostile_text_is_edited_exactly_or_not_at_all(
    about: Written, value: int, mutations: list[tuple[float, int, str]]
) -> None:
    text = about.text
    for place, dropped, inserted in mutations:
        at = int(place * len(text))
        text = text[:at] + inserted + text[at + dropped :]

    after, refusals = edit(text.encode(), [Edit(ARENA, REPLICAS, value)])

    if refusals:
        event("refused")
        assert after == text.encode()
        assert refusals[0].reason
        return
    event("edited")
    head, tail = common(text, after.decode())
    assert all(c in "-0123456789" for c in text[head : len(text) - tail])
    try:
        before = leaves(text)
    except yaml.YAMLError:
        return  # a document that the edit is not about may be broken, and is left so
    changed = [
        (one, two) for one, two in zip(before, leaves(after.decode()), strict=True) if one != two
    ]
    assert len(changed) <= 1
    for (path, tag, old, style), (new_path, new_tag, new, new_style) in changed:
        assert path == new_path
        assert path[1:] == REPLICAS
        assert (tag, style) == (new_tag, new_style)
        assert (int(old) != int(new), new) == (True, str(value))


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_whatever_the_bytes_are_nothing_is_raised(data: bytes) -> None:
    text = "".join(f"{name}: {value}\n" for name, value in HEAD).encode() + data

    for each in (data, text):
        after, refusals = edit(each, [Edit(ARENA, REPLICAS, 7)])

        assert bool(refusals) or after != each or b"replicas" in each


@settings(deadline=None)
@given(written(), COUNTS)
def test_a_reader_of_specs_finds_the_number_that_was_asked_for(about: Written, value: int) -> None:
    after, _ = edit(about.text.encode(), [Edit(ARENA, REPLICAS, value)])
    found = [
        document.value["spec"]["replicas"]
        for document in parse_file("a.yaml", after).documents
        if isinstance(document.value, dict) and document.value.get("kind") == "Scheduler"
    ]

    assert found == [value]


def test_many_edits_of_many_documents_are_made_at_once() -> None:
    head = "apiVersion: gamekeeper.dev/v1\nkind: Scheduler\n"
    document = head + "metadata: {{name: w{0}}}\nspec: {{replicas: {1}}}\n"
    names = [(f"w{number}", number) for number in range(300)]
    text = "---\n".join(document.format(number, number) for _, number in names)
    edits = [Edit(WorkloadKey("Scheduler", name, name), REPLICAS, 9) for name, _ in names[::3]]

    after, refusals = edit(text.encode(), edits)

    assert refusals == ()
    assert after.decode() == "---\n".join(
        document.format(number, number if number % 3 else 9) for _, number in names
    )


@pytest.mark.parametrize("edits", [(), (Edit(ARENA, REPLICAS, 5),)], ids=["no edit", "no change"])
def test_a_text_without_a_change_is_the_same_bytes(edits: tuple[Edit, ...]) -> None:
    lines = [*(f"{name}: {value}" for name, value in HEAD), "spec: {replicas: 5}"]
    data = ("\ufeff" + "\r\n".join(lines)).encode()

    assert edit(data, edits) == (data, ())
