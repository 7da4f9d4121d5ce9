"""Hostile Jinja, through the port: each ends in time, names its template, and harms nobody."""

import json
import time
from collections.abc import Iterator

import pytest

from reconciler.adapters.compiler.zygote import Zygote
from reconciler.model.errors import Misconfigured
from reconciler.model.refs import Json
from tests.contract.compiler_world import OURS, compiler, pod, workload

DEADLINE_SECONDS = 2.5
COMPANY_SECONDS = 2.5
"""The deadline is for a machine of our own; a test machine may be shared."""


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    made = Zygote()
    yield made
    made.close()


REFUSED = [
    pytest.param(
        "{{ ''.__class__.__mro__[1].__subclasses__() }}", "calls", id="climbing to all classes"
    ),
    pytest.param("{{ ''.__class__.__mro__ }}", "unsafe", id="a class of a value"),
    pytest.param("{{ template['__class__']['__init__'] }}", "unsafe", id="by subscript"),
    pytest.param("{{ template|attr('__class__') }}", "No filter named 'attr'", id="by filter"),
    pytest.param("{{ cycler.__init__.__globals__.os }}", "unsafe", id="by a global"),
    pytest.param("{{ self.__init__.__globals__ }}", "unsafe", id="by the template itself"),
    pytest.param("{{ self._TemplateReference__context }}", "unsafe", id="by a mangled name"),
    pytest.param("{{ lipsum(n=2000000) }}", "calls", id="lorem ipsum without end"),
    pytest.param("{% for a in range(99999999999) %}{% endfor %}", "calls", id="a long range"),
    pytest.param("{{ namespace(a=1) }}", "calls", id="a mutable namespace"),
    pytest.param("{{ '{0.__class__}'.format(template) }}", "calls", id="a format string"),
    pytest.param("{{ '%s'|format(template) }}", "No filter named 'format'", id="an old format"),
    pytest.param("{{ '%s' % template.__class__ }}", "unsafe", id="a percent format"),
    pytest.param("{% include '/etc/passwd' %}", "includes", id="an included file"),
    pytest.param("{% import 'pod.yaml.j2' as p %}", "imports", id="an import"),
    pytest.param("{% extends '../settings.py' %}", "extends", id="a parent outside"),
    pytest.param(
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "calls|macro", id="endless recursion"
    ),
    pytest.param(
        "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "calls|recursive", id="a loop in"
    ),
    pytest.param(
        "{% filter replace('\"', '') %}{{ instance }}{% endfilter %}",
        "replace|filters",
        id="quotes",
    ),
    pytest.param("{% set x %}a: {{ instance }}{% endset %}{{ x }}", "keeps", id="text as a value"),
    pytest.param("{{ template.update({'a': 1}) }}", "calls", id="changing what it was given"),
    pytest.param("{% do template.clear() %}", "unknown tag", id="a statement for its effect"),
    pytest.param("{{ instance|map('upper') }}", "No filter named 'map'", id="other filters"),
    pytest.param("{{ 1 is filter }}", "No test named 'filter'", id="other tests"),
    pytest.param("\ue0000\ue000", "U\\+E000", id="the mark of a value"),
]


@pytest.mark.parametrize(("payload", "message"), REFUSED)
async def test_what_templates_may_not_do_is_refused_by_name(
    zygote: Zygote, payload: str, message: str
) -> None:
    async with compiler(pod("{}", payload + "\n"), zygote) as made:
        with pytest.raises(Misconfigured, match=message) as raised:
            await made.render([workload()], "prod")
    assert "templates/pod.yaml.j2" in str(raised.value)


BOMBS = [
    pytest.param("{{ 9 ** (9 ** 9) }}", "CPU|too long", id="a power without end"),
    pytest.param("{{ 'a' * 2000000000 }}", "memory", id="two billion letters"),
    pytest.param("{{ ['a'] * 2000000000 }}", "memory", id="two billion items"),
    pytest.param(
        "{% for a in 'x' * 99999 %}{% for b in 'x' * 99999 %}{% endfor %}{% endfor %}",
        "CPU",
        id="loops in loops",
    ),
    pytest.param(
        "{% for a in 'x' * 99999 %}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa{% endfor %}",
        "1048576 bytes",
        id="text without end",
    ),
    pytest.param("{{ 'a' * 2000000 }}", "at most 1048576", id="a value above the limit"),
    pytest.param(
        "{% set a = ['x' * 999] * 999 %}{% set b = [a] * 999 %}{{ [b] * 999 }}",
        "memory|CPU|too long",
        id="a value that grows as it is written",
    ),
    pytest.param("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", ".", id="brackets without end"),
    pytest.param("{{ " + "-" * 50000 + "1 }}", ".", id="signs without end"),
    pytest.param("[" * 100000, ".", id="YAML without end"),
]


@pytest.mark.parametrize(("payload", "message"), BOMBS)
async def test_a_bomb_ends_its_worker_in_time_and_nothing_else(
    zygote: Zygote, payload: str, message: str
) -> None:
    async with compiler(pod(payload), zygote) as made:
        zygote.start()
        pid = zygote.pid
        started = time.perf_counter()
        with pytest.raises(Misconfigured, match=message) as raised:
            await made.render([workload()], "prod")
        assert time.perf_counter() - started < DEADLINE_SECONDS + COMPANY_SECONDS
        assert zygote.pid == pid
    assert "templates/pod.yaml.j2" in str(raised.value)


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
        pod(place.replace("V }", f"{variable} }}").replace("V}", f"{variable}}}"))
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
