"""docs/tick.md follows the code: every name that it gives is there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "reconciler"
OUTSIDE = {"arena", "minAvailable", "gamekeeper diff --live"}
"""Words of the page that are a user's, not ours."""


def names_of(tree: ast.AST) -> Iterator[str]:
    """Classes, functions, and what stands in classes, as `Class.member`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"{node.name}.{inner.name}"
                elif isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
                    yield f"{node.name}.{inner.target.id}"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name


@pytest.mark.long
def test_every_name_on_the_page_is_in_the_code() -> None:
    known = {
        name for path in PACKAGE.rglob("*.py") for name in names_of(ast.parse(path.read_text()))
    }
    page = (ROOT / "docs/tick.md").read_text(encoding="utf-8")
    words = set(re.findall(r"`([^`]+)`", page)) - OUTSIDE - {"code"}
    assert len(words) > 25
    missing = {
        word
        for word in words
        if word not in known
        and not (PACKAGE / word).is_file()
        and not (ROOT / word.rstrip("/")).is_dir()
    }
    assert not missing


def test_a_plan_is_settled_in_the_stages_of_the_page_and_in_their_order() -> None:
    tree = ast.parse((PACKAGE / "loop/settle.py").read_text(encoding="utf-8"))
    (settle,) = (node for node in ast.walk(tree) if getattr(node, "name", "") == "settle")
    called = [
        node.value
        for node in ast.walk(settle)
        if isinstance(node, ast.Await)
        if isinstance(node.value, ast.Call)
    ]
    called.sort(key=lambda call: (call.lineno, call.col_offset))  # a walk goes by depth
    names = [ast.unparse(call.func).partition(".")[0] for call in called]
    stages = [name for name in names if (PACKAGE / f"loop/{name}.py").is_file()]
    page = (ROOT / "docs/tick.md").read_text(encoding="utf-8")
    told = re.findall(r"^\d\. `loop/(\w+)\.py`: ", page, re.MULTILINE)
    assert len(stages) > 3
    assert sorted(told) == sorted(stages)
    assert told == stages
