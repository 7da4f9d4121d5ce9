"""The rules of the house that no other tool checks (DESIGN §2 rules 9 and 10)."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "reconciler"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "_assets" not in path.parts)
PURE = [path for path in MODULES if path.relative_to(PACKAGE).parts[0] in ("core", "kube", "model")]
UNIT = sorted((ROOT / "tests" / "unit").rglob("*.py"))

MOST_LINES, MOST_FUNCTION_LINES, MOST_PARAMETERS = 300, 45, 7
MOST_SUPPRESSIONS = 12
BANNED_IMPORTS = frozenset(
    {"aiohttp", "asyncio", "builtins", "datetime", "ftplib", "git", "glob", "http", "importlib"}
    | {"io", "kubernetes", "logging", "multiprocessing", "os", "pathlib", "prometheus_client"}
    | {"random", "requests", "secrets", "select", "shutil", "signal", "socket", "ssl", "subprocess"}
    | {"tempfile", "threading", "time", "urllib", "urllib3", "uuid", "watchfiles"}
)
BANNED_CALLS = frozenset({"open", "print", "input", "exec", "eval", "compile", "__import__"})
BANNED_WORDS = ("Manager", "Helper", "Utils", "Base", "Handler", "Data", "Info")
SUPPRESSION = re.compile(r"#\s*(type:\s*ignore|noqa|pragma:\s*no cover)", re.IGNORECASE)
KIND_OF_A_TEMPLATE = re.compile(r"^kind: *\"?(\w+)\"? *$", re.MULTILINE)
# Modules of core whose tests stand under another name; this list may only shrink.
TESTED_TOGETHER: dict[str, str] = {
    "ending": "by the plans of workloads that left Git: test_plan, test_departures",
    "known_tree": "by what is read of the next one: test_rereading",
}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return len([one for one in named if one.arg not in ("self", "cls")])


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_there_are_modules_to_judge() -> None:
    assert len(MODULES) > 50
    assert len(PURE) > 30


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_keeps_to_the_sizes(path: Path) -> None:
    too_large = [
        f"{function.name} has {function.end_lineno - function.lineno + 1} lines"
        for function in functions(path)
        if function.end_lineno is not None
        and function.end_lineno - function.lineno + 1 > MOST_FUNCTION_LINES
    ]
    too_many = [
        f"{function.name} has {parameters(function)} parameters"
        for function in functions(path)
        if parameters(function) > MOST_PARAMETERS
    ]

    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES
    assert too_large == []
    assert too_many == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert ast.get_docstring(tree_of(path)) or text.strip() == ""


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_names_are_of_the_domain(path: Path) -> None:
    named = [node.name for node in ast.walk(tree_of(path)) if isinstance(node, ast.ClassDef)]

    assert [name for name in named if name.endswith(BANNED_WORDS)] == []
    assert path.stem not in ("base", "helpers", "utils", "util", "common", "misc")


@pytest.mark.parametrize("path", PURE, ids=name_of)
def test_a_pure_module_touches_nothing(path: Path) -> None:
    calls = {
        node.func.id
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }

    of_sys = {
        node.attr
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "sys"
    }

    assert calls & BANNED_CALLS == set()
    assert of_sys <= {"intern"}
    assert {module.partition(".")[0] for module in imported(path)} & BANNED_IMPORTS == set()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nobody_waits_by_a_call_that_forgets_cancellations(path: Path) -> None:
    """`asyncio.wait_for` of Python 3.11 loses one that meets the end of its wait."""
    called = [
        node.lineno
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr == "wait_for"
    ]

    assert called == [], "use `async with asyncio.timeout(...)`"


def test_suppressions_keep_to_their_budget_and_give_a_reason() -> None:
    mine = Path(__file__)
    found = [
        f"{name_of(path)}:{number}: {line.strip()}"
        for folder in ("reconciler", "tests", "benchmarks")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path != mine
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if SUPPRESSION.search(line)
    ]

    assert len(found) <= MOST_SUPPRESSIONS, "\n".join(found)
    assert [line for line in found if re.search(r"type:\s*ignore(?!\[)|noqa(?!:)", line)] == []


@pytest.mark.parametrize("path", UNIT, ids=name_of)
def test_unit_tests_have_values_in_and_out_and_no_mocks(path: Path) -> None:
    assert [module for module in imported(path) if "mock" in module.lower()] == []


def test_unit_tests_mirror_core() -> None:
    modules = {path.stem for path in (PACKAGE / "core").rglob("*.py")} - {"__init__"}
    tests = {
        path.stem.removeprefix("test_")
        for path in (ROOT / "tests" / "unit" / "core").rglob("test_*.py")
    }

    assert sorted(modules - tests - TESTED_TOGETHER.keys()) == []
    assert sorted(tests - modules) == []
    assert sorted(TESTED_TOGETHER.keys() - modules) == []
    assert sorted(TESTED_TOGETHER.keys() & tests) == []


@pytest.mark.parametrize("path", sorted((ROOT / "templates").iterdir()), ids=name_of)
def test_a_template_is_one_kubernetes_kind_named_after_it(path: Path) -> None:
    kinds = KIND_OF_A_TEMPLATE.findall(path.read_text(encoding="utf-8"))

    assert [f"{kind.lower()}.yaml.j2" for kind in kinds] == [path.name]


def test_every_example_says_what_it_shows() -> None:
    folders = [path.name for path in (ROOT / "examples").glob("*/*") if path.is_dir()]

    assert [name for name in folders if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) is None] == []


def test_examples_are_yaml_that_other_tools_can_read_where_they_are_good() -> None:
    for path in (ROOT / "examples" / "good").rglob("*.yaml"):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            assert document["apiVersion"] == "gamekeeper.dev/v1", path


def test_nothing_reads_what_is_beside_the_repository() -> None:
    beside = "/".join(("..", "shared"))
    ours = (ROOT / part for part in ("reconciler", "tests", "benchmarks", "tools", ".ci"))
    found = (path for folder in ours for path in folder.rglob("*"))
    # What Python compiles comes and goes while other tests run.
    files = [path for path in found if "__pycache__" not in path.parts and path.is_file()]
    files += [ROOT / "Makefile", ROOT / "pyproject.toml", ROOT / "Dockerfile"]
    read = [name_of(path) for path in files if beside.encode() in path.read_bytes()]
    assert len(files) > 1000
    assert read == []
