"""A value is only a value, through the port; hostile templates stand in `tests/corpora/jinja`."""

import json
from collections.abc import Iterator

import pytest

from reconciler.adapters.compiler.zygote import Zygote
from reconciler.model.errors import Misconfigured
from reconciler.model.refs import Json
from tests.contract.compiler_world import OURS, compiler, pod, workload


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    made = Zygote()
    yield made
    made.close()


@pytest.mark.long
async def test_one_bomb_among_many_workloads_is_named_and_the_others_are_kept(
    zygote: Zygote,
) -> None:
    templates = OURS | pod("{{ 9 ** (9 ** (9 if workload.name == 'w-7' else 1)) }}")
    fleet = [workload(f"w-{number}") for number in range(12)]
    async with compiler(templates, zygote) as made:
        with pytest.raises(Misconfigured, match=r"pod\.yaml\.j2: for Scheduler/w-7 it (used|took)"):
            await made.render(fleet, "prod")
        assert len(await made.render(fleet[:7] + fleet[8:], "prod")) == 11


INJECTIONS = [
    "x\nhostNetwork: true",
    "x, hostNetwork: true",
    '", "hostNetwork": true, "x": "',
    "' }\nhostNetwork: true #",
    "*anchor",
    "!!python/object/apply:os.system [id]",
    "\u2028hostNetwork: true\u2029\x85\r\n",
    "{{ 7 * 7 }}{% raw %}",
    "\ue0000\ue000",
    "yes",
    "012",
    "",
]


@pytest.mark.parametrize("value", INJECTIONS)
@pytest.mark.parametrize("place", ["\n  v: {{ V }}", "{v: {{ V }}}", "{{ {'v': V} }}"])
async def test_a_value_is_a_value_wherever_it_stands(
    zygote: Zygote, place: str, value: str
) -> None:
    variable = "template.spec.value"
    async with compiler(
        pod(place.replace("V }", f"{variable} }}").replace("V}", f"{variable}}}")), zygote
    ) as made:
        result = await made.render([workload(template={"spec": {"value": value}})], "prod")
    document: Json = json.loads(next(iter(result.values())).room)
    assert document["spec"] == {"v": value}
    assert set(document) == {"apiVersion", "kind", "metadata", "spec"}


@pytest.mark.parametrize(
    "place",
    [
        pytest.param('{a: "{{ template.spec.value }}"}', id="in double quotes"),
        pytest.param("{a: '{{ template.spec.value }}'}", id="in single quotes"),
        pytest.param("[a-{{ template.spec.value }}]", id="after other letters"),
        pytest.param("{{ template.spec.value }}{{ instance }}", id="beside another one"),
        pytest.param("|\n  a {{ template.spec.value }}", id="in a block of text"),
    ],
)
async def test_a_value_that_does_not_stand_alone_is_refused(zygote: Zygote, place: str) -> None:
    async with compiler(pod(place), zygote) as made:
        with pytest.raises(Misconfigured):
            await made.render([workload(template={"spec": {"value": ", evil: "}})], "prod")
